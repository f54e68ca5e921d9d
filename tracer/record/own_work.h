#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

/// Functions of the program that MPI calls back, and how long they ran inside one MPI call.
namespace rubato {
inline namespace tracing {

enum class CallbackKind : uint8_t {
  kOperation,  ///< of a reduction
  kAttributeCopy,
  kAttributeDelete,
  kErrorHandler,
  kRequest,  ///< query, free and cancel of a generalised request
  kDataRepresentation,
};

/// A callback: its address (48 bits) and its kind, in 54 bits.
inline uint64_t callback_word(CallbackKind kind, uint64_t address) {
  return static_cast<uint64_t>(kind) << 48 | (address & ((uint64_t{1} << 48) - 1));
}
inline uint64_t callback_address(uint64_t word) {
  return word & ((uint64_t{1} << 48) - 1);
}
/// "user operation"; a word of a damaged record has one, too.
inline const char* callback_kind(uint64_t word) {
  constexpr const char* kWords[] = {
      "user operation", "attribute copy function",           "attribute delete function",
      "error handler",  "function of a generalised request", "data representation function"};
  const uint64_t kind = word >> 48;
  return kind < std::size(kWords) ? kWords[kind] : "callback";
}

/// The ticks of the callbacks of the open call of a thread.
class OwnWork {
 public:
  bool any() const { return used_ != 0; }
  uint64_t ticks() const { return ticks_; }

  void add(uint64_t callback, uint64_t ticks) {
    ticks_ += ticks;
    size_t i = 0;
    while (i < used_ && parts_[i].callback != callback) ++i;
    if (i == parts_.size()) return;  // so many different ones: counted without a name
    if (i == used_) parts_[used_++] = {callback, 0};
    parts_[i].ticks += ticks;
  }

  /// The callback that took most of the time.
  uint64_t longest() const {
    size_t most = 0;
    for (size_t i = 1; i < used_; ++i) {
      if (parts_[i].ticks > parts_[most].ticks) most = i;
    }
    return parts_[most].callback;
  }

  void clear() { ticks_ = stolen = used_ = 0; }

  uint64_t stolen = 0;   ///< nanoseconds of the call without a core, as far as asked for
  bool running = false;  ///< in a callback, which includes any others inside

 private:
  struct Part {
    uint64_t callback;
    uint64_t ticks;
  };
  uint64_t ticks_ = 0;
  size_t used_ = 0;
  std::array<Part, 4> parts_{};
};

}  // namespace tracing
}  // namespace rubato
