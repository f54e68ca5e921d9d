#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/cost/placement.h"

namespace rubato {

/// A level and the ranks that stand for it.
struct LevelTask {
  Level level;
  int partner;  ///< of rank 0
  /// Pairs of this distance without a rank in common, the first with rank 0. None of node is
  /// inside a socket, unless that is all of the node, as far as sockets are known.
  std::vector<std::pair<int, int>> pairs = {};
};

/// The levels that ranks in these places show (presence.h finds them), seen from rank 0: the last
/// rank on its own socket, the last one on another of its node, the last one on another node,
/// itself. Socket only where there are both of the first, as far as sockets are known; else the
/// last rank on the node, on another socket if there is one, is node.
std::vector<LevelTask> level_tasks(const Placement& placement);

/// Network where ranks are on several nodes, else node; self for one rank.
Level widest_level(const Placement& placement);

/// Of level_tasks() those in `asked`, and self, which needs nobody; all of them where nothing was
/// asked for. Levels that the ranks do not show are missing: see unmet_level().
std::vector<LevelTask> tasks_asked_for(const Placement& placement, const std::vector<Level>& asked);

/// The first level that was asked for and that these ranks do not show.
std::optional<Level> unmet_level(const Placement& placement, const std::vector<Level>& asked);

/// Why they do not show it and what to do, in one line. Hosts are those of the ranks.
std::string complain_of_level(Level level, const std::vector<std::string>& host_of_rank);

}  // namespace rubato
