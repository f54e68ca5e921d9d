#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/record.h"
#include "tracer/segment.h"

/// Reading what a thread recorded, from its files: while the process lives, at MPI_Finalize, or
/// after it has died.
namespace rubato {

/// The segments of one thread in their order. Maps one at a time.
class ThreadRecords {
 public:
  /// Finds the segments in these files, which stay open and belong to the caller; -1 is no file.
  /// What is no segment, or a torn one, is left out.
  /// `call_sites`: each call has one.
  ThreadRecords(uint32_t thread, int file, int overflow_file, bool call_sites = false);

  uint32_t thread() const { return thread_; }
  bool empty() const { return segments_.empty(); }
  /// Segments that should be there and are not, by their numbers.
  uint64_t missing_segments() const { return missing_; }
  /// When the last segment was begun, on both clocks; zeros when there is none.
  uint64_t last_ticks() const { return empty() ? 0 : segments_.back().header.ticks; }
  uint64_t last_nanoseconds() const { return empty() ? 0 : segments_.back().header.nanoseconds; }

  /// One call or mark. Times are ticks; `zero` was added.
  struct Record {
    unsigned id;
    uint64_t enter;
    uint64_t leave;  ///< of a call that was not left: its enter
    bool left;
    record::Reader items;
    uint64_t call_site = 0;  ///< address that the call returned to, where that was recorded
    uint64_t function = 0;   ///< function_word() of a function's mark
  };

  /// Calls `visit(Record)` for each, in order.
  template <class Visit>
  void for_each(uint64_t zero, Visit visit) const {
    for (const Segment& segment : segments_) {
      const Mapping mapping(segment);
      for (const uint64_t* at = mapping.begin(); at + kHeadWords <= mapping.end() && *at != 0;) {
        const uint64_t* items = at + kHeadWords;
        Record r{static_cast<unsigned>(at[0] & 0x3ff), (at[0] >> 10) + zero, 0, record::done(at[1]),
                 record::Reader(items, items)};
        r.leave = r.enter;
        if (is_function_mark(r.id)) {
          r.function = at[1];
          r.left = true;
          at = items;
          visit(r);
          continue;
        }
        if (r.left) {
          const uint64_t* end = items + record::item_words(at[1]);
          if (end > mapping.end()) break;  // torn
          at = end;
          r.leave += record::duration(items[-1]);
          if (record::duration(items[-1]) == kMaxDuration) {  // the last item tells
            r.leave = end[-1] + zero;
            end -= 2;
          }
          r.items = record::Reader(items, end);
          if (call_sites_ && r.id < kFirstMark) r.call_site = r.items.take_call_site();
        }
        visit(r);
        if (!r.left) break;  // the process died in it
      }
    }
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
};

}  // namespace rubato
