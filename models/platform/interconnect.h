#pragma once

#include <memory>
#include <optional>
#include <string>

#include "models/placement/distances.h"
#include "models/platform/message_cost.h"
#include "models/platform/platform.h"

namespace rubato {

/// The costs on one platform, by classes of pairs of ranks (models/placement/pairs.h). Pure: equal
/// arguments always give equal results.
class Interconnect {
 public:
  /// `distances`: of the pairs' classes, if any. Pairs of a distance have the costs of the level
  /// network, plus the latency of the distance for each one-way trip.
  explicit Interconnect(const Platform& platform,
                        std::shared_ptr<const Distances> distances = nullptr);

  /// True if messages of this level have a cost.
  bool has(Level level) const { return model_of(level) != nullptr; }

  /// Requires has() for the level of the pair.
  MessageCost message(PairClass pair, double bytes) const;
  Wire wire(PairClass pair, double bytes) const;
  Protocol protocol(Level level, double bytes) const;
  /// The smallest message of this level with protocol pull or push, in bytes; infinity if there is
  /// none.
  double needs_presence_from(Level level) const;
  /// Seconds to copy `bytes` within a rank, as a buffered send does; 0 when not known.
  double copy(double bytes) const { return platform_.copy ? (*platform_.copy)(bytes) : 0; }

  /// Seconds to pack or unpack `blocks` blocks of together `bytes`; absent when not known.
  std::optional<double> packing(double bytes, double blocks) const {
    if (!platform_.packing || !(blocks > 0)) return {};
    return blocks * (*platform_.packing)(bytes / blocks);
  }

  /// Seconds of a collective over members of at most this distance; see algorithm_seconds().
  double collective(CollectiveOp op, int members, double bytes, PairClass widest) const;
  /// Seconds after which a member that does not wait leaves (root of a Bcast, leaf of a Reduce).
  double collective_departure(CollectiveOp op, int members, double bytes, PairClass widest,
                              bool is_root) const;

  /// See CollectiveModel::stretch().
  double stretch(CollectiveOp op, int members, double bytes, PairClass widest) const {
    return platform_.collectives.stretch(op, members, bytes, round_cost(widest));
  }
  /// Seconds to combine `bytes` with as many.
  double combine(double bytes) const {
    return platform_.reduction_bandwidth ? bytes / *platform_.reduction_bandwidth : 0;
  }

  /// Costs of messages between such pairs for the members of a collective.
  RoundCost round_cost(PairClass pair) const;

  /// Algorithms of collectives, and their synchronisation.
  const CollectiveModel& collectives() const { return platform_.collectives; }

 private:
  const LevelModel* model_of(Level level) const;
  MessageWay way(PairClass pair, double bytes) const;

  Platform platform_;
  std::shared_ptr<const Distances> distances_;
};

}  // namespace rubato
