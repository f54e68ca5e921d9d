#pragma once

#include <string>

#include "models/platform/platform.h"

namespace rubato {

/// A platform for SimGrid's SMPI (platform file version 4.1): `nodes` hosts node0, node1, ... with
/// the message times of level network. The segments of a curve become factors by size of SimGrid's
/// network model SMPI; simgrid_platform.cc explains how. Messages within a node have one latency
/// and one bandwidth: those of the smallest and the largest message of level node, else of socket,
/// else of network. Errors: InputError without level network.
std::string simgrid_platform(const Platform& platform, int nodes);

}  // namespace rubato
