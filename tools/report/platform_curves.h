#pragma once

#include <string>

#include "models/platform/platform.h"

namespace rubato {

/// Seconds of a message of so many bytes from the call of the sender to the return of the receiver:
/// half a round trip.
double one_way(const LevelModel& level, double bytes);

/// What messages of some sizes take one way on each level of a platform, overheads included, and
/// their bandwidth, with bars on a logarithmic axis that all levels share: a heading and a table a
/// level, for a page so many columns wide.
std::string curves_of(const Platform& platform, int width);

}  // namespace rubato
