#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// Caveats: facts to know before trusting any number of a report, one sentence each. The same
/// sentences open the text, the HTML page and `rubato info`.

/// How much of the archive is replayed: "every MPI call is replayed", or the kept calls with their
/// share of MPI time, counts and places.
std::string kept_calls_line(const TraceSummary& trace);

/// For --strict: throws an InputError with that line if any call is kept.
void refuse_kept_calls(const TraceSummary& trace);

/// The other caveats of an archive, empty for a clean one: unmatched messages, clock violations,
/// what reading it found (warnings.h).
std::vector<std::string> caveats(const TraceSummary& trace);

/// The caveats of a report: those, time that was not recorded, taken by the tracer, or lost to
/// other programs on the same cores, and platforms whose network nothing crosses.
std::vector<std::string> caveats(const Results& results);

/// Warnings and deadlocks of the scenarios, each with the scenario's name in front.
std::vector<std::string> caveats(const std::vector<ScenarioResult>& scenarios);

/// The result of --verify.
std::string identity_line(const IdentityResult& identity);

/// The answer in a sentence, from the scenarios called "measured" and "perfect"; "" when one of
/// them was not asked for. If a platform file was measured on the archive's own machine, its
/// prediction of the recorded time comes first. If that is off by more than a tenth, or ranks
/// lacked cores (lost_cores.h), or had clocks that were not synchronised, the headline makes no
/// statement about a perfect interconnect and names the unexplained time and its causes instead.
/// Where ranks lost some of their time to others on their cores, it judges "undisturbed" and says
/// how much they lost; else the last sentence says what else only "measured" contains.
std::string headline(const Results& results);

/// True where that headline makes no statement about a perfect interconnect.
bool is_unexplained(const Results& results);

/// True for MPI_Init, MPI_Init_thread and MPI_Finalize: their time is reported, but part of neither
/// elapsed nor RankResult::mpi.
bool outside_elapsed(const std::string& call);

/// The scenario of that name, unless it deadlocks; nullptr where there is none.
const ScenarioResult* scenario_named(const Results& results, const std::string& name);

/// The scenario that others are compared with: the one called "measured", else the first.
const ScenarioResult* reference_scenario(const std::vector<ScenarioResult>& scenarios);

}  // namespace rubato
