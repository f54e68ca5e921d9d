#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/study/run_replay.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The part of each timeline to write, in seconds since the archive's first record.
struct PerfettoWindow {
  double from = 0;
  double to = std::numeric_limits<double>::infinity();

  bool is_part() const { return from > 0 || to < std::numeric_limits<double>::infinity(); }
};

/// "1.5s..2s"; either end may be left out. Errors: UsageError.
PerfettoWindow parse_perfetto_window(const std::string& text);

/// Maximum number of calls of all scenarios in one file: about 600 MB, which viewers load
/// completely.
inline constexpr uint64_t kMostPerfettoCalls = 2000000;

/// Refuses a run with more than `most` calls if no window is chosen. Errors: InputError that
/// explains how to choose a part.
void refuse_large_perfetto(const std::string& file, const Results& results,
                           const PerfettoWindow& window, uint64_t most = kMostPerfettoCalls);

/// Takes the text piece by piece.
using WriteText = std::function<void(const std::string&)>;

/// Writes the timelines of all scenarios that do not deadlock in Chrome's trace event format, which
/// Perfetto reads: a process per scenario and rank, a slice for each call, for the wait in it and
/// for the compute before it, and flows for messages. Replays each scenario once more and keeps its
/// events in a temporary file until it is complete. `results` are those of `scenarios`. Errors: as
/// run_replay(); InputError if a window contains more than `most` calls.
void write_perfetto(EventSource& source, const std::vector<Scenario>& scenarios,
                    const Results& results, ReplayOptions options, const PerfettoWindow& window,
                    const WriteText& write, uint64_t most = kMostPerfettoCalls);

}  // namespace rubato
