#pragma once

#include <vector>

namespace rubato {

/// One comparison of two clocks: reference minus own clock, at an own time. Seconds.
struct ClockPoint {
  double own = 0;
  double offset = 0;
};

/// How the clocks of two nodes are compared: at so many points, so many seconds after each other
/// (0.3 s of drift are seen), each of the quickest of so many exchanges.
inline constexpr int kClockPoints = 30, kClockExchanges = 20;
inline constexpr double kClockPointEvery = 0.01;

/// A clock as a straight line over a reference clock, drift and all: reference(t) = t + offset +
/// drift (t - middle). Seconds; the middle keeps the digits.
struct LinearClock {
  double middle = 0;
  double offset = 0;
  double drift = 0;

  double reference(double own) const { return own + offset + drift * (own - middle); }
  /// The inverse.
  double own(double reference) const {
    return middle + (reference - middle - offset) / (1 + drift);
  }
  /// The same drift, through this point (a new offset).
  LinearClock through(const ClockPoint& point) const { return {point.own, point.offset, drift}; }
};

/// By least squares; of one point, or of points at one time, without drift. Not of none.
LinearClock fit_clock(const std::vector<ClockPoint>& points);

}  // namespace rubato
