#pragma once

#include <csignal>
#include <string>

namespace rubato {

/// From here on Ctrl-C (SIGINT), SIGTERM and SIGHUP end the process with one word on standard
/// error, after what is not complete has been removed; a file that grows beyond its limit (SIGXFSZ)
/// is an error of writing. Signals that are ignored, or that somebody else handles, stay so;
/// programs that this process becomes get those of before.
void handle_interruptions();

/// For a handler of a crash: removes what is not complete, and ends the process with exit code 1.
[[noreturn]] void end_after_crash();

/// While it lives, this thread is not interrupted: what it makes it can say to be gone.
class NotInterrupted {
 public:
  NotInterrupted();
  ~NotInterrupted();
  NotInterrupted(const NotInterrupted&) = delete;
  NotInterrupted& operator=(const NotInterrupted&) = delete;

 private:
  sigset_t before_;
};

/// A file or directory that is to go, with all in it, if the process is interrupted while this
/// lives.
class GoneWhenInterrupted {
 public:
  explicit GoneWhenInterrupted(std::string path);
  ~GoneWhenInterrupted();
  GoneWhenInterrupted(const GoneWhenInterrupted&) = delete;
  GoneWhenInterrupted& operator=(const GoneWhenInterrupted&) = delete;

  /// It is complete, and gets its name, or is gone. False, with errno, if that is impossible.
  bool keep_as(const std::string& name);

 private:
  std::string path_;
};

}  // namespace rubato
