#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/judge/diagnosis.h"
#include "replay/judge/efficiency.h"
#include "replay/judge/finding_rows.h"
#include "replay/judge/roles.h"
#include "replay/study/intervals.h"

namespace rubato {

/// What is said about the efficiency of a run.
struct Judgement {
  std::optional<JudgedEfficiency> efficiency;
  bool is_alone = false;     ///< is_alone() of the run
  bool without_mpi = false;  ///< the archive has no MPI call
  std::string scenario;      ///< name of Roles::judged; "": there is none
  double elapsed = 0;        ///< of it; 0 without efficiency
  /// Of at least 1 % of the elapsed time, the costliest first.
  std::vector<Finding> findings;
  double least_elapsed = 0;  ///< Diagnosis::least_elapsed
  /// What the network of `platform` costs, likewise, of `platform_elapsed` seconds; a cost in this
  /// list may contain parts of another one.
  std::vector<Finding> on_platform;
  std::string platform;  ///< name of the scenario
  double platform_elapsed = 0;
};
/// `platforms`: the directory of platform files that scenarios name. `intervals`: of the elapsed
/// times of Roles::results, or empty. What is found on `perfect` has its relative error; the costs
/// of messages and tracing have the errors of its overhead and losses, lost cores that of losses.
Judgement judge(const Roles& roles, const Diagnosis& diagnosis = {},
                const std::string& platforms = "", const Intervals& intervals = {});

}  // namespace rubato
