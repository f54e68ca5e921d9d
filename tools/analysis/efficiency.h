#pragma once

#include <optional>
#include <string>

#include "replay/observe/results.h"

namespace rubato {

/// Where the time of a run goes, as factors between 0 and 1: POP's efficiencies (Rosas, Gimenez,
/// Labarta: Scalability prediction for fundamental performance factors, 2014). With the compute c
/// of each rank, T of the scenario and T_p on a perfect interconnect,
///
///     parallel = mean c / T = load balance × serialisation × transfer
///     load balance = mean c / max c,  serialisation = max c / T_p,  transfer = T_p / T
///
/// Serialisation is what waiting for each other costs beyond unequal work, and what no network
/// changes: calls that keep their recorded time, ranks that begin or end apart. Transfer is what
/// messages take, and in `measured` what recording took.
struct Efficiency {
  double load_balance = 1;
  double serialisation = 1;
  double transfer = 1;
  int busiest = 0;  ///< the rank that computes longest

  double parallel() const { return load_balance * serialisation * transfer; }
};

/// The efficiency of a scenario beside `perfect`. None without `perfect`, in a deadlock, where
/// either changes compute, without compute, where several threads of a rank call MPI, part of the
/// run was not recorded, ranks shared or lost their cores, or the headline cannot be trusted either
/// (is_unexplained()).
std::optional<Efficiency> efficiency(const Results& results, const ScenarioResult& scenario);

/// True where ranks send messages or take part in collectives, MPI_Finalize apart: `perfect` must
/// be among the scenarios, or another that prices collectives.
bool communicates(const Results& results);

/// True of `measured` where most of what it takes longer than `perfect` is what recording costs
/// between calls: `perfect` has that much less compute.
bool is_most_recording(const ScenarioResult& scenario, const ScenarioResult& perfect);

/// What `perfect` takes beyond the longest compute.
enum class Serialiser {
  kKeptCalls,  ///< calls that keep their recorded time
  kApart,      ///< ranks that begin or end apart
  kTurns       ///< waiting for each other in turn
};

/// `e`: of a scenario of `results`, which have `perfect`.
Serialiser serialiser_of(const Results& results, const Efficiency& e);

/// True where waiting in turn lowers the efficiency of the run that a report judges most, whether
/// the recording can be trusted or not.
bool waits_in_turn(const Results& results);

/// The run that a report judges: `undisturbed`, else `measured`; nullptr without either.
const ScenarioResult* run_of_interest(const Results& results);

/// "Parallel efficiency 36 % = load balance 74 % × serialisation 97 % × transfer 51 %: ..." of
/// `undisturbed`, else of `measured`, with what lowers it most. Where ranks lacked cores, and the
/// archive says how long: load balance and serialisation of `perfect`, which does without that
/// time.
/// "" where there is neither.
std::string efficiency_line(const Results& results);

}  // namespace rubato
