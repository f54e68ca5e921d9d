#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"
#include "replay/study/intervals.h"
#include "replay/study/sweep.h"

namespace rubato {

struct TextReportOptions {
  int width = 100;              ///< columns of the page
  bool per_rank = false;        ///< tables of every rank and every call
  bool collectives = false;     ///< which algorithms collectives were priced by
  Intervals intervals{};        ///< of elapsed times; may be empty
  std::vector<Sweep> sweeps{};  ///< curves and maps of --sweep
  bool verdict_last = false;    ///< once more: on a terminal the end is what one sees
};

/// The report for a terminal: the verdict, elapsed per scenario, waits, cures and what to ask next,
/// then what the numbers rest on. On request for each scenario the first table of MPInside: compute
/// and time per MPI call of each rank.
std::string report_text(const Results& results, const TextReportOptions& options = {});

/// What `rubato info` prints.
std::string describe_trace(const TraceSummary& trace, int width);

}  // namespace rubato
