#include "tracer/timing/stolen.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace rubato {
inline namespace tracing {

bool parse_schedstat(const char* text, uint64_t& waited) {
  constexpr char kEnds[] = {' ', ' ', '\n'};
  uint64_t numbers[3] = {};
  for (int i = 0; i < 3; ++i) {
    const char* const begin = text;
    for (; *text >= '0' && *text <= '9'; ++text) {
      numbers[i] = numbers[i] * 10 + static_cast<uint64_t>(*text - '0');
    }
    if (text == begin || *text++ != kEnds[i]) return false;
  }
  waited = numbers[1];
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
  char text[96];
  const ssize_t size = pread(file_, text, sizeof text - 1, 0);
  if (size <= 0) return false;
  text[size] = '\0';
  return parse_schedstat(text, nanoseconds);
}

}  // namespace tracing
}  // namespace rubato
