#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "models/cost/scenario.h"
#include "replay/checkpoint.h"
#include "replay/cluster/team.h"
#include "replay/observe/results.h"
#include "replay/replay_options.h"

namespace rubato {

/// A run that goes on behind a checkpoint, and writes it; nothing without one.
class ResumedRun {
 public:
  /// All of a team call this, if there is one; `ranks` and `calls`: how many results have to have.
  /// Errors: InputError; NeedsOneProcess in all of a team.
  void open(const ReplayOptions& options, const std::vector<Scenario>& scenarios, int ranks,
            size_t calls);

  /// True if all of these were done before; the process that leads has them then in `results`.
  bool take(const std::vector<size_t>& scenarios, Results& results);
  /// They are done now. Processes that divide ranks all call it. Errors: as open().
  void keep(const std::vector<size_t>& scenarios, const Results& results);

 private:
  std::optional<Checkpoint> checkpoint_;
  std::set<uint64_t> done_;
  Team* divides_ = nullptr;  ///< processes that each have a part of the ranks
};

}  // namespace rubato
