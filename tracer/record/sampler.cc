#include "tracer/record/sampler.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "tracer/record/call_paths.h"
#include "tracer/record/recorder.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace rubato {
inline namespace tracing {
namespace {

/// A thread that had the signal blocked for longer was elsewhere most of that time.
constexpr uint64_t kLongestNanoseconds = 100'000'000;

uint64_t period = 0;
int signal_number = 0;  ///< 0: there are no samples
struct sigaction former;

/// Puts a sample into the log of this thread, unless that is in use: inside an MPI call, or the
/// tracer at work.
void take_sample(ThreadLog& log, uint64_t periods, const ucontext_t& context) {
  // What begin_call() has seen free stays free.
  constexpr ptrdiff_t kWords = kFreeWords + Recorder::kStolenWords + kHeadWords;
  if (log.at == nullptr || log.switches != Recorder::switches()) return;
  const uint32_t path = log.paths->of_sample(log, WalkStart::interrupted(context));
  if (log.limit - log.at < kWords && !Recorder::refill(log, kWords)) return;
  uint64_t now = Clock::now();
  if (Recorder::is_to_ask(log, log.last, now)) now = Recorder::long_gap(log, now);
  Recorder::put_sample(log, now, path, periods);
}

void on_signal(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER || !Recorder::on() || !Recorder::has_log()) return;
  ThreadLog* const log = Recorder::this_thread();
  if (log->busy || log->muted || log->paths == nullptr) return;
  const auto periods = uint64_t{1} + static_cast<uint64_t>(std::max(0, info->si_overrun));
  if (periods * period > kLongestNanoseconds) return;
  const int program_errno = errno;
  log->busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  take_sample(*log, periods, *static_cast<const ucontext_t*>(context));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  log->busy = false;
  errno = program_errno;
}

/// The last real-time signal without a handler; 0: none.
int free_signal() {
  for (int number = SIGRTMAX - 1; number >= SIGRTMIN; --number) {
    struct sigaction present;
    if (sigaction(number, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) == 0 &&
        present.sa_handler == SIG_DFL) {
      return number;
    }
  }
  return 0;
}

}  // namespace

void Sampler::start(uint64_t period_nanoseconds) {
  if (period_nanoseconds == 0) return;
  const int number = free_signal();
  if (number == 0) return;
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  if (sigaction(number, &action, &former) != 0) return;
  period = period_nanoseconds;
  signal_number = number;
  if (Recorder::has_log()) begin_thread(*Recorder::this_thread());
}

void Sampler::begin_thread(ThreadLog& log) {
  if (signal_number == 0 || log.has_timer || log.paths == nullptr) return;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_number;
  event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &log.timer) != 0) return;
  constexpr uint64_t kSecond = 1'000'000'000;
  itimerspec every{};
  every.it_interval = {static_cast<time_t>(period / kSecond), static_cast<long>(period % kSecond)};
  every.it_value = every.it_interval;
  if (timer_settime(log.timer, 0, &every, nullptr) != 0) {
    timer_delete(log.timer);
    return;
  }
  log.has_timer = true;
}

void Sampler::end_thread(ThreadLog& log) {
  if (log.has_timer.exchange(false)) timer_delete(log.timer);
}

void Sampler::stop() {
  if (signal_number == 0) return;
  for (ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) end_thread(*log);
  // Signals that are under way would end the program: ignoring the signal discards them.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(signal_number, &ignore, nullptr);
  sigaction(signal_number, &former, nullptr);
  signal_number = 0;
}

}  // namespace tracing
}  // namespace rubato
