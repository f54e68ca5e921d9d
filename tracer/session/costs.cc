#include "tracer/session/costs.h"

#include <algorithm>

#include "tracer/base/warnings.h"
#include "tracer/counters/thread_counters.h"
#include "tracer/record/call_paths.h"
#include "tracer/record/function_probe.h"
#include "tracer/record/recorder.h"
#include "tracer/timing/measure_overhead.h"

namespace rubato {
inline namespace tracing {
namespace {

/// A call has two readings of the counters outside its stamps, an enter or leave of a function one.
void add_readings(Overhead& overhead, double ticks) {
  overhead.outside = std::max(0.0, overhead.outside + 2 * ticks);
  if (overhead.function >= 0) overhead.function = std::max(0.0, overhead.function + ticks);
}

/// Replaces the cost of readings in a loop by their mean in the program, on all ranks.
void take_readings(MPI_Comm comm, Overhead& overhead) {
  ThreadCounters::Readings all = ThreadCounters::ended_readings();
  for (const ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
    if (log->counters == nullptr) continue;
    all.count += log->counters->readings().count;
    all.ticks += log->counters->readings().ticks;
  }
  const double loop = ThreadCounters::loop_ticks();
  const int64_t own[2] = {static_cast<int64_t>(all.count), static_cast<int64_t>(all.ticks)};
  int64_t sums[2] = {0, 0};
  PMPI(Allreduce)(own, sums, 2, handles.int64, handles.sum, comm);
  if (sums[0] > 0)
    add_readings(overhead, static_cast<double>(sums[1]) / static_cast<double>(sums[0]) - loop);
}

/// The mean cost of finding a call path, in ticks of any rank; negative where no call has one.
double mean_path_ticks(MPI_Comm comm) {
  const CallPaths::Cost known = CallPaths::cost();
  int64_t own[2] = {static_cast<int64_t>(known.ticks), static_cast<int64_t>(known.calls)};
  int64_t all[2] = {0, 0};
  PMPI(Allreduce)(own, all, 2, handles.int64, handles.sum, comm);
  return all[1] == 0 ? -1 : static_cast<double>(all[0]) / static_cast<double>(all[1]);
}

}  // namespace

void start_counters(const Job& job, ArchiveInfo& info) {
  const std::string& list = job.settings.counters;
  if (list.empty() || !job.settings.archive) return;
  info.counters = list;
  const std::string trouble = ThreadCounters::start(list);
  if (!trouble.empty()) {
    warn("rank " + std::to_string(job.rank) + " on " + job.host + " counts nothing: " + trouble);
  }
}

void measure_costs(const Job& job, bool has_places, Overhead& overhead) {
  if (job.settings.archive || !job.settings.report.empty()) {
    overhead = measure_overhead(job.settings.archive && job.settings.functions, has_places);
    if (job.has_world) measure_in_place(job.rank, job.size, job.host, overhead);
  }
  add_readings(overhead, ThreadCounters::loop_ticks());
}

void report_missing_counters(const Job& job) {
  const uint64_t threads = ThreadCounters::threads_without();
  if (threads == 0) return;
  warn(std::to_string(threads) + " threads of rank " + std::to_string(job.rank) +
       " could not open their counters (ulimit -n?); nothing is counted for them");
}

void complete_costs(const Job& job, ArchiveInfo& info) {
  if (any_rank(job.comm, !info.counters.empty())) take_readings(job.comm, info.overhead);
  if (any_rank(job.comm, FunctionProbe::wanted())) {
    info.unrecorded_functions = take_probes(job.comm, info.overhead);
  }
  if (any_rank(job.comm, CallPaths::of_calls())) info.path_ticks = mean_path_ticks(job.comm);
}

}  // namespace tracing
}  // namespace rubato
