#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "tracer/base/clock.h"
#include "tracer/base/stolen.h"
#include "tracer/code/modules.h"
#include "tracer/counters/thread_counters.h"
#include "tracer/layout/record.h"
#include "tracer/layout/segment.h"
#include "tracer/record/call_paths.h"
#include "tracer/record/folded_thread.h"
#include "tracer/record/own_work.h"

/// The hot path of recording. Each thread appends to its own segments (segment.h). Nothing here
/// locks, except at the first call of a thread; nothing allocates, except a segment every ten
/// thousand calls, whose time is recorded.
namespace rubato {
inline namespace tracing {

class FunctionProbe;
class RunTables;
class TimeSums;
struct RunBounds;

/// Adds the records behind `cursor` to `sums` and to tables, which belong to a later layer.
using AddToTables = void (*)(record::Cursor& cursor, TimeSums& sums, RunTables& tables,
                             FoldedThread& thread);

/// The records of one thread, and its state.
struct ThreadLog {
  uint64_t* at = nullptr;     ///< where the next call goes
  uint64_t last = 0;          ///< when the previous record was left; 0 where a segment begins
  uint64_t* limit = nullptr;  ///< end of the segment in use, less the words of a last mark; lower
                              ///< where a probe is due (function_probe.h)
  uint64_t posted = 0;        ///< requests posted by this thread so far
  const void* call_site = nullptr;  ///< where the program calls MPI from
  uint32_t number = 0;              ///< 0 for the thread that called MPI_Init
  int thread_id = 0;                ///< the kernel's; 0 when the thread has ended
  uint64_t context_switches = 0;    ///< involuntary ones before its first call
  uint64_t ended_switches = 0;      ///< those since the first call of threads that have ended
  uint32_t switches = 0;            ///< number of Recorder's switches already in this log
  int depth = 0;                    ///< functions open on this thread, see functions.h
  FunctionProbe* probe = nullptr;
  ThreadCounters* counters = nullptr;  ///< null where nothing is counted
  TimeSums* sums = nullptr;  ///< of the records that were not kept, see Recorder::keep_sums_only()
  FoldedThread folded;       ///< what the tables know of the thread after these
  bool busy = false;   ///< inside a recorded call: calls that MPI makes from there are not recorded
  bool muted = false;  ///< recording is switched off: calls are dropped, but requests are tracked
  /// Calls have counters, call sites or paths (Recorder::note_details), or this one has own work.
  bool has_details = false;
  OwnWork own_work;               ///< of the open call
  modules::Range code;            ///< addresses in here are already noted (modules.h)
  modules::Range bindings;        ///< calls from addresses in here are MPI's own
  StolenTime stolen;              ///< of the thread
  uint64_t asked = 0;             ///< when the kernel was last asked for it; 0: not yet
  uint64_t lost = 0;              ///< when the answer last was that the core had been lost
  uint64_t stretch = UINT64_MAX;  ///< ticks of a call or a gap after which the kernel is asked
  SegmentFile segments;
  ThreadLog* next = nullptr;            ///< in the list of all logs
  ThreadLog* next_idle = nullptr;       ///< in the list of logs whose thread has ended
  CallPaths* paths = nullptr;           ///< where calls or samples have paths
  uint32_t path = 0;                    ///< of the call that was entered last
  timer_t timer{};                      ///< of the thread's samples (sampler.h) ...
  std::atomic<bool> has_timer = false;  ///< ... while there is one

  /// Adds the records of the segment in use to `all`, and to the tables if there are some.
  void sum_up(TimeSums& all, RunTables* tables = nullptr);
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
  /// Final: no call is recorded any more.
  static void stop() { on_.store(false, std::memory_order_release); }

  /// Adds up the records of each full segment instead of keeping them, so that memory use does not
  /// grow with run time (time_sums.h, run_tables.h). Call it before start(). `tables` may be null;
  /// `add_to_tables` is called for each block of records, not for each call.
  static void keep_sums_only(const RunBounds& bounds, RunTables* tables, AddToTables add_to_tables);

  static bool on() { return on_.load(std::memory_order_relaxed); }
  static uint64_t zero() { return zero_; }
  static Ended ended() { return ended_.load(std::memory_order_relaxed); }
  /// After Ended::kWriteFailed: errno of the file of records, see why_stopped(); else 0.
  static int ended_error() { return ended_error_.load(std::memory_order_relaxed); }
  static const SegmentSpace& space() { return space_; }

  /// Switches recording off and on again during the run, for all threads of the process. Requests
  /// and communicators are tracked meanwhile.
  static void pause(uint64_t now) { toggle(now, true); }
  static void resume(uint64_t now) { toggle(now, false); }
  static bool paused() { return switches_.load(std::memory_order_relaxed) % 2 != 0; }
  static uint32_t switches() { return switches_.load(std::memory_order_relaxed); }
  /// Limits recording to the time between two ticks, or between two Barriers on MPI_COMM_WORLD
  /// (counted from 1). Call it when recording has begun. Recording is switched at the end of a
  /// call.
  static void set_window(uint64_t begin, uint64_t end, uint64_t now);
  static void set_barrier_window(uint64_t first, uint64_t last, uint64_t now);
  static uint64_t next_switch() { return next_switch_.load(std::memory_order_relaxed); }
  static void window_reached(uint64_t now);
  static void barrier_passed(uint64_t now);

  /// Records the switches that are not in `log` yet.
  static void catch_up(ThreadLog& log);

  /// The log of this thread. Programs may start any number of short threads, so when there are many
  /// logs a new thread reuses the log of an ended one.
  static ThreadLog* this_thread() { return thread_log_ != nullptr ? thread_log_ : new_thread(); }
  /// Whether this thread has one; whether it is inside a recorded call.
  static bool has_log() { return thread_log_ != nullptr; }
  static bool in_call() { return thread_log_ != nullptr && thread_log_->busy; }
  /// The log in which a call of this thread is open; null if none is being recorded.
  static ThreadLog* open_call() {
    return on() && in_call() && !thread_log_->muted ? thread_log_ : nullptr;
  }
  static ThreadLog* threads() { return threads_.load(std::memory_order_acquire); }

  /// Makes space for `words` more in the log; false if there is none (recording then stops).
  static bool refill(ThreadLog& log, size_t words, bool in_function = false);

  /// Records stolen time from now on. The kernel is asked for it every kStretchNanoseconds, at a
  /// cost of some thousandths of that; while a thread loses its core, after each call
  /// and each gap of kShortStretchNanoseconds, so that each loss is attributed to the right one.
  static constexpr double kStretchNanoseconds = 500e3;
  static constexpr double kShortStretchNanoseconds = 50e3;
  static void record_stolen(double ticks_per_second);
  static uint64_t stretch() { return stretch_; }
  static uint64_t ticks_of(uint64_t nanoseconds);
  /// Whether stolen time is to be read after a stretch from `begin` to `now`.
  static bool is_to_ask(const ThreadLog& log, uint64_t begin, uint64_t now) {
    return now - begin >= log.stretch || now - log.asked >= stretch_;
  }
  /// Sets `stolen` to the nanoseconds stolen in the stretch from `begin` to `end`, which has just
  /// ended: at most its length. Of the rest, what fits between the previous read and `begin` counts
  /// for the next stretch. Returns the tick of the read.
  static uint64_t ask_stolen(ThreadLog& log, uint64_t begin, uint64_t end, uint64_t& stolen);
  /// A gap after which stolen time is to be read ends at `now`: records the time stolen in it, and
  /// returns the tick of the read.
  static uint64_t long_gap(ThreadLog& log, uint64_t now);

  /// Records that `nanoseconds` were stolen before the tick `time`. This was read until the tick
  /// `told`; the time in between is the tracer's. Requires has_space_for_stolen().
  static void put_stolen(ThreadLog& log, uint64_t time, uint64_t nanoseconds, uint64_t told);
  static constexpr ptrdiff_t kStolenWords = kHeadWords + 2;
  static bool has_space_for_stolen(const ThreadLog& log) {
    return log.limit - log.at >= kStolenWords;
  }

  /// Records what was counted before a function's mark at the tick `time`; there must be space.
  static void put_counters(ThreadLog& log, uint64_t time);
  /// Record a new node of the tree of call paths, and a sample. There must be space.
  static void put_path(ThreadLog& log, uint32_t node, uint32_t parent, uint64_t address,
                       uint64_t function);
  static void put_sample(ThreadLog& log, uint64_t time, uint32_t path, uint64_t periods);

  /// Records a stretch of this thread's time that is the tracer's, not the program's, and discards
  /// the time stolen in it.
  static void tracer_time(ThreadLog& log, uint64_t begin, uint64_t end);
  /// The same for a stretch in which stolen time was read.
  static void put_tracer_time(ThreadLog& log, uint64_t begin, uint64_t end);

  /// Some log has served several threads, one after the other.
  static bool logs_reused() { return logs_reused_; }

  /// Records the call site, or with CallPaths the path, of each call. Call it before start().
  static void record_call_sites() { call_sites_ = true; }
  static bool call_sites() { return call_sites_; }

  /// Sets log.has_details, which is asked for twice in each call. Call it when `log` is set up.
  static void note_details(ThreadLog& log) {
    log.has_details = log.counters != nullptr || call_sites() || CallPaths::of_calls();
  }

  /// Call it for each recorded address.
  static void note_code(ThreadLog& log, uint64_t address) {
    if (!log.code.has(address)) [[unlikely]]
      log.code = modules::note(address);
  }

  /// Removes a log's files, after stop(). A thread that is inside a call, or was interrupted while
  /// it recorded a function, still writes to its memory and may extend it.
  static void release(ThreadLog& log) { log.segments.remove(space_, log.number, !log.busy); }
  /// The same for all logs.
  static void release_all() {
    for (ThreadLog* log = threads(); log != nullptr; log = log->next) release(*log);
  }

  /// Lets this thread record into `log` and returns the log it had: for measuring what recording
  /// costs.
  static ThreadLog* swap_thread_log(ThreadLog* log);

  /// Number of switch times kept, the latest ones; the n-th switches off when n is even. A thread
  /// that makes no call during more switches counts as switched off by the first kept one that does
  /// so.
  static constexpr uint32_t kMaxSwitches = 1 << 16;

 private:
  struct ThreadEnd;
  static ThreadLog* new_thread();
  static ThreadLog* new_log();
  /// Record the begin of this thread, which has just got its log (threads.h), and its end.
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

/// The log to record a call into; null if the call is not recorded: recording has ended or not
/// begun, or MPI called itself. Call it from the wrapper itself: the default argument is the call
/// site of the wrapper.
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

/// Address at which the program makes the call that is being left; its mapping goes to the journal.
///
/// This is the call site of the wrapper, unless that is in MPI's library for another language
/// (libmpichfort, libmpi_cxx), which calls the C functions: then it is the call site of that one.
uint64_t program_call_site(ThreadLog& log);

/// True if the wrapper of `function` ("MPI_Comm_size") was called by a Fortran binding of another
/// function, which translates its arguments: this call is part of the other one. `log` is the one
/// that begin_call() returned.
bool made_by_binding(const ThreadLog& log, const char* function);

/// One MPI call being recorded, from its Enter stamp (the constructor) to its Leave stamp (leave).
/// Items are written behind the head meanwhile, and become part of the log in leave().
class Call {
 public:
  Call(ThreadLog* log, unsigned id) : log_(*log), id_(id) {
    log_.busy = true;
    // A sample in a signal handler may have used the log until now (sampler.h).
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (log_.has_details) [[unlikely]]
      enter_details();
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
  /// Not after leave() if an exception of the program's error handler, or the end of its thread,
  /// unwinds the stack: then the call is not recorded.
  ~Call() {
    if (moved_) return;
    if (at_ != log_.at) [[unlikely]]
      abandon();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    log_.busy = false;
  }

  /// Makes space for starting or completing this many requests, see reserve_words().
  bool reserve(size_t requests) { return reserve_words(requests * kMaxRequestWords); }

  /// Makes space for `more` words of items beside the usual ones; false: write none of these items,
  /// recording has ended. Call it before the first item and before MPI's own work: the Enter stamp
  /// is taken anew.
  bool reserve_words(size_t more) {
    const size_t words = kHeadWords + more + kFreeWords;
    if (log_.limit - log_.at >= static_cast<ptrdiff_t>(words)) return true;
    if (!log_.muted) *log_.at = 0;
    const bool refilled = Recorder::refill(log_, words);
    if (refilled) enter_ = Clock::now();
    at_ = log_.at + kHeadWords;
    if (refilled) open();
    return refilled;
  }

  void item(Item item, uint64_t value) { at_ = record::put(at_, item, value); }
  void message(Item item, const Message& message) { at_ = record::put_message(at_, item, message); }
  void word(uint64_t word) { *at_++ = word; }
  /// Behind a message and its word.
  void block(const Message& message) {
    if (message.block != 0) [[unlikely]]
      item(Item::kBlock, message.block);
  }
  /// Address behind the next `words` words, for a list whose length is known only at its end.
  /// skip() makes its words part of the items.
  uint64_t* behind(size_t words) { return at_ + words; }
  void skip(size_t words) { at_ += words; }

  /// This call is not recorded.
  bool muted() const { return log_.muted; }

  /// The number of a request that this call posts; 0 if the call is not recorded.
  uint64_t next_request() { return log_.muted ? 0 : uint64_t{log_.number} << 40 | ++log_.posted; }

  /// The Leave stamp. Returns it.
  uint64_t leave() { return leave_at(Clock::now()); }
  uint64_t leave_at(uint64_t end) {
    if (!log_.muted) {
      if (log_.has_details || Recorder::is_to_ask(log_, enter_, end)) [[unlikely]] {
        leave_slowly(end);
      } else {
        put(end);
      }
    } else {
      // Items were written nevertheless; clear them, as the next record requires zeroed memory.
      std::memset(log_.at, 0, static_cast<size_t>(at_ - log_.at) * sizeof *at_);
    }
    if (end >= Recorder::next_switch()) [[unlikely]]
      Recorder::window_reached(end);
    return end;
  }

  /// Behind leave(), which returned `end`: the time since then is the tracer's.
  void tracer_time_since(uint64_t end);

  ThreadLog& log() { return log_; }

 private:
  /// Forgets what was noted of a call that is not recorded.
  [[gnu::noinline]] void abandon();
  [[gnu::noinline]] void enter_details();
  void put_counters();
  void put_details();
  /// leave() of a call with details, or of one that may have lost its core.
  [[gnu::noinline]] void leave_slowly(uint64_t end);

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
