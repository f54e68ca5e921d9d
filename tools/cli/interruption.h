#pragma once

#include <csignal>
#include <string>

namespace rubato {

/// From here on Ctrl-C (SIGINT), SIGTERM and SIGHUP remove incomplete output, print one word on
/// standard error and end the process; exceeding the file size limit (SIGXFSZ) becomes a write
/// error. Signals that are ignored or already have a handler keep it. exec() restores the default
/// actions.
void handle_interruptions();

/// For a crash handler: removes incomplete output and ends the process with exit code 1.
[[noreturn]] void end_after_crash();

/// Blocks interruptions in this thread for its lifetime, so that a path can be created and
/// registered with GoneWhenInterrupted in one step.
class NotInterrupted {
 public:
  NotInterrupted();
  ~NotInterrupted();
  NotInterrupted(const NotInterrupted&) = delete;
  NotInterrupted& operator=(const NotInterrupted&) = delete;

 private:
  sigset_t before_;
};

/// A file or directory that is removed, with its contents, if the process is interrupted during the
/// lifetime of this object.
class GoneWhenInterrupted {
 public:
  explicit GoneWhenInterrupted(std::string path);
  ~GoneWhenInterrupted();
  GoneWhenInterrupted(const GoneWhenInterrupted&) = delete;
  GoneWhenInterrupted& operator=(const GoneWhenInterrupted&) = delete;

  /// Renames the complete file or directory to `name`. False, with errno, on failure.
  bool keep_as(const std::string& name);

 private:
  std::string path_;
};

}  // namespace rubato
