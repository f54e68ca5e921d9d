#pragma once

#include <string>
#include <vector>

#include "replay/judge/notes.h"

namespace rubato {

/// Facts to know before trusting any number of a report, one sentence each. The same sentences open
/// the text, the HTML page and `rubato info`.

/// A note, without the name of its scenario.
std::string sentence(const Note& note);

/// Warnings only.
std::vector<std::string> warnings_about(const TraceSummary& trace);
std::vector<std::string> warnings_about(const ScenarioResult& scenario);

/// The sentences of notes_on(); those of scenarios with the scenario's name in front.
std::vector<std::string> caveats(const TraceSummary& trace);
std::vector<std::string> caveats(const Roles& roles);
std::vector<std::string> caveats(const std::vector<ScenarioResult>& scenarios);

/// The coverage of the replay: "every MPI call is replayed", or the kept calls with their share of
/// MPI time, counts and places.
std::string kept_calls_line(const TraceSummary& trace);

/// "Elapsed of 5 runs: 1.020 s to 1.100 s; this is the median." of an archive of `rubato trace
/// --runs`, or why its times are ignored; else "". Errors: as elapsed_of_runs().
std::string runs_line(const TraceSummary& trace);

/// For --strict: throws an InputError with that line if any call is kept.
void refuse_kept_calls(const TraceSummary& trace);

/// The result of --verify.
std::string identity_line(const IdentityResult& identity);

}  // namespace rubato
