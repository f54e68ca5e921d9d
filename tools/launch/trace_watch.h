#pragma once

#include <string>

namespace rubato {

/// Starts a watcher process that makes a traced run end with a line about its trace: a program that
/// lost the tracer (`env -i`, `sudo`), or was killed, cannot print it.
///
/// To be called by the process that is about to become the command, on one rank. The watcher is not
/// a child of the command, has its own process group and session, and shares only standard error
/// with it, and has open that of the launcher, for a launcher that has ended by then. It waits for
/// the end of the command. If the tracer has printed no outcome (say_outcome() in
/// tracer/session/settings.h) and there is no archive, it prints the line; then it ends. If
/// anything fails there is no watcher. `output` is where the archive is expected, until the tracer
/// tells the name that it took (tell_output()); empty where only a summary is wanted.
///
/// Under hydra, standard error is not shared: hydra's exit code is another one if the killed rank's
/// is open longer than the rank lives. There the watcher has those of the launcher, `hydra` and
/// `mpiexec` (tracer/session/launcher.h), else -1.
void watch_command(const std::string& output, int hydra, int mpiexec);

/// The watcher's line for such a run; empty if there is an archive.
std::string unsaid_outcome(const std::string& output);

}  // namespace rubato
