#include "tracer/timing/measure_overhead.h"

#include <algorithm>
#include <vector>

#include "tracer/mpi/pmpi.h"
#include "tracer/record/functions.h"
#include "tracer/record/recorder.h"

/// How the outside part is separated from the inside part.
///
/// A loop over an empty function takes, per round, the loop itself (L) and the call (N). The same
/// loop over a wrapper of that function takes P per round; the recorded part of it, from enter to
/// leave, is D. The reader of the archive sees P - D as compute, in place of L, and D as MPI, in
/// place of N. So outside = P - D - L and inside = D - N. Each of the four is the smallest average
/// of many short series, since disturbances only lengthen a series.
///
/// The inside part is split with a stamp taken in the empty function. A stamp reads the clock
/// somewhere within its own duration; half-way is assumed.
namespace rubato {
inline namespace tracing {

int probe_region();
int probe_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int probe_isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                MPI_Request* request);
int probe_wait(MPI_Request* request, MPI_Status* status);
int probe_allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm);

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
int empty_isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  *request = MPI_Request{};  // any value: the only request under way, as MPI has not begun
  return MPI_SUCCESS;
}
int empty_wait(MPI_Request* request, MPI_Status*) {
  *request = handles.request_null;
  return MPI_SUCCESS;
}
int empty_allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) {
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

/// Smallest averages of one round and of the durations on record.
struct Recorded {
  double round = 1e300;
  double duration = 1e300;  ///< of the calls of a round together
  double first = 1e300;     ///< of the first call of a round that has two
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
    uint64_t ticks[2] = {0, 0};
    unsigned calls = 0;
    record::Cursor cursor(first, log.at, Recorder::zero());
    for (record::Record r; cursor.next(r);) ticks[calls++ % 2] += r.leave - r.enter;
    // Keep the three together, from the series with the least disturbance.
    if (round >= best.round) continue;
    best = {round, static_cast<double>(ticks[0] + ticks[1]) / kRounds,
            static_cast<double>(ticks[0]) / kRounds};
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
  std::vector<uint64_t> words(kRounds * 2 * (kHeadWords + kMaxItemWords) + kFreeWords);
  ThreadLog scratch;
  scratch.at = words.data();
  scratch.limit = words.data() + words.size();
  ThreadLog* const own = Recorder::swap_thread_log(&scratch);

  const double loop = per_round([] { asm volatile("" ::: "memory"); });
  pmpi_table[kProbeRegion].store(reinterpret_cast<void*>(&empty_region));
  pmpi_table[kProbeSend].store(reinterpret_cast<void*>(&empty_send));
  pmpi_table[kProbeIsend].store(reinterpret_cast<void*>(&empty_isend));
  pmpi_table[kProbeWait].store(reinterpret_cast<void*>(&empty_wait));
  pmpi_table[kProbeAllreduce].store(reinterpret_cast<void*>(&empty_allreduce));
  const auto region = opaque(&probe_region);
  const auto send = opaque(&probe_send);
  const auto isend = opaque(&probe_isend);
  const auto wait = opaque(&probe_wait);
  const auto allreduce = opaque(&probe_allreduce);
  const auto plain = opaque(&empty_region);

  const double bare = per_round([&] { plain(); });
  const Recorded calls = recorded_round(scratch, words.data(), [&] { region(); });
  const Recorded sends = recorded_round(
      scratch, words.data(), [&] { send(nullptr, 8, handles.byte, 0, 0, handles.world); });

  MPI_Request request = handles.request_null;
  MPI_Status status;
  const Recorded pairs = recorded_round(scratch, words.data(), [&] {
    isend(nullptr, 8, handles.byte, 0, 0, handles.world, &request);
    wait(&request, &status);
  });
  const Recorded collectives = recorded_round(scratch, words.data(), [&] {
    allreduce(nullptr, nullptr, 8, handles.byte, MPI_Op{}, handles.world);
  });

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
    Recorder::note_details(scratch);
    const Recorded with = recorded_round(scratch, words.data(), [&] { region(); });
    result.call_site = std::max(0.0, (with.round - with.duration) - (calls.round - calls.duration));
  }
  Recorder::swap_thread_log(own);
  result.outside = std::max(0.0, calls.round - calls.duration - loop);
  const double inside = std::max(0.0, calls.duration - (bare - loop));
  result.inside_before = std::clamp(before - stamp / 2, 0.0, inside);
  result.inside_after = inside - result.inside_before;
  result.message = std::max(0.0, sends.duration - calls.duration);
  result.request = std::max(0.0, pairs.first - calls.duration);
  result.completion = std::max(0.0, pairs.duration - pairs.first - calls.duration);
  result.collective = std::max(0.0, collectives.duration - calls.duration);
  return result;
}

}  // namespace tracing
}  // namespace rubato
