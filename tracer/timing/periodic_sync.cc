#include "tracer/timing/periodic_sync.h"

#include <algorithm>

#include "tracer/base/default_floating_point.h"
#include "tracer/layout/journal.h"

namespace rubato {
inline namespace tracing {
namespace {

/// So many broadcasts from one comparison to the next, if the program keeps its pace.
constexpr double kBroadcasts = 10;
constexpr int64_t kMostCalls = 1000;

/// The interval grows where comparisons take longer than this part of it, because cores or network
/// are busy.
constexpr double kMostOfTime = 0.05;

/// Limit of one comparison. Without an undisturbed exchange it is inaccurate and gets little
/// weight.
constexpr double kExchangeSeconds = 0.05;

MPI_Comm tracer_comm;
ClockSync* clocks;
double interval;  ///< in nanoseconds
double cost;      ///< of the last comparison, likewise; rank 0 only

int64_t calls;             ///< since the last broadcast
int64_t wanted;            ///< until the next
uint64_t last_broadcast;   ///< when; rank 0 only, in nanoseconds
uint64_t last_comparison;  ///< likewise

struct News {
  int64_t compare_now;
  int64_t calls;  ///< until the next broadcast
};

/// The decision of rank 0.
News decide() {
  const uint64_t now = Clock::monotonic();
  const double per_call =
      std::max(1.0, static_cast<double>(now - last_broadcast) / static_cast<double>(wanted));
  last_broadcast = now;
  const double affordable = std::max(interval, cost / kMostOfTime);
  const bool due = static_cast<double>(now - last_comparison) >= affordable;
  if (due) last_comparison = now;
  // Calls may become rare, and a large number of them would then take too long: grow step by step.
  const double most = static_cast<double>(std::min(kMostCalls, 2 * wanted));
  return {due, static_cast<int64_t>(std::clamp(affordable / kBroadcasts / per_call, 1.0, most))};
}

}  // namespace

void PeriodicSync::start(MPI_Comm comm, ClockSync& all_clocks, double seconds) {
  if (!(seconds > 0) || all_clocks.one_clock()) return;
  tracer_comm = comm;
  clocks = &all_clocks;
  interval = seconds * 1e9;
  cost = 0;
  calls = 0;
  wanted = 1;
  last_broadcast = last_comparison = Clock::monotonic();
  on_ = true;
}

bool PeriodicSync::is_of_arguments(int code) {
  int error = MPI_ERR_OTHER;
  PMPI(Error_class)(code, &error);
  switch (error) {
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_TYPE:
    case MPI_ERR_COMM:
    case MPI_ERR_ROOT:
    case MPI_ERR_OP:
    case MPI_ERR_ARG:
      return true;
    default:
      return false;
  }
}

void PeriodicSync::count(ThreadLog* log, MPI_Comm comm) {
  if (comm != handles.world) return;
  if (log == nullptr) {
    // A call that MPI made itself inside a recorded one is not the program's.
    const ThreadLog* own = Recorder::this_thread();
    if (own != nullptr && own->busy) return;
  }
  if (++calls < wanted) return;
  calls = 0;
  const DefaultFloatingPoint environment;
  const uint64_t begin = Clock::now();
  if (log != nullptr && log->counters != nullptr) log->counters->begin_own_work();
  int rank;
  PMPI(Comm_rank)(tracer_comm, &rank);
  News news{};
  if (rank == 0) news = decide();
  PMPI(Bcast)(&news, static_cast<int>(sizeof news), handles.byte, 0, tracer_comm);
  wanted = news.calls;
  if (news.compare_now != 0) {
    const uint64_t before = Clock::monotonic();
    clocks->measure(kExchangeSeconds);
    journal::clock_sample(clocks->parent(), clocks->samples());
    cost = static_cast<double>(Clock::monotonic() - before);
  }
  if (log == nullptr) return;
  log->busy = true;  // no samples meanwhile
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Recorder::tracer_time(*log, begin, Clock::now());
  if (log->counters != nullptr) log->counters->end_own_work();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  log->busy = false;
}

}  // namespace tracing
}  // namespace rubato
