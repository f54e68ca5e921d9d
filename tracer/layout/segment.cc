#include "tracer/layout/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "tracer/base/clock.h"
#include "tracer/base/file_limit.h"

/// The kernel holds the memory: pages of a shared mapping belong to the file, so they survive a
/// kill of the process. Space is reserved before it is mapped, because writing to a mapping on a
/// full disk raises SIGBUS in the host program. Pages are made present in one go, because a page
/// fault per 170 calls would cost more than recording.
namespace rubato {
inline namespace tracing {
namespace {

std::atomic<uint64_t> held{0};

/// Gives bytes back that were counted but not taken.
void release(uint64_t bytes) {
  held.fetch_sub(bytes, std::memory_order_relaxed);
}

/// Repeats a system call that a signal of the program interrupts.
template <class Attempt>
auto despite_signals(Attempt attempt) {
  auto result = attempt();
  while (result < 0 && errno == EINTR) result = attempt();
  return result;
}

bool write_zeros(int file, uint64_t offset, size_t bytes) {
  static char zeros[65536];  // not const, or the library's file would contain them
  for (size_t i = 0; i < bytes;) {
    const ssize_t written = despite_signals([&] {
      return pwrite(file, zeros, std::min(bytes - i, sizeof zeros), static_cast<off_t>(offset + i));
    });
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      [[maybe_unused]] const int cut = ftruncate(file, static_cast<off_t>(offset));
      errno = error;
      return false;
    }
    i += static_cast<size_t>(written);
  }
  return true;
}

/// Extends the file by allocated space.
///
/// In memory, fallocate() leaves pages to be cleared when they are mapped, one by one. Writing
/// zeros and mapping the result is faster (here 0.13 ms instead of 0.18 ms for a segment).
///
/// A signal of the program ends fallocate() without effect, and the next one may be due before a
/// whole segment is allocated (a profiler's timer): then it continues in pieces of some 10 us each.
bool reserve(int file, uint64_t offset, size_t bytes, bool in_memory) {
  if (in_memory) return write_zeros(file, offset, bytes);
  size_t piece = bytes;
  for (size_t done = 0; done < bytes;) {
    piece = std::min(piece, bytes - done);
    if (fallocate(file, 0, static_cast<off_t>(offset + done), static_cast<off_t>(piece)) == 0) {
      done += piece;
    } else if (errno == EINTR) {
      piece = std::min(piece, size_t{32} << 10);
    } else if (errno == EOPNOTSUPP) {
      return write_zeros(file, offset, bytes);  // a file system without fallocate
    } else {
      const int error = errno;
      if (done > 0) {
        fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(done));
      }
      errno = error;
      return false;
    }
  }
  return true;
}

bool copy(int from, uint64_t offset, int to, uint64_t bytes) {
  auto at = static_cast<off_t>(offset);
  while (bytes > 0) {
    const ssize_t done = despite_signals([&] { return sendfile(to, from, &at, bytes); });
    if (done == 0) errno = EIO;  // it is shorter than it was
    if (done <= 0) return false;
    bytes -= static_cast<uint64_t>(done);
  }
  return true;
}

/// Writes a zero to each page. Populating a shared mapping only maps its pages for reading; the
/// first write would cost the program 5 to 20 us a page in virtual machines. Here that time is part
/// of the flush, which is recorded.
void touch_pages(void* memory, size_t size) {
  constexpr size_t kPage = 4096;
  auto* bytes = static_cast<volatile char*>(memory);
  for (size_t at = 0; at < size; at += kPage) bytes[at] = 0;
}

}  // namespace

/// Four interleaved sums, since the latency of a multiplication is four times its issue interval:
/// 256 KiB in 20 to 30 us, once a segment. The sum depends on the order of the words.
uint64_t segment_checksum(const uint64_t* segment, size_t words) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  constexpr size_t kSkipped = offsetof(SegmentHeader, checksum) / sizeof(uint64_t);
  uint64_t sums[4] = {1, 2, 3, 4};
  for (size_t i = 0; i < words; i += 4) {
    for (size_t lane = 0; lane < 4; ++lane) {
      const uint64_t word = i + lane == kSkipped ? 0 : segment[i + lane];
      sums[lane] = (sums[lane] ^ word) * kFactor;
      sums[lane] ^= sums[lane] >> 32;
    }
  }
  const uint64_t all = ((sums[0] * kFactor + sums[1]) * kFactor + sums[2]) * kFactor + sums[3];
  return all == 0 ? 1 : all;
}

void SegmentFile::seal() {
  window_->checksum = segment_checksum(reinterpret_cast<const uint64_t*>(window_),
                                       window_bytes_ / sizeof(uint64_t));
}

void segment_file_name(char* name, size_t size, const char* directory, int rank, uint32_t thread) {
  std::snprintf(name, size, "%s/%d.%u.records", directory, rank, thread);
}

uint64_t SegmentFile::bytes_held() {
  return held.load(std::memory_order_relaxed);
}

bool SegmentFile::create(const SegmentSpace& space, uint32_t thread) {
  if (space.directory == nullptr) {
    file_ = memfd_create("rubato", MFD_CLOEXEC);
    return file_ >= 0;
  }
  char name[PATH_MAX];
  segment_file_name(name, sizeof name, space.directory, space.rank, thread);
  file_ = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  return file_ >= 0;
}

