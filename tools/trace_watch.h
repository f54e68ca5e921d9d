#pragma once

#include <string>

namespace rubato {

/// Leaves a process behind that sees to it that a traced run ends with a line: a program that lost
/// the tracer (`env -i`, `sudo`), or that was killed, cannot say what became of its trace.
///
/// To be called by the process that is about to become the command, on one rank. The watcher is no
/// child of the command's, in no process group or session of its, and holds nothing of its but
/// standard error. It waits until the command has ended; unless the tracer has said how the run
/// ended (say_outcome() in tracer/settings.h) or there is an archive at `output`, it does, and
/// ends. Where anything fails there is no watcher.
void watch_command(const std::string& output);

/// What such a run ends with when nobody said anything; empty where there is an archive.
std::string unsaid_outcome(const std::string& output);

}  // namespace rubato
