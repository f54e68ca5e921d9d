#include "replay/tolerance.h"

#include <cmath>

#include "models/error.h"
#include "replay/trace/trace.h"

namespace rubato {
namespace {

constexpr int kFirstFactors = 16;
constexpr int kRounds = 3;
constexpr int kFactorsInBracket = 7;
constexpr double kStep = 1e-6;  ///< of the factor, for the derivative

/// A factor and the time that the run takes with it.
struct Point {
  double factor = 1;
  double elapsed = 0;
};

/// Where a threshold lies.
struct Bracket {
  size_t axis = 0;
  size_t percent = 0;
  double target = 0;
  Point below, above;
};

/// Replays points of axes together.
class Points {
 public:
  Points(EventSource& source, const std::vector<ToleranceAxis>& axes, const ReplayOptions& options)
      : source_(&source), axes_(&axes), options_(&options) {}

  void ask(size_t axis, double factor) { scenarios_.push_back((*axes_)[axis].worse(factor)); }
  /// Elapsed of what was asked for, in that order.
  std::vector<double> replay() {
    const Results results = run_replay(*source_, scenarios_, *options_);
    scenarios_.clear();
    std::vector<double> elapsed;
    for (const ScenarioResult& result : results.scenarios) {
      if (!result.deadlock.empty())
        throw InputError("the program deadlocks on this machine: " + result.deadlock);
      elapsed.push_back(result.elapsed);
    }
    return elapsed;
  }

 private:
  EventSource* source_;
  const std::vector<ToleranceAxis>* axes_;
  const ReplayOptions* options_;
  std::vector<Scenario> scenarios_;
};

/// The part of a bracket in which the target is reached first. `inside`: between its ends.
void narrow(Bracket& bracket, const std::vector<Point>& inside) {
  for (const Point& point : inside) {
    if (point.elapsed >= bracket.target) {
      bracket.above = point;
      return;
    }
    bracket.below = point;
  }
}

double on_straight_line(const Bracket& bracket) {
  const auto [low, high] = std::pair(bracket.below, bracket.above);
  if (!(high.elapsed > low.elapsed)) return high.factor;
  const double share = (bracket.target - low.elapsed) / (high.elapsed - low.elapsed);
  return low.factor + share * (high.factor - low.factor);
}

}  // namespace

Tolerances find_tolerances(EventSource& source, const std::vector<ToleranceAxis>& axes,
                           const std::vector<double>& percents, const ReplayOptions& options) {
  Tolerances found;
  if (axes.empty()) return found;
  Points points(source, axes, options);
  points.ask(0, 1);
  const double step = std::pow(kMostWorse, 1.0 / kFirstFactors);
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    points.ask(axis, 1 + kStep);
    for (int i = 1; i <= kFirstFactors; ++i) points.ask(axis, std::pow(step, i));
  }
  const std::vector<double> first = points.replay();
  found.elapsed = first[0];
  if (!(found.elapsed > 0)) throw InputError("the run takes no time on this machine");
  std::vector<Bracket> brackets;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const double* elapsed = &first[1 + axis * (1 + kFirstFactors)];
    Tolerance tolerance{axes[axis].name, (elapsed[0] / found.elapsed - 1) / kStep, {}};
    tolerance.factors.resize(percents.size());
    found.axes.push_back(std::move(tolerance));
    std::vector<Point> grid;
    for (int i = 1; i <= kFirstFactors; ++i) grid.push_back({std::pow(step, i), elapsed[i]});
    for (size_t percent = 0; percent < percents.size(); ++percent) {
      Bracket bracket{
          axis, percent, found.elapsed * (1 + percents[percent] / 100), {1, found.elapsed}, {}};
      if (grid.back().elapsed < bracket.target) continue;  // never
      narrow(bracket, grid);
      brackets.push_back(bracket);
    }
  }
  for (int round = 0; round < kRounds && !brackets.empty(); ++round) {
    std::vector<std::vector<Point>> inside(brackets.size());
    for (size_t i = 0; i < brackets.size(); ++i) {
      const Bracket& bracket = brackets[i];
      const double ratio = bracket.above.factor / bracket.below.factor;
      for (int k = 1; k <= kFactorsInBracket; ++k) {
        const double factor = bracket.below.factor *
                              std::pow(ratio, static_cast<double>(k) / (kFactorsInBracket + 1));
        inside[i].push_back({factor, 0});
        points.ask(bracket.axis, factor);
      }
    }
    const std::vector<double> elapsed = points.replay();
    size_t next = 0;
    for (size_t i = 0; i < brackets.size(); ++i) {
      for (Point& point : inside[i]) point.elapsed = elapsed[next++];
      narrow(brackets[i], inside[i]);
    }
  }
  for (const Bracket& bracket : brackets)
    found.axes[bracket.axis].factors[bracket.percent] = on_straight_line(bracket);
  return found;
}

}  // namespace rubato
