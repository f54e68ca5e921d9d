// What a node does without messages: how fast it copies, and how much of its time others take.
//
// Copies, after Howell ("Microbenchmarking"): a loop over the same few bytes finds them in the
// cache; one that walks through an array of at least twice the size of the cache never does, as
// each pass flushes out what the one before left. The walk goes on where the last one ended.
#include "calibrate/machine.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "calibrate/message_memory.h"

namespace rubato {
namespace {

constexpr size_t kLeastCache = 4 << 20;
constexpr size_t kMostCache = 128 << 20;

/// So that no compiler finds a copy useless.
void use(const void* data) {
  asm volatile("" : : "r"(data) : "memory");
}

/// Work that takes a time of its own, and no memory.
void work(long steps) {
  unsigned long x = 1;
  for (long i = 0; i < steps; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
}

double seconds_of_work(long steps) {
  const double begin = now();
  work(steps);
  return now() - begin;
}

}  // namespace

size_t largest_cache() {
  long bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  bytes = std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
  return std::clamp(static_cast<size_t>(std::max(0L, bytes)), kLeastCache, kMostCache);
}

size_t largest_cache_of_all(MPI_Comm comm) {
  unsigned long long bytes = largest_cache();
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm);
  return static_cast<size_t>(bytes);
}

size_t copied_bytes(size_t max_bytes) {
  return std::max(2 * largest_cache(), max_bytes);
}

std::vector<Series> measure_copies(const Effort& effort) {
  const size_t most = copied_bytes(effort.max_bytes);
  const Buffer from(most, 1), to(most, 2);
  SweepOptions options;
  options.max_bytes = effort.max_bytes;
  for (size_t n = 1024; n <= effort.max_bytes; n *= 4) options.only.insert(n);
  options.refine = false;
  options.budget = effort.quick ? 0.2 : 2;
  options.busy_budget = options.budget;
  options.seed = effort.seed;
  options.stop = effort.stop;
  const auto copies = [&](size_t bytes, int count, size_t& at, size_t step) {
    const double begin = now();
    for (int i = 0; i < count; ++i) {
      if (at + bytes > most) at = 0;
      std::memcpy(to.data() + at, from.data() + at, bytes);
      use(to.data());
      at += step;
    }
    return (now() - begin) / count;
  };
  size_t here = 0, walk = 0;
  const Timings in_cache = sweep(
      [&](size_t bytes, int count) {
        copies(bytes, 1, here, 0);
        return copies(bytes, count, here, 0);
      },
      options);
  const Timings cold =
      sweep([&](size_t bytes, int count) { return copies(bytes, count, walk, whole_lines(bytes)); },
            options);
  return {{"copy", in_cache}, {"copy_cold", cold}};
}

std::vector<double> fixed_work(const Effort& effort) {
  constexpr double kQuantum = 1e-3;  // seconds
  constexpr int kTrials = 5;
  long steps = 1000;
  // The least of some trials, since a disturbed one would make the quantum too short.
  for (double least = 0; least < kQuantum; steps *= 2) {
    least = seconds_of_work(steps);
    for (int i = 1; i < kTrials; ++i) least = std::min(least, seconds_of_work(steps));
    if (least >= kQuantum) break;
  }
  std::vector<double> quanta;
  const size_t count = effort.quick ? 200 : 2000;
  while (quanta.size() < count && !(effort.stop && effort.stop()))
    quanta.push_back(seconds_of_work(steps));
  return quanta;
}

}  // namespace rubato
