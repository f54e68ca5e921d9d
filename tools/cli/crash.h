#pragma once

namespace rubato {

/// From here on a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) is one line on standard error.
/// One while libotf2 decodes an archive names what it decoded, removes what is not complete, and
/// ends the process with exit code 1, as other damage does; any other is called a mistake of
/// rubato's and goes its usual way. Signals that somebody else handles (a sanitizer) stay so.
void handle_crashes();

}  // namespace rubato
