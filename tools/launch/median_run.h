#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rubato {

/// `rubato trace --runs`: runs a program one time after the other, each in a child process that
/// traces it into an archive of its own next to `output`. A child gets nothing back, and its
/// archive in `output`: it is to execute the program. This process keeps the archive of median
/// elapsed time as `output`, with the times of all, removes the others, and gets 0; or the exit
/// code of a failed run, which ends it. Errors: InputError if such an archive exists, or a run
/// writes none.
std::optional<int> keep_median_run(int runs, std::string& output);

/// Elapsed seconds of these runs, from the file rubato-runs.txt in an archive; empty for others.
/// Errors: InputError for anything else in that file.
std::vector<double> elapsed_of_runs(const std::string& archive);

/// "5 runs: 1.020 s to 1.100 s"
std::string show_runs(const std::vector<double>& elapsed);

}  // namespace rubato
