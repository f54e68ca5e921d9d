#pragma once

#include <string>

#include "models/platform/platform.h"

namespace rubato {

/// A platform for SimGrid's SMPI (platform file version 4.1): `nodes` hosts node0, node1, ... with
/// message times of level network. For SimGrid's network model SMPI, whose factors by size express
/// the segments of a curve; simgrid_platform.cc says how. Messages within a node have one latency
/// and one bandwidth: those of the smallest and the largest message of level node, else of socket,
/// else of network. Errors: InputError when there is no level network.
std::string simgrid_platform(const Platform& platform, int nodes);

}  // namespace rubato
