#pragma once

// How much slower a part of a machine may become before a run takes 1 % longer: latency tolerance,
// as LLAMP has it (Shen et al., LLAMP: assessing network latency tolerance of HPC applications with
// linear programming, SC 2024), of any number of a scenario, and by replay instead of a linear
// program: factors are lanes of common passes.
//
// T(f) does not fall and is piecewise linear in f: other paths become critical. A first round
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
  /// dT/df / T at 1: the part of the elapsed time that is due to this number, on the critical path.
  double share = 0;
  /// By percent asked for: the factor at which the run takes so much longer; none up to kMostWorse.
  std::vector<std::optional<double>> factors;
};

struct Tolerances {
  double elapsed = 0;  ///< seconds, of the scenario itself
  std::vector<Tolerance> axes;
  std::array<LevelTraffic, kLevels> traffic{};  ///< of the scenario
  /// Formulas price some of its collectives: latency and bandwidth do not change those.
  bool formulas = false;
  size_t replays = 0;  ///< that it took
};

/// Latency (all levels, then each), bandwidth and processors of a scenario; processors alone where
/// durations come from the archive. Named as the keys of its changes, "latency" to "cpu".
std::vector<ToleranceAxis> tolerance_axes(const Scenario& scenario);

/// Thresholds are right to 0.1 % of the factor, and of what it exceeds 1 by. Errors: InputError,
/// also where the program deadlocks on the machine, or takes no time.
Tolerances find_tolerances(EventSource& source, const std::vector<ToleranceAxis>& axes,
                           const std::vector<double>& percents, const ReplayOptions& options);

}  // namespace rubato
