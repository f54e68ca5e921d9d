#include "tracer/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "tracer/clock.h"

/// Why the kernel and not we hold the memory: pages of a shared mapping belong to the file, so they
/// are still there when the process is killed. Space is reserved before it is mapped, because
/// writing to a mapping behind which the disk is full is a SIGBUS in somebody's program; and pages
/// are made present in one go, because a page fault per 170 calls would cost more than recording.
namespace rubato {
namespace {

std::atomic<uint64_t> held{0};

/// Gives bytes back that were counted but not taken.
void release(uint64_t bytes) {
  held.fetch_sub(bytes, std::memory_order_relaxed);
}

/// Makes the file longer by space that is really there. True, or errno says what is wrong.
bool reserve(int file, uint64_t offset, size_t bytes) {
  if (fallocate(file, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return true;
  if (errno != EOPNOTSUPP) return false;
  static const char zeros[16384] = {};  // a file system without fallocate
  for (size_t i = 0; i < bytes; i += sizeof zeros) {
    const ssize_t written = pwrite(file, zeros, sizeof zeros, static_cast<off_t>(offset + i));
    if (written != static_cast<ssize_t>(sizeof zeros)) return false;
  }
  return true;
}

bool copy(int from, uint64_t offset, int to, uint64_t bytes) {
  auto at = static_cast<off_t>(offset);
  while (bytes > 0) {
    const ssize_t done = sendfile(to, from, &at, bytes);
    if (done <= 0) return false;
    bytes -= static_cast<uint64_t>(done);
  }
  return true;
}

}  // namespace

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

bool SegmentFile::move_oldest(const SegmentSpace& space, uint32_t thread) {
  if (overflow_file_ < 0) {
    char name[PATH_MAX];
    mkdir(space.overflow, 0777);
    segment_file_name(name, sizeof name, space.overflow, space.rank, thread);
    overflow_file_ = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (overflow_file_ < 0) return false;
  }
  SegmentHeader header;
  if (pread(file_, &header, sizeof header, static_cast<off_t>(moved_)) !=
      static_cast<ssize_t>(sizeof header)) {
    return false;
  }
  if (!copy(file_, moved_, overflow_file_, header.bytes)) return false;
  // Only now: a kill in between leaves the segment twice, which its number tells.
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(moved_),
            static_cast<off_t>(header.bytes));
  moved_ += header.bytes;
  release(header.bytes);
  return true;
}

SegmentFile::Result SegmentFile::extend(const SegmentSpace& space, uint32_t thread, size_t bytes) {
  if (file_ < 0 && !create(space, thread)) return Result::kDiskFull;
  const size_t size = (std::max(bytes + sizeof(SegmentHeader), kSegmentBytes) + kSegmentBytes - 1) &
                      ~(kSegmentBytes - 1);

  Result result = Result::kGood;
  uint64_t total = held.fetch_add(size, std::memory_order_relaxed) + size;
  if (space.in_memory) {
    while (total > space.limit && moved_ < end_ && space.overflow != nullptr) {
      if (!move_oldest(space, thread)) {
        release(size);
        return Result::kDiskFull;
      }
      result = Result::kFlushed;
      total = held.load(std::memory_order_relaxed);
    }
    // A thread that has nothing to move may take a segment all the same, or could never record.
    if (total > space.limit && space.overflow == nullptr) {
      release(size);
      return Result::kFull;
    }
  }
  while (!reserve(file_, end_, size)) {
    if (!space.in_memory || space.overflow == nullptr || moved_ == end_ ||
        !move_oldest(space, thread)) {
      release(size);
      return Result::kDiskFull;
    }
    result = Result::kFlushed;
  }
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_,
                      static_cast<off_t>(end_));
  if (memory == MAP_FAILED) {
    release(size);
    return Result::kDiskFull;
  }
  madvise(memory, size, MADV_DONTFORK);
  if (window_ != nullptr) munmap(window_, window_bytes_);
  window_ = static_cast<SegmentHeader*>(memory);
  window_bytes_ = size;
  end_ += size;
  *window_ = {SegmentHeader::kMagic, sequence_++, size, Clock::now(),
              Clock::monotonic(),    thread,      {}};
  return result;
}

void SegmentFile::remove(const SegmentSpace& space, uint32_t thread) {
  if (window_ != nullptr) munmap(window_, window_bytes_);
  window_ = nullptr;
  char name[PATH_MAX];
  if (file_ >= 0) {
    close(file_);
    release(end_ - moved_);
    if (space.directory != nullptr) {
      segment_file_name(name, sizeof name, space.directory, space.rank, thread);
      unlink(name);
    }
  }
  if (overflow_file_ >= 0) {
    close(overflow_file_);
    segment_file_name(name, sizeof name, space.overflow, space.rank, thread);
    unlink(name);
  }
  file_ = overflow_file_ = -1;
}

}  // namespace rubato
