#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/run/replay_options.h"
#include "tools/studies/diff_report.h"

namespace rubato {

/// An archive of the command line.
struct DiffWord {
  std::string archive;
  std::string scenario;  ///< "" without --on
};

/// The archives of both sides.
struct DiffSides {
  std::vector<DiffWord> before, after;
};

struct DiffOptions {
  bool functions = false;           ///< also compare functions with their callees
  bool all = false;                 ///< keep all differing operations, not only some
  std::optional<double> limit;      ///< of the gate
  std::optional<double> threshold;  ///< seconds; none: 1 % of the old run
};

/// Replays the archives and compares both sides. REQUIRES archives on each side, with one scenario.
/// Errors: InputError, also for runs that cannot be compared.
DiffResults compare_runs(const DiffSides& sides, const DiffOptions& how, ReplayOptions options);

}  // namespace rubato
