#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/driver.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The stretch of each scenario that is written, seconds since the archive's first record.
struct PerfettoWindow {
  double from = 0;
  double to = std::numeric_limits<double>::infinity();

  bool is_part() const { return from > 0 || to < std::numeric_limits<double>::infinity(); }
};

/// "1.5s..2s"; either end may be left out. Errors: UsageError.
PerfettoWindow parse_perfetto_window(const std::string& text);

/// Calls of all scenarios together that one file may hold: some 600 MB, which viewers load as a
/// whole.
inline constexpr uint64_t kMostPerfettoCalls = 2000000;

/// Refuses a run that has more calls than a file may hold, where no window is chosen; `results` are
/// those of the run. Errors: InputError that says how to choose a part of it.
void refuse_large_perfetto(const std::string& file, const Results& results,
                           const PerfettoWindow& window, uint64_t most = kMostPerfettoCalls);

/// Where the text goes, piece by piece.
using WriteText = std::function<void(const std::string&)>;

/// Writes the timelines of all scenarios that came to their end in the trace event format of
/// Chrome, which Perfetto reads: a process for each scenario and rank, a slice for each call, the
/// wait in it and the compute before it, flows for messages. Each scenario is replayed once more,
/// and kept in a temporary file until it is over. `results` are those of `scenarios`. Errors: as
/// run_replay(); InputError when a window still holds more than `most` calls.
void write_perfetto(EventSource& source, const std::vector<Scenario>& scenarios,
                    const Results& results, ReplayOptions options, const PerfettoWindow& window,
                    const WriteText& write, uint64_t most = kMostPerfettoCalls);

}  // namespace rubato
