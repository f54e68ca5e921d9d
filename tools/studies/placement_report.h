#pragma once

#include <string>

#include "replay/study/placement_search.h"

namespace rubato {

/// What placement_text() speaks of.
struct PlacementSubject {
  const Scenario* scenario = nullptr;
  std::string hosts_file;        ///< as texts of scenarios name it
  bool hosts_are_asked = false;  ///< --hosts
};

/// The answer in a sentence, a row for each placement, and the command that replays the best.
std::string placement_text(const PlacementSearch& found, const PlacementSubject& subject,
                           int width);
/// The same for programs: share/doc/json.md, *rubato place --json*.
std::string placement_json(const PlacementSearch& found, const PlacementSubject& subject);
/// The host of each rank in the best one, "node12" for node 12 of the network.
std::string placement_hosts(const PlacementSearch& found);

}  // namespace rubato
