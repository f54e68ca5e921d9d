#include "tracer/overhead.h"

#include <algorithm>
#include <vector>

#include "tracer/functions.h"
#include "tracer/pmpi.h"
#include "tracer/recorder.h"

/// How to tell outside from inside.
///
/// A loop over an empty function takes, per round, the loop itself (L) and the call (N). The same
/// loop over a wrapper of that function takes P per round, of which D is what the record says:
/// enter to leave. To the reader of the archive P - D is compute, where L would have been, and D is
/// MPI, where N would have been. So outside = P - D - L and inside = D - N. Each of the four is
/// measured as the smallest average of many short series, since everything that disturbs a series
/// makes it longer.
///
/// The inside part is split with a stamp taken in the empty function. A stamp reads the clock
/// somewhere within its own duration; half-way is assumed.
namespace rubato {

int probe_region();
int probe_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);

namespace {

constexpr int kSeries = 40;
constexpr int kRounds = 200;

uint64_t stub_stamp;

int empty_region() {
  return MPI_SUCCESS;
}
int empty_send(const void*, int, MPI_Datatype, int, int, MPI_Comm) {
  return MPI_SUCCESS;
}
int stamping_region() {
  stub_stamp = Clock::now();
  return MPI_SUCCESS;
}

/// Pretends to call something the compiler cannot see into.
template <class Function>
Function opaque(Function function) {
  asm volatile("" : "+r"(function));
  return function;
}

/// Smallest average duration of one round in ticks.
template <class Body>
double per_round(Body body) {
  double best = 1e300;
  for (int series = 0; series < kSeries; ++series) {
    const uint64_t begin = Clock::now();
    for (int i = 0; i < kRounds; ++i) body();
    best = std::min(best, static_cast<double>(Clock::now() - begin) / kRounds);
  }
  return best;
}

/// Smallest averages of one round and of the duration on the record.
struct Recorded {
  double round = 1e300;
  double duration = 1e300;
};

template <class Body>
Recorded recorded_round(ThreadLog& log, uint64_t* first, Body body) {
  Recorded best;
  for (int series = 0; series < kSeries; ++series) {
    log.at = first;
    log.last = 0;
    const uint64_t begin = Clock::now();
    for (int i = 0; i < kRounds; ++i) body();
    const double round = static_cast<double>(Clock::now() - begin) / kRounds;
    uint64_t ticks = 0;
    record::Cursor cursor(first, log.at, Recorder::zero(), Recorder::call_sites());
    for (record::Record r; cursor.next(r);) ticks += r.leave - r.enter;
    // The two belong together: they are of the quietest series.
    if (round < best.round) best = {round, static_cast<double>(ticks) / kRounds};
  }
  return best;
}

/// Entering and leaving a function makes a record each, and their cost is all in the program's
/// compute.
double function_record(ThreadLog& log, uint64_t* first, double loop) {
  const auto note = opaque(&functions::note);
  const auto some_function = reinterpret_cast<const void*>(&empty_region);
  double best = 1e300;
  for (int series = 0; series < kSeries; ++series) {
    log.at = first;
    const uint64_t begin = Clock::now();
    for (int i = 0; i < kRounds; ++i) {
      note(kMarkFunctionEnter, some_function);
      note(kMarkFunctionLeave, some_function);
    }
    best = std::min(best, static_cast<double>(Clock::now() - begin) / kRounds);
  }
  return std::max(0.0, (best - loop) / 2);
}

}  // namespace

Overhead measure_overhead(bool functions, bool call_sites) {
  std::vector<uint64_t> words(kRounds * (kHeadWords + kMaxItemWords) + kFreeWords);
  ThreadLog scratch;
  scratch.at = words.data();
  scratch.limit = words.data() + words.size();
  ThreadLog* const own = Recorder::swap_thread_log(&scratch);

  const double loop = per_round([] { asm volatile("" ::: "memory"); });
  pmpi_table[kProbeRegion].store(reinterpret_cast<void*>(&empty_region));
  pmpi_table[kProbeSend].store(reinterpret_cast<void*>(&empty_send));
  const auto region = opaque(&probe_region);
  const auto send = opaque(&probe_send);
  const auto plain = opaque(&empty_region);

  const double bare = per_round([&] { plain(); });
  const Recorded calls = recorded_round(scratch, words.data(), [&] { region(); });
  const Recorded sends = recorded_round(
      scratch, words.data(), [&] { send(nullptr, 8, handles.byte, 0, 0, handles.world); });

  // Twice the same function, once with a stamp inside: how far into the record it lies.
  pmpi_table[kProbeRegion].store(reinterpret_cast<void*>(&stamping_region));
  double before = 1e300;
  for (int series = 0; series < kSeries; ++series) {
    double sum = 0;
    for (int i = 0; i < kRounds; ++i) {
      scratch.at = words.data();
      scratch.last = 0;  // a long head
      region();
      sum += static_cast<double>(stub_stamp - Recorder::zero() - (words[0] >> 10));
    }
    before = std::min(before, sum / kRounds);
  }
  const double stamp = per_round([] { (void)Clock::now(); }) - loop;

  Overhead result;
  if (functions) result.function = function_record(scratch, words.data(), loop);
  if (call_sites) {
    pmpi_table[kProbeRegion].store(reinterpret_cast<void*>(&empty_region));
    Recorder::record_call_sites();
    const Recorded with = recorded_round(scratch, words.data(), [&] { region(); });
    result.call_site = std::max(0.0, with.duration - calls.duration);
  }
  Recorder::swap_thread_log(own);
  result.outside = std::max(0.0, calls.round - calls.duration - loop);
  const double inside = std::max(0.0, calls.duration - (bare - loop));
  result.inside_before = std::clamp(before - stamp / 2, 0.0, inside);
  result.inside_after = inside - result.inside_before;
  result.per_record = std::max(0.0, sends.duration - calls.duration);
  return result;
}

}  // namespace rubato
