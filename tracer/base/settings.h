#pragma once

#include <cstdint>
#include <string>

/// The settings that `rubato trace` passes to the tracer through the environment.
namespace rubato {
inline namespace tracing {

/// The part of the run to record, from the end of MPI_Init on.
struct RunWindow {
  enum class Kind { kAll, kSeconds, kBarriers };
  Kind kind = Kind::kAll;
  double begin = 0;  ///< seconds, or a count of Barriers on MPI_COMM_WORLD
  double end = 0;
  /// "0.5:10" seconds; "barrier:3:7". Either number may be left out. False: it is neither.
  static bool parse(const char* text, RunWindow& window);
};

struct Settings {
  std::string output;                     ///< RUBATO_TRACE_OUTPUT: directory of the archive
  uint64_t memory = uint64_t{256} << 20;  ///< RUBATO_TRACE_MEMORY: bytes of records per process
  bool stop_when_full = false;            ///< RUBATO_TRACE_WHEN_FULL=stop
  std::string records;                    ///< RUBATO_TRACE_RECORDS: directory for records
  RunWindow window;                       ///< RUBATO_TRACE_WINDOW
  bool monotonic_clock = false;           ///< RUBATO_TRACE_CLOCK=monotonic
  bool clock_per_rank = false;            ///< RUBATO_TRACE_CLOCK_DOMAIN=rank, not one per node
  double sync_every = 0;                  ///< RUBATO_TRACE_SYNC_EVERY: seconds, 0 = never
  bool functions = false;                 ///< RUBATO_TRACE_FUNCTIONS=1: those of the program
  std::string function_filter;            ///< rules in the file RUBATO_TRACE_FUNCTION_FILTER
  bool call_sites = false;                ///< RUBATO_TRACE_CALL_SITES=1
  std::string counters;                   ///< RUBATO_TRACE_COUNTERS: names, separated by commas
  bool call_paths = false;                ///< RUBATO_TRACE_CALL_PATHS=1
  uint64_t sample_period = 0;             ///< RUBATO_TRACE_SAMPLE: nanoseconds, 0 = no samples
  bool summary = false;                   ///< RUBATO_SUMMARY=1: a line at the end (run_summary.h)
  bool archive = true;                    ///< RUBATO_TRACE_ARCHIVE=0: that line alone
  std::string report;                     ///< RUBATO_TRACE_REPORT: file of sums (run_report.h)

  static Settings from_environment();
};

/// The output of the settings.
std::string output_directory();

/// A process's command line, blanks between the words; "" where there is none.
std::string command_line(const std::string& process = "/proc/self");

}  // namespace tracing
}  // namespace rubato
