#pragma once

#include <vector>

#include "models/collective/collective_model.h"

namespace rubato {

/// One message of a collective's algorithm.
///
/// A member sends its messages of a step, in their order in the schedule, once all messages of
/// earlier steps have reached it.
struct ScheduledMessage {
  int step = 0;
  int from = 0;  ///< local ranks
  int to = 0;
  double bytes = 0;
  bool combines = false;  ///< its receiver reduces it with what it has
  /// The first of the blocks that it carries, which are numbered by the members that have them at
  /// one end of the operation; the others are those of the next members, as many as `bytes` has
  /// payloads. kShare: an equal share of each block.
  int first = kShare;

  static constexpr int kShare = -1;
};

/// A longer schedule is cut off after one more message.
inline constexpr size_t kMostScheduled = 1 << 16;

/// The messages of a collective over p > 1 members, ordered by step, for the algorithm that the
/// platform chooses. `bytes`: the payload as in algorithm_seconds(), which has the time. `root` is
/// used by operations with a root.
std::vector<ScheduledMessage> collective_schedule(CollectiveOp op, const CollectiveModel& model,
                                                  int p, double bytes, int root);

/// The same for one algorithm of algorithms_of(op) that does not consist of other operations.
std::vector<ScheduledMessage> algorithm_schedule(CollectiveOp op, AlgorithmChoice choice, int p,
                                                 double bytes, int root);

/// The algorithms that collective_schedule() uses: the operation's own, then those of its parts if
/// it consists of other operations. Segments are shares of `bytes`.
std::vector<AlgorithmChoice> schedule_choices(CollectiveOp op, const CollectiveModel& model, int p,
                                              double bytes);

/// collective_schedule() of 1 byte from local rank 0, with these algorithms.
std::vector<ScheduledMessage> unit_schedule(CollectiveOp op,
                                            const std::vector<AlgorithmChoice>& choices, int p);

}  // namespace rubato
