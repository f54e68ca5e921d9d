#include "tracer/base/file_limit.h"

#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace rubato {
inline namespace tracing {
namespace {

sigset_t only_file_size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

NoFileSizeSignal::NoFileSizeSignal() {
  const sigset_t own = only_file_size_signal();
  pthread_sigmask(SIG_BLOCK, &own, &before_);
  sigset_t pending;
  was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

/// The kernel sends SIGXFSZ to the writing thread, so a signal that is pending now and was not
/// before is due to our own writes.
NoFileSizeSignal::~NoFileSizeSignal() {
  const int program_errno = errno;
  const sigset_t own = only_file_size_signal();
  const timespec now{};
  while (!was_pending_ && sigtimedwait(&own, nullptr, &now) < 0 && errno == EINTR) continue;
  if (sigismember(&before_, SIGXFSZ) == 0) pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  errno = program_errno;
}

std::string why_stopped(int error) {
  switch (error) {
    case 0:
      return "the memory limit ended recording";
    case ENOSPC:
    case EDQUOT:
      return "no more space for records";
    case EFBIG:
      return "the limit on the size of files (ulimit -f) ended recording";
    default:
      return std::string("records could not be written (") + std::strerror(error) + ")";
  }
}

}  // namespace tracing
}  // namespace rubato
