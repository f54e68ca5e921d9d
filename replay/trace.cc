#include "replay/trace.h"

#include <algorithm>

namespace rubato {

int Communicator::local_rank(int world_rank) const {
  if (self_like) return 0;
  // Most communicators hold their ranks in world order, many of them all of them.
  const auto n = static_cast<int>(members.size());
  if (world_rank < n && members[world_rank] == world_rank) return world_rank;
  const auto found = std::find(members.begin(), members.end(), world_rank);
  return found == members.end() ? -1 : static_cast<int>(found - members.begin());
}

}  // namespace rubato
