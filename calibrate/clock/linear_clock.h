#pragma once

#include <array>
#include <vector>

namespace rubato {

/// One comparison of two clocks: reference minus own clock, at an own time. Seconds.
struct ClockPoint {
  double own = 0;
  double offset = 0;
};

/// Methods of making the clocks of p ranks one. JK (Jones and Koenig, 2010): each rank compares its
/// clock with rank 0's, in O(p), and no errors add up. HCA, HCA2 (Hunold and Carpen-Amarie, 2015):
/// along a binomial tree, leaves first; lines are composed on the way back, in O(log p), and errors
/// add up; HCA then measures offsets from rank 0, in O(p). HCA3 (2018): the same tree from its root
/// down, each rank learning the global time from one that has it.
enum class ClockMethod { kJk, kHca, kHca2, kHca3 };
inline constexpr std::array<const char*, 4> kClockMethodNames = {"jk", "hca", "hca2", "hca3"};

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

/// The line of a clock over its parent's, composed with the line of the parent.
LinearClock over_parent(const LinearClock& own_over_parent, const LinearClock& parent);

}  // namespace rubato
