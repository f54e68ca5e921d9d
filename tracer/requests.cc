#include "tracer/requests.h"

#include <sys/mman.h>

#include <atomic>
#include <new>

namespace rubato::requests {
namespace {

// Chains per bucket, newest at the tail. Entry 0 is "none".
constexpr uint32_t kBuckets = 1 << 13;
constexpr uint32_t kChunk = 1 << 12;
constexpr uint32_t kMaxChunks = 1 << 12;

struct Bucket {
  uint32_t head = 0;
  uint32_t tail = 0;
};

Bucket buckets[kBuckets];
Request* chunks[kMaxChunks];
uint32_t chunk_count = 0;
uint32_t free_list = 0;
bool threaded = false;
std::atomic_flag locked = ATOMIC_FLAG_INIT;

class Lock {
 public:
  Lock() {
    if (threaded) {
      while (locked.test_and_set(std::memory_order_acquire)) {
      }
    }
  }
  ~Lock() {
    if (threaded) locked.clear(std::memory_order_release);
  }
};

Request& entry(uint32_t index) {
  return chunks[index / kChunk][index % kChunk];
}

Bucket& bucket_of(uint64_t handle) {
  return buckets[(handle * 0x9e3779b97f4a7c15u) >> 51];
}
static_assert(kBuckets == 1u << (64 - 51));

/// 0 when memory is exhausted; the request then goes unseen.
uint32_t new_entry() {
  if (free_list == 0) {
    if (chunk_count == kMaxChunks) return 0;
    void* memory = mmap(nullptr, kChunk * sizeof(Request), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 0;
    auto* chunk = static_cast<Request*>(memory);
    chunks[chunk_count] = chunk;
    for (uint32_t i = kChunk; i-- > 0;) {
      const uint32_t index = chunk_count * kChunk + i;
      if (index == 0) continue;
      (new (&chunk[i]) Request)->next = free_list;
      free_list = index;
    }
    ++chunk_count;
  }
  const uint32_t index = free_list;
  free_list = entry(index).next;
  return index;
}

/// The oldest entry of a handle, and the one before it in the chain; 0 where there is none.
struct Found {
  uint32_t index = 0;
  uint32_t previous = 0;
};

Found find(const Bucket& bucket, uint64_t handle) {
  Found found{bucket.head, 0};
  while (found.index != 0 && entry(found.index).handle != handle) {
    found = {entry(found.index).next, found.index};
  }
  return found;
}

void add_at(uint64_t key, const Request& request) {
  const Lock lock;
  const uint32_t index = new_entry();
  if (index == 0) return;
  entry(index) = request;
  entry(index).handle = key;
  entry(index).next = 0;
  Bucket& bucket = bucket_of(key);
  (bucket.tail == 0 ? bucket.head : entry(bucket.tail).next) = index;
  bucket.tail = index;
}

bool take_at(uint64_t key, bool stays, Request& request) {
  const Lock lock;
  Bucket& bucket = bucket_of(key);
  const Found found = find(bucket, key);
  if (found.index == 0) return false;
  Request& taken = entry(found.index);
  request = taken;
  if (stays) {
    taken.active = false;
    taken.cancelled = false;
    return request.active;
  }
  (found.previous == 0 ? bucket.head : entry(found.previous).next) = taken.next;
  if (bucket.tail == found.index) bucket.tail = found.previous;
  taken.next = free_list;
  free_list = found.index;
  return request.active;
}

/// Handles of messages are not those of requests, though their bits may be the same.
uint64_t message_key(MPI_Message handle) {
  return handle_bits(handle) ^ uint64_t { 1 } << 63;
}

}  // namespace

void start(bool threads) {
  threaded = threads;
}

void add(MPI_Request handle, const Request& request) {
  if (handle != handles.request_null) add_at(handle_bits(handle), request);
}

bool take(MPI_Request handle, bool stays, Request& request) {
  return take_at(handle_bits(handle), stays, request);
}

bool restart(MPI_Request handle, bool unrecorded, Request& request) {
  const Lock lock;
  const Found found = find(bucket_of(handle_bits(handle)), handle_bits(handle));
  if (found.index == 0 || !entry(found.index).persistent) return false;
  entry(found.index).active = true;
  entry(found.index).unrecorded = unrecorded;
  request = entry(found.index);
  return true;
}

bool find(MPI_Request handle, Request& request) {
  const Lock lock;
  const Found found = find(bucket_of(handle_bits(handle)), handle_bits(handle));
  if (found.index == 0) return false;
  request = entry(found.index);
  return true;
}

void mark_cancelled(MPI_Request handle) {
  const Lock lock;
  const Found found = find(bucket_of(handle_bits(handle)), handle_bits(handle));
  if (found.index != 0) entry(found.index).cancelled = true;
}

uint64_t next_persistent_number(uint32_t thread) {
  static std::atomic<uint64_t> count{0};
  return uint64_t{thread} << 40 | uint64_t{1} << 39 | ++count;
}

void add_number(uint64_t key, uint64_t number) {
  Request request;
  request.number = number;
  add_at(key, request);
}

bool take_number(uint64_t key, uint64_t& number) {
  Request request;
  if (!take_at(key, false, request)) return false;
  number = request.number;
  return true;
}

void add_message(MPI_Message handle, const Message& message, unsigned any) {
  Request request;
  request.message = message;
  request.extra = any;
  add_at(message_key(handle), request);
}

bool take_message(MPI_Message handle, Message& message, unsigned& any) {
  Request request;
  if (!take_at(message_key(handle), false, request)) return false;
  message = request.message;
  any = static_cast<unsigned>(request.extra);
  return true;
}

}  // namespace rubato::requests
