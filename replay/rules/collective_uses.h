#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "models/cost/collective_model.h"
#include "replay/observe/results.h"

namespace rubato {

/// Collects the algorithms by which the collectives of a run were priced.
class CollectiveUses {
 public:
  /// An operation of `members` with `bytes` of payload occurs; repetitions do no harm.
  void add(CollectiveOp op, int members, double bytes, const CollectiveModel& model) {
    const auto [use, is_new] =
        uses_.try_emplace({op, members, model.describe(op, members, bytes)}, Range{bytes, bytes});
    use->second.smallest = std::min(use->second.smallest, bytes);
    use->second.largest = std::max(use->second.largest, bytes);
  }

  /// By operation, members and name of the algorithm.
  std::vector<CollectiveUse> list() const {
    std::vector<CollectiveUse> list;
    for (const auto& [key, range] : uses_) {
      const auto& [op, members, algorithm] = key;
      list.push_back({name_of(op), members, algorithm, range.smallest, range.largest});
    }
    return list;
  }

 private:
  struct Range {
    double smallest, largest;
  };
  std::map<std::tuple<CollectiveOp, int, std::string>, Range> uses_;
};

}  // namespace rubato
