#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// What would make a run shorter, and by how much at most if nothing else changed.
struct Cure {
  std::string what;     ///< "equal work on all ranks"
  double seconds = 0;   ///< saved of the elapsed time
  std::string command;  ///< a question to Rubato that leads there; "" if none does
};

/// The cures of a run, the largest first, from the factors of efficiency.h. With T elapsed, each
/// factor f < 1 saves (1 - f) T where the others stay: transfer (messages that cost nothing, what
/// `perfect` shows; in `measured` recording, too), load balance (equal work), serialisation (by
/// Serialiser: no rank waits for its turn). Cures that save less than 1 % are left out. Empty
/// without factors (efficiency()).
std::vector<Cure> cures(const Results& results);

/// What to ask next, as commands; empty where nothing is worth it. Archive and scenarios are those
/// of `results`.
std::vector<std::string> next_commands(const Results& results);

/// The verdict: the factors of efficiency in a line, then the headline. One or two lines; none
/// where neither can be told.
std::vector<std::string> verdict(const Results& results);

}  // namespace rubato
