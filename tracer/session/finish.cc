#include "tracer/session/finish.h"

#include <cstdlib>
#include <string>

#include "tracer/base/report_line.h"
#include "tracer/base/warnings.h"
#include "tracer/code/modules.h"
#include "tracer/hooks/call_communicators.h"
#include "tracer/layout/journal.h"
#include "tracer/record/functions.h"
#include "tracer/record/recorder.h"
#include "tracer/record/sampler.h"
#include "tracer/session/costs.h"
#include "tracer/session/run_clock.h"
#include "tracer/session/run_facts.h"
#include "tracer/session/sums_only.h"
#include "tracer/summary/own_times.h"
#include "tracer/timing/periodic_sync.h"

namespace rubato {
inline namespace tracing {
namespace {

/// The last call on record.
void record_the_end(MPI_Comm comm, CallId finalize, const void* call_site) {
  ThreadLog* log = begin_call(call_site);
  if (log == nullptr) {
    PMPI(Barrier)(comm);
    return;
  }
  Call call(log, finalize);
  PMPI(Barrier)(comm);
  call.item(Item::kCommDestroy, communicators::kSelf);
  call.item(Item::kCommDestroy, communicators::kWorld);
  note_collective(call, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, communicators::kWorld,
                  OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
  call.leave();
}

/// Reports why no function was recorded although this was requested.
void say_no_functions(FunctionHooks hooks) {
  std::string line = "no functions were recorded: " +
                     functions_property(hooks, false).substr(sizeof "false: " - 1);
  if (hooks == FunctionHooks::kUnseen)
    line += " (mpicc -g -finstrument-functions ...; the same for mpicxx and mpif90, gcc and clang)";
  warn(line);
}

/// The line at the end, by rank 0. `end`: the tick behind the last call.
void say_written(const Job& job, const Written& written, uint64_t end) {
  const ArchiveInfo& info = archive_task().info;
  if (job.settings.functions && !written.functions) say_no_functions(info.function_hooks);
  RunReport report;
  report.archive = job.settings.output;
  report.ranks = job.size;
  report.seconds = static_cast<double>(end - run_clock::at_init().ticks) / info.ticks_per_second;
  report.calls = written.calls;
  report.bytes = written.bytes;
  report.early = written.early;
  const char* directory = std::getenv("PWD");
  say_outcome(report_line(report, directory != nullptr ? directory : ""));
}

/// Completes what the archive will hold besides records. Collective.
void complete_task(const Job& job, ArchiveTask& task) {
  task.offsets = run_clock::model().records(task.info.start_ticks);
  task.info.ticks_per_second = run_clock::rate();
  task.info.locations_reused = any_rank(job.comm, Recorder::logs_reused());
  complete_costs(job, task.info);
  if (job.settings.sample_period != 0) modules::start(wrapper_libraries());  // later libraries
  if (job.settings.functions) task.info.function_hooks = functions::hooks();
  task.output = job.settings.output;
  task.records = job.space.directory;
  task.function_filter = job.settings.function_filter;
  task.host = job.host;
}

/// Writes the archive; if it is complete, removes the records. `end`: the tick behind the last
/// call.
void finish_archive(const Job& job, uint64_t end) {
  ArchiveTask& task = archive_task();
  complete_task(job, task);
  if (job.settings.summary) {
    const std::string line =
        summarise_run(job.comm, run_clock::model(), task.info.ticks_per_second);
    if (job.rank == 0) warn(line);
  }
  Written written;
  if (!write_archive(job.comm, task, written)) return;
  Recorder::release_all();
  journal::remove();
  job.space.remove(job.comm, job.settings);
  if (job.rank == 0) say_written(job, written, end);
}

}  // namespace

void finish_recording(const Job& job, CallId finalize, const void* call_site) {
  PeriodicSync::stop();
  record_the_end(job.comm, finalize, call_site);
  const uint64_t end = Clock::now();
  Recorder::stop();
  Sampler::stop();
  report_missing_counters(job);
  journal::ended(Recorder::ended() != Ended::kNot, Recorder::ended_error());
  run_clock::compare_last();
  job.settings.archive ? finish_archive(job, end) : write_sums(job);
  run_clock::end();
  MPI_Comm comm = job.comm;
  PMPI(Comm_free)(&comm);
}

}  // namespace tracing
}  // namespace rubato
