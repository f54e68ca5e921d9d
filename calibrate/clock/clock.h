#pragma once

/// Time on the machine that is measured. The virtual laboratory has its own of these three
/// (tests/lab/virtual/clock.cc).
namespace rubato {

/// Seconds since some moment, of the clock that all measurements are taken by (CLOCK_MONOTONIC).
double now();

/// Computes for so many seconds, far from MPI.
void compute(double seconds);

/// Keeps the core until now() is so much.
void wait_until(double time);

}  // namespace rubato
