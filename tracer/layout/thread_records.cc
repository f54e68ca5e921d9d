#include "tracer/layout/thread_records.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace rubato {
inline namespace tracing {

ThreadRecords::ThreadRecords(uint32_t thread, int file, int overflow_file, bool call_sites)
    : thread_(thread), call_sites_(call_sites) {
  find(overflow_file);
  find(file);
  std::stable_sort(segments_.begin(), segments_.end(), [](const Segment& a, const Segment& b) {
    return a.header.sequence < b.header.sequence;
  });
  // A segment that was copied and not yet removed is in both files.
  segments_.erase(std::unique(segments_.begin(), segments_.end(),
                              [](const Segment& a, const Segment& b) {
                                return a.header.sequence == b.header.sequence;
                              }),
                  segments_.end());
  if (!segments_.empty()) missing_ = segments_.back().header.sequence + 1 - segments_.size();
}

void ThreadRecords::find(int file) {
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0) return;
  const auto size = static_cast<uint64_t>(info.st_size);
  for (uint64_t offset = 0; offset + sizeof(SegmentHeader) <= size;) {
    SegmentHeader header;
    const ssize_t got = pread(file, &header, sizeof header, static_cast<off_t>(offset));
    // A partly copied segment is whole in the other file.
    const bool good = got == static_cast<ssize_t>(sizeof header) &&
                      header.magic == SegmentHeader::kMagic && header.thread == thread_ &&
                      header.bytes >= sizeof header && header.bytes % kSegmentBytes == 0 &&
                      header.bytes <= size - offset;
    if (good) segments_.push_back({file, offset, header});
    offset += good ? header.bytes : kSegmentBytes;
  }
}

uint64_t ThreadRecords::bytes() const {
  return std::accumulate(
      segments_.begin(), segments_.end(), uint64_t{0},
      [](uint64_t sum, const Segment& segment) { return sum + segment.header.bytes; });
}

uint64_t ThreadRecords::drop_damaged(int& file, uint64_t& at) {
  return std::erase_if(segments_, [&, first = true](const Segment& segment) mutable {
    if (passed_) passed_(segment.header.bytes);
    if (segment.header.checksum == 0) return false;
    const Mapping mapping(segment);
    if (mapping.begin() == nullptr) return false;  // for_each() reports it
    const uint64_t* const words = mapping.begin() - sizeof(SegmentHeader) / sizeof(uint64_t);
    const auto count = static_cast<size_t>(mapping.end() - words);
    if (segment_checksum(words, count) == segment.header.checksum) return false;
    if (std::exchange(first, false)) {
      file = segment.file;
      at = segment.offset;
    }
    return true;
  });
}

ThreadRecords::Mapping::Mapping(const Segment& segment) : bytes_(segment.header.bytes) {
  memory_ = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED | MAP_POPULATE, segment.file,
                 static_cast<off_t>(segment.offset));
  if (memory_ == MAP_FAILED) return;
  begin_ =
      reinterpret_cast<const uint64_t*>(static_cast<const char*>(memory_) + sizeof(SegmentHeader));
  end_ = reinterpret_cast<const uint64_t*>(static_cast<const char*>(memory_) + bytes_);
}

ThreadRecords::Mapping::~Mapping() {
  if (memory_ != MAP_FAILED) munmap(memory_, bytes_);
}

}  // namespace tracing
}  // namespace rubato
