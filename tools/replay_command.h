#pragma once

#include <string>

#include "replay/observe/results.h"

namespace rubato {

/// `word` as a shell takes it: in quotes where it needs them.
std::string shell_word(const std::string& word);

/// What the user called the archive, for a shell: its directory, where the anchor file has its
/// usual name.
std::string archive_word(const TraceSummary& trace);

/// "rubato replay ARCHIVE `scenarios`", the latter as `--on` with quoted texts.
std::string replay_command(const TraceSummary& trace, const std::string& scenarios);

}  // namespace rubato
