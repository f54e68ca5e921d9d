#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// Caveats: facts to know before trusting any number of a report, one sentence each. The same
/// sentences open the text, the HTML page and `rubato info`.

/// The coverage of the replay: "every MPI call is replayed", or the kept calls with their share of
/// MPI time, counts and places.
std::string kept_calls_line(const TraceSummary& trace);

/// For --strict: throws an InputError with that line if any call is kept.
void refuse_kept_calls(const TraceSummary& trace);

/// The other caveats of an archive, empty for a clean one: unmatched messages, clock violations,
/// and the warnings of warnings.h.
std::vector<std::string> caveats(const TraceSummary& trace);

/// The caveats of a report: those of its archive; time that was not recorded, was spent in the
/// tracer, or was lost to other programs on the same cores; and platforms whose network carries no
/// message.
std::vector<std::string> caveats(const Results& results);

/// Warnings and deadlocks of the scenarios, each with the scenario's name in front.
std::vector<std::string> caveats(const std::vector<ScenarioResult>& scenarios);

/// The result of --verify.
std::string identity_line(const IdentityResult& identity);

/// The conclusion in a sentence, from the scenarios called "measured" and "perfect"; "" without
/// both. If a platform file was measured on the archive's own machine, its prediction of the
/// recorded time comes first. If that prediction is off by more than 10 %, ranks shared cores
/// (lost_cores.h), or the clocks were not synchronised, the headline makes no statement about a
/// perfect interconnect and names the unexplained time and its causes instead. If ranks were
/// descheduled for part of the time, it compares with "undisturbed" and reports the loss; otherwise
/// the last sentence lists other time that only "measured" contains.
std::string headline(const Results& results);

/// True if the headline makes no statement about a perfect interconnect.
bool is_unexplained(const Results& results);

/// True for MPI_Init, MPI_Init_thread and MPI_Finalize: their time is reported, but is not part of
/// elapsed or RankResult::mpi.
bool outside_elapsed(const std::string& call);

/// The scenario of that name; nullptr if there is none or it deadlocks.
const ScenarioResult* scenario_named(const Results& results, const std::string& name);

/// The scenario that others are compared with: the one called "measured", else the first.
const ScenarioResult* reference_scenario(const std::vector<ScenarioResult>& scenarios);

}  // namespace rubato
