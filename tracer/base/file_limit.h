#pragma once

#include <csignal>
#include <string>

namespace rubato {
inline namespace tracing {

/// While it lives, this thread's writes beyond the limit on the size of files (`ulimit -f`) fail
/// with EFBIG and raise no SIGXFSZ, which would end the program. For the tracer's own writes: the
/// program's files, its handler and its signal mask stay as they are.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal();
  ~NoFileSizeSignal();  ///< leaves errno as it is
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t before_;
  bool was_pending_;
};

/// Why recording stopped before the end, for messages. `error`: errno of the file of records that
/// could not be extended; 0: the memory limit was reached.
std::string why_stopped(int error);

}  // namespace tracing
}  // namespace rubato
