#include "tracer/timing/measure_overhead.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tracer/mpi/pmpi.h"
#include "tracer/record/recorder.h"

/// A ping-pong between ranks 0 and 1, in recorded and unrecorded blocks, in the order plain,
/// recorded, recorded, plain, so that a machine that slows down favours neither.
///
/// The additional time of a recorded round is, one way, the overhead between the enters of two
/// sends: the part inside the send before MPI's own call, the part inside the receive behind it,
/// with its message, and the outside part. (The parts behind the send overlap with the message.)
/// The records show the outside part: it is the gap between a receive and the next send.
namespace rubato {
inline namespace tracing {
namespace {

constexpr int kOwnTag = 31415;
constexpr int kBlockRounds = 16;  ///< of a block
constexpr int kMostPasses = 40;   ///< of four blocks
constexpr int kFewPasses = 8;
constexpr uint64_t kNanoseconds =
    20'000'000;  ///< limit of the measurement, also for ranks that share a core

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// Both ends of the ping-pong.
class PingPong {
 public:
  PingPong(int rank, ThreadLog& log) : peer_(1 - rank), log_(&log) {}

  /// Rank 0 decides whether another block follows; returns the decision at both ends.
  bool goes_on(bool wanted) {
    int word = wanted ? 1 : 0;
    if (peer_ == 1) {
      PMPI(Send)(&word, sizeof word, handles.byte, peer_, kOwnTag, handles.world);
    } else {
      PMPI(Recv)
      (&word, sizeof word, handles.byte, peer_, kOwnTag, handles.world, MPI_STATUS_IGNORE);
    }
    return word != 0;
  }

  /// Ticks per way of a block.
  double block(bool recorded) {
    recorded ? round(recorded_) : round(plain_);  // warms up
    uint64_t* const first = log_->at;
    log_->last = 0;  // a head that tells the time by itself
    const uint64_t begin = Clock::now();
    for (int i = 0; i < kBlockRounds; ++i) recorded ? round(recorded_) : round(plain_);
    const auto ticks = static_cast<double>(Clock::now() - begin);
    if (recorded) add_gaps(first);
    return ticks / (2 * kBlockRounds);
  }

  /// Ticks from the leave of a receive to the enter of the next send. Counters may tick in steps
  /// that are longer than that, so it is the mean of the middle half, not one of them.
  double outside() {
    std::sort(gaps_.begin(), gaps_.end());
    const size_t out = gaps_.size() / 4;
    double sum = 0;
    for (size_t i = out; i < gaps_.size() - out; ++i) sum += gaps_[i];
    return gaps_.empty() ? 0 : sum / static_cast<double>(gaps_.size() - 2 * out);
  }

 private:
  struct Calls {
    decltype(&MPI_Send) send;
    decltype(&MPI_Recv) receive;
  };

  void round(const Calls& calls) {
    int64_t word = 0;
    MPI_Status status;
    if (peer_ == 1) calls.send(&word, 8, handles.byte, peer_, kOwnTag, handles.world);
    calls.receive(&word, 8, handles.byte, peer_, kOwnTag, handles.world, &status);
    if (peer_ == 0) calls.send(&word, 8, handles.byte, peer_, kOwnTag, handles.world);
  }

  void add_gaps(uint64_t* first) {
    record::Cursor cursor(first, log_->at, Recorder::zero());
    uint64_t last = 0;
    bool is_send = peer_ == 1;
    for (record::Record r; cursor.next(r); is_send = !is_send) {
      if (is_send && last != 0) gaps_.push_back(static_cast<double>(r.enter - last));
      last = r.leave;
    }
  }

  int peer_;
  ThreadLog* log_;
  const Calls plain_{PMPI(Send), PMPI(Recv)};
  const Calls recorded_{reinterpret_cast<decltype(&MPI_Send)>(rubato_pmpi_entries[kMPI_Send]),
                        reinterpret_cast<decltype(&MPI_Recv)>(rubato_pmpi_entries[kMPI_Recv])};
  std::vector<double> gaps_;
};

/// True where ranks 0 and 1 are on one node.
bool same_host(int rank, const std::string& host) {
  char own[256] = "", other[256] = "";
  std::strncpy(own, host.c_str(), sizeof own - 1);
  PMPI(Sendrecv)
  (own, sizeof own, handles.byte, 1 - rank, kOwnTag, other, sizeof other, handles.byte, 1 - rank,
   kOwnTag, handles.world, MPI_STATUS_IGNORE);
  return std::strcmp(own, other) == 0;
}

}  // namespace

void measure_in_place(int rank, int size, const std::string& host, Overhead& overhead) {
  if (size < 2 || rank > 1 || !same_host(rank, host)) return;
  constexpr size_t kMostCalls = 2 * (kBlockRounds + 1) * 2 * kMostPasses;
  std::vector<uint64_t> words(kMostCalls * (kHeadWords + kMaxItemWords) + kFreeWords);
  ThreadLog scratch;
  scratch.at = words.data();
  scratch.limit = words.data() + words.size();
  ThreadLog* const own = Recorder::swap_thread_log(&scratch);
  PingPong pair(rank, scratch);
  std::vector<double> added;
  const uint64_t end = Clock::monotonic() + kNanoseconds;
  while (pair.goes_on(added.size() < kMostPasses && Clock::monotonic() < end)) {
    const double first = pair.block(false);
    const double recorded = pair.block(true) + pair.block(true);
    const double last = pair.block(false);
    added.push_back((recorded - first - last) / 2);
  }
  Recorder::swap_thread_log(own);
  if (added.size() < kFewPasses) return;
  const double outside = pair.outside();
  const double inside = median(added) - outside;
  const double in_loop = overhead.inside_before + overhead.inside_after + overhead.message;
  if (!(outside > 0) || !(inside > 0) || !(in_loop > 0)) return;
  // One number does not show the parts: all are scaled by the same factor over their cost in a
  // loop.
  constexpr double kLeast = 0.5, kMost = 5;  // beyond this range something else was measured
  const double factor = std::clamp(inside / in_loop, kLeast, kMost);
  overhead.outside = std::min(outside, kMost * overhead.outside);
  for (double* part : {&overhead.inside_before, &overhead.inside_after, &overhead.message,
                       &overhead.request, &overhead.completion, &overhead.collective}) {
    *part *= factor;
  }
}

}  // namespace tracing
}  // namespace rubato
