#pragma once

// Where a function that does not fall, and is made of straight pieces, first reaches a value; the
// elapsed time over a factor of a number of the machine is one.
//
//   T │                             b'       The value lies between two known points a and b. Three
//     │                        b ╱           straight lines say where: from a to b (c), on through
//     target ─ ─ ─ ─ ─ ─ ─ ─ ╱               the two points up to a (r), and back through the two
//     │  a' ─────── a ─ ─ ╱                  from b on (r2). For a convex function, a maximum over
//     └──────────── c ─ r2 ─── x             paths, the place is between c and the lesser of r and
//                                            r2, and one of them is it, unless two bends lie there;
//                                            a look just below or above it says so.
//
// Points are asked for in rounds, so that each round can be replayed in common passes.

#include <map>
#include <optional>
#include <vector>

namespace rubato {

class ThresholdSearch {
 public:
  /// It is found between two known points that are nearer than this part of x.
  static constexpr double kPrecision = 2e-4;

  /// The function has this value at x, which is 0 or more.
  void add(double x, double value) { known_[x] = value; }

  /// Where to look next for each of the `targets`, in increasing order, without what is known;
  /// empty when all are found, or lie beyond the last point.
  std::vector<double> next(const std::vector<double>& targets) const;

  /// The x where it first reaches `target`; none where it does not up to the last point. The first
  /// point where it does so there already.
  std::optional<double> reaches(double target) const;

  const std::map<double, double>& known() const { return known_; }

 private:
  using Point = std::map<double, double>::const_iterator;

  /// The first point where it is reached.
  Point above(double target) const;
  bool is_found(Point above) const;

  std::map<double, double> known_;  ///< values by x
};

}  // namespace rubato