/// There is a segment besides the one in use.
bool SegmentFile::can_move(const SegmentSpace& space) const {
  return space.in_memory && space.overflow != nullptr && moved_ + window_bytes_ < end_;
}

bool SegmentFile::copy_oldest(const SegmentSpace& space, uint32_t thread, uint64_t& bytes) {
  if (overflow_file_ < 0) {
    char name[PATH_MAX];
    mkdir(space.overflow, 0777);
    segment_file_name(name, sizeof name, space.overflow, space.rank, thread);
    overflow_file_ = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (overflow_file_ < 0) return false;
  }
  SegmentHeader header;
  if (pread(file_, &header, sizeof header, static_cast<off_t>(moved_)) !=
      static_cast<ssize_t>(sizeof header)) {
    errno = EIO;
    return false;
  }
  bytes = header.bytes;
  return copy(file_, moved_, overflow_file_, bytes);
}

/// Never the segment in use: another process may take the memory as soon as it is free, and then
/// the next write to the mapping kills the program.
bool SegmentFile::move_oldest(const SegmentSpace& space, uint32_t thread) {
  uint64_t bytes;
  if (!copy_oldest(space, thread, bytes)) return false;
  // Only now: a kill in between leaves two copies, which have the same number.
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(moved_),
            static_cast<off_t>(bytes));
  moved_ += bytes;
  release(bytes);
  return true;
}

/// Copies the segment in use, the only one left, and reuses its memory for the next one. If a
/// segment is in both files, readers take the copy.
bool SegmentFile::use_again(const SegmentSpace& space, uint32_t thread) {
  assert(moved_ + window_bytes_ == end_);
  uint64_t bytes;
  seal();
  if (!copy_oldest(space, thread, bytes)) {
    window_->checksum = 0;
    return false;
  }
  std::memset(begin(), 0, window_bytes_ - sizeof(SegmentHeader));
  *window_ = {SegmentHeader::kMagic,
              sequence_++,
              window_bytes_,
              Clock::now(),
              Clock::monotonic(),
              thread,
              0,
              0};
  return true;
}

bool SegmentFile::begin_again(size_t bytes) {
  if (window_ == nullptr || window_bytes_ < bytes + sizeof(SegmentHeader)) return false;
  std::memset(begin(), 0, window_bytes_ - sizeof(SegmentHeader));
  return true;
}

bool SegmentFile::map_next(uint32_t thread, size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_,
                      static_cast<off_t>(end_));
  if (memory == MAP_FAILED) return false;
  madvise(memory, size, MADV_DONTFORK);
  touch_pages(memory, size);
  if (window_ != nullptr) {
    seal();
    munmap(window_, window_bytes_);
  }
  window_ = static_cast<SegmentHeader*>(memory);
  window_bytes_ = size;
  end_ += size;
  *window_ = {SegmentHeader::kMagic, sequence_++, size, Clock::now(),
              Clock::monotonic(),    thread,      0,    0};
  return true;
}

SegmentFile::Result SegmentFile::extend(const SegmentSpace& space, uint32_t thread, size_t bytes) {
  const NoFileSizeSignal quiet;
  return extend_file(space, thread, bytes);
}

SegmentFile::Result SegmentFile::extend_file(const SegmentSpace& space, uint32_t thread,
                                             size_t bytes) {
  if (file_ < 0 && !create(space, thread)) return Result::kFailed;
  const size_t size = (std::max(bytes + sizeof(SegmentHeader), kSegmentBytes) + kSegmentBytes - 1) &
                      ~(kSegmentBytes - 1);

  Result result = Result::kGood;
  held.fetch_add(size, std::memory_order_relaxed);
  const auto too_much = [&] { return space.in_memory && bytes_held() > space.limit; };
  bool reserved = false;
  while (can_move(space) &&
         (too_much() || !(reserved = reserve(file_, end_, size, space.in_memory)))) {
    if (!move_oldest(space, thread)) {
      release(size);
      return Result::kFailed;
    }
    result = Result::kFlushed;
  }
  if (too_much() && space.overflow == nullptr) {
    release(size);
    return Result::kFull;
  }
  const bool may_use_again = space.in_memory && space.overflow != nullptr && size <= window_bytes_;
  // A thread with no segment to move exceeds the limit by one, or it could never record.
  if (!reserved && !(too_much() && may_use_again))
    reserved = reserve(file_, end_, size, space.in_memory);
  if (reserved && map_next(thread, size)) return result;
  release(size);
  if (!may_use_again) return Result::kFailed;
  // If mapping failed, more segments than the one in use may be left.
  while (can_move(space)) {
    if (!move_oldest(space, thread)) return Result::kFailed;
  }
  return use_again(space, thread) ? Result::kFlushed : Result::kFailed;
}

void SegmentFile::remove(const SegmentSpace& space, uint32_t thread, bool close) {
  char name[PATH_MAX];
  if (file_ >= 0 && space.directory != nullptr) {
    segment_file_name(name, sizeof name, space.directory, space.rank, thread);
    unlink(name);
  }
  if (overflow_file_ >= 0) {
    segment_file_name(name, sizeof name, space.overflow, space.rank, thread);
    unlink(name);
  }
  if (!close) return;
  if (file_ >= 0) {
    ::close(file_);
    release(end_ - moved_);
  }
  if (overflow_file_ >= 0) ::close(overflow_file_);
  file_ = overflow_file_ = -1;
}

}  // namespace tracing
}  // namespace rubato
