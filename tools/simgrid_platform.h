#pragma once

#include <string>

#include "models/cost/platform.h"

namespace rubato {

/// A platform as SimGrid's SMPI reads it (platform file version 4.1): `nodes` hosts node0, node1,
/// ... whose messages take what those of level network do. For use with SimGrid's network model
/// SMPI, whose factors by size express the segments of a curve; simgrid_platform.cc says how.
/// Messages within a node have one latency and one bandwidth, those of the smallest and the largest
/// message of level node, else of level socket, else of level network. Errors: InputError when
/// there is no level network.
std::string simgrid_platform(const Platform& platform, int nodes);

}  // namespace rubato
