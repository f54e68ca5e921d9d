#pragma once

namespace rubato {

/// A file descriptor of the terminal that a person watches: standard error, or that of the launcher
/// on this node, since launchers give ranks a pipe. -1 where neither is a terminal, as in a script
/// or a batch job.
int watched_terminal();

}  // namespace rubato
