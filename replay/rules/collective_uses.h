#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "models/collective/collective_model.h"
#include "replay/cluster/byte_stream.h"
#include "replay/observe/results.h"

namespace rubato {

/// Collects the algorithms used for the collectives of a run.
class CollectiveUses {
 public:
  /// Adds an operation of `members` members with `bytes` of payload; repetitions have no effect.
  void add(CollectiveOp op, int members, double bytes, const CollectiveModel& model) {
    add({op, members, model.describe(op, members, bytes)},
        {bytes, bytes, model.is_guessed(op, bytes)});
  }

  /// Serialises the uses for another process.
  void put(ByteWriter& to) const {
    to.number(uses_.size());
    for (const auto& [key, range] : uses_) {
      const auto& [op, members, algorithm] = key;
      to.value(op), to.value(members), to.text(algorithm);
      to.value(range.smallest), to.value(range.largest), to.value(range.guessed);
    }
  }
  void take(ByteReader& from) {
    for (uint64_t left = from.number(); left > 0; --left) {
      CollectiveOp op{};
      int members = 0;
      Range range{};
      from.value(op), from.value(members);
      const std::string algorithm = from.text();
      from.value(range.smallest), from.value(range.largest), from.value(range.guessed);
      add({op, members, algorithm}, range);
    }
  }

  /// By operation, members and name of the algorithm.
  std::vector<CollectiveUse> list() const {
    std::vector<CollectiveUse> list;
    for (const auto& [key, range] : uses_) {
      const auto& [op, members, algorithm] = key;
      list.push_back(
          {name_of(op), members, algorithm, range.guessed, range.smallest, range.largest});
    }
    return list;
  }

 private:
  using Key = std::tuple<CollectiveOp, int, std::string>;
  struct Range {
    double smallest = 0, largest = 0;
    bool guessed = false;
  };

  void add(const Key& key, const Range& more) {
    Range& range = uses_.try_emplace(key, more).first->second;
    range.smallest = std::min(range.smallest, more.smallest);
    range.largest = std::max(range.largest, more.largest);
    range.guessed |= more.guessed;
  }

  std::map<Key, Range> uses_;
};

}  // namespace rubato
