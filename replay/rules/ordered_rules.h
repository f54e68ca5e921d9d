#pragma once

#include <algorithm>

#include "replay/matching/arrival_matcher.h"
#include "replay/rules/model_rules.h"
#include "replay/rules/time_order.h"

namespace rubato {

/// Rules of a scenario whose events depend on earlier events in replayed time (time_order.h).
/// Without such dependencies all times are those of ModelRules, bit for bit, except that the data
/// of a rendezvous occupies the out-port when it flows, and not at its send.
class OrderedRules : public ModelRules<1> {
 public:
  static constexpr bool kMayBeDivided = false;
  static constexpr bool kTimeOrdered = true;

  /// `by_arrival`: receives take the message that arrives first (arrival_matcher.h).
  OrderedRules(const LaneMachines& machines, const TraceDefinitions& trace,
               const ContentionSetting& contention, bool by_arrival)
      : ModelRules<1>(machines, trace),
        order_(trace.timelines(), machines.pairs.placement(), contention,
               machines.ticks_per_second),
        by_arrival_(by_arrival) {
    plays().let_flow([this](Level level) { return order_.is_shared(level); });
  }
  OrderedRules(const OrderedRules&) = delete;
  OrderedRules& operator=(const OrderedRules&) = delete;

  /// Arrivals and the port depend on the order of time; `sent` is when the message, or its request
  /// to send, reaches the port.
  void send(TimelineState<1>& timeline, const Call& call, const Action& action,
            Transfer<1>& transfer) {
    const Lanes<1> port = timeline.out_port;
    start_send(timeline, call, action, transfer, message_cost(transfer.pair, transfer.bytes));
    transfer.sent = timeline.busy;
    transfer.in_burst = action.flags & kInBurst;
    transfer.second_of_burst = action.flags & kSecondOfBurst;
    timeline.out_port = port;
  }

  /// A message reaches the port of its sender at `time`; returns when its data flows.
  double take_port(TimelineState<1>& sender, const Transfer<1>& transfer, double time) {
    return take_out_port(sender, {Lanes<1>(time), {}}, message_cost(transfer.pair, transfer.bytes),
                         transfer.in_burst, transfer.second_of_burst)
        .time[0];
  }

  /// Sets the data that the order of time needs about a sent message.
  void describe(const Transfer<1>& transfer, TimeOrder::Message& message) {
    const LaneMessageCost<1>& cost = message_cost(transfer.pair, transfer.bytes);
    message.protocol = cost.protocol;
    message.lead = 0;
    message.length = message.rest = cost.transfer[0];
    message.data = cost.wire.data;
    message.port = cost.wire.port;
    if (cost.protocol == Protocol::kEager) return;
    message.envelope = transfer.sent[0] + cost.latency[0];
    const double after_request = cost.transfer[0] - cost.latency[0];
    const HandshakeTimes<1> handshake = this->handshake_times(transfer);
    message.handshake = handshake;
    // The third trip of the handshake is the latency of the data.
    const bool pushes = message.protocol == Protocol::kPush;
    // Where T is less than two latencies beside the data, the answer takes the rest.
    message.lead =
        pushes ? 0 : std::min(handshake.answer[0], std::max(0.0, after_request - message.data));
    message.length = message.rest = pushes ? handshake.data[0] : after_request;
  }

  // --- One-sided operations: one_sided_flows.h ---

  /// As ModelRules::begin_one_sided(), without the arrivals, which depend on the order of time.
  OneSidedFlow one_sided_flow(TimelineState<1>& timeline, const Action& action,
                              const Action* result, OneSided<1>& operation, Stream<1>& aimed) {
    const LaneMessageCost<1>& there = message_cost(operation.pair, action.one_sided.bytes);
    const Lanes<1> start = start_one_sided(timeline, operation, there).time;
    OneSidedFlow flow;
    flow.origin = timeline.rank;
    flow.target = operation.target;
    flow.pair = operation.pair;
    flow.there = flow_of(operation.pair, action.one_sided.bytes, flow.origin, flow.target);
    flow.start = start[0];
    flow.gap = there.wire.gap;
    flow.gaps = flow.aimed_gaps = aimed.gaps[0];
    aimed.gaps += there.gap;
    operation.through = aimed.gaps;
    if (!result) return flow;
    flow.fetches = operation.fetches = true;
    flow.back = flow_of(operation.pair, result->one_sided.bytes, flow.target, flow.origin);
    flow.gaps = operation.results.gaps[0];
    operation.results.gaps += there.gap;
    const Lanes<1>& in_gap = message_cost(operation.pair, result->one_sided.bytes).gap;
    operation.in_gaps += in_gap;
    flow.result = operation.flows->results.size();
    operation.flows->results.push_back({in_gap[0], 0});
    return flow;
  }

  /// All that the current call waits for has arrived: passes the times to ModelRules.
  static void settle(OneSided<1>& operation) {
    SlotFlows& flows = *operation.flows;
    const auto raise = [](Dated<1>& time, double other) { time.time = time.time.max(other); };
    raise(operation.left, flows.left);
    raise(operation.stores.landed, flows.landed);
    for (const SlotFlows::Result& result : flows.results) {
      operation.results.landed.time += result.gap;
      raise(operation.results.landed, result.arrival);
    }
    flows.results.clear();
  }

  bool by_arrival() const { return by_arrival_; }

  // The order of time of one run (engine/time_ordered.h).
  TimeOrder& order() { return order_; }
  OneSidedFlows& operations() { return operations_; }
  ArrivalMatcher& arrivals() { return arrivals_; }

 private:
  /// The data of a one-sided operation. (Handshake trips contained in T count as latency.)
  Flow flow_of(PairClass pair, uint64_t bytes, int from, int to) {
    const LaneMessageCost<1>& cost = message_cost(pair, bytes);
    return {.rank = from,
            .destination = to,
            .bytes = static_cast<double>(bytes),
            .length = cost.transfer[0],
            .data = cost.wire.data,
            .port = cost.wire.port};
  }

  TimeOrder order_;
  OneSidedFlows operations_;
  ArrivalMatcher arrivals_;
  bool by_arrival_;
};

}  // namespace rubato
