#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "models/cost/collective_model.h"
#include "replay/cluster/byte_stream.h"
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

  /// Adds those of another process.
  void put(ByteWriter& to) const {
    to.number(uses_.size());
    for (const auto& [key, range] : uses_) {
      const auto& [op, members, algorithm] = key;
      to.value(op), to.value(members), to.text(algorithm), to.value(range);
    }
  }
  void take(ByteReader& from) {
    for (uint64_t left = from.number(); left > 0; --left) {
      CollectiveOp op{};
      int members = 0;
      Range range{};
      from.value(op), from.value(members);
      const std::string algorithm = from.text();
      from.value(range);
      const auto [use, is_new] = uses_.try_emplace({op, members, algorithm}, range);
      use->second.smallest = std::min(use->second.smallest, range.smallest);
      use->second.largest = std::max(use->second.largest, range.largest);
    }
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
