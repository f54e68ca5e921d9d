#include "replay/study/tolerance.h"

#include <array>
#include <cmath>
#include <utility>

#include "models/base/error.h"
#include "replay/study/study.h"
#include "replay/study/threshold_search.h"

namespace rubato {
namespace {

/// Steps of the factor for the derivative: the larger one is more precise if both are in one
/// straight piece.
constexpr double kStep = 1e-6, kLargeStep = 1e-4;
/// The first factors, less 1; the last is that of kMostWorse.
constexpr std::array kFirst = {kStep, kLargeStep, 0.01, 0.1,           1., 10., 100.,
                               1e3,   1e4,        1e5,  kMostWorse - 1};

/// dT/df / T at 1, of elapsed over f - 1.
double share_at_1(const ThresholdSearch& search) {
  const auto& known = search.known();
  const auto slope = [&](double step) { return (known.at(step) / known.at(0) - 1) / step; };
  const double near = slope(kStep), far = slope(kLargeStep);
  return std::abs(far - near) <= 1e-5 + 1e-3 * far ? far : near;
}

}  // namespace

std::vector<ToleranceAxis> tolerance_axes(const Scenario& scenario) {
  std::vector<ToleranceAxis> axes;
  const auto add = [&](const std::string& key, char worse) {
    axes.push_back(
        {key, [=](double factor) { return changed(scenario, change_by(key, worse, factor)); }});
  };
  if (scenario.basis == Basis::kModel) {
    add("latency", '*');
    add("bandwidth", '/');
    for (const Level level : {Level::kSocket, Level::kNode, Level::kNetwork}) {
      if (!scenario.platform.level(level)) continue;
      const std::string name = kLevelNames[static_cast<int>(level)];
      add(name + ".latency", '*');
      add(name + ".bandwidth", '/');
    }
  }
  add("cpu", '/');
  return axes;
}

Tolerances find_tolerances(EventSource& source, const std::vector<ToleranceAxis>& axes,
                           const std::vector<double>& percents, const ReplayOptions& options) {
  Tolerances found;
  if (axes.empty()) return found;
  Study study(source, options);
  // By axis: elapsed as a function of the factor less 1.
  std::vector<ElapsedFunction> functions;
  std::vector<Scenario> first = {axes[0].worse(1)};
  for (const ToleranceAxis& axis : axes) {
    functions.push_back({[&](double more) { return axis.worse(1 + more); }});
    for (const double more : kFirst) first.push_back(axis.worse(1 + more));
  }
  const std::vector<double> elapsed = study.elapsed(first);
  found.elapsed = elapsed[0];
  if (!(found.elapsed > 0)) throw InputError("the run takes no time on this machine");
  auto next = elapsed.begin() + 1;
  for (ElapsedFunction& function : functions) {
    function.search.add(0, found.elapsed);
    for (const double more : kFirst) function.search.add(more, *next++);
    for (const double percent : percents)
      function.targets.push_back(found.elapsed * (1 + percent / 100));
  }
  find_thresholds(study, functions);

  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const ThresholdSearch& search = functions[axis].search;
    Tolerance tolerance{axes[axis].name, share_at_1(search), {}};
    for (const double target : functions[axis].targets) {
      std::optional<double> more = search.reaches(target);
      if (more) *more += 1;
      tolerance.factors.push_back(more);
    }
    found.axes.push_back(std::move(tolerance));
  }
  found.traffic = study.first().traffic;
  found.measured_nodes = study.first().measured_nodes;
  for (const CollectiveUse& use : study.first().collectives)
    found.formulas = found.formulas || use.algorithm == "formula";
  found.replays = study.replays();
  return found;
}

}  // namespace rubato
