#pragma once

namespace rubato {

/// A file descriptor of the user's terminal: standard error, or that of the launcher on this node,
/// since launchers give ranks a pipe. -1 if neither is a terminal, as in a script or a batch job.
int watched_terminal();

}  // namespace rubato
