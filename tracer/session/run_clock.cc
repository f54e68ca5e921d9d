#include "tracer/session/run_clock.h"

#include <unistd.h>

#include "tracer/layout/journal.h"
#include "tracer/timing/clock_sync.h"
#include "tracer/timing/periodic_sync.h"

namespace rubato {
inline namespace tracing {
namespace run_clock {
namespace {

/// Limit of the first and of the last comparison of the clocks, on which all times in between
/// depend; on busy cores they may take this long.
constexpr double kMeasureSeconds = 1;

ClockPair init_pair{};   ///< when MPI_Init was entered
ClockPair begin_pair{};  ///< when begin() was called

/// Never freed: PeriodicSync refers to it.
ClockSync& clock_sync() {
  static auto* const all = new ClockSync;
  return *all;
}

}  // namespace

bool wants_tsc(const Settings& settings) {
  return Clock::tsc_usable() && !settings.monotonic_clock;
}

uint64_t ticks_of(const InitStamp& stamp) {
  return Clock::uses_tsc() ? stamp.tsc : stamp.monotonic;
}

void begin(const InitStamp& stamp) {
  init_pair = {ticks_of(stamp), stamp.monotonic};
  begin_pair = ClockPair::sample();
}

const ClockPair& at_init() {
  return init_pair;
}

const ClockPair& at_begin() {
  return begin_pair;
}

double approximate_rate() {
  return ticks_per_second(init_pair, ClockPair::sample());
}

double rate() {
  ClockPair last = ClockPair::sample();
  const uint64_t run = last.nanoseconds - begin_pair.nanoseconds;
  constexpr uint64_t kShortest = 20'000'000;
  if (Clock::uses_tsc() && run < kShortest) {
    usleep(static_cast<useconds_t>((kShortest - run) / 1000 + 1));
    last = ClockPair::sample();
  }
  return ticks_per_second(begin_pair, last);
}

void compare_first(const Job& job) {
  double common[2] = {job.settings.clock_per_rank ? 1.0 : 0.0, job.settings.sync_every};
  PMPI(Bcast)(common, static_cast<int>(sizeof common), handles.byte, 0, job.comm);
  clock_sync().start(job.comm, common[0] != 0);
  clock_sync().measure(kMeasureSeconds);
  journal::clock_sample(clock_sync().parent(), clock_sync().samples());
  PeriodicSync::start(job.comm, clock_sync(), common[1]);
}

MPI_Comm sharers() {
  return clock_sync().sharers();
}

void compare_last() {
  clock_sync().measure(kMeasureSeconds);
}

ClockModel model() {
  return clock_sync().model();
}

void end() {
  clock_sync().finish();
}

}  // namespace run_clock
}  // namespace tracing
}  // namespace rubato
