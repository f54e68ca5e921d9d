#pragma once

// The elapsed time over one or two numbers of a machine: a curve, or a map, in place of thirty
// scenarios, and the factor from which on a number matters.
//
//   T │                       ╱      best: T where the number is best
//     │                    ╱ │       crossover: where T is 1 % above (10 %), found as thresholds of
//   best ───────────────╱    │       tolerance are (threshold_search.h), the other number unchanged
//     └──────────────┴──────┴─ latency
//
// Points are lanes of common passes (scenario_groups.h): a curve is one pass, crossovers two more;
// three times as many for intervals. In the order of time each point is a pass.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/run/replay_options.h"
#include "replay/study/intervals.h"

namespace rubato {

/// Factors of a number, in equal ratios.
struct SweepAxis {
  std::string key;  ///< of a change: "latency", "network.bandwidth", "cpu"
  double low = 0;
  double high = 0;
  int points = 0;  ///< at least 2

  double factor(int point) const;
  /// More of it takes longer: latency. Less of it does: bandwidth, processors.
  bool more_is_worse() const;
  /// How much worse a factor makes the machine: the factor, or one over it.
  double worsening(double factor) const { return more_is_worse() ? factor : 1 / factor; }
};

/// "latency=0.1..100" or two of them, "latency=0.1..100/61,bandwidth=0.1..10": with a number of
/// points, else 31 of a curve (ten in each factor of ten of three) and 13 of each side of a map.
/// Errors: UsageError.
std::vector<SweepAxis> parse_sweep(const std::string& text);

/// So much above the best a number matters.
inline constexpr std::array kCrossoverPercents = {1., 10.};

/// From where on a number matters, the other one being as in the scenario.
struct Crossover {
  double best = 0;   ///< seconds, where the number is best
  double worst = 0;  ///< where it is worst
  /// By kCrossoverPercents: the factor of the number from which on it takes so much longer than
  /// `best`, to 0.1 %; none where it does not.
  std::array<std::optional<double>, kCrossoverPercents.size()> factors{};
};

/// Of one scenario.
struct Sweep {
  std::string scenario;
  std::vector<SweepAxis> axes;  ///< one or two
  /// Seconds; a row for each point of the second axis (one where there is none), the points of the
  /// first in it.
  std::vector<std::vector<double>> elapsed;
  double unchanged = 0;               ///< seconds, of the scenario itself
  std::vector<Crossover> crossovers;  ///< by axis
  /// Of the points of a curve; empty where they are not known, in the order of time, and of maps.
  Intervals intervals;
};

/// True where run_sweeps() has something to change in a scenario: a model prices it, and it is not
/// perfect.
bool can_sweep(const Scenario& scenario);

/// Of each scenario that can be swept. `overhead`: subtracted from each call, for intervals; null:
/// no intervals. Errors: InputError, also for a deadlock, and a run that takes no time; UsageError
/// where a scenario lacks a level.
std::vector<Sweep> run_sweeps(EventSource& source, const std::vector<Scenario>& scenarios,
                              const std::vector<SweepAxis>& axes, const ReplayOptions& options,
                              const RecordingOverhead* overhead = nullptr);

}  // namespace rubato
