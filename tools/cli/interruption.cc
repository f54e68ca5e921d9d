// A signal handler must not remove directories, so it wakes a thread that does. The thread is
// started when the first path to remove is registered.

#include "tools/cli/interruption.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

namespace rubato {
namespace {

std::atomic<int> things = 0;  ///< number of paths to remove
int wake_up[2] = {-1, -1};    ///< a pipe: the handler writes, the thread reads

/// Never destroyed: the thread may use them while the process exits.
std::mutex& mutex() {
  static auto* const only = new std::mutex;
  return *only;
}
std::set<std::string>& paths() {
  static auto* const only = new std::set<std::string>;
  return *only;
}

void say(int number) {
  const std::string_view word = number == SIGINT ? "rubato: interrupted\n" : "rubato: terminated\n";
  constexpr std::string_view kClear = "\r\033[K";  // clears the progress line
  if (isatty(STDERR_FILENO) != 0 && write(STDERR_FILENO, kClear.data(), kClear.size()) < 0) return;
  if (write(STDERR_FILENO, word.data(), word.size()) < 0) return;
}

extern "C" void on_interruption(int number) {
  const int error = errno;
  const auto byte = static_cast<char>(number);
  if (things > 0 && write(wake_up[1], &byte, 1) == 1) {
    errno = error;
    return;
  }
  say(number);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

constexpr char kCrash = 0;  ///< written instead of a signal number

extern "C" void on_too_large(int) {}

void clean_up() {
  char number = 0;
  while (read(wake_up[0], &number, 1) != 1) {
    if (errno != EINTR) return;
  }
  {
    // Never unlocked: no output can be committed or registered any more.
    mutex().lock();
    for (const std::string& path : paths()) {
      // The program keeps running and may create a file in a directory that is being emptied.
      constexpr int kTries = 100;
      std::error_code ignored;
      for (int i = 0; i == 0 || (i < kTries && std::filesystem::exists(path, ignored)); ++i)
        std::filesystem::remove_all(path, ignored);
    }
  }
  if (number == kCrash) _exit(1);
  say(number);
  // Raised in this thread: other threads may block the signal.
  std::signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  std::raise(number);
  _exit(128 + number);
}

/// Starts the thread with all signals blocked, so that other threads receive them.
void start_thread() {
  static const bool started = [] {
    if (pipe2(wake_up, O_CLOEXEC) != 0) return false;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread(clean_up).detach();
      // without the thread, incomplete files remain after an interruption
    } catch (const std::system_error&) {
      wake_up[1] = -1;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return true;
  }();
  static_cast<void>(started);
}

}  // namespace

void handle_interruptions() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGXFSZ}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = number == SIGXFSZ ? on_too_large : on_interruption;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

void end_after_crash() {
  // seconds: the crashed thread may hold a lock that the thread needs
  constexpr unsigned kPatience = 5;
  if (things == 0 || write(wake_up[1], &kCrash, 1) != 1) _exit(1);
  std::signal(SIGALRM, SIG_DFL);
  alarm(kPatience);
  for (;;) pause();
}

NotInterrupted::NotInterrupted() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ours, number);
  pthread_sigmask(SIG_BLOCK, &ours, &before_);
}

NotInterrupted::~NotInterrupted() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

GoneWhenInterrupted::GoneWhenInterrupted(std::string path) : path_(std::move(path)) {
  start_thread();
  const std::lock_guard lock(mutex());
  paths().insert(path_);
  ++things;
}

bool GoneWhenInterrupted::keep_as(const std::string& name) {
  const std::lock_guard lock(mutex());
  if (std::rename(path_.c_str(), name.c_str()) != 0) return false;
  paths().erase(path_);
  return true;
}

GoneWhenInterrupted::~GoneWhenInterrupted() {
  const std::lock_guard lock(mutex());
  paths().erase(path_);
  --things;
}

}  // namespace rubato
