#pragma once

#include <functional>

#include "replay/archive/archive.h"
#include "replay/cluster/team.h"

namespace rubato {

/// The result of `read` in the first process of each host. The others of its host share the data by
/// rank with it, and have copies of the rest. Called by all processes of `team`. Errors:
/// NeedsOneProcess, in all of them, if one could not read.
Archive read_once_per_host(Team& team, const std::function<Archive()>& read);

}  // namespace rubato
