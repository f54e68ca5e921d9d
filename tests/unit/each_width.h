#pragma once

#include <vector>

#include "replay/observe/results.h"
#include "replay/run/scenario_groups.h"

namespace rubato {

/// The results of `run` with each vector width of passes on this processor.
template <typename Run>
auto with_each_width(Run run) {
  const size_t before = lanes_in_use;
  std::vector<decltype(run())> all;
  for (const size_t lanes : {kNarrowLanes, kWideLanes}) {
    if (lanes > widest_lanes()) continue;
    lanes_in_use = lanes;
    all.push_back(run());
  }
  lanes_in_use = before;
  return all;
}

}  // namespace rubato
