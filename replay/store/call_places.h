#pragma once

// Where calls are made: the innermost function of the program and the line that makes the call, and
// the functions of the timeline since the previous call. Stored beside the calls, by event, and
// only if requested: without functions and call sites in the archive there is nothing to store.
//
// Words of 32 bits, for calls at which something changes:
//
//   events since the previous entry (20 bits) | parts (8) | kMoved | kFar
//   kFar: the upper bits of those events, 1 word       kMoved: function, call site, path
//   of each part: function, ticks as float, probes, path
//
// in chunks of some 4 KiB, the first ones in memory, the rest in a temporary file.

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "replay/store/call_file.h"
#include "replay/trace/function_times.h"

namespace rubato {

/// Where a call is made.
struct CallPlace {
  uint32_t function = kNoPlace;     ///< index into EventSource::functions()
  uint32_t site = kNoPlace;         ///< index into EventSource::call_sites()
  uint32_t path = CallTree::kRoot;  ///< of the function: node of CallPlaces::paths()
  /// The functions of the timeline since the previous call; time outside of functions is omitted.
  std::vector<FunctionPart> before;

  /// Divides a gap of `recorded` ticks, which lasts from `from` to `to`: calls each(from, to, part)
  /// for parts in order, null for the rest, which belongs to no function.
  template <typename Each>
  void divide(double recorded, double from, double to, Each each) const {
    constexpr double kRounding = 1e-6;  // remainder of a gap
    const double gap = to - from;
    double all = 0;
    for (const FunctionPart& part : before) all += part.ticks;
    all = std::max(all, recorded);
    for (const FunctionPart& part : before) {
      if (!(all > 0)) break;
      double until = std::min(to, from + gap * part.ticks / all);
      if (to - until < kRounding * gap) until = to;
      if (until > from) each(from, until, &part);
      from = std::max(from, until);
    }
    if (to > from) each(from, to, nullptr);
  }
};

/// The places of all calls. Timelines may be filled concurrently, each by one thread. Errors: as
/// CallFile's.
class CallPlaces final : public PlaceSink {
 public:
  explicit CallPlaces(int timelines);

  void add(int timeline, uint64_t event, uint32_t function, uint32_t site,
           std::span<const FunctionPart> before, uint32_t path = CallTree::kRoot) override;
  void add_paths(int timeline, CallTree paths,
                 std::vector<std::vector<FunctionPart>> kinds) override {
    timelines_[timeline].paths = std::move(paths);
    timelines_[timeline].kinds = std::move(kinds);
  }
  void forget(int timeline) override;
  /// The functions of a timeline by call path; calls and ticks of the nodes mean nothing.
  const CallTree& paths(int timeline) const { return timelines_[timeline].paths; }

  /// Reads the places of one timeline forwards.
  class Reader {
   public:
    Reader(const CallPlaces& places, int timeline) : places_(&places), timeline_(timeline) {}

    /// The place of the call that begins at `event`. REQUIRES: not smaller than in the previous
    /// call of at(). Valid until the next one.
    const CallPlace& at(uint64_t event);

   private:
    bool load_chunk();
    bool read_entry();
    uint32_t word() { return chunk_[next_++]; }

    const CallPlaces* places_;
    int timeline_;
    size_t chunks_ = 0;            ///< number of loaded chunks
    std::vector<uint32_t> chunk_;  ///< the last loaded one
    size_t next_ = 0;              ///< index into chunk_
    bool is_read_ = false;         ///< coming_ is the next entry
    bool is_over_ = false;
    uint64_t entry_ = 0;     ///< event of the entry read last
    uint64_t answered_ = 0;  ///< event of the last call of at()
    CallPlace coming_;
    CallPlace place_;
  };

 private:
  static constexpr size_t kChunk = 1024;  ///< words, without the last entry
  static constexpr uint32_t kMoved = 1u << 28, kFar = 1u << 29;
  static constexpr uint64_t kNear = (1 << 20) - 1;

  struct Chunk {
    uint64_t offset;
    uint32_t words;
  };
  struct Timeline {
    uint64_t event = 0;  ///< of the last entry
    uint32_t function = kNoPlace, site = kNoPlace, path = CallTree::kRoot;
    std::vector<uint32_t> open;  ///< not in a chunk yet
    std::vector<Chunk> chunks;
    CallTree paths;
    std::vector<std::vector<FunctionPart>> kinds;  ///< of gaps with samples
  };

  std::vector<Timeline> timelines_;
  CallFile file_;
  std::mutex appends_;
};

}  // namespace rubato
