#pragma once

// The elapsed time as a function of one or two numbers of a machine: a curve, or a map, instead of
// thirty scenarios, and the factor from which on a number matters.
//
//   T │                       ╱      best: T where the number is best
//     │                    ╱ │       crossover: where T is 1 % above (10 %), found as thresholds of
//   best ───────────────╱    │       tolerance are (threshold_search.h), the other number unchanged
//     └──────────────┴──────┴─ latency
//
// Points are lanes of common passes (scenario_groups.h): a curve is one pass, crossovers two more;
// four times as many for intervals. In the order of time each point is a pass.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/run/replay_options.h"
#include "replay/study/intervals.h"

namespace rubato {

/// Factors of a number, in a geometric sequence.
struct SweepAxis {
  std::string key;  ///< of a change: "latency", "network.bandwidth", "cpu"
  double low = 0;
  double high = 0;
  int points = 0;  ///< at least 2

  double factor(int point) const;
  /// True if larger values are slower: latency. False for bandwidth, processors.
  bool more_is_worse() const;
  /// By how much a factor makes the machine worse: the factor, or its reciprocal.
  double worsening(double factor) const { return more_is_worse() ? factor : 1 / factor; }
};

/// The number matters where the elapsed time exceeds the best by these percentages.
inline constexpr std::array kCrossoverPercents = {1., 10.};

/// The factor from which on a number matters, the other number being as in the scenario.
struct Crossover {
  double best = 0;   ///< seconds, where the number is best
  double worst = 0;  ///< where it is worst
  /// By kCrossoverPercents: the factor of the number from which on the run takes this much longer
  /// than `best`, to 0.1 %; none if it does not.
  std::array<std::optional<double>, kCrossoverPercents.size()> factors{};
};

/// The sweep of one scenario.
struct Sweep {
  std::string scenario;
  std::vector<SweepAxis> axes;  ///< one or two
  /// Seconds; a row for each point of the second axis (one row without a second axis), with the
  /// points of the first axis in it.
  std::vector<std::vector<double>> elapsed;
  double unchanged = 0;               ///< seconds, of the scenario itself
  std::vector<Crossover> crossovers;  ///< by axis
  /// Of the points of a curve; empty if they are not known, in the order of time, and for maps.
  Intervals intervals;
};

/// True if run_sweeps() can change something in a scenario: it uses a model, and is not perfect.
bool can_sweep(const Scenario& scenario);

/// Sweeps each scenario that can be swept. `overhead`: subtracted from each call, for intervals;
/// null: no intervals. Errors: InputError, also for a deadlock, and a run that takes no time;
/// UsageError if a scenario lacks a level.
std::vector<Sweep> run_sweeps(EventSource& source, const std::vector<Scenario>& scenarios,
                              const std::vector<SweepAxis>& axes, const ReplayOptions& options,
                              const RecordingOverhead* overhead = nullptr);

}  // namespace rubato
