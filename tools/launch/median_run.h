#pragma once

#include <optional>
#include <string>

namespace rubato {

/// `rubato trace --runs`: runs a program one time after the other, each in a child process that
/// traces it into an archive of its own next to `output`. A child gets nothing back, and its
/// archive in `output`: it is to execute the program. This process keeps the archive of median
/// elapsed time as `output`, with the times of all, removes the others, and gets 0; or the exit
/// code of a failed run, which ends it. Each run reads standard input from its present offset on.
/// Of an even number of runs the faster of the two in the middle is the median. Errors: InputError
/// if such an archive exists, a run writes none, or standard input is a pipe or a socket.
std::optional<int> keep_median_run(int runs, std::string& output);

}  // namespace rubato
