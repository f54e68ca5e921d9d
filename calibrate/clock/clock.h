#pragma once

/// Time on the measured machine. The virtual laboratory has its own versions of these three
/// functions (tests/lab/virtual/clock.cc).
namespace rubato {

/// Seconds of the clock used by all measurements (CLOCK_MONOTONIC); the origin is arbitrary.
double now();

/// Computes for `seconds`, outside of MPI.
void compute(double seconds);

/// Waits actively until now() is `time`.
void wait_until(double time);

}  // namespace rubato
