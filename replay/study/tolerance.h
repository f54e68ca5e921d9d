#pragma once

// How much slower a part of a machine may become before a run takes 1 % longer: latency tolerance,
// as in LLAMP (Shen et al., LLAMP: assessing network latency tolerance of HPC applications with
// linear programming, SC 2024), for any number of a scenario, and by replay instead of a linear
// program: factors are lanes of common passes.
//
// T(f) is nondecreasing and piecewise linear in f, as the critical path changes. A first round
// brackets each threshold between two powers of ten of f - 1; threshold_search.h does the rest, in
// two or three rounds for all numbers and thresholds together. dT/df at 1 is a forward difference,
// in the piece that begins there.

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"

namespace rubato {

/// A number of a scenario, made `factor` times worse: 1 is the scenario itself.
struct ToleranceAxis {
  std::string name;
  std::function<Scenario(double factor)> worse;
};

/// The largest factor that is tried.
inline constexpr double kMostWorse = 1e6;

struct Tolerance {
  std::string name;
  /// dT/df / T at 1: the share of the elapsed time that is due to this number, on the critical
  /// path.
  double share = 0;
  /// By requested percentage: the factor at which the run takes that much longer; none up to
  /// kMostWorse.
  std::vector<std::optional<double>> factors;
};

struct Tolerances {
  double elapsed = 0;  ///< seconds, of the scenario itself
  std::vector<Tolerance> axes;
  std::array<LevelTraffic, kLevels> traffic{};  ///< of the scenario
  int measured_nodes = 0;                       ///< as in ScenarioResult
  /// Some of its collectives use formulas: latency and bandwidth do not change those.
  bool formulas = false;
  size_t replays = 0;  ///< number of replays used
};

/// Latency (all levels, then each), bandwidth and processors of a scenario; only processors if
/// durations come from the archive. Named like the keys of its changes, "latency" to "cpu".
std::vector<ToleranceAxis> tolerance_axes(const Scenario& scenario);

/// Thresholds are accurate to 0.1 % of the factor, and of its excess over 1. Errors: InputError,
/// also if the program deadlocks on the machine, or takes no time.
Tolerances find_tolerances(EventSource& source, const std::vector<ToleranceAxis>& axes,
                           const std::vector<double>& percents, const ReplayOptions& options);

}  // namespace rubato
