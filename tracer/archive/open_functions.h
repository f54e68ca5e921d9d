#pragma once

#include <cstdint>
#include <vector>

namespace rubato {
inline namespace tracing {

/// The functions that are open at one moment of a thread.
///
/// The compiler's marks of functions do not always nest: longjmp() leaves functions without a mark,
/// recording is switched off and on inside them, and a function may have been entered before
/// recording began. Marks have a depth, counted even while recording is off, so a function at some
/// depth ends all open functions at the same depth or deeper. After a longjmp() the depth is too
/// large by the skipped functions; then a leave belongs to the innermost function of its address.
class OpenFunctions {
 public:
  bool empty() const { return open_.empty(); }

  /// `close(region)` is called for each function that has ended meanwhile.
  template <class Close>
  void enter(uint64_t address, int depth, uint32_t region, Close close) {
    close_from(first_at(depth), close);
    open_.push_back({address, depth, region});
  }

  /// The function itself is closed too. A function that is not open was entered while nothing was
  /// recorded.
  template <class Close>
  void leave(uint64_t address, int depth, Close close) {
    size_t i = open_.size();
    while (i > 0 && open_[i - 1].address != address) --i;
    const size_t at_depth = first_at(depth);
    if (at_depth < open_.size() && open_[at_depth].address == address) {
      close_from(at_depth, close);
    } else {
      close_from(i > 0 ? i - 1 : at_depth, close);
    }
  }

  template <class Close>
  void close_all(Close close) {
    close_from(0, close);
  }

 private:
  struct Open {
    uint64_t address;
    int depth;
    uint32_t region;
  };

  /// The outermost function at this depth or deeper; a depth at its limits is meaningless.
  size_t first_at(int depth) const {
    size_t i = open_.size();
    if (depth == INT16_MAX || depth == INT16_MIN) return i;
    while (i > 0 && open_[i - 1].depth >= depth) --i;
    return i;
  }

  template <class Close>
  void close_from(size_t first, Close close) {
    while (open_.size() > first) {
      close(open_.back().region);
      open_.pop_back();
    }
  }

  std::vector<Open> open_;
};

}  // namespace tracing
}  // namespace rubato
