#pragma once

// Finds where a nondecreasing, piecewise linear function first reaches a value; the elapsed time as
// a function of a factor on a number of the machine is one.
//
//   T │                             b'       The value is between two known points a and b. Three
//     │                        b ╱           straight lines estimate where: from a to b (c), on
//     target ─ ─ ─ ─ ─ ─ ─ ─ ╱               through the two points up to a (r), and back through
//     │  a' ─────── a ─ ─ ╱                  the two from b on (r2). For a convex function, a
//     └──────────── c ─ r2 ─── x             maximum over paths, the place is between c and the
//                                            lesser of r and r2, and it is one of them, unless two
//                                            bends lie there; a point just below or above it shows
//                                            this.
//
// Points are requested in rounds, so that each round can be replayed in common passes.

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "models/scenario/scenario.h"

namespace rubato {

class Study;

class ThresholdSearch {
 public:
  /// A threshold is found when it is between two known points that differ by less than this share
  /// of x.
  static constexpr double kPrecision = 2e-4;

  /// Adds the value of the function at x >= 0.
  void add(double x, double value) { known_[x] = value; }

  /// The points to evaluate next for the `targets`, in increasing order, without known ones; empty
  /// when all are found, or lie beyond the last point.
  std::vector<double> next(const std::vector<double>& targets) const;

  /// The x where it first reaches `target`; none if it does not up to the last point. The first
  /// point if it is reached there already.
  std::optional<double> reaches(double target) const;

  const std::map<double, double>& known() const { return known_; }

 private:
  using Point = std::map<double, double>::const_iterator;

  /// The first point where it is reached.
  Point above(double target) const;
  bool is_found(Point above) const;

  std::map<double, double> known_;  ///< values by x
};

/// The elapsed time of variants as a function of x.
struct ElapsedFunction {
  std::function<Scenario(double x)> at;
  ThresholdSearch search{};       ///< with the first points
  std::vector<double> targets{};  ///< seconds
};

/// Finds the targets of all functions, in rounds of replays for all of them together. Errors:
/// as Study::elapsed().
void find_thresholds(Study& study, std::vector<ElapsedFunction>& functions);

}  // namespace rubato
