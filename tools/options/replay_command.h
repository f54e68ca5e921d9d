#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// What the user called the archive, for a shell: its directory, where the anchor file has its
/// usual name; "./-x" rather than an option.
std::string archive_word(const TraceSummary& trace);

/// "rubato replay ARCHIVE `words`" for `command` "replay", with the options that say how `results`
/// were replayed. `words`: others, in quotes where they need them; may be empty.
std::string ask_again(const std::string& command, const Results& results, const std::string& words);

/// A command in pieces, each but the first with an option in front (" --on infiniband-hdr"); what
/// is in quotes stays together.
std::vector<std::string> options_of(const std::string& command);

}  // namespace rubato
