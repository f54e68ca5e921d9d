#include "tracer/base/stolen.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace rubato {
inline namespace tracing {

namespace {

bool read_schedstat(int file, ThreadTimes& times) {
  char text[96];
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  if (size <= 0) return false;
  text[size] = '\0';
  return parse_schedstat(text, times);
}

}  // namespace

bool parse_schedstat(const char* text, ThreadTimes& times) {
  constexpr char kEnds[] = {' ', ' ', '\n'};
  uint64_t numbers[3] = {};
  for (int i = 0; i < 3; ++i) {
    const char* const begin = text;
    for (; *text >= '0' && *text <= '9'; ++text) {
      numbers[i] = numbers[i] * 10 + static_cast<uint64_t>(*text - '0');
    }
    if (text == begin || *text++ != kEnds[i]) return false;
  }
  times = {numbers[0], numbers[1]};
  return *text == '\0' && (numbers[0] | numbers[1] | numbers[2]) != 0;
}

void StolenTime::open() {
  const int program_errno = errno;
  put_back_ = 0;
  was_switched();
  file_ = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file_ >= 0 && !read(last_)) close();
  errno = program_errno;
}

void StolenTime::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

uint64_t StolenTime::take() {
  if (file_ < 0) return 0;
  const int program_errno = errno;
  uint64_t stolen = std::exchange(put_back_, 0);
  uint64_t now = 0;
  if (was_switched()) {
    if (read(now) && now >= last_) {
      stolen += now - last_;
      last_ = now;
    } else {
      file_ = -1;  // the program closed it, and the number may be in use by the program again
    }
  }
  errno = program_errno;
  return stolen;
}

// (A switch between this and the read counts again: the next read returns 0.)
bool StolenTime::was_switched() {
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return true;
  const long switches = usage.ru_nvcsw + usage.ru_nivcsw;
  return std::exchange(switches_, switches) != switches;
}

bool StolenTime::read(uint64_t& nanoseconds) {
  ThreadTimes times;
  if (!read_schedstat(file_, times)) return false;
  nanoseconds = times.waited;
  return true;
}

ThreadTimes times_of_thread(int thread) {
  char name[64] = "/proc/thread-self/schedstat";
  if (thread != 0) std::snprintf(name, sizeof name, "/proc/self/task/%d/schedstat", thread);
  ThreadTimes times;
  const int file = ::open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return times;
  read_schedstat(file, times);
  ::close(file);
  return times;
}

}  // namespace tracing
}  // namespace rubato
