#include "tracer/base/clock.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <cstdio>
#include <cstring>

namespace rubato {
inline namespace tracing {

bool Clock::tsc_usable() {
#ifdef __x86_64__
  unsigned a, b, c, d;
  const bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
  if (!invariant) return false;
  // The kernel compares the counters of all cores and drops this source when they differ.
  FILE* file =
      std::fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "re");
  if (file == nullptr) return false;
  char text[256] = "";
  const bool read = std::fgets(text, sizeof text, file) != nullptr;
  std::fclose(file);
  return read && std::strstr(text, "tsc") != nullptr;
#else
  return false;
#endif
}

ClockPair ClockPair::sample() {
  ClockPair best{};
  uint64_t width = UINT64_MAX;
  for (int i = 0; i < 20; ++i) {
    const uint64_t before = Clock::now();
    const uint64_t nanoseconds = Clock::monotonic();
    const uint64_t after = Clock::now();
    if (after - before < width) {
      width = after - before;
      best = {before + width / 2, nanoseconds};
    }
  }
  return best;
}

std::string boot_id() {
  FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file == nullptr) return "";
  char text[64] = "";
  const bool read = std::fgets(text, sizeof text, file) != nullptr;
  std::fclose(file);
  return read ? std::string(text, std::strcspn(text, "\n")) : "";
}

double ticks_per_second(const ClockPair& first, const ClockPair& last) {
  if (!Clock::uses_tsc() || last.nanoseconds <= first.nanoseconds) return 1e9;
  return static_cast<double>(last.ticks - first.ticks) * 1e9 /
         static_cast<double>(last.nanoseconds - first.nanoseconds);
}

}  // namespace tracing
}  // namespace rubato
