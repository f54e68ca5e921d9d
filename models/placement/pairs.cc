#include "models/placement/pairs.h"

namespace rubato {

bool Pairs::is_farther(PairClass a, PairClass b) const {
  if (a.level() != b.level()) return a.level() > b.level();
  if (a == b || a.level() != Level::kNetwork || !distances_) return false;
  return distances_->latency(a.distance()) > distances_->latency(b.distance());
}

PairClass Pairs::widest(std::span<const int> ranks) const {
  PairClass widest = Level::kSelf;
  // Without distances one step is exact: if all are on the first one's node (or socket), they share
  // it.
  const int looks = distances_ ? 2 : 1;
  int from = ranks.empty() ? -1 : ranks.front();
  for (int look = 0; look < looks && from >= 0; ++look) {
    int next = -1;
    for (const int rank : ranks) {
      const PairClass pair = of(from, rank);
      if (!is_farther(pair, widest)) continue;
      widest = pair;
      next = rank;
    }
    from = next;
  }
  return widest;
}

bool Pairs::are_of_one_class(std::span<const int> ranks) const {
  for (size_t i = 1; i < ranks.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (of(ranks[i], ranks[j]) != of(ranks[1], ranks[0])) return false;
    }
  }
  return true;
}

}  // namespace rubato
