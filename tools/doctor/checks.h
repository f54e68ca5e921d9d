#pragma once

#include <string>
#include <vector>

namespace rubato {

/// The result of a check of `rubato doctor`.
struct Check {
  enum State { kOk, kWarn, kFail };  ///< kFail: tracing cannot work

  std::string name;
  State state = kOk;
  std::string found;   ///< what is there
  std::string advice;  ///< what to do; empty if nothing
};

/// A check of each MPI library that has a mpirun here or parts in this installation: what is found,
/// and whether a process of it that `rubato trace` starts writes an archive. They fail if none
/// works. `directory` is an empty one for their files.
std::vector<Check> mpi_checks(const std::string& directory);

/// The process that mpi_checks() starts: MPI_Init, MPI_Finalize. Prints the version of the library
/// called `flavour` and its file. Returns the exit code.
int answer_as_mpi_process(const std::string& flavour);

/// Where records are kept during a run.
Check memory_check();
/// Performance counters.
Check counter_check();
/// The source of time stamps.
Check clock_check();
/// Cores that this process may use, and what shares them.
Check core_check();

}  // namespace rubato
