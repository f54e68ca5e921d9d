#include "tools/launch/child.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "models/base/error.h"

namespace rubato {
namespace {

constexpr useconds_t kNap = 50000;  // polling interval, microseconds

/// Executes the program in the child process. On failure writes errno into the pipe, which exec
/// otherwise closes.
[[noreturn]] void become_program(std::vector<char*>& argv, int log, int trouble) {
  setpgid(0, 0);
  const int null = open("/dev/null", O_RDONLY);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execvp(argv[0], argv.data());
  const int error = errno;
  (void)!write(trouble, &error, sizeof error);
  _exit(127);
}

}  // namespace

std::string ChildEnd::text() const {
  return signal ? fmt::format("was ended by signal {}", signal)
                : fmt::format("exited with {}", exit_code);
}

ChildEnd run_child(const std::vector<std::string>& words, const std::string& log,
                   const std::function<bool(double)>& watch, double patience) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw InputError(fmt::format("{}: {}", log, std::strerror(errno)));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    close(file);
    throw InputError(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
  }
  const pid_t child = fork();
  if (child == 0) become_program(argv, file, ends[1]);
  int error = child < 0 ? errno : 0;
  close(file);
  close(ends[1]);
  if (child > 0 && read(ends[0], &error, sizeof error) == sizeof error) waitpid(child, nullptr, 0);
  close(ends[0]);
  if (error)
    throw InputError(fmt::format("{} cannot be started: {}", words[0], std::strerror(error)));

  ChildEnd end;
  const auto begin = std::chrono::steady_clock::now();
  double told = 0;
  for (;;) {
    int status = 0;
    const pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child || (done < 0 && errno != EINTR)) {
      if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
      return end;
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!end.stopped && watch && watch(seconds)) {
      end.stopped = true;
      told = seconds;
      kill(child, SIGTERM);
    }
    if (end.stopped && seconds > told + patience) kill(-child, SIGKILL);
    usleep(kNap);
  }
}

}  // namespace rubato
