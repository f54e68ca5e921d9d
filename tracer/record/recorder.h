#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracer/code/modules.h"
#include "tracer/record/record.h"
#include "tracer/record/segment.h"
#include "tracer/timing/clock.h"
#include "tracer/timing/stolen.h"

/// The hot path: where records go. Each thread appends to segments of its own (segment.h). Nothing
/// here locks, except when a thread makes its first call; nothing allocates, except a segment every
/// ten thousand calls, and the time that takes is on record.
namespace rubato {
inline namespace tracing {

class FunctionProbe;
class TimeSums;
struct RunBounds;

/// What one thread recorded.
struct ThreadLog {
  uint64_t* at = nullptr;     ///< where the next call goes
  uint64_t last = 0;          ///< when the record before was left; 0 where a segment begins
  uint64_t* limit = nullptr;  ///< end of the segment in use, less the words of a last mark; before
                              ///< it where a probe wants to be asked (function_probe.h)
  uint64_t posted = 0;        ///< requests posted by this thread so far
  const void* call_site = nullptr;  ///< where the program calls MPI from
  uint32_t number = 0;              ///< 0 for the thread that called MPI_Init
  int thread_id = 0;                ///< the kernel's; 0 when the thread has ended
  uint64_t context_switches = 0;    ///< involuntary ones before its first call
  uint64_t ended_switches = 0;      ///< those since the first call of threads that have ended
  uint32_t switches = 0;            ///< of Recorder's, how many are on this log's record
  int depth = 0;                    ///< functions open on this thread, see functions.h
  FunctionProbe* probe = nullptr;
  TimeSums* sums = nullptr;  ///< of the records that were not kept, see Recorder::keep_sums_only()
  bool busy = false;   ///< inside a recorded call: what MPI calls from there is its own affair
  bool muted = false;  ///< recording is switched off: requests and so on are kept up, calls dropped
  modules::Range code;            ///< addresses in here need no looking at (modules.h)
  modules::Range bindings;        ///< those in here are MPI's own calls
  StolenTime stolen;              ///< of the thread
  uint64_t asked = 0;             ///< when the kernel was last asked for that; 0: not yet
  uint64_t lost = 0;              ///< when it last said that the core had been lost
  uint64_t stretch = UINT64_MAX;  ///< ticks of a call or a gap behind which it is asked
  SegmentFile segments;
  ThreadLog* next = nullptr;       ///< of all
  ThreadLog* next_idle = nullptr;  ///< of those whose thread has ended

  /// Adds the records of the segment in use.
  void sum_up(TimeSums& all) const;
};

/// Why recording ended before the program did.
enum class Ended : uint32_t { kNot, kMemoryFull, kWriteFailed };

class Recorder {
 public:
  /// Before the first record; `zero` is the tick that enter times count from.
  static void start(const SegmentSpace& space, uint64_t zero) {
    space_ = space;
    zero_ = zero;
    on_.store(true, std::memory_order_release);
  }
  /// For good: no call passes through the recorder any more.
  static void stop() { on_.store(false, std::memory_order_release); }

  /// Records are added up whenever a segment is full, and not kept: memory stays as it is however
  /// long the program runs (time_sums.h). Before start().
  static void keep_sums_only(const RunBounds& bounds);

  static bool on() { return on_.load(std::memory_order_relaxed); }
  static uint64_t zero() { return zero_; }
  static Ended ended() { return ended_.load(std::memory_order_relaxed); }
  /// After Ended::kWriteFailed: errno of the file of records, see why_stopped(); else 0.
  static int ended_error() { return ended_error_.load(std::memory_order_relaxed); }
  static const SegmentSpace& space() { return space_; }

  /// Switches recording off and on again in mid-run, for all threads of the process. What calls
  /// do to requests and communicators is kept up meanwhile.
  static void pause(uint64_t now) { toggle(now, true); }
  static void resume(uint64_t now) { toggle(now, false); }
  static bool paused() { return switches_.load(std::memory_order_relaxed) % 2 != 0; }
  static uint32_t switches() { return switches_.load(std::memory_order_relaxed); }
  /// Recording is on only between two ticks, or between two passages of a Barrier on
  /// MPI_COMM_WORLD, counted from 1. To be called when recording has begun. Switches are made at
  /// the end of a call.
  static void set_window(uint64_t begin, uint64_t end, uint64_t now);
  static void set_barrier_window(uint64_t first, uint64_t last, uint64_t now);
  static uint64_t next_switch() { return next_switch_.load(std::memory_order_relaxed); }
  static void window_reached(uint64_t now);
  static void barrier_passed(uint64_t now);

  /// Puts the switches that `log` has not seen on its record.
  static void catch_up(ThreadLog& log);

  /// The log of this thread. Where there are many, that of a thread which has ended goes to the
  /// next new one: programs may start any number of short threads.
  static ThreadLog* this_thread() { return thread_log_ != nullptr ? thread_log_ : new_thread(); }
  /// Whether this thread has one; whether it is inside a recorded call.
  static bool has_log() { return thread_log_ != nullptr; }
  static bool in_call() { return thread_log_ != nullptr && thread_log_->busy; }
  static ThreadLog* threads() { return threads_.load(std::memory_order_acquire); }

  /// Makes room for `words` more in the log; false when there is none (recording then stops).
  static bool refill(ThreadLog& log, size_t words, bool in_function = false);

  /// From now on what is stolen from threads goes on record. The kernel is asked every
  /// kStretchNanoseconds, of which asking takes some thousandths. While a thread loses its core, it
  /// is asked behind each call and each gap of kShortStretchNanoseconds, so that what one of them
  /// lost does not count for another.
  static constexpr double kStretchNanoseconds = 500e3;
  static constexpr double kShortStretchNanoseconds = 50e3;
  static void record_stolen(double ticks_per_second);
  static uint64_t stretch() { return stretch_; }
  /// Whether the kernel is to be asked behind a stretch from `begin` to `now`.
  static bool is_to_ask(const ThreadLog& log, uint64_t begin, uint64_t now) {
    return now - begin >= log.stretch || now - log.asked >= stretch_;
  }
  /// Nanoseconds stolen in the stretch from `begin` to `end`, which was right before: no more than
  /// all of it, the rest counts for the next stretch. Returns when that was known.
  static uint64_t ask_stolen(ThreadLog& log, uint64_t begin, uint64_t end, uint64_t& stolen);
  /// A gap of that length ends at `now`: puts on record what was stolen in it, and returns when
  /// that was done.
  static uint64_t long_gap(ThreadLog& log, uint64_t now);

  /// Puts on record that so much was stolen before that tick, which was known at the tick `told`:
  /// from the one to the other the time is the tracer's. Where there is room for it.
  static void put_stolen(ThreadLog& log, uint64_t time, uint64_t nanoseconds, uint64_t told);
  static constexpr ptrdiff_t kStolenWords = kHeadWords + 2;
  static bool has_room_for_stolen(const ThreadLog& log) {
    return log.limit - log.at >= kStolenWords;
  }

  /// Puts a stretch of time on this thread's record that is the tracer's, not the program's, and
  /// leaves out of the next answer what was stolen in it.
  static void tracer_time(ThreadLog& log, uint64_t begin, uint64_t end);
  /// The same where the kernel was asked in it.
  static void put_tracer_time(ThreadLog& log, uint64_t begin, uint64_t end);

  /// A log has gone from one thread to another.
  static bool logs_reused() { return logs_reused_; }

  /// From now on each call says where the program calls it from. Before the first call.
  static void record_call_sites() { call_sites_ = true; }
  static bool call_sites() { return call_sites_; }

  /// To be told of each address that goes on record.
  static void note_code(ThreadLog& log, uint64_t address) {
    if (!log.code.has(address)) [[unlikely]]
      log.code = modules::note(address);
  }

  /// Removes a log's files, after stop(). A thread that is inside a call, or was interrupted where
  /// it records a function, still writes to its memory and may want more.
  static void release(ThreadLog& log) { log.segments.remove(space_, log.number, !log.busy); }

  /// Lets this thread record into `log` and returns the log it had: for measuring what recording
  /// costs.
  static ThreadLog* swap_thread_log(ThreadLog* log);

  /// Times of switches; the n-th switches off when n is even. So many of the last ones are kept: a
  /// thread that makes no call during more was switched off by the first of those that did so.
  static constexpr uint32_t kMaxSwitches = 1 << 16;

 private:
  struct ThreadEnd;
  static ThreadLog* new_thread();
  static ThreadLog* new_log();
  /// That this thread, whose log is new to it, began (threads.h), and that it ends.
  static void put_begin(ThreadLog& log, uint64_t since);
  static void put_end(ThreadLog& log);
  static void toggle(uint64_t now, bool off);
  static bool extend(ThreadLog& log, size_t words);
  static uint64_t nanoseconds(uint64_t begin, uint64_t end);
  static void note_asked(ThreadLog& log, uint64_t now, uint64_t stolen);
  static SegmentFile::Result next_segment(ThreadLog& log, size_t bytes);

  static inline std::atomic<bool> on_{false};
  static inline std::atomic<uint32_t> switches_{0};
  static inline std::atomic<uint64_t> next_switch_{UINT64_MAX};
  static inline uint64_t zero_ = 0;
  static inline uint64_t stretch_ = UINT64_MAX;
  static inline uint64_t short_stretch_ = UINT64_MAX;
  static inline bool call_sites_ = false;
  static inline SegmentSpace space_;
  static inline std::atomic<Ended> ended_{Ended::kNot};
  static inline std::atomic<int> ended_error_{0};
  static inline std::atomic<uint32_t> thread_count_{0};
  static inline std::atomic<ThreadLog*> threads_{nullptr};
  static inline ThreadLog* idle_ = nullptr;
  static inline bool logs_reused_ = false;
  static inline thread_local ThreadLog* thread_log_ = nullptr;
};

/// Words that are free in a log when a call begins: enough for every call that neither completes an
/// array of requests nor has parts.
inline constexpr size_t kFreeWords = 64;

/// The log to record a call into, or null when the call is to pass unrecorded: recording has ended
/// or not begun, or MPI called itself. Call it from the wrapper itself: the default argument is
/// where that was called from.
inline ThreadLog* begin_call(const void* call_site = __builtin_return_address(0)) {
  if (!Recorder::on()) return nullptr;
  ThreadLog* log = Recorder::this_thread();
  if (log == nullptr || log->busy) return nullptr;
  if (log->limit - log->at < static_cast<ptrdiff_t>(kFreeWords) &&
      !Recorder::refill(*log, kFreeWords)) {
    return nullptr;
  }
  if (log->switches != Recorder::switches()) [[unlikely]]
    Recorder::catch_up(*log);
  log->call_site = call_site;
  return log;
}

/// Where the program makes the call that is being left; the journal knows the mapping it is in.
///
/// That is where the wrapper was called from, unless that is MPI's own library for another language
/// (libmpichfort, libmpi_cxx), which calls the functions of C: then its caller is looked for.
uint64_t program_call_site(ThreadLog& log);

/// True where the wrapper of `function` ("MPI_Comm_size") was called by a Fortran binding of
/// another function, which translates its arguments: that call is part of the other one. `log` is
/// that of the call, which has been begun.
bool made_by_binding(const ThreadLog& log, const char* function);

/// One MPI call being recorded, from its Enter stamp (the constructor) to its Leave stamp (leave).
/// Items are written behind the head meanwhile, and become part of the log in leave().
class Call {
 public:
  Call(ThreadLog* log, unsigned id) : log_(*log), id_(id) {
    log_.busy = true;
    enter_ = Clock::now();
    open();
  }
  /// A call that was entered before it could be recorded (MPI_Init).
  Call(ThreadLog* log, unsigned id, uint64_t enter) : Call(log, id) {
    enter_ = enter;
    open();
  }
  Call(Call&& other)
      : log_(other.log_),
        at_(other.at_),
        enter_(other.enter_),
        id_(other.id_),
        is_short_(other.is_short_) {
    other.moved_ = true;
  }
  /// Without leave() before where an exception of the program's error handler, or the end of its
  /// thread, passes through: then nothing of the call goes on record.
  ~Call() {
    if (moved_) return;
    if (at_ != log_.at) [[unlikely]]
      std::memset(log_.at, 0, static_cast<size_t>(at_ - log_.at) * sizeof *at_);
    log_.busy = false;
  }

  /// Makes room for starting or completing this many requests, see reserve_words().
  bool reserve(size_t requests) { return reserve_words(requests * kMaxRequestWords); }

  /// Makes room for items of this many words besides the usual ones; false: do without them,
  /// recording has ended. Before the first item, and before MPI's own work: the call is entered
  /// anew behind what this takes.
  bool reserve_words(size_t more) {
    const size_t words = kHeadWords + more + kFreeWords;
    if (log_.limit - log_.at >= static_cast<ptrdiff_t>(words)) return true;
    if (!log_.muted) *log_.at = 0;
    const bool room = Recorder::refill(log_, words);
    if (room) enter_ = Clock::now();
    at_ = log_.at + kHeadWords;
    if (room) open();
    return room;
  }

  void item(Item item, uint64_t value) { at_ = record::put(at_, item, value); }
  void message(Item item, const Message& message) { at_ = record::put_message(at_, item, message); }
  void word(uint64_t word) { *at_++ = word; }
  /// Where the words behind the next `words` go, for a list whose length shows only at its end;
  /// they become items' words by skip(), and are nothing to anybody until then.
  uint64_t* behind(size_t words) { return at_ + words; }
  void skip(size_t words) { at_ += words; }

  /// Nothing of this call goes on record.
  bool muted() const { return log_.muted; }

  /// A number for a request that this call posts; 0, which is no number, where that goes
  /// unrecorded.
  uint64_t next_request() { return log_.muted ? 0 : uint64_t{log_.number} << 40 | ++log_.posted; }

  /// The Leave stamp. Returns it.
  uint64_t leave() { return leave_at(Clock::now()); }
  uint64_t leave_at(uint64_t end) {
    if (!log_.muted) {
      if (Recorder::is_to_ask(log_, enter_, end)) [[unlikely]] {
        leave_long(end);
      } else {
        put_last_items();
        put(end);
      }
    } else {
      // Items are written all the same; the next record finds its memory zero.
      std::memset(log_.at, 0, static_cast<size_t>(at_ - log_.at) * sizeof *at_);
    }
    if (end >= Recorder::next_switch()) [[unlikely]]
      Recorder::window_reached(end);
    return end;
  }

  ThreadLog& log() { return log_; }

 private:
  void put_last_items() {
    if (Recorder::call_sites()) [[unlikely]]
      item(Item::kCallSite, program_call_site(log_));
  }

  /// leave() of a call in which something may have been stolen.
  void leave_long(uint64_t end);

  void put(uint64_t end) {
    uint64_t duration = end - enter_;
    uint64_t* const head = log_.at;
    log_.last = end;
    if (is_short_) {
      const auto words = static_cast<size_t>(at_ - head - 1);
      if (duration < record::kShortDuration && words < record::kShortWords) [[likely]] {
        *head = record::short_done(*head, duration, words);
        log_.at = at_;
        return;
      }
      lengthen(head, words);
    }
    if (duration >= kMaxDuration) [[unlikely]] {
      item(Item::kLeaveTime, 0);
      word(end - Recorder::zero());
      duration = kMaxDuration;
    }
    head[1] = record::size_word(duration, static_cast<size_t>(at_ - head - kHeadWords));
    log_.at = at_;
  }

  /// A head of one word becomes one of two.
  void lengthen(uint64_t* head, size_t words) {
    *head = 0;  // so that a reader of a killed process stops here
    std::memmove(head + kHeadWords, head + 1, words * sizeof *head);
    head[1] = 0;
    at_ += 1;
    *head = record::head(enter_ - Recorder::zero(), id_);
  }

  /// Memory is zero, so this leaves a head without the done bit.
  void open() {
    uint64_t delta = enter_ - log_.last;
    if (Recorder::is_to_ask(log_, log_.last, enter_)) [[unlikely]] {
      Recorder::long_gap(log_, enter_);
      delta = enter_ - log_.last;
    }
    is_short_ = delta < record::kShortDelta && log_.last != 0;
    at_ = log_.at + (is_short_ ? 1 : kHeadWords);
    if (log_.muted) return;
    *log_.at =
        is_short_ ? record::short_open(delta, id_) : record::head(enter_ - Recorder::zero(), id_);
  }

  ThreadLog& log_;
  uint64_t* at_;
  uint64_t enter_;
  unsigned id_;
  bool is_short_ = false;
  bool moved_ = false;
};

/// A null pointer where a handle should be: an error for MPI to report.
template <class Real, class... Arguments>
int record_mistake(Call& call, Real real, Arguments... arguments) {
  const int result = real(arguments...);
  call.leave();
  return result;
}

}  // namespace tracing
}  // namespace rubato
