#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// The archive's name on the command line, quoted for a shell: its directory if the anchor file has
/// its default name; "./-x" for a name that looks like an option.
std::string archive_word(const TraceSummary& trace);

/// "rubato replay ARCHIVE `words`" for `command` "replay", with the options of the replay of
/// `results`. `words`: further arguments, already quoted; may be empty.
std::string ask_again(const std::string& command, const Results& results, const std::string& words);

/// Splits a command before each option (" --on infiniband-hdr"), but not inside quotes.
std::vector<std::string> options_of(const std::string& command);

}  // namespace rubato
