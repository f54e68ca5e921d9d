// A node without messages: its speed of copying and combining, and the share of its time that other
// programs take.
//
// Copies, after Howell ("Microbenchmarking"): a loop over the same few bytes finds them in the
// cache; a walk through memory of at least twice the size of the cache never does, as each pass
// evicts the data of the one before. Half of the memory is read, half is written. Each walk starts
// where the last one ended.
#include "calibrate/program/machine.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "calibrate/clock/message_memory.h"
#include "calibrate/program/memory_left.h"

namespace rubato {
namespace {

constexpr size_t kLeastCache = 4 << 20;
constexpr size_t kMostCache = 1 << 30;

/// Prevents the compiler from removing a copy.
void use(const void* data) {
  asm volatile("" : : "r"(data) : "memory");
}

/// Work that takes a fixed time and no memory.
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

size_t cold_buffer_of_all(MPI_Comm comm, const Placement& places) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  unsigned here = 0;
  for (int other = 0; other < places.ranks(); ++other)
    here += places.level(rank, other) <= Level::kNode;
  unsigned long long left = memory_left() / here;
  MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, comm);
  return cold_buffer(largest_cache_of_all(comm), left);
}

double memory_seconds(const Pace& pace) {
  return pace.seconds(0.8, 8);
}

namespace {

constexpr size_t kPackedSpan = 1 << 20;  ///< bytes from the first block to the last one, at most

/// Seconds to pack or unpack `count` blocks of `block` bytes in memory, beyond contiguous data, per
/// block. Blocks begin in cache lines of their own, as in mpptest's tests of types with holes.
double packing_seconds(size_t block, int count, const Buffer& from, const Buffer& to,
                       MemoryWalk& walk) {
  const size_t stride = std::max<size_t>(64, 2 * block);
  const size_t blocks = std::min<size_t>(kPackedSpan / stride, 1024);
  const auto bytes = static_cast<int>(blocks * block);
  const int times = std::max(1, count / static_cast<int>(blocks));
  MPI_Datatype holes;
  MPI_Type_vector(static_cast<int>(blocks), static_cast<int>(block), static_cast<int>(stride),
                  MPI_BYTE, &holes);
  MPI_Type_commit(&holes);
  const auto seconds = [&](int elements, MPI_Datatype type) {
    const double begin = now();
    for (int i = 0; i < times; ++i) {
      auto* const place = from.data() + walk.next(blocks * stride);
      int at = 0;
      MPI_Pack(place, elements, type, to.data(), bytes, &at, MPI_COMM_SELF);
      at = 0;
      MPI_Unpack(to.data(), bytes, &at, place, elements, type, MPI_COMM_SELF);
    }
    return (now() - begin) / (2.0 * times * static_cast<double>(blocks));
  };
  const double beyond = seconds(1, holes) - seconds(bytes, MPI_BYTE);
  MPI_Type_free(&holes);
  return std::max(beyond, 1e-11);
}

}  // namespace

std::vector<Series> measure_memory(const Effort& effort) {
  const size_t most = std::max(effort.cold_bytes, effort.max_bytes);
  const Buffer from(most, 1), to(most, 2);
  SweepOptions options = sweep_options(effort, memory_seconds(effort.pace) / 4);
  for (size_t n = 64; n <= effort.max_bytes; n *= 2) options.only.insert(n);
  options.refine = false;
  const auto copies = [&](size_t bytes, int count, const auto& place) {
    const double begin = now();
    for (int i = 0; i < count; ++i) {
      const size_t at = place();
      std::memcpy(to.data() + at, from.data() + at, bytes);
      use(to.data());
    }
    return (now() - begin) / count;
  };
  effort.begin(options.budget);
  const Timings in_cache = sweep(
      [&](size_t bytes, int count) {
        const auto here = [] { return size_t{0}; };
        copies(bytes, 1, here);
        return copies(bytes, count, here);
      },
      options);
  MemoryWalk walk(most);
  effort.begin(options.budget);
  const Timings cold =
      sweep([&](size_t bytes,
                int count) { return copies(bytes, count, [&] { return walk.next(bytes); }); },
            options);
  effort.begin(options.budget);
  const Timings combined = sweep(
      [&](size_t bytes, int count) {
        const auto combine = [&] {
          MPI_Reduce_local(from.data(), to.data(), static_cast<int>(bytes / sizeof(double)),
                           MPI_DOUBLE, MPI_SUM);
        };
        combine();
        const double begin = now();
        for (int i = 0; i < count; ++i) combine();
        return (now() - begin) / count;
      },
      options);
  options.only = {4, 16, 64, 256, 1024, 4096};
  effort.begin(options.budget);
  Timings packed;
  if (most >= kPackedSpan) {
    const auto pack = [&](size_t block, int count) {
      return packing_seconds(block, count, from, to, walk);
    };
    packed = sweep(pack, options);
  }
  return {{"copy", in_cache}, {"copy_cold", cold}, {"combine", combined}, {"pack", packed}};
}

std::vector<double> fixed_work(const Effort& effort) {
  constexpr double kQuantum = 1e-3;  // seconds
  constexpr int kTrials = 5;
  constexpr long kMostSteps = 1'000'000;
  long steps = 1000;
  // The least of some trials, since a disturbed one would make the quantum too short.
  for (;; steps *= 2) {
    double least = seconds_of_work(steps);
    for (int i = 1; i < kTrials; ++i) least = std::min(least, seconds_of_work(steps));
    if (least >= kQuantum) break;
    // In a simulator work may take no time.
    if (least <= 0 && steps > kMostSteps) return {};
  }
  std::vector<double> quanta;
  constexpr int kLeast = 200;
  const auto count = static_cast<size_t>(effort.pace.times(effort.pace.quick ? 200 : 2000, kLeast));
  while (quanta.size() < count && !(effort.stop && effort.stop()))
    quanta.push_back(seconds_of_work(steps));
  return quanta;
}

}  // namespace rubato
