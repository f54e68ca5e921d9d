#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/clock.h"
#include "tracer/record.h"

/// The hot path: where records go. Each thread appends to segments of its own, memory mapped and
/// bounded over all threads by one limit. Nothing here locks, except when a thread makes its first
/// call; nothing allocates, except a segment every few hundred thousand calls.
namespace rubato {

/// A stretch of memory that holds whole calls.
struct Segment {
  Segment* next;
  size_t bytes;
  uint64_t* end;  ///< behind the last call; for the segment in use the log's `at` counts
  uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
  const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(this + 1); }
};

/// What one thread recorded.
struct ThreadLog {
  uint64_t* at = nullptr;     ///< where the next call goes
  uint64_t* limit = nullptr;  ///< end of the segment in use
  uint64_t posted = 0;        ///< requests posted by this thread so far
  uint32_t number = 0;        ///< 0 for the thread that called MPI_Init
  bool busy = false;  ///< inside a recorded call: what MPI calls from there is its own affair
  Segment* first = nullptr;
  Segment* last = nullptr;
  ThreadLog* next = nullptr;
};

class Recorder {
 public:
  /// Before the first record.
  static void set_limit(uint64_t bytes) { limit_ = bytes; }
  static void start(uint64_t zero) {
    zero_ = zero;
    on_.store(true, std::memory_order_release);
  }
  static void stop() { on_.store(false, std::memory_order_release); }

  static bool on() { return on_.load(std::memory_order_relaxed); }
  /// The tick that all enter times count from.
  static uint64_t zero() { return zero_; }
  /// When the memory limit ended recording; 0 if it did not.
  static uint64_t full_at() { return full_at_.load(std::memory_order_relaxed); }
  static uint64_t bytes_used() { return used_.load(std::memory_order_relaxed); }

  static ThreadLog* this_thread() { return thread_log_ != nullptr ? thread_log_ : new_thread(); }
  static ThreadLog* threads() { return threads_.load(std::memory_order_acquire); }

  /// Makes room for `words` more in the log; false when the memory is used up (recording then
  /// stops).
  static bool refill(ThreadLog& log, size_t words);

  /// Gives a log's memory back.
  static void release(ThreadLog& log);

  /// Lets this thread record into `log` and returns the log it had: for measuring what recording
  /// costs, and for recording it into nothing.
  static ThreadLog* swap_thread_log(ThreadLog* log);

 private:
  static ThreadLog* new_thread();

  static inline std::atomic<bool> on_{false};
  static inline uint64_t zero_ = 0;
  static inline uint64_t limit_ = uint64_t{1} << 30;
  static inline std::atomic<uint64_t> used_{0};
  static inline std::atomic<uint64_t> full_at_{0};
  static inline std::atomic<uint32_t> thread_count_{0};
  static inline std::atomic<ThreadLog*> threads_{nullptr};
  static inline thread_local ThreadLog* thread_log_ = nullptr;
};

/// Words that are free in a log when a call begins: enough for every call that does not complete an
/// array of requests.
inline constexpr size_t kFreeWords = 64;

/// The log to record a call into, or null when the call is to pass unrecorded: recording is off, or
/// MPI called itself.
inline ThreadLog* begin_call() {
  if (!Recorder::on()) return nullptr;
  ThreadLog* log = Recorder::this_thread();
  if (log == nullptr || log->busy) return nullptr;
  if (static_cast<size_t>(log->limit - log->at) < kFreeWords &&
      !Recorder::refill(*log, kFreeWords)) {
    return nullptr;
  }
  return log;
}

/// One MPI call being recorded, from its Enter stamp (the constructor) to its Leave stamp (leave).
/// Items are written behind the head meanwhile, and become part of the log in leave().
class Call {
 public:
  Call(ThreadLog* log, unsigned id) : log_(*log), at_(log->at + kHeadWords), id_(id) {
    log_.busy = true;
    enter_ = Clock::now();
  }
  /// A call that was entered before it could be recorded (MPI_Init).
  Call(ThreadLog* log, unsigned id, uint64_t enter) : Call(log, id) { enter_ = enter; }
  Call(Call&& other) : log_(other.log_), at_(other.at_), enter_(other.enter_), id_(other.id_) {
    other.moved_ = true;
  }
  ~Call() {
    if (!moved_) log_.busy = false;
  }

  /// Makes room for starting or completing this many requests, before the first item; false: do
  /// without them, recording has ended.
  bool reserve(size_t requests) {
    const size_t words = kHeadWords + requests * kMaxRequestWords + kFreeWords;
    if (static_cast<size_t>(log_.limit - log_.at) >= words) return true;
    if (!Recorder::refill(log_, words)) return false;
    at_ = log_.at + kHeadWords;
    return true;
  }

  void item(Item item, uint64_t value) { at_ = record::put(at_, item, value); }
  void message(Item item, const Message& message) { at_ = record::put_message(at_, item, message); }
  void word(uint64_t word) { *at_++ = word; }

  /// A number for a request that this call posts.
  uint64_t next_request() { return uint64_t{log_.number} << 40 | ++log_.posted; }

  void leave() {
    const uint64_t end = Clock::now();
    uint64_t duration = end - enter_;
    uint64_t* const head = log_.at;
    if (duration >= kMaxDuration) [[unlikely]] {
      item(Item::kLeaveTime, 0);
      word(end - Recorder::zero());
      duration = kMaxDuration;
    }
    head[0] = record::head(enter_ - Recorder::zero(), id_);
    head[1] = record::size_word(duration, static_cast<size_t>(at_ - head - kHeadWords));
    log_.at = at_;
  }

  ThreadLog& log() { return log_; }

 private:
  ThreadLog& log_;
  uint64_t* at_;
  uint64_t enter_;
  unsigned id_;
  bool moved_ = false;
};

}  // namespace rubato
