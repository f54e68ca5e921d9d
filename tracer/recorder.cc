#include "tracer/recorder.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace rubato {
namespace {

constexpr size_t kSegmentBytes = size_t{4} << 20;

void* map(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

bool Recorder::refill(ThreadLog& log, size_t words) {
  const size_t wanted = sizeof(Segment) + words * sizeof(uint64_t);
  const size_t bytes = std::max(kSegmentBytes, (wanted + 4095) & ~size_t{4095});
  // A small limit is used to its end: take what is left if the call fits.
  const uint64_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  size_t granted = bytes;
  if (before + bytes > limit_) {
    granted = before < limit_ ? static_cast<size_t>((limit_ - before) & ~uint64_t{4095}) : 0;
    used_.fetch_sub(bytes - granted, std::memory_order_relaxed);
  }
  void* memory = granted >= wanted ? map(granted) : nullptr;
  if (memory == nullptr) {
    uint64_t none = 0;
    full_at_.compare_exchange_strong(none, Clock::now());
    stop();
    return false;
  }
  auto* segment = new (memory) Segment{nullptr, granted, nullptr};
  if (log.last == nullptr) {
    log.first = segment;
  } else {
    log.last->end = log.at;
    log.last->next = segment;
  }
  log.last = segment;
  log.at = segment->words();
  log.limit = reinterpret_cast<uint64_t*>(static_cast<char*>(memory) + granted);
  return true;
}

ThreadLog* Recorder::new_thread() {
  void* memory = map(sizeof(ThreadLog));
  if (memory == nullptr) return nullptr;
  auto* log = new (memory) ThreadLog;
  log->number = thread_count_.fetch_add(1);
  log->next = threads_.load();
  while (!threads_.compare_exchange_weak(log->next, log)) {
  }
  thread_log_ = log;
  return log;
}

void Recorder::release(ThreadLog& log) {
  while (log.first != nullptr) {
    Segment* segment = log.first;
    log.first = segment->next;
    used_.fetch_sub(segment->bytes, std::memory_order_relaxed);
    munmap(segment, segment->bytes);
  }
  log.at = log.limit = nullptr;
  log.last = nullptr;
}

ThreadLog* Recorder::swap_thread_log(ThreadLog* log) {
  ThreadLog* old = thread_log_;
  thread_log_ = log;
  return old;
}

}  // namespace rubato
