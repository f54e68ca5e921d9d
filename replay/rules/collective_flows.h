#pragma once

// Collectives whose messages share the network with others.
//
// Without contention a collective takes what its algorithm or formula says (model_rules.h). On a
// network that is shared, its algorithm's messages (models/cost/collective_schedule.h) become
// flows, too: stretched so that they take the same time if nothing is in their way. A message that
// arrives late delays the messages that its receiver sends behind it, and the collective ends as
// late as its latest message:
//
//   leave = leave without contention + max over messages of (arrival - planned arrival)
//
// So results without contention stay as they are, to the last bit. A rooted operation begins with
// its root, or with its last member if the root waits for all; all others with their last member.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "models/cost/collective_schedule.h"

namespace rubato {

/// The messages of one kind of collective, with their times from its begin on, in ticks.
struct CollectivePlan {
  std::vector<ScheduledMessage> messages;
  std::vector<MessageTimes> times;
  std::vector<double> data;  ///< the part of a message's time that grows with its size
  /// Numbers of messages by local rank, ordered by step.
  std::vector<std::vector<uint32_t>> incoming, outgoing;

  /// Stretches `schedule` over `size` members to `total` ticks. `cost` and `growing` (of T, by
  /// bytes) may have any unit of time, but the same one.
  CollectivePlan(std::vector<ScheduledMessage> schedule, int size, const RoundCost& cost,
                 const std::function<double(double)>& growing, double total);
};

/// One collective under way.
class CollectiveFlows {
 public:
  CollectiveFlows(std::shared_ptr<const CollectivePlan> plan, double begin, uint32_t comm,
                  uint64_t instance);

  /// A message that can start, and when.
  using Start = std::pair<uint32_t, double>;
  /// The messages that start with the collective.
  std::vector<Start> begin();
  /// A message arrives; the messages that it lets start.
  std::vector<Start> arrive(uint32_t message, double now);

  const CollectivePlan& plan() const { return *plan_; }
  /// When a message that starts at `start` arrives if it is alone, and how long it takes.
  double alone(uint32_t message, double start) const;
  bool over() const { return left_ == 0; }
  /// Ticks by which the latest message came late.
  double late() const { return late_; }
  uint32_t comm() const { return comm_; }
  uint64_t instance() const { return instance_; }

 private:
  struct Member {
    size_t here = 0;  ///< of `incoming`: these and all before have arrived
    size_t sent = 0;  ///< of `outgoing`
    double late = 0;  ///< latest of these arrivals
  };
  /// Adds what `member` can send by now.
  void release(int member, std::vector<Start>& starts);

  std::shared_ptr<const CollectivePlan> plan_;
  double begin_;
  uint32_t comm_;
  uint64_t instance_;
  std::vector<Member> members_;
  std::vector<double> lateness_;  ///< by message; below 0: has not arrived
  size_t left_;
  double late_ = 0;
};

}  // namespace rubato
