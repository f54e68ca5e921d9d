#pragma once

#include <memory>
#include <span>
#include <utility>

#include "models/placement/distances.h"
#include "models/placement/placement.h"

namespace rubato {

/// Which pairs of ranks cost the same: where ranks are, and how far apart that is.
class Pairs {
 public:
  Pairs() = default;
  /// `distances`: between nodes; nullptr where all are equally far.
  explicit Pairs(Placement placement, std::shared_ptr<const Distances> distances = nullptr)
      : placement_(std::move(placement)), distances_(std::move(distances)) {}

  PairClass of(int from, int to) const {
    const Level level = placement_.level(from, to);
    if (distances_ && level == Level::kNetwork) [[unlikely]]
      return PairClass::of_distance(distances_->between(from, to));
    return level;
  }
  /// Numbers of classes are below that.
  int classes() const { return kLevels + (distances_ ? distances_->count() : 0); }

  /// The most distant class among some ranks. Where distances are told, as far as two looks around
  /// find it: from the first rank, and from the one farthest from it. (All pairs of a thousand
  /// nodes are a million.)
  PairClass widest(std::span<const int> ranks) const;
  /// True when all pairs of different ones are of one class.
  bool are_of_one_class(std::span<const int> ranks) const;

  const Placement& placement() const { return placement_; }

 private:
  /// True when `a` is farther than `b`.
  bool is_farther(PairClass a, PairClass b) const;

  Placement placement_;
  std::shared_ptr<const Distances> distances_;
};

}  // namespace rubato
