#pragma once

#include <cstddef>
#include <cstdint>

/// The memory of records, laid out so that another process can read it after the writer has died.
///
/// Each thread has a file of its own, <directory>/<rank>.<thread>.records, a row of segments. Only
/// the last segment is mapped. A segment holds whole calls behind its header; behind the last call
/// its words are zero. When memory is bounded, the oldest segments are moved to a file of the same
/// name in another directory, on a disk; the numbers in the headers give their order. The mapped
/// segment always keeps its memory: if no other is left to move, it is copied and reused.
namespace rubato {
inline namespace tracing {

struct SegmentHeader {
  static constexpr uint64_t kMagic = 0x3130746753627552;  // "RubSgt01"
  uint64_t magic;
  uint64_t sequence;     ///< in the thread, from 0
  uint64_t bytes;        ///< with this header, a multiple of kSegmentBytes
  uint64_t ticks;        ///< the record clock ...
  uint64_t nanoseconds;  ///< ... and CLOCK_MONOTONIC when the segment was begun
  uint64_t thread;
  uint64_t checksum;  ///< segment_checksum() once it is complete; 0 while it is in use
  uint64_t unused;
};
static_assert(sizeof(SegmentHeader) == 64);

/// Checksum of all words of a segment except the checksum; never 0. `words`: its bytes / 8, a
/// multiple of 4.
uint64_t segment_checksum(const uint64_t* segment, size_t words);

inline constexpr size_t kSegmentBytes = size_t{256} << 10;

/// Place and memory limit of segments; one per process.
struct SegmentSpace {
  const char* directory = nullptr;  ///< null: in memory that ends with the process
  const char* overflow = nullptr;   ///< where full memory is emptied to; null: it is not
  int rank = 0;
  bool in_memory = true;  ///< `directory` is memory, not a disk: the limit counts
  uint64_t limit = uint64_t{256} << 20;
};

/// The file of one thread. Nothing here throws or prints; errors are results. Used by one thread.
class SegmentFile {
 public:
  enum class Result {
    kGood,
    kFlushed,  ///< good, after moving a segment to the overflow directory
    kFull,     ///< the limit is reached and there is no overflow directory
    kFailed,   ///< the file cannot be created or extended, or moving failed; see errno
  };

  /// Completes the segment in use and begins a zeroed one of at least `bytes`. After kFull and
  /// kFailed the old one stays mapped with its contents.
  Result extend(const SegmentSpace& space, uint32_t thread, size_t bytes);

  /// Clears the segment in use and begins it anew. False if it is smaller than `bytes` or there is
  /// none: then call extend().
  bool begin_again(size_t bytes);

  SegmentHeader* header() const { return window_; }
  uint64_t* begin() const { return reinterpret_cast<uint64_t*>(window_ + 1); }
  uint64_t* end() const {
    return reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(window_) + window_bytes_);
  }

  /// Files of this thread with its segments; -1 where there is none.
  int file() const { return file_; }
  int overflow_file() const { return overflow_file_; }

  /// Removes the files. The segment in use stays mapped: a thread may still be writing to it.
  /// `close` is false if a thread may even need the next one.
  void remove(const SegmentSpace& space, uint32_t thread, bool close);

  /// Bytes that all threads hold in memory.
  static uint64_t bytes_held();

 private:
  Result extend_file(const SegmentSpace& space, uint32_t thread, size_t bytes);
  bool create(const SegmentSpace& space, uint32_t thread);
  /// The segment in use is complete.
  void seal();
  bool map_next(uint32_t thread, size_t size);
  bool can_move(const SegmentSpace& space) const;
  bool copy_oldest(const SegmentSpace& space, uint32_t thread, uint64_t& bytes);
  bool move_oldest(const SegmentSpace& space, uint32_t thread);
  bool use_again(const SegmentSpace& space, uint32_t thread);

  SegmentHeader* window_ = nullptr;
  size_t window_bytes_ = 0;
  int file_ = -1;
  int overflow_file_ = -1;
  uint64_t end_ = 0;       ///< bytes of the file
  uint64_t moved_ = 0;     ///< bytes at its beginning that were moved away
  uint64_t sequence_ = 0;  ///< of the next segment
};

/// Name of a thread's file in a directory.
void segment_file_name(char* name, size_t size, const char* directory, int rank, uint32_t thread);

}  // namespace tracing
}  // namespace rubato
