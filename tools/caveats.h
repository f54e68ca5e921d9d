#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// What a reader has to know before trusting any number of a report, one sentence each. The same
/// sentences open the text, the HTML page and `rubato info`.

/// How much of the archive is replayed: "every MPI call is replayed", or the calls that keep their
/// recorded time, with their share of MPI time, counts and places.
std::string kept_calls_line(const TraceSummary& trace);

/// What --strict asks for: an InputError of that line where any call keeps its recorded time.
void refuse_kept_calls(const TraceSummary& trace);

/// The rest, empty for a clean archive: unmatched messages, clock violations, the reader's
/// warnings.
std::vector<std::string> caveats(const TraceSummary& trace);

/// All that opens a report: those, what of the run was not recorded, was the tracer's or lost to
/// others on the same cores, and platforms whose network nothing crosses.
std::vector<std::string> caveats(const Results& results);

/// Warnings and deadlocks of the scenarios, each behind the scenario's name.
std::vector<std::string> caveats(const std::vector<ScenarioResult>& scenarios);

/// What --verify found.
std::string identity_line(const IdentityResult& identity);

/// The answer in a sentence, from the scenarios called "measured" and "perfect"; "" when one of
/// them was not asked for. Where a platform file was measured on the archive's own machine, what
/// that model makes of the recorded time comes first. Where it is more than a tenth off, or ranks
/// shared cores, nothing is said of a perfect interconnect, but what is not explained and why. The
/// last sentence says what recording cost when "undisturbed" knows.
std::string headline(const Results& results);

/// True for MPI_Init, MPI_Init_thread and MPI_Finalize: their time is reported, but it is not a
/// part of elapsed nor of RankResult::mpi.
bool outside_elapsed(const std::string& call);

/// The scenario that others are compared with: the one called "measured", else the first.
const ScenarioResult* reference_scenario(const std::vector<ScenarioResult>& scenarios);

}  // namespace rubato
