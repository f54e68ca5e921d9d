#pragma once

#include <optional>
#include <string>

#include "replay/observe/results.h"

namespace rubato {

/// The POP efficiencies of a run, factors between 0 and 1 (Rosas, Gimenez, Labarta: Scalability
/// prediction for fundamental performance factors, 2014). With c the compute time of each rank, T
/// the elapsed time of the scenario and T_p that on a perfect interconnect,
///
///     parallel = mean c / T = load balance × serialisation × transfer
///     load balance = mean c / max c,  serialisation = max c / T_p,  transfer = T_p / T
///
/// Serialisation is waiting beyond unequal work, which no network changes: dependency chains, calls
/// that keep their recorded time, ranks that begin or end at different times. Transfer is the time
/// of messages and, in `measured`, of tracing.
struct Efficiency {
  double load_balance = 1;
  double serialisation = 1;
  double transfer = 1;
  int busiest = 0;  ///< the rank that computes longest

  double parallel() const { return load_balance * serialisation * transfer; }
};

/// The efficiency of a scenario, relative to `perfect`. None without `perfect`, after a deadlock,
/// if either scenario changes compute or has none, if several threads of a rank call MPI, part of
/// the run was not recorded, ranks shared or lost cores, or is_unexplained().
std::optional<Efficiency> efficiency(const Results& results, const ScenarioResult& scenario);

/// True if ranks send messages or take part in collectives other than MPI_Finalize. REQUIRES
/// `perfect` or another scenario that prices collectives.
bool communicates(const Results& results);

/// True for `measured` if tracing between calls makes up most of its time beyond `perfect`: the
/// compute of `perfect` is smaller by that time.
bool is_most_recording(const ScenarioResult& scenario, const ScenarioResult& perfect);

/// The main part of the time of `perfect` beyond the longest compute.
enum class Serialiser {
  kKeptCalls,  ///< calls that keep their recorded time
  kApart,      ///< ranks begin or end at different times
  kTurns       ///< dependency chains between ranks
};

/// `e`: the efficiency of a scenario of `results`. REQUIRES `perfect` in `results`.
Serialiser serialiser_of(const Results& results, const Efficiency& e);

/// True if dependency chains are what lowers the efficiency of the judged run most, whether or not
/// the recording can be trusted.
bool waits_in_turn(const Results& results);

/// The scenario that the report judges: `undisturbed`, else `measured`; nullptr without either.
const ScenarioResult* run_of_interest(const Results& results);

/// "Parallel efficiency 36 % = load balance 74 % × serialisation 97 % × transfer 51 %: ..." of
/// `undisturbed`, else of `measured`, with the main cause. If ranks were descheduled for a known
/// time: load balance and serialisation of `perfect`, which excludes that time. "" if neither is
/// known.
std::string efficiency_line(const Results& results);

}  // namespace rubato
