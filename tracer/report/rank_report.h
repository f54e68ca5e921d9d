#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/report/run_tables.h"
#include "tracer/report/wait_samples.h"
#include "tracer/summary/run_summary.h"

/// The sums of a run without a trace: what each rank sends to rank 0, and what becomes of it.
namespace rubato {
inline namespace tracing {

/// Requests of one direction and size class.
struct SizeRow {
  bool sends;
  unsigned size_class;  ///< 0: no byte; n: from 2^(n-1) to 2^n - 1 bytes
  uint64_t count, bytes;
};

/// The calls of one name by one rank, from one call site if these were recorded.
struct CallRow {
  unsigned call = 0;  ///< CallId
  std::string site;   ///< "app.c:23"; empty: not recorded
  uint64_t calls = 0;
  uint64_t timed = 0;          ///< those between MPI_Init and MPI_Finalize
  double time = 0;             ///< seconds in these
  double outside = 0;          ///< seconds in the others
  double least = 0, most = 0;  ///< of one call, without lost time; 0: there is none
  double numbered = 0;         ///< seconds in calls that may be in the sample (wait_samples.h)
  uint64_t bytes_completed = 0;
  SampledWaits waits;  ///< seconds; set on rank 0
  std::vector<SizeRow> sizes;
};

/// Messages between this rank and another.
struct PairRow {
  int peer = 0;
  uint64_t sent = 0, sent_bytes = 0;
  uint64_t fetched = 0, fetched_bytes = 0;
  double time = 0;  ///< in calls that received from it
};

struct RankReport {
  uint64_t threads = 0;         ///< that have records
  double start = 0, end = 0;    ///< of the main thread's window (RankTimes)
  double starts = 0, ends = 0;  ///< of the windows of all its threads, summed
  double compute = 0, tracer = 0, lost_core = 0, not_recorded = 0;
  bool stopped = false;
  bool waits_known = true;
  uint64_t stride = 1;  ///< of the sample
  std::vector<CallRow> calls;
  std::vector<PairRow> pairs;
  uint64_t pairs_left_out = 0, messages_left_out = 0;
  LeftOut left_out;
  std::vector<Sample> samples;  ///< `call` is an index into `calls`
  std::string host;
  uint64_t node = 0;  ///< the first rank on this host; set on rank 0
  std::string steps;  ///< StepRecords::text()

  std::string pack() const;
  static RankReport unpack(const std::string& bytes);
};

/// A whole run, on rank 0.
struct JobReport {
  std::string command, mpi_library;
  std::string summary;                  ///< RankTimes' line
  std::vector<std::string> call_names;  ///< by CallId
  bool call_sites = false;
  bool waits_known = true;
  uint64_t stride = 1;
  uint64_t steps_one_of = 0;  ///< the stride of the steps; 0: there are none
  double outside = 0;         ///< seconds of compute that recording a call took (Overhead)
  double begin = 0, end = 0;  ///< seconds: the first window begins, the last one ends
  std::vector<RankReport> ranks;
};

/// Finds the waits, adds up calls from several addresses of one line, and books what was fetched
/// from a rank's memory as sent by that rank.
void complete(JobReport& job);

}  // namespace tracing
}  // namespace rubato
