#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <span>
#include <variant>

#include "models/collective/fold_phases.h"
#include "models/collective/round_phases.h"
#include "models/collective/tree_phases.h"

namespace rubato::phases {

/// Another operation, by the algorithm that is chosen for it.
struct Part {
  CollectiveOp op;
  Amount amount;
};

using Phase = std::variant<Linear, LinearSync, Tree, Chain, Binary, SplitBinary, Forward, Ring,
                           Doubling, Dissemination, Token, NeighbourExchange, Batches, Mirror, Fold,
                           Exchanges, Halving, Growing, BlockHalving, Part>;

template <typename P, typename... Ps>
concept OneOf = (std::same_as<P, Ps> || ...);

/// Phases that need all members from the beginning to the end: a member that arrives later than the
/// others leaves as late as they do.
template <typename P>
concept Together = OneOf<P, Ring, Doubling, Dissemination, Token, NeighbourExchange, Batches,
                         Mirror, Exchanges, Halving, BlockHalving>;

struct Step {
  Phase phase;
  bool combines = false;  ///< receivers reduce what they get with what they have
};

/// The phases of an algorithm, one after the other.
class Phases {
 public:
  constexpr Phases(std::initializer_list<Step> steps) : size_(steps.size()) {
    std::copy(steps.begin(), steps.end(), in_order_.begin());
    const auto is_fold = [](const Step& step) { return std::holds_alternative<Fold>(step.phase); };
    std::copy_if(steps.begin(), steps.end(),
                 std::copy_if(steps.begin(), steps.end(), summed_.begin(), is_fold),
                 std::not_fn(is_fold));
  }
  std::span<const Step> in_order() const { return {in_order_.data(), size_}; }
  /// In the order in which their times are summed, on which the last bit of the sum depends: folds
  /// first.
  std::span<const Step> summed() const { return {summed_.data(), size_}; }

 private:
  std::array<Step, 4> in_order_{}, summed_{};
  size_t size_;
};

/// The phases of `algorithm`, which must be one of algorithms_of(op).
const Phases& phases_of(CollectiveOp op, Algorithm algorithm);

/// The part of the vector that an algorithm cuts into segments; 0 if it does not.
double cut_part(Algorithm algorithm);

/// The sizes on which messages and times depend. A barrier has no payload.
inline Sizes sizes_of(CollectiveOp op, AlgorithmChoice choice, int p, double bytes) {
  return {p, op == CollectiveOp::kBarrier ? 0 : bytes,
          cut_part(choice.algorithm) > 0 ? choice.segment : 0};
}

}  // namespace rubato::phases
