#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/judge/findings.h"
#include "replay/judge/roles.h"
#include "replay/study/intervals.h"
#include "replay/study/sweep.h"
#include "tools/report/findings_report.h"

namespace rubato {

/// All that `rubato replay` reports, but timelines: built once, then written as text, JSON, CSV and
/// HTML.
struct Report {
  /// `of` must outlive the report.
  Report(const Results& of, Intervals intervals_of_elapsed = {},
         std::vector<Sweep> sweeps_of_platforms = {}, const Diagnosis& diagnosis = {});

  const Results* results;
  Roles roles;
  Intervals intervals;        ///< of elapsed times; may be empty
  std::vector<Sweep> sweeps;  ///< curves and maps of --sweep
  /// The efficiency factors, the conclusion, and an estimate: each a line, left out if it cannot be
  /// determined.
  std::vector<std::string> verdict;
  std::string answer;  ///< short_answer()
  Judgement judgement;
  std::vector<std::optional<Efficiency>> efficiencies;  ///< by scenario
  std::string runs;                                     ///< runs_line()
  std::string kept_calls;                               ///< kept_calls_line()
  std::vector<std::string> notes;                       ///< on the archive and the run
  std::vector<std::string> interval_notes;              ///< not_told_apart()
  std::vector<std::string> scenario_notes;
};

}  // namespace rubato
