#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "replay/checkpoint.h"
#include "replay/cluster/team.h"
#include "replay/driver.h"
#include "replay/observe/results.h"

namespace rubato {

/// A run that goes on behind a checkpoint, and writes it; nothing without one.
class ResumedRun {
 public:
  /// Puts scenarios that were done before into `results`. All of `team` call this, if there is one.
  /// Errors: InputError; NeedsOneProcess in all of a team.
  void open(const ReplayOptions& options, Results& results);

  /// True if all of these were done before.
  bool has(const std::vector<size_t>& scenarios) const;
  /// They are done now, by this process. Errors: InputError.
  void keep(const std::vector<size_t>& scenarios, const Results& results);

 private:
  std::optional<Checkpoint> checkpoint_;
  std::set<uint64_t> done_;
};

}  // namespace rubato
