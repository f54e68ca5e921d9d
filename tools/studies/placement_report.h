#pragma once

#include <string>

#include "replay/study/placement_search.h"

namespace rubato {

/// The subject of a placement report.
struct PlacementSubject {
  const Scenario* scenario = nullptr;
  std::string hosts_file;        ///< as used in scenarios
  bool hosts_are_asked = false;  ///< --hosts
  /// Why the recording allows no conclusion about the network; "": it does.
  std::string no_conclusion = {};
};

/// The result in a sentence, a row for each placement, and the commands to reproduce the best.
std::string placement_text(const PlacementSearch& found, const PlacementSubject& subject,
                           int width);
/// The same in JSON and CSV: share/doc/json.md, *rubato place --json*.
std::string placement_json(const PlacementSearch& found, const PlacementSubject& subject);
std::string placement_csv(const PlacementSearch& found, const PlacementSubject& subject);
/// The host of each rank in the best placement: "node12" for node 12 of the network.
std::string placement_hosts(const PlacementSearch& found);

}  // namespace rubato
