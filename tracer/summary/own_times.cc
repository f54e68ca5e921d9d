#include "tracer/summary/own_times.h"

#include <algorithm>

#include "call_ids.h"
#include "tracer/layout/thread_records.h"
#include "tracer/mpi/gather.h"
#include "tracer/record/recorder.h"

namespace rubato {
inline namespace tracing {
namespace {

/// All that a thread recorded. Where records are not kept, those of the segment in use are added to
/// what the earlier ones came to.
TimeSums sums_of(ThreadLog& log) {
  if (log.sums != nullptr) {
    TimeSums sums = *log.sums;
    log.sum_up(sums);
    return sums;
  }
  TimeSums sums(run_bounds());
  const ThreadRecords records(log.number, log.segments.file(), log.segments.overflow_file(),
                              Recorder::call_sites());
  [[maybe_unused]] const bool all =
      records.for_each(Recorder::zero(), [&](const record::Record& r) { sums.add(r); });
  return sums;
}

}  // namespace

RunBounds run_bounds() {
  return {kMPI_Init, kMPI_Init_thread, kMPI_Finalize};
}

std::string summarise_run(MPI_Comm comm, const ClockModel& clock, double per_second) {
  int rank;
  PMPI(Comm_rank)(comm, &rank);
  double reference_per_second = per_second;
  PMPI(Bcast)(&reference_per_second, sizeof reference_per_second, handles.byte, 0, comm);

  RankTimes own;
  own.stopped = Recorder::ended() != Ended::kNot;
  std::vector<ThreadLog*> logs;
  for (ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
    logs.push_back(log);
  }
  std::sort(logs.begin(), logs.end(),
            [](const ThreadLog* a, const ThreadLog* b) { return a->number < b->number; });
  for (ThreadLog* log : logs) {
    const TimeSums sums = sums_of(*log);
    own.add(sums, per_second);
    if (log->number != 0 || !sums.any()) continue;
    const auto seconds = [&](uint64_t ticks) {
      return static_cast<double>(clock.reference(ticks)) / reference_per_second;
    };
    own.start = seconds(sums.start());
    own.end = seconds(sums.end());
  }

  std::vector<RankTimes> ranks;
  for (const std::string& part : gather(comm, own.pack())) ranks.push_back(RankTimes::unpack(part));
  if (rank != 0) return "";
  std::vector<std::string> names;
  for (const CallInfo& call : kCalls) names.push_back(call.name);
  return summary_line(ranks, names);
}

}  // namespace tracing
}  // namespace rubato
