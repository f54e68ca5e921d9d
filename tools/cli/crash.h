#pragma once

namespace rubato {

/// From here on a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) prints one line on standard
/// error. If libotf2 was decoding an archive, the line names the location, incomplete output is
/// removed, and the process exits with code 1, as for other damage. Any other crash is reported as
/// a bug in rubato and then takes its default action. Signals that already have a handler (of a
/// sanitizer) keep it.
void handle_crashes();

}  // namespace rubato
