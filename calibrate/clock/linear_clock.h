#pragma once

#include <vector>

namespace rubato {

/// One comparison of two clocks: reference minus own clock, at an own time. Seconds.
struct ClockPoint {
  double own = 0;
  double offset = 0;
};

/// Two clocks are compared at kClockPoints points, kClockPointEvery seconds apart (the drift is
/// observed for 0.3 s); each point is the fastest of kClockExchanges exchanges.
inline constexpr int kClockPoints = 30, kClockExchanges = 20;
inline constexpr double kClockPointEvery = 0.01;

/// A clock as a straight line over a reference clock, with its drift: reference(t) = t + offset +
/// drift (t - middle). Seconds; `middle` preserves precision.
struct LinearClock {
  double middle = 0;
  double offset = 0;
  double drift = 0;

  double reference(double own) const { return own + offset + drift * (own - middle); }
  /// The inverse.
  double own(double reference) const {
    return middle + (reference - middle - offset) / (1 + drift);
  }
  /// The line with the same drift through this point (a new offset).
  LinearClock through(const ClockPoint& point) const { return {point.own, point.offset, drift}; }
};

/// Least squares; without drift for one point or points at one time. At least one point.
LinearClock fit_clock(const std::vector<ClockPoint>& points);

}  // namespace rubato
