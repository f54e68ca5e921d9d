// libotf2 checks little of what it decodes, so a damaged archive can make it crash. Our readers
// reject the damage that they can detect beforehand; this handler reports the rest. Running libotf2
// in a child process would cost a copy of every record.

#include "tools/cli/crash.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

#include "replay/archive/now_reading.h"
#include "tools/cli/interruption.h"

namespace rubato {
namespace {

std::atomic<bool> crashed = false;

/// Async-signal-safe: formats on the stack and writes immediately.
template <typename... Values>
void print(fmt::string_view format, Values... values) {
  std::array<char, 4352> line;  // a path, and some words
  const auto text = fmt::format_to_n(line.data(), line.size(), fmt::runtime(format), values...);
  const auto written = write(STDERR_FILENO, line.data(), std::min(text.size, line.size()));
  static_cast<void>(written);
}

const char* name_of(int number) {
  const char* name = sigabbrev_np(number);
  return name ? name : "?";
}

extern "C" void on_crash(int number) {
  if (crashed.exchange(true)) return;  // another thread handles the crash
  const NowReading* reading = NowReading::current();
  if (!reading) {
    print("rubato: error: crashed (SIG{}); this is a bug in rubato, please report the command\n",
          name_of(number));
    std::signal(number, SIG_DFL);
    std::raise(number);
    return;
  }
  if (reading->location() == NowReading::kDefinitions) {
    print("rubato: error: {}: reading the definitions crashed (SIG{}); the archive is damaged\n",
          reading->anchor(), name_of(number));
  } else {
    print(
        "rubato: error: {}: reading the events of location {} crashed (SIG{}); the file is "
        "damaged\n",
        reading->anchor(), reading->location(), name_of(number));
  }
  end_after_crash();
}

}  // namespace

void handle_crashes() {
  // Alternate stack for the main thread: after a stack overflow the handler could not run on its
  // own.
  static std::array<char, 1 << 16> stack;
  stack_t other = {};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  sigaltstack(&other, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace rubato
