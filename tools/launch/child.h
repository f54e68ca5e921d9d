#pragma once

#include <functional>
#include <string>
#include <vector>

namespace rubato {

/// The result of a child process.
struct ChildEnd {
  int exit_code = 0;     ///< also 0 if a signal ended it
  int signal = 0;        ///< the signal that ended it, or 0
  bool stopped = false;  ///< `watch` requested its end

  bool fine() const { return exit_code == 0 && signal == 0 && !stopped; }
  /// "exited with 3", "was ended by signal 9".
  std::string text() const;
};

/// Runs a program to its end, with standard output and error in the file `log` and empty standard
/// input, in a process group of its own so that Ctrl-C reaches only this process. `watch` is called
/// about 20 times a second with the elapsed seconds; if it returns true, the program is ended
/// (SIGTERM, and SIGKILL to its whole group after `patience` seconds). Errors: InputError if it
/// cannot be started.
ChildEnd run_child(const std::vector<std::string>& words, const std::string& log,
                   const std::function<bool(double)>& watch, double patience = 20);

}  // namespace rubato
