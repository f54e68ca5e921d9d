#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tracer/layout/record.h"
#include "tracer/layout/segment.h"

/// Reads the records of a thread from its files: at MPI_Finalize, or after the death of the
/// process.
namespace rubato {
inline namespace tracing {

/// The segments of one thread in their order. Maps one at a time.
class ThreadRecords {
 public:
  /// Finds the segments in these files, which stay open and belong to the caller; -1 is no file.
  /// Torn segments and other content are left out. `call_sites`: each call has one.
  ThreadRecords(uint32_t thread, int file, int overflow_file, bool call_sites = false);

  uint32_t thread() const { return thread_; }
  bool empty() const { return segments_.empty(); }
  /// Segments that should be there and are not, by their numbers.
  uint64_t missing_segments() const { return missing_; }
  /// Drops complete segments whose checksum is wrong; returns their number. The first one begins at
  /// byte `at` of `file`, one of the two.
  uint64_t drop_damaged(int& file, uint64_t& at);
  /// Bytes of all segments.
  uint64_t bytes() const;
  /// From here on calls `passed(bytes)` behind each segment that is read.
  void watch(std::function<void(uint64_t)> passed) { passed_ = std::move(passed); }
  /// When the last segment was begun, on both clocks; zeros when there is none.
  uint64_t last_ticks() const { return empty() ? 0 : segments_.back().header.ticks; }
  uint64_t last_nanoseconds() const { return empty() ? 0 : segments_.back().header.nanoseconds; }

  /// Calls `visit(record::Record)` for each call and mark, in order. Times are ticks; `zero` is the
  /// tick that the process counts from. False when some could not be read.
  template <class Visit>
  [[nodiscard]] bool for_each(uint64_t zero, Visit visit) const {
    for (const Segment& segment : segments_) {
      const Mapping mapping(segment);
      if (mapping.begin() == nullptr) return false;
      record::Cursor cursor(mapping.begin(), mapping.end(), zero, call_sites_);
      for (record::Record r; cursor.next(r);) visit(r);
      if (passed_) passed_(segment.header.bytes);
    }
    return true;
  }

 private:
  struct Segment {
    int file;
    uint64_t offset;
    SegmentHeader header;
  };

  class Mapping {
   public:
    explicit Mapping(const Segment& segment);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    const uint64_t* begin() const { return begin_; }
    const uint64_t* end() const { return end_; }

   private:
    void* memory_;
    size_t bytes_;
    const uint64_t* begin_ = nullptr;
    const uint64_t* end_ = nullptr;
  };

  void find(int file);

  uint32_t thread_;
  bool call_sites_;
  uint64_t missing_ = 0;
  std::vector<Segment> segments_;
  std::function<void(uint64_t)> passed_;
};

}  // namespace tracing
}  // namespace rubato
