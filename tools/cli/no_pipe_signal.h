#pragma once

#include <csignal>

namespace rubato {

/// Ignores SIGPIPE for its lifetime, so that writing to a closed pipe returns an error instead of
/// ending the process, which would leave temporary files behind. The scope is short because
/// programs that rubato starts would inherit the setting.
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
