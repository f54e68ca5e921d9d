#include "tracer/session/sums_only.h"

#include <algorithm>
#include <string>

#include "tracer/base/warnings.h"
#include "tracer/record/recorder.h"
#include "tracer/report/run_report.h"
#include "tracer/session/run_clock.h"
#include "tracer/session/run_facts.h"
#include "tracer/summary/own_times.h"

namespace rubato {
inline namespace tracing {
namespace {

RunTables* tables = nullptr;  ///< null without a report

void add_records(record::Cursor& cursor, TimeSums& sums, RunTables& all, FoldedThread& thread) {
  for (record::Record r; cursor.next(r);) all.add(r, sums.add(r), thread);
}

}  // namespace

void keep_sums_only(const Settings& settings) {
  if (!settings.report.empty()) tables = new RunTables(local_objects(), kMPI_Request_get_status);
  Recorder::keep_sums_only(run_bounds(), tables, add_records);
}

void write_sums(const Job& job) {
  const double rate = run_clock::rate();
  const std::string line = summarise_run(job.comm, run_clock::model(), rate);
  std::string written;
  if (all_ranks(job.comm, tables != nullptr)) {
    ReportTask task;
    task.file = job.settings.report;
    task.command = archive_task().info.command;
    task.mpi_library = archive_task().info.mpi_library;
    task.summary = line;
    task.host = job.host;
    task.call_sites = job.settings.call_sites;
    task.per_second = rate;
    const Overhead& overhead = archive_task().info.overhead;
    task.outside = (overhead.outside + std::max(0.0, overhead.call_site)) / rate;
    written = write_report(job.comm, run_clock::model(), task, *tables);
  }
  Recorder::release_all();
  if (job.rank != 0) return;
  say_outcome(line);
  if (!written.empty()) warn(written);
}

}  // namespace tracing
}  // namespace rubato
