// System calls of programs in the virtual laboratory, served by SimGrid: the time, a sleep, the
// host name.
//
// SimGrid's SMPI runs all ranks as coroutines of one process, each with its own copy of the
// program, on a clock that only messages and sleeps move. Linked into a copy with -Bsymbolic, these
// functions come before those of the C library, for the program and for the parts of Rubato in it:
// none of them is compiled differently for the laboratory. What else differs between SMPI and other
// MPI libraries is in tracer/mpi/mpi_library.h.
#include <mpi.h>
#include <simgrid/engine.h>
#include <smpi/smpi_helpers_internal.h>

#include <cstring>
#include <ctime>

namespace {

/// The clock begins at 0. The tracer has no time stamps of 0.
constexpr long kBegin = 1;  // seconds

timespec virtual_time() {
  const double now = simgrid_get_clock();
  const auto seconds = static_cast<time_t>(now);
  return {seconds + kBegin, static_cast<long>((now - static_cast<double>(seconds)) * 1e9)};
}

bool same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

extern "C" {

/// Programs that poll the clock without sleeping would never end, so the clock advances after some
/// calls.
int clock_gettime(clockid_t, timespec* time) noexcept {
  constexpr int kPatience = 1000;  // readings
  static timespec last;
  static int readings;
  timespec now = virtual_time();
  readings = same(now, last) ? readings + 1 : 0;
  if (readings > kPatience) {
    smpi_usleep(1);
    now = virtual_time();
    readings = 0;
  }
  *time = last = now;
  return 0;
}

int nanosleep(const timespec* length, timespec*) {
  return smpi_nanosleep(length, nullptr);
}

int clock_nanosleep(clockid_t, int flags, const timespec* time, timespec*) {
  timespec length = *time;
  if (flags & TIMER_ABSTIME) {
    const timespec now = virtual_time();
    length = {time->tv_sec - now.tv_sec, time->tv_nsec - now.tv_nsec};
    if (length.tv_nsec < 0) length = {length.tv_sec - 1, length.tv_nsec + 1'000'000'000};
    if (length.tv_sec < 0) return 0;
  }
  return smpi_nanosleep(&length, nullptr);
}

int usleep(useconds_t microseconds) {
  return smpi_usleep(microseconds);
}

/// The others have their turn when this rank sleeps.
int sched_yield() noexcept {
  return smpi_usleep(1);
}

int gethostname(char* name, size_t size) noexcept {
  char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
  int length = 0;
  PMPI_Get_processor_name(host, &length);
  std::strncpy(name, host, size);
  return 0;
}

pid_t getpid() noexcept {
  return smpi_getpid();
}
}
