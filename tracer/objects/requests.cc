#include "tracer/objects/requests.h"

#include <sys/mman.h>

#include <atomic>

namespace rubato::tracing::requests {

bool threaded = false;

namespace {

/// Entries in a row, oldest first, linked by Request::next. Entry 0 is "none".
struct Chain {
  uint32_t head = 0;
  uint32_t tail = 0;
};

/// Entries of handles with one hash value: waiting and claimed ones.
struct Bucket {
  Chain waiting;
  Chain claimed;
};

/// Waits in the kernel, so that a holder that lost its core gets it back.
class Mutex {
 public:
  void lock() {
    uint32_t free = 0;
    if (state_.compare_exchange_strong(free, 1, std::memory_order_acquire)) return;
    wait();
  }
  void unlock() {
    if (state_.exchange(0, std::memory_order_release) == 2) state_.notify_one();
  }

 private:
  [[gnu::noinline]] void wait() {
    while (state_.exchange(2, std::memory_order_acquire) != 0) state_.wait(2);
  }

  std::atomic<uint32_t> state_{0};  ///< 1: held, 2: held, and others may wait
};

/// A part of the buckets, with a lock and a store of entries: threads seldom meet in one.
struct alignas(64) Shard {
  Mutex mutex;
  uint32_t free_list = 0;
  uint32_t fresh = 0;  ///< from here to `fresh_end`: never used
  uint32_t fresh_end = 0;
};

constexpr unsigned kShardBits = 6;
constexpr unsigned kBucketBits = 13;
constexpr uint32_t kChunk = 1 << 10;
constexpr uint32_t kMaxChunks = 1 << 14;

Shard shards[1 << kShardBits];
alignas(64) Bucket buckets[1 << kBucketBits];
Request* chunks[kMaxChunks];
std::atomic<uint32_t> chunk_count{0};

/// Where the entries of a key are; locked while this lives.
class Place {
 public:
  explicit Place(uint64_t key)
      : hash_(key * 0x9e3779b97f4a7c15u),
        shard_(shards[threaded ? hash_ >> (64 - kShardBits) : 0]) {
    if (threaded) shard_.mutex.lock();
  }
  ~Place() {
    if (threaded) shard_.mutex.unlock();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  Bucket& bucket() { return buckets[hash_ >> (64 - kBucketBits)]; }
  Shard& shard() { return shard_; }

 private:
  uint64_t hash_;
  Shard& shard_;
};

Request& entry(uint32_t index) {
  return chunks[index / kChunk][index % kChunk];
}

/// 0 when memory is exhausted; the request then goes unseen.
uint32_t new_entry(Shard& shard) {
  if (shard.free_list != 0) {
    const uint32_t index = shard.free_list;
    shard.free_list = entry(index).next;
    return index;
  }
  if (shard.fresh == shard.fresh_end) {
    if (chunk_count.load() >= kMaxChunks) return 0;
    void* memory = mmap(nullptr, kChunk * sizeof(Request), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 0;
    const uint32_t number = chunk_count++;
    if (number >= kMaxChunks) {
      munmap(memory, kChunk * sizeof(Request));
      return 0;
    }
    chunks[number] = static_cast<Request*>(memory);
    shard.fresh = number * kChunk + (number == 0 ? 1 : 0);
    shard.fresh_end = (number + 1) * kChunk;
  }
  return shard.fresh++;
}

[[gnu::always_inline]] inline void append(Chain& chain, uint32_t index) {
  entry(index).next = 0;
  (chain.tail == 0 ? chain.head : entry(chain.tail).next) = index;
  chain.tail = index;
}

/// Before all others.
void put_back(Chain& chain, uint32_t index) {
  entry(index).next = chain.head;
  chain.head = index;
  if (chain.tail == 0) chain.tail = index;
}

/// An entry, and the one before it in the chain; 0 where there is none.
struct Found {
  uint32_t index = 0;
  uint32_t previous = 0;
};

/// The oldest entry of a handle.
Found find(const Chain& chain, uint64_t handle) {
  Found found{chain.head, 0};
  while (found.index != 0 && entry(found.index).handle != handle) {
    found = {entry(found.index).next, found.index};
  }
  return found;
}

Found find_entry(const Chain& chain, uint32_t index) {
  Found found{chain.head, 0};
  while (found.index != index) found = {entry(found.index).next, found.index};
  return found;
}

[[gnu::always_inline]] inline void unlink(Chain& chain, const Found& found) {
  const uint32_t next = entry(found.index).next;
  (found.previous == 0 ? chain.head : entry(found.previous).next) = next;
  if (chain.tail == found.index) chain.tail = found.previous;
}

/// The request meant by a call that does not complete it: the oldest that waits, else the newest
/// that is claimed, since older ones may have completed. 0 if there is none.
uint32_t find_live(const Bucket& bucket, uint64_t handle) {
  uint32_t found = find(bucket.waiting, handle).index;
  if (found != 0) return found;
  for (uint32_t i = bucket.claimed.head; i != 0; i = entry(i).next) {
    if (entry(i).handle == handle) found = i;
  }
  return found;
}

void add_at(uint64_t key, const Request& request) {
  Place place(key);
  const uint32_t index = new_entry(place.shard());
  if (index == 0) return;
  entry(index) = request;
  entry(index).handle = key;
  append(place.bucket().waiting, index);
}

Claim claim_at(uint64_t key) {
  Place place(key);
  Bucket& bucket = place.bucket();
  const Found found = find(bucket.waiting, key);
  if (found.index == 0) return kNoClaim;
  unlink(bucket.waiting, found);
  append(bucket.claimed, found.index);
  return found.index;
}

void release_at(uint64_t key, Claim claim) {
  Place place(key);
  Bucket& bucket = place.bucket();
  unlink(bucket.claimed, find_entry(bucket.claimed, claim));
  put_back(bucket.waiting, claim);
}

template <bool claimed>
bool take_at(uint64_t key, Claim claim, bool stays, Request& request) {
  Place place(key);
  Bucket& bucket = place.bucket();
  Chain& chain = claimed ? bucket.claimed : bucket.waiting;
  const Found found = claimed ? find_entry(chain, claim) : find(chain, key);
  if (found.index == 0) return false;
  Request& taken = entry(found.index);
  request = taken;
  if (stays) {
    taken.active = false;
    taken.cancelled = false;
    if (!claimed) return request.active;
  }
  unlink(chain, found);
  if (stays) {
    put_back(bucket.waiting, found.index);
  } else {
    taken.next = place.shard().free_list;
    place.shard().free_list = found.index;
  }
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

Claim claim_among_threads(MPI_Request handle) {
  return handle != handles.request_null ? claim_at(handle_bits(handle)) : kNoClaim;
}

void release(MPI_Request handle, Claim claim) {
  if (claim != kNoClaim) release_at(handle_bits(handle), claim);
}

bool take(MPI_Request handle, Claim claim, bool stays, Request& request) {
  const uint64_t key = handle_bits(handle);
  if (!threaded) return take_at<false>(key, kNoClaim, stays, request);
  return claim != kNoClaim && take_at<true>(key, claim, stays, request);
}

bool restart(MPI_Request handle, bool unrecorded, Request& request) {
  Place place(handle_bits(handle));
  const uint32_t found = find_live(place.bucket(), handle_bits(handle));
  if (found == 0 || !entry(found).persistent) return false;
  entry(found).active = true;
  entry(found).unrecorded = unrecorded;
  request = entry(found);
  return true;
}

bool find(MPI_Request handle, Request& request) {
  Place place(handle_bits(handle));
  const uint32_t found = find_live(place.bucket(), handle_bits(handle));
  if (found == 0) return false;
  request = entry(found);
  return true;
}

void mark_cancelled(MPI_Request handle) {
  Place place(handle_bits(handle));
  const uint32_t found = find_live(place.bucket(), handle_bits(handle));
  if (found != 0) entry(found).cancelled = true;
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
  if (!take_at<false>(key, kNoClaim, false, request)) return false;
  number = request.number;
  return true;
}

void add_message(MPI_Message handle, const Message& message, unsigned any) {
  Request request;
  request.message = message;
  request.extra = any;
  add_at(message_key(handle), request);
}

Claim claim_message(MPI_Message handle) {
  return threaded ? claim_at(message_key(handle)) : kNoClaim;
}

void release_message(MPI_Message handle, Claim claim) {
  if (claim != kNoClaim) release_at(message_key(handle), claim);
}

bool take_message(MPI_Message handle, Claim claim, Message& message, unsigned& any) {
  Request request;
  const uint64_t key = message_key(handle);
  const bool ours = threaded ? claim != kNoClaim && take_at<true>(key, claim, false, request)
                             : take_at<false>(key, kNoClaim, false, request);
  if (!ours) return false;
  message = request.message;
  any = static_cast<unsigned>(request.extra);
  return true;
}

}  // namespace rubato::tracing::requests
