#pragma once

#include <memory>
#include <optional>
#include <string>

#include "models/placement/distances.h"
#include "models/platform/platform.h"

namespace rubato {

/// Costs of one message, in seconds. Above the eager limit, transfer includes the handshake and
/// counts from the moment both sides are ready.
struct MessageCost {
  double send_overhead = 0;     ///< o_s: the sender's processor
  double receive_overhead = 0;  ///< o_r: the receiver's processor
  double unexpected_overhead =
      0;                ///< o_r of an eager message that arrived before its receive was posted
  double transfer = 0;  ///< T: one way
  double gap = 0;       ///< g: time that it occupies a port; 0 where it flows over shared links
  /// g_b: likewise behind an open one; no less than g. Over shared links: from the start of the
  /// one before to its own, or 0 where g_b is not more than the message keeps port and links busy.
  double burst_gap = 0;
  double second_burst_gap = 0;  ///< g_2: that of the first one behind an open one; likewise
  double latency = 0;           ///< L: one way for the smallest message, a leg of a handshake
  double answer = 0;          ///< A: time until an answer has been seen, o_s + L + o_r of no bytes
  double crossing_delay = 0;  ///< x: extra time when its receiver sends at the same time
  double synchronous_overhead = 0;  ///< y: extra o_r of an eager synchronous message
  /// o_s, o_r and that of an unexpected message, right behind another one the same way.
  double following_send = 0, following_receive = 0, following_unexpected = 0;
  /// following_send of a blocking send: f itself where that is more than any end or port takes.
  double streamed_send = 0;
};

/// The prices of one platform, by classes of pairs of ranks (models/placement/pairs.h). Pure: the
/// same question always gets the same answer.
class Interconnect {
 public:
  /// `distances`: those of the pairs' classes, if any; pairs of a distance cost what those of the
  /// level network do, and its latency for each one-way trip.
  explicit Interconnect(const Platform& platform,
                        std::shared_ptr<const Distances> distances = nullptr);

  /// True when messages of this level have a price.
  bool has(Level level) const { return model_of(level) != nullptr; }

  /// The level of the pair must be there (has()).
  MessageCost message(PairClass pair, double bytes) const;
  Protocol protocol(Level level, double bytes) const;
  /// The fewest bytes of a message of this level that go by pull or push; infinity where none do.
  double needs_presence_from(Level level) const;
  /// How a message flows over links that it shares, in seconds.
  struct Wire {
    double data = 0;  ///< the part of T, at its end, in which the bytes move, if nobody shares
    double port = 0;  ///< of that, what a port of its ranks is busy; 0: they are none
    double gap = 0;   ///< g, whatever does duty as a port: so long after its start it has left
  };
  Wire wire(Level level, double bytes) const;

  /// Seconds to copy `bytes` within a rank, as a buffered send does; 0 when not known.
  double copy(double bytes) const { return platform_.copy ? (*platform_.copy)(bytes) : 0; }

  /// Seconds of a collective over members of at most this distance; see algorithm_seconds().
  double collective(CollectiveOp op, int members, double bytes, PairClass widest) const;
  /// Seconds after which a member that waits for nobody leaves (root of a Bcast, leaf of a Reduce).
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

  /// What messages between such pairs cost the members of a collective.
  RoundCost round_cost(PairClass pair) const;

  /// Algorithms of collectives, and their synchronisation.
  const CollectiveModel& collectives() const { return platform_.collectives; }

 private:
  const LevelModel* model_of(Level level) const;
  /// True where messages of this level share the links of a topology, and their ports with them:
  /// those between nodes.
  bool flows(Level level) const;
  /// Seconds that the links of a node are busy with a message: they are its port for so long. 0
  /// where those differ from node to node.
  double in_links(double bytes) const;

  Platform platform_;
  std::shared_ptr<const Distances> distances_;
};

}  // namespace rubato
