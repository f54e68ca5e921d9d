#pragma once

#include <memory>
#include <span>
#include <utility>

#include "models/placement/distances.h"
#include "models/placement/placement.h"

namespace rubato {

/// Classes of pairs of ranks with the same costs, from their placement and distances.
class Pairs {
 public:
  Pairs() = default;
  /// `distances`: between nodes; nullptr if all are equally far.
  explicit Pairs(Placement placement, std::shared_ptr<const Distances> distances = nullptr)
      : placement_(std::move(placement)), distances_(std::move(distances)) {}

  PairClass of(int from, int to) const {
    const Level level = placement_.level(from, to);
    if (distances_ && level == Level::kNetwork) [[unlikely]]
      return PairClass::of_distance(distances_->between(from, to));
    return level;
  }
  /// Upper bound of the classes' numbers.
  int classes() const { return kLevels + (distances_ ? distances_->count() : 0); }

  /// The most distant class among some ranks. With distances it is estimated in two steps: from the
  /// first rank to the one farthest from it, and from there. (A thousand nodes have a million
  /// pairs.)
  PairClass widest(std::span<const int> ranks) const;
  /// True if all pairs of different ranks are of one class.
  bool are_of_one_class(std::span<const int> ranks) const;

  const Placement& placement() const { return placement_; }

 private:
  /// True when `a` is farther than `b`.
  bool is_farther(PairClass a, PairClass b) const;

  Placement placement_;
  std::shared_ptr<const Distances> distances_;
};

}  // namespace rubato
