#pragma once

#include <optional>

#include "replay/analyse/run_windows.h"
#include "replay/judge/roles.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

struct Scenario;

/// The POP efficiencies of a run, factors between 0 and 1 (Rosas, Gimenez, Labarta: Scalability
/// prediction for fundamental performance factors, 2014). With c the compute time of each rank, T
/// the elapsed time of the scenario and T_p that on a perfect interconnect,
///
///     parallel = mean c / T = load balance × own work × serialisation × transfer
///     load balance = mean c / max c,  serialisation = max (c + o) / T_p,  transfer = T_p / T
///
/// where POP's serialisation is divided in two: with o the own work of each rank's MPI calls
/// (own_work.h), own work = max c / max (c + o). A run of one rank transfers nothing.
///
/// Serialisation is waiting beyond unequal work, which no network changes: dependency chains, calls
/// that keep their recorded time, ranks that begin or end at different times. Transfer is the time
/// of messages and, in `measured`, of tracing.
struct Efficiency {
  double load_balance = 1;
  double own_work = 1;
  double serialisation = 1;
  double transfer = 1;
  int busiest = 0;  ///< the rank that computes longest

  double parallel() const { return load_balance * own_work * serialisation * transfer; }
};

inline constexpr double kGoodEfficiency = 0.95;  ///< from this factor on, little can be gained

/// The most seconds of compute and own work of a rank.
double longest_work(const ScenarioResult& scenario);

/// The efficiency of a scenario, relative to `perfect`. None without `perfect`, after a deadlock,
/// if either scenario changes compute or has none, if several threads of a rank call MPI, part of
/// the run was not recorded, ranks shared or lost cores, or is_unexplained().
std::optional<Efficiency> efficiency(const Roles& roles, const ScenarioResult& scenario);

/// The efficiency that the report states.
struct JudgedEfficiency {
  Efficiency factors;
  const ScenarioResult* scenario = nullptr;  ///< Roles::judged, else Roles::perfect
  /// If ranks were descheduled for a known time: load balance and serialisation of `perfect`, which
  /// excludes that time; nothing is known about transfer.
  bool without_lost_cores = false;
};
/// None if neither is known.
std::optional<JudgedEfficiency> judged_efficiency(const Roles& roles);

/// True if the first scenario of `results` has efficiencies over time. False where the whole run
/// has none: after a deadlock, if several threads of a rank call MPI, if part of the run was not
/// recorded, or if the scenario changes compute.
bool has_efficiencies_over_time(const Results& results);

/// The places of its windows, to be observed in one more replay of it. REQUIRES as above.
WindowMarks window_marks(const TraceDefinitions& trace, const ScenarioResult& run);

/// The efficiencies over time of `run`, from observed marks and a replay on a perfect interconnect.
/// Empty without compute. Errors: as run_replay().
EfficienciesOverTime efficiencies_over_time(EventSource& source, const WindowMarks& marks,
                                            const ScenarioResult& run, ReplayOptions options);
/// The same with both replays; empty without has_efficiencies_over_time().
EfficienciesOverTime efficiencies_over_time(EventSource& source, const Scenario& scenario,
                                            const Results& results, ReplayOptions options);

}  // namespace rubato
