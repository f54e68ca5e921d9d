#include "tracer/record/recorder.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

#include "tracer/base/default_floating_point.h"
#include "tracer/base/processors.h"
#include "tracer/mpi/mpi_library.h"
#include "tracer/record/function_probe.h"
#include "tracer/record/sampler.h"
#include "tracer/record/threads.h"
#include "tracer/record/time_sums.h"

namespace rubato {
inline namespace tracing {
namespace {

std::mutex switch_mutex;
std::mutex idle_mutex;

/// With more threads than this, new ones reuse the logs of ended ones.
constexpr uint32_t kLocationsBeforeReuse = 128;
std::atomic<uint64_t> switch_times[Recorder::kMaxSwitches];

/// The requested window: its end in ticks, or the Barriers that begin and end it.
uint64_t window_end = UINT64_MAX;
uint64_t first_barrier = 0;
uint64_t last_barrier = 0;
std::atomic<uint64_t> barriers_passed{0};

/// Set by keep_sums_only().
bool sums_only = false;
RunBounds kept_bounds;
RunTables* kept_tables = nullptr;
AddToTables kept_add = nullptr;
std::mutex tables_mutex;

std::atomic<uint64_t>& switch_time(uint32_t number) {
  return switch_times[number % Recorder::kMaxSwitches];
}

/// Writes a mark behind the last call; there is always space for one (ThreadLog::limit).
void put_mark(ThreadLog& log, unsigned mark, uint64_t begin, uint64_t duration) {
  log.at[1] = record::size_word(duration < kMaxDuration ? duration : kMaxDuration - 1, 0);
  log.at[0] = record::head(begin - Recorder::zero(), mark);
  log.at += kHeadWords;
  log.last = begin + (duration < kMaxDuration ? duration : kMaxDuration - 1);
}

}  // namespace

void Recorder::keep_sums_only(const RunBounds& bounds, RunTables* tables, AddToTables add) {
  kept_bounds = bounds;
  kept_tables = tables;
  kept_add = add;
  sums_only = true;
}

void ThreadLog::sum_up(TimeSums& all, RunTables* tables) {
  if (segments.header() == nullptr) return;
  record::Cursor cursor(segments.begin(), segments.end(), Recorder::zero(), Recorder::call_sites());
  if (tables == nullptr) {
    for (record::Record r; cursor.next(r);) all.add(r);
    return;
  }
  const std::lock_guard lock(tables_mutex);
  folded.number = number;
  kept_add(cursor, all, *tables, folded);
}

namespace {

/// Blocks of this size are added to the tables at once: a pause of less than a millisecond, from
/// the processor's cache.
constexpr ptrdiff_t kBlockWords = (32 << 10) / sizeof(uint64_t);

/// Clears the words that records may have used.
bool clear_block(ThreadLog& log, size_t bytes) {
  if (log.segments.header() == nullptr) return false;
  uint64_t* const begin = log.segments.begin();
  if (static_cast<size_t>(log.segments.end() - begin) * sizeof *begin < bytes) return false;
  std::memset(begin, 0, static_cast<size_t>(log.limit + kHeadWords - begin) * sizeof *begin);
  return true;
}

}  // namespace

/// All calls in the segment in use are complete.
SegmentFile::Result Recorder::next_segment(ThreadLog& log, size_t bytes) {
  if (sums_only) {
    if (log.sums == nullptr) log.sums = new (std::nothrow) TimeSums(kept_bounds);
    if (log.sums == nullptr) return SegmentFile::Result::kFull;
    log.sum_up(*log.sums, kept_tables);
    const bool cleared =
        kept_tables != nullptr ? clear_block(log, bytes) : log.segments.begin_again(bytes);
    if (cleared) return SegmentFile::Result::kGood;
  }
  return log.segments.extend(space_, log.number, bytes);
}

bool Recorder::refill(ThreadLog& log, size_t words, bool in_function) {
  const DefaultFloatingPoint environment;
  const int program_errno = errno;
  // A signal handler may be a recorded function (functions.h): not while the log changes.
  const bool was_busy = std::exchange(log.busy, true);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool refilled =
      (log.probe != nullptr && log.probe->step(log, words, in_function)) || extend(log, words);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  log.busy = was_busy;
  errno = program_errno;
  return refilled;
}

bool Recorder::extend(ThreadLog& log, size_t words) {
  if (!on()) {  // ended by another thread since the call was begun
    log.muted = true;
    return false;
  }
  uint64_t begin = Clock::now();
  if (log.at != nullptr && is_to_ask(log, log.last, begin)) begin = long_gap(log, begin);
  if (log.counters != nullptr) log.counters->begin_own_work();
  // For the mark of this refill, the marks of switches, and the mark of the end.
  const size_t spare = 4 * kHeadWords;
  const auto result = next_segment(log, (words + spare) * sizeof(uint64_t));
  if (result == SegmentFile::Result::kFull || result == SegmentFile::Result::kFailed) {
    const int error = result == SegmentFile::Result::kFull ? 0 : errno;
    if (log.at != nullptr && !log.muted) put_mark(log, kMarkOff, begin, 0);
    log.muted = true;  // also for the call that is under way
    auto none = Ended::kNot;
    if (ended_.compare_exchange_strong(none, result == SegmentFile::Result::kFull
                                                 ? Ended::kMemoryFull
                                                 : Ended::kWriteFailed)) {
      ended_error_.store(error, std::memory_order_relaxed);
    }
    stop();
    return false;
  }
  const bool first = log.at == nullptr;
  log.at = log.segments.begin();
  log.last = 0;
  log.limit = log.segments.end() - kHeadWords;
  if (kept_tables != nullptr) {
    const auto needed = static_cast<ptrdiff_t>(words + spare);
    log.limit = std::min(log.limit, log.at + std::max(kBlockWords, needed));
  }
  if (FunctionProbe::wanted() && log.probe == nullptr) {
    log.probe = new (std::nothrow) FunctionProbe;
  }
  if (log.probe != nullptr) log.probe->begin_segment(log);
  if (!first) tracer_time(log, begin, Clock::now());
  if (log.counters != nullptr) log.counters->end_own_work();
  return true;
}

__extension__ using Wide = unsigned __int128;  // products of ticks and nanoseconds

void Recorder::record_stolen(double ticks_per_second) {
  short_stretch_ = static_cast<uint64_t>(kShortStretchNanoseconds * 1e-9 * ticks_per_second);
  stretch_ = static_cast<uint64_t>(kStretchNanoseconds * 1e-9 * ticks_per_second);
}

uint64_t Recorder::nanoseconds(uint64_t begin, uint64_t end) {
  if (end <= begin) return 0;
  constexpr auto kStretch = static_cast<uint64_t>(kStretchNanoseconds);
  return static_cast<uint64_t>(Wide{end - begin} * kStretch / stretch_);
}

uint64_t Recorder::ticks_of(uint64_t nanoseconds) {
  constexpr auto kStretch = static_cast<uint64_t>(kStretchNanoseconds);
  return static_cast<uint64_t>(Wide{nanoseconds} * stretch_ / kStretch);
}

void Recorder::note_asked(ThreadLog& log, uint64_t now, uint64_t stolen) {
  constexpr uint64_t kShortStretches = 2000;  // 100 ms: so long another loss is likely
  if (static_cast<double>(stolen) >= kShortStretchNanoseconds) log.lost = now;
  log.asked = now;
  log.stretch = now - log.lost < kShortStretches * short_stretch_ ? short_stretch_ : stretch_;
}

uint64_t Recorder::ask_stolen(ThreadLog& log, uint64_t begin, uint64_t end, uint64_t& stolen) {
  const uint64_t asked_before = log.asked;
  uint64_t all = 0;
  uint64_t asked = end;
  uint64_t now = end;
  // If the core is lost during the read, the read takes long and includes that loss: read again,
  // and subtract the time of all reads but the last. If each read takes that long (in a sandbox),
  // losses during the read cannot be told apart.
  constexpr int kMostTimes = 4;
  for (int i = 0; i < kMostTimes && (i == 0 || now - asked >= short_stretch_); ++i) {
    all += log.stolen.take();
    asked = std::exchange(now, Clock::now());
  }
  if (now - asked < short_stretch_) all -= std::min(all, nanoseconds(end, asked));
  note_asked(log, now, all);
  stolen = std::min(all, nanoseconds(begin, end));
  // The rest was lost in the shorter stretches since the previous read.
  const uint64_t shorter = asked_before == 0 ? 0 : nanoseconds(asked_before, begin);
  log.stolen.put_back(std::min(all - stolen, shorter));
  return now;
}

void Recorder::put_stolen(ThreadLog& log, uint64_t time, uint64_t nanoseconds, uint64_t told) {
  log.at[3] = told - time;
  log.at[2] = nanoseconds;
  log.at[1] = record::size_word(0, 2);
  log.at[0] = record::head(time - zero_, kMarkStolen);
  log.at += kStolenWords;
  log.last = time;
}

uint64_t Recorder::long_gap(ThreadLog& log, uint64_t now) {
  const bool is_first = log.last == 0;
  if (is_first) log.stolen.take();  // lost during the preparation of the thread's first record
  if (is_first || log.muted || !log.stolen.known() || !has_space_for_stolen(log)) {
    note_asked(log, now, 0);
    return now;
  }
  uint64_t stolen;
  if (log.counters != nullptr) log.counters->begin_own_work();
  const uint64_t end = ask_stolen(log, log.last, now, stolen);
  put_stolen(log, now, stolen, end);
  if (log.counters != nullptr) log.counters->end_own_work();
  return end;
}

void Call::abandon() {
  std::memset(log_.at, 0, static_cast<size_t>(at_ - log_.at) * sizeof *at_);
  log_.stolen.put_back(log_.own_work.stolen);
  log_.own_work.clear();
}

void Call::enter_details() {
  if (CallPaths::of_calls()) log_.path = log_.paths == nullptr ? 0 : log_.paths->of_call(log_);
  if (log_.counters != nullptr && !log_.muted) log_.counters->enter();
}

void Call::leave_slowly(uint64_t end) {
  if (log_.counters != nullptr) log_.counters->leave();
  if (log_.own_work.any()) {
    item(Item::kOwnWork, log_.own_work.longest());
    word(log_.own_work.ticks());
    log_.stolen.put_back(log_.own_work.stolen);
    log_.own_work.clear();
    Recorder::note_details(log_);
  }
  if (!Recorder::is_to_ask(log_, enter_, end)) {
    put_details();
    put(end);
    return;
  }
  uint64_t stolen;
  const uint64_t now = Recorder::ask_stolen(log_, enter_, end, stolen);
  if (stolen != 0) item(Item::kStolen, stolen);
  put_details();
  put(end);
  if (!log_.stolen.known()) return;
  Recorder::put_tracer_time(log_, end, now);
  at_ = log_.at;  // behind the complete records
  if (log_.counters != nullptr) log_.counters->restart();
}

void Call::tracer_time_since(uint64_t end) {
  Recorder::tracer_time(log_, std::max(end, log_.last), Clock::now());
  at_ = log_.at;
  if (log_.counters != nullptr) log_.counters->restart();
}

void Call::put_details() {
  if (log_.counters != nullptr) put_counters();
  if (Recorder::call_sites())
    item(Item::kCallSite, CallPaths::of_calls() ? log_.path : program_call_site(log_));
}

void Call::put_counters() {
  const size_t count = ThreadCounters::count();
  const ThreadCounters::Counts& outside = log_.counters->outside();
  const ThreadCounters::Counts& inside = log_.counters->inside();
  uint64_t all = 0;
  for (size_t i = 0; i < count; ++i) all |= outside[i] | inside[i];
  const CountersHead head{count, all >> 32 != 0};
  item(Item::kCounters, head.value());
  for (size_t i = 0; i < count; ++i) {
    word(head.is_long ? outside[i] : outside[i] | inside[i] << 32);
    if (head.is_long) word(inside[i]);
  }
}

void Recorder::put_counters(ThreadLog& log, uint64_t time) {
  const size_t count = ThreadCounters::count();
  for (size_t i = 0; i < count; ++i) log.at[kHeadWords + i] = log.counters->outside()[i];
  log.at[1] = record::size_word(0, count);
  log.at[0] = record::head(time - zero_, kMarkCounters);
  log.at += static_cast<size_t>(kHeadWords) + count;
  log.last = time;
}

void Recorder::put_tracer_time(ThreadLog& log, uint64_t begin, uint64_t end) {
  if (log.muted || log.limit - log.at < static_cast<ptrdiff_t>(kHeadWords)) return;
  put_mark(log, kMarkTracerTime, begin, end - begin);
}

void Recorder::put_path(ThreadLog& log, uint32_t node, uint32_t parent, uint64_t address,
                        uint64_t function) {
  const uint64_t time = log.last != 0 ? log.last : Clock::now();
  log.at[4] = function;
  log.at[3] = address;
  log.at[2] = uint64_t{node} << 32 | parent;
  log.at[1] = record::size_word(0, 3);
  log.at[0] = record::head(time - zero_, kMarkPath);
  log.at += kPathWords;
  log.last = time;
}

void Recorder::tracer_time(ThreadLog& log, uint64_t begin, uint64_t end) {
  put_tracer_time(log, begin, end);
  if (end - begin < short_stretch_) return;
  const uint64_t stolen = log.stolen.take();  // part of that time
  log.stolen.put_back(stolen - std::min(stolen, nanoseconds(begin, end)));
}

void Recorder::toggle(uint64_t now, bool off) {
  const std::lock_guard lock(switch_mutex);
  const uint32_t count = switches_.load();
  if (off == paused()) return;
  switch_time(count).store(now, std::memory_order_relaxed);
  switches_.store(count + 1, std::memory_order_release);
}

void Recorder::set_window(uint64_t begin, uint64_t end, uint64_t now) {
  window_end = end;
  if (begin > now) pause(now);
  next_switch_.store(begin > now ? begin : end);
}

void Recorder::window_reached(uint64_t now) {
  const uint64_t due = next_switch_.load();
  if (now < due) return;  // another thread was here
  if (due == window_end) {
    next_switch_.store(UINT64_MAX);
    pause(now);
  } else {
    next_switch_.store(window_end);
    resume(now);
  }
}

void Recorder::set_barrier_window(uint64_t first, uint64_t last, uint64_t now) {
  first_barrier = first;
  last_barrier = last;
  if (first > 0) pause(now);
}

void Recorder::barrier_passed(uint64_t now) {
  if (last_barrier == 0) return;
  const uint64_t count = ++barriers_passed;
  if (count == first_barrier) resume(now);
  if (count == last_barrier) pause(now);
}

void Recorder::catch_up(ThreadLog& log) {
  const bool was_busy = std::exchange(log.busy, true);  // no samples meanwhile
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const uint32_t count = switches_.load(std::memory_order_acquire);
  // Any number of switches may lie between two calls; only the first and the last matter. If the
  // first is no longer kept, take the first one kept with an even number (which switches off). Skip
  // the oldest: another thread may be overwriting it with switch `count` right now.
  const bool now_off = count % 2 != 0;
  const uint32_t first = count - log.switches >= kMaxSwitches
                             ? (count - kMaxSwitches + 2) & ~uint32_t{1}
                             : log.switches;
  if (!log.muted) put_mark(log, kMarkOff, switch_time(first), 0);
  if (!now_off) put_mark(log, kMarkOn, switch_time(count - 1), 0);
  if (!now_off) log.stolen.take();  // since the last read, as it cannot be told apart
  if (!now_off && log.counters != nullptr) log.counters->restart();  // likewise
  log.switches = count;
  log.muted = now_off;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  log.busy = was_busy;
}

namespace {

/// A mark with a value in its second word. There must be space for it.
void put_word_mark(ThreadLog& log, unsigned mark, uint64_t time, uint64_t word) {
  log.at[1] = word;
  log.at[0] = record::head(time - Recorder::zero(), mark);
  log.at += kHeadWords;
  log.last = time;
}

}  // namespace

void Recorder::put_sample(ThreadLog& log, uint64_t time, uint32_t path, uint64_t periods) {
  put_word_mark(log, kMarkSample, time, periods << 32 | path);
}

void Recorder::put_begin(ThreadLog& log, uint64_t since) {
  const threads::Birth& birth = threads::own();
  if (birth.number == 0 || log.muted || !on()) return;
  if (log.limit - log.at < static_cast<ptrdiff_t>(kFreeWords) && !refill(log, kFreeWords)) return;
  // The log may be that of a thread which ended since.
  put_word_mark(log, kMarkThreadBegin, std::max(birth.begin, log.last), birth.number);
  threads::note_on_record();
  // The preparation is not work of the thread.
  tracer_time(log, std::max(since, log.last), Clock::now());
}

void Recorder::put_end(ThreadLog& log) {
  threads::Birth& birth = threads::own();
  if (!birth.on_record || !on()) return;
  log.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (log.switches != switches()) catch_up(log);
  if (!log.muted &&
      (log.limit - log.at >= static_cast<ptrdiff_t>(kFreeWords) || refill(log, kFreeWords))) {
    put_word_mark(log, kMarkThreadEnd, Clock::now(), birth.number);
  }
  birth = {};  // later actions are not those of the ended thread
  std::atomic_signal_fence(std::memory_order_seq_cst);
  log.busy = false;
}

/// Its destructor runs when a thread ends.
struct Recorder::ThreadEnd {
  ~ThreadEnd() {
    ThreadLog* log = thread_log_;
    if (log == nullptr || log->busy) return;
    Sampler::end_thread(*log);
    put_end(*log);
    thread_log_ = nullptr;
    log->ended_switches += own_involuntary_switches() - log->context_switches;
    log->stolen.close();
    log->counters = nullptr;
    ThreadCounters::end_thread();
    log->thread_id = 0;
    const std::lock_guard lock(idle_mutex);
    log->next_idle = idle_;
    idle_ = log;
  }
};

ThreadLog* Recorder::new_thread() {
  const uint64_t since = Clock::now();
  ThreadLog* log = new_log();
  if (log == nullptr) return nullptr;
  note_details(*log);
  if (CallPaths::wanted()) log->paths = CallPaths::prepare(*log);
  put_begin(*log, since);
  if (log->counters != nullptr) log->counters->restart();
  Sampler::begin_thread(*log);
  return log;
}

ThreadLog* Recorder::new_log() {
  static thread_local ThreadEnd end;
  (void)&end;  // makes it known to this thread
  {
    const std::lock_guard lock(idle_mutex);
    if (idle_ != nullptr && thread_count_.load() >= kLocationsBeforeReuse) {
      ThreadLog* log = idle_;
      idle_ = log->next_idle;
      log->depth = 0;
      logs_reused_ = true;
      log->thread_id = static_cast<int>(syscall(SYS_gettid));
      log->context_switches = own_involuntary_switches();
      if (library::kRanksHaveThreads) log->stolen.open();
      log->counters = ThreadCounters::of_this_thread();
      thread_log_ = log;
      return log;
    }
  }
  void* memory =
      mmap(nullptr, sizeof(ThreadLog), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* log = new (memory) ThreadLog;
  log->number = thread_count_.fetch_add(1);
  log->thread_id = static_cast<int>(syscall(SYS_gettid));
  log->context_switches = own_involuntary_switches();
  // Each log needs a file descriptor, and a process may be limited to 1024.
  if (library::kRanksHaveThreads && log->number < kLocationsBeforeReuse) log->stolen.open();
  if (log->number < kLocationsBeforeReuse) log->counters = ThreadCounters::of_this_thread();
  log->next = threads_.load();
  while (!threads_.compare_exchange_weak(log->next, log)) {
  }
  thread_log_ = log;
  return log;
}

ThreadLog* Recorder::swap_thread_log(ThreadLog* log) {
  ThreadLog* old = thread_log_;
  thread_log_ = log;
  return old;
}

}  // namespace tracing
}  // namespace rubato
