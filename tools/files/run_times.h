#pragma once

#include <string>
#include <vector>

namespace rubato {

/// The file in an archive of `rubato trace --runs`: seconds, a line per run.
inline constexpr const char* kRunTimesFile = "rubato-runs.txt";

struct RunTimes {
  std::vector<double> seconds;  ///< elapsed, of each run
  std::string note;             ///< why the file is ignored; "": it is not
};

/// The times of these runs, from the file rubato-runs.txt in an OTF2 archive that took `elapsed`
/// seconds; empty without the file. Errors: InputError for anything else in that file.
RunTimes elapsed_of_runs(const std::string& archive, double elapsed);

/// "5 runs: 1.020 s to 1.100 s"
std::string show_runs(const std::vector<double>& elapsed);

}  // namespace rubato
