#pragma once

#include <functional>

#include "replay/archive/archive.h"
#include "replay/cluster/team.h"

namespace rubato {

/// What the first process of each host `read`s. The others of its host have what there is by rank
/// in common with it, and copies of the rest. All of `team` call it. Errors: NeedsOneProcess, in
/// all of them, where one could not read.
Archive read_once_per_host(Team& team, const std::function<Archive()>& read);

}  // namespace rubato
