#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/compare/run_difference.h"
#include "tools/studies/diff_summary.h"
#include "tools/studies/slowdown.h"

namespace rubato {

/// One run of a side.
struct DiffRun {
  std::string archive;
  std::string command;    ///< the traced command; "" if the archive does not have it
  RunTime time;           ///< in the scenario of its side
  double recorded = 0;    ///< seconds elapsed in the recording
  double lost_share = 0;  ///< of the ranks' time, in the recording: without a core
};

/// One side of `rubato diff`: a run, or repeated runs, in one scenario.
struct DiffSide {
  std::string scenario;
  bool is_prediction = false;
  bool without_losses = false;  ///< a recording without lost cores and tracing: "undisturbed"
  bool has_uncertainty = true;  ///< false: a prediction whose platform states none
  std::vector<DiffRun> runs;
  std::vector<RunTime> times;  ///< of `runs`, and of all runs of `rubato trace --runs`
  size_t shown = 0;            ///< the run of which operations are compared: that of median time
};

struct DiffResults {
  DiffSide before, after;
  Slowdown slowdown;
  std::optional<double> limit;  ///< of the gate: 0.03 for 3 %
  DiffSummary summary;
  double threshold = 0;  ///< drift to report, seconds
  RunDifference difference;
};

/// "recording a.otf2dir", "prediction of a.otf2dir on cluster.toml": by the run that is shown.
std::string name_of(const DiffSide& side);

/// The output of `rubato diff`: six lines. A seventh if time of the recordings is left out.
std::string diff_lines(const DiffResults& results, int width);
/// With --all: tables of all differences.
std::string diff_tables(const DiffResults& results, int width);

/// The contents of the files of --json and --csv: share/doc/json.md.
std::string diff_json(const DiffResults& results);
std::string diff_csv(const DiffResults& results);

/// The key of a distance in tables and files: "network"; "no peer".
std::string level_name(uint8_t level);

}  // namespace rubato
