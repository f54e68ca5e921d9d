#pragma once

#include <string>

namespace rubato {

/// Starts a watcher process that prints a line about the trace at the end of the run if the program
/// cannot, because it lost the tracer (`env -i`, `sudo`) or was killed.
///
/// To be called on one rank before exec of the command. The watcher is not a child of the command,
/// has its own session and process group, and shares only standard error with it; it also opens
/// that of the launcher, in case the launcher ends first. It waits for the end of the command, of
/// a rank 0 that records, and up to 10 s for other processes that it started, of all only those
/// that have the same standard error. If the tracer has printed no outcome (say_outcome() in
/// tracer/base/warnings.h) and there is no archive, it prints the line and exits. If a step fails,
/// there is no watcher. `output`: the expected name of the archive, until the tracer reports the
/// actual one (tell_output()); empty if only a summary is wanted.
///
/// Under hydra, standard error is not shared, because hydra returns a different exit code if a
/// killed rank's standard error stays open. There the watcher uses those of the launcher, `hydra`
/// and `mpiexec` (tracer/base/launcher.h); -1 otherwise.
void watch_command(const std::string& output, int hydra, int mpiexec);

/// The watcher's line for such a run, which called MPI_Finalize or not; empty if there is an
/// archive.
std::string unsaid_outcome(const std::string& output, bool finalize);

}  // namespace rubato
