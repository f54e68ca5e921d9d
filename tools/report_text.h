#pragma once

#include <string>

#include "replay/intervals.h"
#include "replay/observe/results.h"

namespace rubato {

struct TextReportOptions {
  int width = 100;           ///< columns of the page
  bool per_rank = false;     ///< every rank and every call, however many
  bool collectives = false;  ///< which algorithms collectives were priced by
  Intervals intervals{};     ///< of elapsed times; may be empty
};

/// The report for a terminal: caveats, elapsed per scenario, then for each scenario the first table
/// of MPInside, compute and time per MPI call of each rank.
std::string report_text(const Results& results, const TextReportOptions& options = {});

/// What `rubato info` prints.
std::string describe_trace(const TraceSummary& trace, int width);

}  // namespace rubato
