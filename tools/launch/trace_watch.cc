#include "tools/launch/trace_watch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "models/base/shell_quoted.h"
#include "tracer/base/launcher.h"

namespace rubato {
namespace {

/// Opens the socket on which the tracer reports that it printed the outcome of the run. The
/// abstract address needs no file, so nothing is left over, and the command inherits nothing.
int listen_for_outcome(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const int listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (listener >= 0 && bind(listener, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    close(listener);
    return -1;
  }
  return listener;
}

/// Standard error of the launcher, the parent process; -1 if it cannot be opened. Needed because a
/// launcher that ends after the death of another rank no longer forwards our output.
int launchers_stderr() {
  const std::string name = fmt::format("/proc/{}/fd/2", getppid());
  return open(name.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

/// Prints a line. True on success: if standard error is a pipe, its reader has consumed the line.
bool say(const std::string& line) {
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return false;
  struct stat info;
  if (fstat(STDERR_FILENO, &info) != 0 || !S_ISFIFO(info.st_mode)) return true;
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    int unread = 0;
    if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0) return true;
    pollfd reader{STDERR_FILENO, 0, 0};
    if (poll(&reader, 1, 10) > 0 && (reader.revents & POLLERR) != 0) {
      // It may have read the line before it closed the pipe.
      return ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread == 0;
    }
  }
  return true;  // a slow reader
}

void close_all_but(std::initializer_list<int> files) {
  std::vector<unsigned> kept;
  for (const int file : files) {
    if (file >= 0) kept.push_back(static_cast<unsigned>(file));
  }
  std::sort(kept.begin(), kept.end());
  unsigned from = 0;
  for (const unsigned file : kept) {
    if (file > from) syscall(SYS_close_range, from, file - 1, 0);
    from = file + 1;
  }
  syscall(SYS_close_range, from, ~0U, 0);
}

/// The messages of the tracer received so far.
struct Told {
  bool outcome = false;   ///< the tracer has printed it
  bool finalize = false;  ///< MPI_Finalize was called
  std::string output;     ///< the archive's directory
  std::string recorder;   ///< the process id of rank 0, once it records

  void listen(int listener) {
    std::string message(2 * PATH_MAX, ' ');
    ssize_t length;
    while ((length = recv(listener, message.data(), message.size(), 0)) > 0) {
      outcome = outcome || message[0] == 'x';
      finalize = finalize || message[0] == 'f';
      if (message[0] != 'o') continue;
      const size_t blank = message.find(' ');
      recorder = message.substr(1, blank - 1);
      output.assign(message, blank + 1, static_cast<size_t>(length) - blank - 1);
    }
  }
};

[[noreturn]] void watch(int command, int listener, int launcher, const std::string& name,
                        const std::string& output, const std::string& standard_error) {
  setsid();
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ})
    std::signal(signal, SIG_IGN);
  close_all_but({STDERR_FILENO, command, listener, launcher});
  if (chdir("/") != 0) _exit(0);
  Told told{false, false, output, ""};
  pollfd files[] = {{command, POLLIN, 0}, {listener, POLLIN, 0}};
  while (files[0].revents == 0) {
    if (poll(files, std::size(files), -1) < 0 && errno != EINTR) _exit(0);
    told.listen(listener);
  }
  // A daemon's first process ends at once, and its child is the program. Only a process that has
  // the same standard error is waited for, which this one would else keep open.
  constexpr int kTries = 20;
  const std::string entry = "RUBATO_TRACE_WATCH=" + name;
  bool records = false;
  for (int i = 0; !told.outcome; ++i) {
    records = !told.recorder.empty() && process_has(told.recorder, entry);
    if (records
            ? file_behind(told.recorder, "2") != standard_error
            : !told.recorder.empty() || i >= kTries || !other_process_has(entry, standard_error))
      break;
    poll(&files[1], 1, 500);
    told.listen(listener);
  }
  if (!told.outcome && !records) {
    const std::string line = unsaid_outcome(told.output, told.finalize);
    if (!line.empty() && !say(line)) {
      [[maybe_unused]] const ssize_t written = write(launcher, line.data(), line.size());
    }
  }
  _exit(0);
}

}  // namespace

std::string unsaid_outcome(const std::string& output, bool finalize) {
  if (output.empty()) {
    return "rubato: no summary: the program ended without MPI_Finalize, or did not call MPI_Init "
           "with the tracer loaded (env -i, sudo and their like remove LD_PRELOAD)\n";
  }
  const auto recover = [&](const char* why) {
    return fmt::format("rubato: {}; to make a trace of what was recorded: rubato recover {}\n", why,
                       shell_quoted(output));
  };
  struct stat info;
  const auto finds = [&](const char* file) { return stat((output + file).c_str(), &info) == 0; };
  if (finds("/ABORTED")) {
    // A rank is reporting the abort, or was killed before it could.
    constexpr int kTries = 100;
    for (int i = 0; i < kTries && info.st_size == 0; ++i) {
      poll(nullptr, 0, 10);
      if (!finds("/ABORTED")) return "";
    }
    return info.st_size > 0 ? "" : recover("the program called MPI_Abort");
  }
  if (finds("/INCOMPLETE"))
    return recover(finalize ? "the program ended before MPI_Finalize had written the trace"
                            : "the program ended without MPI_Finalize");
  if (stat(output.c_str(), &info) == 0) return "";
  return "rubato: nothing was recorded: no call of MPI_Init reached the tracer, or it failed "
         "(env -i, sudo and their like remove LD_PRELOAD: put rubato trace behind them; MPI may be "
         "linked in statically)\n";
}

void watch_command(const std::string& output, int hydra, int mpiexec) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::string name = fmt::format("rubato-{}-{}-{}", getpid(), now.tv_sec, now.tv_nsec);
  const auto command = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  const int listener = command >= 0 ? listen_for_outcome(name) : -1;
  if (listener >= 0) {
    // Fork twice, so that the watcher is not a child of the command, which may wait for any child.
    const int launcher = hydra >= 0 ? mpiexec : launchers_stderr();
    const std::string standard_error = file_behind("self", "2");
    const pid_t child = fork();
    if (child == 0) {
      if (hydra >= 0) dup2(hydra, STDERR_FILENO);
      if (fork() == 0) watch(command, listener, launcher, name, output, standard_error);
      _exit(0);
    }
    while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    close(listener);
    if (launcher >= 0) close(launcher);
    setenv("RUBATO_TRACE_WATCH", name.c_str(), 1);
  }
  if (command >= 0) close(command);
}

}  // namespace rubato
