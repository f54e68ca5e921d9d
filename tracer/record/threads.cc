#include "tracer/record/threads.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>

#include "call_ids.h"
#include "tracer/mpi/symbol_lookup.h"
#include "tracer/record/recorder.h"

namespace rubato {
inline namespace tracing {
namespace threads {
namespace {

std::atomic<uint64_t> last_number{0};
thread_local Birth birth;

/// A thread that may be joined.
struct Joinable {
  uint64_t number = 0;
  bool on_record = false;
};

/// Threads by handle. A thread is added before it runs any code of the program, and removed when it
/// was joined; a detached one is overwritten when its handle is reused. Not used in the child of a
/// fork(), where recording is off. Never freed: threads may outlive main().
class Handles {
 public:
  void add(pthread_t handle, uint64_t number) {
    const std::lock_guard lock(mutex_);
    try {
      threads_[handle] = {number, false};
    } catch (const std::bad_alloc&) {  // waiting for it will not be on record
    }
  }
  void note_on_record(pthread_t handle, uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = threads_.find(handle);
    if (found != threads_.end() && found->second.number == number) found->second.on_record = true;
  }
  uint64_t number_of(pthread_t handle) {
    const std::lock_guard lock(mutex_);
    const auto found = threads_.find(handle);
    return found == threads_.end() ? 0 : found->second.number;
  }
  /// Removes the thread with this number, or if that is 0 the one with this handle, provided that
  /// it was created before the thread `next`.
  Joinable take(pthread_t handle, uint64_t number, uint64_t next) {
    const std::lock_guard lock(mutex_);
    const auto found = threads_.find(handle);
    if (found == threads_.end()) return {};
    const Joinable thread = found->second;
    if (number != 0 ? thread.number != number : thread.number >= next) return {};
    threads_.erase(found);
    return thread;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<pthread_t, Joinable> threads_;
};

Handles& handles() {
  static Handles* const all = new Handles;
  return *all;
}

/// The arguments of a new thread.
struct Start {
  void* (*routine)(void*);
  void* argument;
  uint64_t number;
};

/// Times of threads without a log that have ended.
std::atomic<uint64_t> ended_ran{0}, ended_waited{0};
/// Of each thread that existed at note_times(): its times until then.
std::map<int, ThreadTimes> noted;

/// At the end of a thread, also by pthread_exit(). (Reading a file is a cancellation point, and a
/// cancelled thread that returns is no longer to be cancelled.)
struct CountAtEnd {
  ~CountAtEnd() {
    if (!Recorder::on() || Recorder::has_log()) return;
    int state = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    const ThreadTimes times = times_of_thread(0);
    pthread_setcancelstate(state, nullptr);
    ended_ran += times.ran;
    ended_waited += times.waited;
  }
};

void* begin_thread(void* pointer) {
  const Start start = *static_cast<Start*>(pointer);
  delete static_cast<Start*>(pointer);
  birth = {start.number, Clock::now(), false};
  handles().add(pthread_self(), start.number);
  const CountAtEnd count;
  return start.routine(start.argument);
}

/// Of each thread without a log that exists now.
std::map<int, ThreadTimes> times_now() {
  std::map<int, ThreadTimes> times;
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return times;
  while (const dirent* task = readdir(tasks)) {
    const int thread = std::atoi(task->d_name);
    const ThreadLog* log = Recorder::threads();
    while (log != nullptr && log->thread_id != thread) log = log->next;
    if (thread != 0 && log == nullptr) times[thread] = times_of_thread(thread);
  }
  closedir(tasks);
  return times;
}

/// The next definition of a pthreads function behind ours.
template <class Function>
Function next_definition(const char* name) {
  return reinterpret_cast<Function>(real_dlsym(RTLD_NEXT, name));
}

/// The log to record a call of pthreads into; null for a thread without one, or inside MPI.
ThreadLog* begin_pthread_call(const void* call_site) {
  return Recorder::has_log() ? begin_call(call_site) : nullptr;
}

/// `wait()` waits for the end of a thread and returns 0 on success. Only successful waits for
/// recorded threads are recorded.
template <class Wait>
int join(pthread_t thread, const void* call_site, const Wait& wait) {
  if (!Recorder::on()) return wait();
  const int program_errno = errno;
  const uint64_t number = handles().number_of(thread);
  const uint64_t next = last_number.load() + 1;
  ThreadLog* log = begin_pthread_call(call_site);
  errno = program_errno;
  if (log == nullptr) {
    const int result = wait();
    if (result == 0) handles().take(thread, number, next);
    return result;
  }
  Call call(log, kPthreadJoin);
  const int result = wait();
  if (result != 0) return result;
  const Joinable ended = handles().take(thread, number, next);
  if (!ended.on_record) return result;
  call.item(Item::kThreadWait, ended.number);
  call.leave();
  return result;
}

}  // namespace

Birth& own() {
  return birth;
}

ThreadTimes times_without_log() {
  ThreadTimes sum{ended_ran, ended_waited};
  for (const auto& [thread, times] : times_now()) {
    const ThreadTimes before = noted[thread];
    sum += {times.ran - std::min(times.ran, before.ran),
            times.waited - std::min(times.waited, before.waited)};
  }
  return sum;
}

void note_times() {
  noted = times_now();
}

void note_on_record() {
  birth.on_record = true;
  handles().note_on_record(pthread_self(), birth.number);
}

extern "C" {

#define RUBATO_PTHREAD __attribute__((visibility("default"))) int

RUBATO_PTHREAD pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*routine)(void*), void* argument) noexcept {
  static const auto real = next_definition<decltype(&pthread_create)>("pthread_create");
  if (real == nullptr) return EAGAIN;
  if (!Recorder::on() || Recorder::in_call()) return real(thread, attributes, routine, argument);
  const int program_errno = errno;
  auto* start = new (std::nothrow) Start{routine, argument, ++last_number};
  errno = program_errno;
  if (start == nullptr) return real(thread, attributes, routine, argument);
  const uint64_t number = start->number;  // the thread frees the rest
  const auto create = [&] {
    const int result = real(thread, attributes, begin_thread, start);
    if (result != 0) delete start;
    return result;
  };
  ThreadLog* log = begin_pthread_call(__builtin_return_address(0));
  if (log == nullptr) return create();
  Call call(log, kPthreadCreate);
  const int result = create();
  if (result != 0) return result;
  call.item(Item::kThreadCreate, number);
  call.leave();
  return result;
}

RUBATO_PTHREAD pthread_join(pthread_t thread, void** value) {
  static const auto real = next_definition<decltype(&pthread_join)>("pthread_join");
  if (real == nullptr) return EINVAL;
  return join(thread, __builtin_return_address(0), [&] { return real(thread, value); });
}

RUBATO_PTHREAD pthread_tryjoin_np(pthread_t thread, void** value) noexcept {
  static const auto real = next_definition<decltype(&pthread_tryjoin_np)>("pthread_tryjoin_np");
  if (real == nullptr) return EINVAL;
  return join(thread, __builtin_return_address(0), [&] { return real(thread, value); });
}

RUBATO_PTHREAD pthread_timedjoin_np(pthread_t thread, void** value, const timespec* until) {
  static const auto real = next_definition<decltype(&pthread_timedjoin_np)>("pthread_timedjoin_np");
  if (real == nullptr) return EINVAL;
  return join(thread, __builtin_return_address(0), [&] { return real(thread, value, until); });
}

// In glibc since version 2.31; the header may lack it.
RUBATO_PTHREAD pthread_clockjoin_np(pthread_t thread, void** value, clockid_t clock,
                                    const timespec* until) {
  using Function = int (*)(pthread_t, void**, clockid_t, const timespec*);
  static const auto real = next_definition<Function>("pthread_clockjoin_np");
  if (real == nullptr) return EINVAL;
  return join(thread, __builtin_return_address(0),
              [&] { return real(thread, value, clock, until); });
}

}  // extern "C"

}  // namespace threads
}  // namespace tracing
}  // namespace rubato
