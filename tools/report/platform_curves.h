#pragma once

#include <string>

#include "models/platform/platform.h"

namespace rubato {

/// Seconds from the call of the sender to the return of the receiver for a message of so many
/// bytes: half a round trip.
double one_way(const LevelModel& level, double bytes);

/// One-way times, overheads included, and bandwidths of messages of some sizes on each level of a
/// platform, with bars on a logarithmic axis shared by all levels: a heading and a table per level,
/// for a page of `width` columns.
std::string curves_of(const Platform& platform, int width);

}  // namespace rubato
