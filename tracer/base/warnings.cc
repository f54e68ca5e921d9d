#include "tracer/base/warnings.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "tracer/base/file_limit.h"

namespace rubato {
inline namespace tracing {
namespace {

/// A message to tools/launch/trace_watch.h.
void tell_watcher(const std::string& message) {
  const char* name = std::getenv("RUBATO_TRACE_WATCH");
  sockaddr_un address{};
  if (name == nullptr || std::strlen(name) + 1 > sizeof address.sun_path) return;
  const int program_errno = errno;
  const size_t length = std::strlen(name);
  address.sun_family = AF_UNIX;  // its name begins with a zero: there is no file
  std::memcpy(address.sun_path + 1, name, length);
  const int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file >= 0) {
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    sendto(file, message.data(), message.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address), size);
    close(file);
  }
  errno = program_errno;
}

}  // namespace

void outcome_is_said() {
  tell_watcher("x");
}

void tell_finalize() {
  tell_watcher("f");
}

void tell_output(const std::string& output) {
  tell_watcher("o" + std::to_string(getpid()) + " " + output);
}

void say_outcome(const std::string& message) {
  outcome_is_said();
  warn(message);
}

void warn(const std::string& message) {
  const std::string line = "rubato: " + message + "\n";
  const NoFileSizeSignal quiet;  // standard error may be a file
  // In one write, so that the lines of several processes do not mix.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace tracing
}  // namespace rubato
