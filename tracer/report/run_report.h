#pragma once

#include <string>

#include "tracer/layout/clock_model.h"
#include "tracer/mpi/pmpi.h"
#include "tracer/report/run_tables.h"

/// The sums of a run without a trace (`rubato trace --no-archive --report FILE`), over MPI.
namespace rubato {
inline namespace tracing {

struct ReportTask {
  std::string file;  ///< of sums (sums_file.h)
  std::string command, mpi_library;
  std::string summary;  ///< on rank 0
  std::string host;     ///< of this rank
  bool call_sites = false;
  double per_second = 0;  ///< ticks
  double outside = 0;     ///< JobReport's
};

/// The communicators and windows of this process.
LocalObjects local_objects();

/// Writes the file, after Recorder::stop(). Collective. Rank 0 gets the line that says so, or
/// what failed.
std::string write_report(MPI_Comm comm, const ClockModel& clock, const ReportTask& task,
                         RunTables& tables);

}  // namespace tracing
}  // namespace rubato
