#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// A change that would shorten the run, with an upper bound of its saving if nothing else changed.
struct Cure {
  std::string what;     ///< "equal work on all ranks"
  double seconds = 0;   ///< saved of the elapsed time
  std::string command;  ///< a Rubato command to investigate it; "" if there is none
};

/// The cures of a run, largest first, from the factors of efficiency.h. With T elapsed, raising a
/// factor f to 1 saves (1 - f) T if the others stay: transfer (free messages, as in `perfect`; in
/// `measured` also free tracing), load balance (equal work), serialisation (see Serialiser). Cures
/// that save less than 1 % are left out. Empty without factors (efficiency()).
std::vector<Cure> cures(const Results& results);

/// Suggested next commands, with the archive and scenarios of `results`; empty if no cure is large
/// enough.
std::vector<std::string> next_commands(const Results& results);

/// The verdict: a line with the efficiency factors, then the headline. Zero to two lines: each is
/// left out if it cannot be determined.
std::vector<std::string> verdict(const Results& results);

}  // namespace rubato
