#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/placement/placement.h"

namespace rubato {

/// A level and the ranks that measure it.
struct LevelTask {
  Level level;
  int partner;  ///< of rank 0
  /// Disjoint pairs of this distance, the first with rank 0. Pairs of level node are not inside a
  /// socket, unless the node has only one known socket.
  std::vector<std::pair<int, int>> pairs = {};
};

/// The levels that ranks in these places show (presence.h finds them), seen from rank 0: the last
/// rank on its own socket, the last one on another socket of its node, the last one on another
/// node, itself. Socket exists only if both of the first two do, as far as sockets are known;
/// otherwise the last rank on the node, preferably on another socket, is node.
std::vector<LevelTask> level_tasks(const Placement& placement);

/// Network where ranks are on several nodes, else node; self for one rank.
Level widest_level(const Placement& placement);

/// The level_tasks() in `asked`, plus self; all of them if nothing was asked for. Levels that the
/// ranks do not show are missing: see unmet_level().
std::vector<LevelTask> tasks_asked_for(const Placement& placement, const std::vector<Level>& asked);

/// The first asked level that these ranks do not show.
std::optional<Level> unmet_level(const Placement& placement, const std::vector<Level>& asked);

/// The reason and the remedy, in one line. `hosts` are those of the ranks.
std::string complain_of_level(Level level, const std::vector<std::string>& host_of_rank);

}  // namespace rubato
