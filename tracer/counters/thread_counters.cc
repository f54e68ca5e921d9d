#include "tracer/counters/thread_counters.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include "tracer/base/clock.h"
#include "tracer/counters/counter_list.h"

namespace rubato {
inline namespace tracing {

size_t ThreadCounters::count_ = 0;
uint64_t ThreadCounters::threads_without_ = 0;

namespace {

/// What all threads count. A counter's place in the list of the user is in `places`, first of the
/// kernel's events, then of PAPI's.
std::vector<const KernelEvent*> counted_by_kernel;
std::vector<std::string> counted_by_papi;
std::vector<size_t> counter_places;
/// The place of perf::TASK-CLOCK.
size_t counter_of_time = SIZE_MAX;

std::atomic<uint64_t> ended_count{0};
std::atomic<uint64_t> ended_ticks{0};

thread_local ThreadCounters* own_counters = nullptr;

}  // namespace

std::string ThreadCounters::start(const std::string& list) {
  const std::vector<std::string> names = counter_names(list);
  std::vector<size_t> of_kernel, of_papi;
  for (size_t i = 0; i < names.size() && i < kMaxCounters; ++i) {
    const KernelEvent* const event = kernel_event(names[i]);
    (event != nullptr ? of_kernel : of_papi).push_back(i);
    if (event != nullptr && event->is_clock) counter_of_time = i;
  }
  for (const size_t i : of_kernel) counted_by_kernel.push_back(kernel_event(names[i]));
  for (const size_t i : of_papi) counted_by_papi.push_back(names[i]);
  counter_places = of_kernel;
  counter_places.insert(counter_places.end(), of_papi.begin(), of_papi.end());
  count_ = counter_places.size();
  if (of_this_thread() != nullptr) return "";
  count_ = 0;
  return try_counters(list).text;
}

ThreadCounters* ThreadCounters::of_this_thread() {
  if (count_ == 0 || own_counters != nullptr) return own_counters;
  auto* counters = new (std::nothrow) ThreadCounters;
  if (counters != nullptr && counters->open()) {
    own_counters = counters;
  } else {
    __atomic_fetch_add(&threads_without_, 1, __ATOMIC_RELAXED);
    delete counters;
  }
  return own_counters;
}

void ThreadCounters::end_thread() {
  if (own_counters == nullptr) return;
  ended_count += own_counters->readings_.count;
  ended_ticks += own_counters->readings_.ticks;
  own_counters->close();
  delete own_counters;
  own_counters = nullptr;
}

ThreadCounters::Readings ThreadCounters::ended_readings() {
  return {ended_count, ended_ticks};
}

double ThreadCounters::loop_ticks() {
  return own_counters == nullptr ? 0 : static_cast<double>(own_counters->loop_);
}

bool ThreadCounters::open() {
  if (!counted_by_kernel.empty() && kernel_.open(counted_by_kernel) != 0) return false;
  if (!counted_by_papi.empty() && !papi_.open(counted_by_papi).empty()) {
    close();
    return false;
  }
  measure_reading();
  restart();
  return true;
}

void ThreadCounters::close() {
  kernel_.close();
  papi_.close();
}

/// Two readings, one behind the other, count the work of one.
void ThreadCounters::measure_reading() {
  constexpr int kReadings = 64;
  reading_.fill(UINT64_MAX);
  uint64_t least = UINT64_MAX;
  Counts before{}, after{};
  read(before);
  uint64_t begin = Clock::now();
  for (int i = 0; i < kReadings; ++i) {
    read(after);
    const uint64_t end = Clock::now();
    least = std::min(least, end - begin);
    begin = end;
    for (size_t c = 0; c < count_; ++c) reading_[c] = std::min(reading_[c], after[c] - before[c]);
    before = after;
  }
  loop_ = std::max<uint64_t>(least, 1);
}

bool ThreadCounters::read(Counts& values) {
  Counts found;
  size_t of_kernel = 0;
  if (kernel_.is_open()) {
    if (!kernel_.read(found.data())) return false;
    of_kernel = counted_by_kernel.size();
  }
  if (papi_.is_open() && !papi_.read(found.data() + of_kernel)) return false;
  for (size_t i = 0; i < count_; ++i) values[counter_places[i]] = found[i];
  return true;
}

void ThreadCounters::take(Counts& counted) {
  // Between other work a reading takes longer than in a loop, and its time on the core is counted.
  constexpr uint64_t kMostLoops = 20;  // beyond, it has lost its core
  const uint64_t begin = Clock::now();
  Counts now = last_;
  read(now);
  const uint64_t ticks = Clock::now() - begin;
  uint64_t longer = loop_;
  if (ticks <= kMostLoops * loop_) {
    ++readings_.count;
    readings_.ticks += ticks;
    longer = std::max(loop_, ticks);
  }
  for (size_t i = 0; i < count_; ++i) {
    const uint64_t all = now[i] - last_[i];
    const uint64_t own = i == counter_of_time ? reading_[i] * longer / loop_ : reading_[i];
    counted[i] = all - std::min(all, own);
  }
  last_ = now;
}

void ThreadCounters::begin_own_work() {
  paused_ = last_;
  read(paused_);
}

void ThreadCounters::end_own_work() {
  Counts now = paused_;
  read(now);
  for (size_t i = 0; i < count_; ++i) last_[i] += now[i] - paused_[i];
}

void ThreadCounters::restart() {
  read(last_);
}

}  // namespace tracing
}  // namespace rubato
