#pragma once

#include <string>
#include <vector>

#include "models/network/network_model.h"
#include "models/placement/placement.h"
#include "models/scenario/scenario_change.h"

namespace rubato {

/// ppn=4; sockets=2; placement=block:4, roundrobin:2, random:7, file:hosts.txt. Other parts of the
/// rule stay, in any order of changes. `text`: the scenario. Errors: UsageError; InputError for a
/// bad file.
void change_placement(PlacementRule& rule, const std::string& text, const Change& change);

/// "0-15+32-60/4": nodes 0 to 15, and 32, 36, ... 60. Errors: InputError.
std::vector<int> parse_nodes(const std::string& text);

/// nodes=0-15+32-60/4, nodes=random:7, nodes=hosts (their names in the file of the placement end
/// with them): which nodes of `network` the run has. Errors: UsageError, InputError.
void change_network_nodes(PlacementRule& rule, const ContentionSetting& network,
                          const std::string& text, const Change& change);

}  // namespace rubato
