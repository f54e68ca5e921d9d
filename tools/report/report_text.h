#pragma once

#include <string>

#include "tools/report/report.h"

namespace rubato {

struct TextReportOptions {
  int width = 100;   ///< columns of the page
  bool all = false;  ///< every finding, the algorithms of collectives, tables of ranks and calls
  bool verdict_last = false;  ///< repeat the verdict at the end, which stays visible on a terminal
};

/// The report for a terminal: the verdict, findings and suggested commands, elapsed times, waits,
/// then the basis of the numbers and notes. Optionally for each scenario the first table of
/// MPInside: compute and time per MPI call of each rank.
std::string report_text(const Report& report, const TextReportOptions& options = {});

/// The output of `rubato info`.
std::string describe_trace(const TraceSummary& trace, int width);

}  // namespace rubato
