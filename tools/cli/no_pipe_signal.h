#pragma once

#include <csignal>

namespace rubato {

/// While it lives, writing into a pipe that nobody reads is an error like others, not the end of
/// the process: that would leave temporary files behind. Only so long, as programs that rubato
/// starts would inherit it.
class NoPipeSignal {
 public:
  NoPipeSignal() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~NoPipeSignal() { std::signal(SIGPIPE, before_); }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace rubato
