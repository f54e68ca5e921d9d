#pragma once

#include <cstdint>

#include "tracer/base/clock.h"
#include "tracer/layout/clock_model.h"
#include "tracer/session/job.h"
#include "tracer/session/session.h"

/// The clock of this process during the run, and its comparisons with those of other ranks.
namespace rubato {
inline namespace tracing {
namespace run_clock {

/// This process can use the time-stamp counter, and the settings do not forbid it.
bool wants_tsc(const Settings& settings);
/// When MPI_Init (or the first MPI_Session_init) was entered, on the clock in use.
uint64_t ticks_of(const InitStamp& stamp);

/// Notes when MPI_Init was entered, and the present; call it when the clock is chosen.
void begin(const InitStamp& stamp);
/// When MPI_Init was entered, and when begin() was called.
const ClockPair& at_init();
const ClockPair& at_begin();

/// Ticks per second from the time since MPI_Init was entered: early in a run known to some percent.
double approximate_rate();
/// The same from the time since begin(). The counter's rate can be measured only over some time; a
/// short run waits.
double rate();

/// The first comparison with the clocks of other ranks. Rank 0's settings hold for all. Collective.
void compare_first(const Job& job);
/// The ranks that share this rank's clock, from then on.
MPI_Comm sharers();
/// The last comparison. Collective.
void compare_last();
/// This rank's clock, by all comparisons. Collective.
ClockModel model();
/// Frees the communicators of the comparisons. Collective.
void end();

}  // namespace run_clock
}  // namespace tracing
}  // namespace rubato
