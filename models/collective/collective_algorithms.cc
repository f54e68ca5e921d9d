// Costs of the algorithms of collective operations, from their phases.

#include "models/collective/collective_algorithms.h"

#include <cassert>
#include <concepts>
#include <variant>

#include "models/collective/algorithm_table.h"

namespace rubato {

double algorithm_seconds(CollectiveOp op, AlgorithmChoice choice, int p, double bytes,
                         const RoundCost& cost, const PartCost& part) {
  assert(p > 1);
  phases::Prices prices{phases::sizes_of(op, choice, p, bytes), cost};
  double seconds = 0;
  const auto end_of = [&]<typename P>(const P& phase) {
    if constexpr (std::same_as<P, phases::Part>) {
      return seconds + part(phase.op, prices.of(phase.amount));
    } else {
      return phase.end(seconds, prices);
    }
  };
  for (const phases::Step& step : phases::phases_of(op, choice.algorithm).summed()) {
    prices.combines = step.combines;
    seconds = std::visit(end_of, step.phase);
  }
  return seconds;
}

double departure_seconds(CollectiveOp op, AlgorithmChoice choice, int p, double bytes, bool is_root,
                         const RoundCost& cost) {
  assert(p > 1);
  const Synchronisation who = synchronisation(op);
  const bool is_leaf = who == Synchronisation::kAllToOne && !is_root;
  if (who != Synchronisation::kOneToAll && !is_leaf) return 0;
  const phases::Member member = is_leaf   ? phases::Member::kLeaf
                                : is_root ? phases::Member::kRoot
                                          : phases::Member::kLateReceiver;
  const phases::Sizes sizes = phases::sizes_of(op, choice, p, bytes);
  double seconds = 0;
  for (const phases::Step& step : phases::phases_of(op, choice.algorithm).in_order()) {
    const phases::Prices prices{sizes, cost, step.combines};
    seconds = std::visit(
        [&]<typename P>(const P& phase) {
          if constexpr (std::same_as<P, phases::Part>) {
            return seconds;  // of no operation with a root
          } else if constexpr (phases::Together<P>) {
            // The others wait for a late receiver only from here on.
            return phase.end(member == phases::Member::kLateReceiver ? 0 : seconds, prices);
          } else {
            return seconds + phase.departure(member, prices);
          }
        },
        step.phase);
  }
  return seconds;
}

}  // namespace rubato
