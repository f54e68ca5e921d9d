#pragma once

#include <memory>
#include <optional>
#include <string>

#include "models/placement/distances.h"
#include "models/platform/platform.h"

namespace rubato {

/// Costs of one message, in seconds. Above the eager limit, transfer includes the handshake: it
/// counts from the start of the send. If the receive is posted later than L after that, T - L
/// counts from the post (ModelRules::matched()).
struct MessageCost {
  double send_overhead = 0;     ///< o_s: the sender's processor
  double receive_overhead = 0;  ///< o_r: the receiver's processor
  double unexpected_overhead =
      0;                ///< o_r of an eager message that arrived before its receive was posted
  double transfer = 0;  ///< T: one way
  double gap = 0;       ///< g: time that it occupies a port; 0 if it flows over shared links
  /// g_b: the same behind an open message; no less than g. Over shared links: time from the start
  /// of the previous message to its own, or 0 if port and links are busy with the message for
  /// longer.
  double burst_gap = 0;
  double second_burst_gap = 0;  ///< g_2: the same for the first message behind an open one
  double latency = 0;           ///< L: one way for the smallest message, a leg of a handshake
  double answer = 0;            ///< A: time until an answer is received, o_s + L + o_r of no bytes
  double crossing_delay = 0;    ///< x: extra time when its receiver sends at the same time
  double synchronous_overhead = 0;  ///< y: extra o_r of an eager synchronous message
  /// o_s, o_r and unexpected o_r, right behind another message in the same direction.
  double following_send = 0, following_receive = 0, following_unexpected = 0;
  /// o_s of a blocking send right behind another one: if f exceeds what ends and port take, their
  /// time plus that excess on the machine as it was measured.
  double streamed_send = 0;
};

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
  Protocol protocol(Level level, double bytes) const;
  /// The smallest message of this level with protocol pull or push, in bytes; infinity if there is
  /// none.
  double needs_presence_from(Level level) const;
  /// How a message flows over links that it shares, in seconds.
  struct Wire {
    double data = 0;  ///< the part of T, at its end, in which the bytes move without contention
    double port = 0;  ///< the part of that in which a port of its ranks is busy; 0: no such ports
    double gap = 0;   ///< g, of ports or links: time from its start until it has left
  };
  Wire wire(Level level, double bytes) const;

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
  /// True if messages of this level share the links of a topology, and ports with them: messages
  /// between nodes.
  bool flows(Level level) const;
  /// Seconds that the links of a node are busy with a message, like a port. 0 if they differ
  /// between nodes.
  double in_links(double bytes) const;

  Platform platform_;
  std::shared_ptr<const Distances> distances_;
};

}  // namespace rubato
