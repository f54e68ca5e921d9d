#pragma once

// When calls leave on a modelled machine. All in ticks, K scenarios at a time. The cost of a
// message and its conditions are those of models/platform/message_cost.h.
//
//   a message is ready for the out-port at enter + sum of o_s so far
//   a receive completes at its arrival, delayed by a message that crosses it, or when the in-port
//   has moved the message (network/in_port.h). Its first byte arrived g before, or earlier by the
//   delay through other flows
//   leave = max(enter + sum of o_s and o_r, every receive's time + its o_r); of an eager message
//           that arrived before its receive was posted, o_r is that of an unexpected one; the sums
//           count o of a message right behind another one
//   a rendezvous send leaves at its arrival; the sender of an eager synchronous message when both
//   sides are ready and it has seen the acknowledgment
//
// A rendezvous also occupies the out-port at its send, though its data flows later, when its
// receiver is ready. The order in which the data of several messages flows depends on the clocks of
// all their receivers, and waiting for these could deadlock; only in the order of time is it known
// (ordered_rules.h).
//
// Of the messages that an incoming one may cross, the receiver's latest message, or one-sided
// operation, started at out-port - g, or at its own arrival - T where that is known and later (for
// a rendezvous that the same call waits for: its data may flow long after its send).
//
// The recording determines which messages are right behind another one: the latest message of their
// timeline had the same direction, and was in the same call or less than a microsecond before
// (kRightBehind). So this is the same in all lanes.

// A call's own work (Lost::own, and blocking collectives of one member) takes as long as recorded,
// divided by the processor factor, after all that the call waits for. The MPI time of a run of one
// timeline is own work. The creation of a communicator or window takes at least the recorded time
// after its last member entered: it includes a synchronisation of the recorded machine, whose
// length one pass does not know.

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "models/placement/pairs.h"
#include "models/platform/interconnect.h"
#include "models/scenario/scenario.h"
#include "replay/matching/timeline_state.h"
#include "replay/rules/collective_costs.h"
#include "replay/rules/collective_plays.h"
#include "replay/rules/lane_machines.h"
#include "replay/rules/message_costs.h"
#include "replay/rules/origins.h"
#include "replay/rules/outcomes.h"
#include "replay/trace/collective_sizes.h"

namespace rubato {

/// By: Origin, with one lane, if the rules tell what determines when a call leaves.
template <int K, class By = NoOrigin>
class ModelRules {
 public:
  static constexpr bool kTracksOrigins = std::is_same_v<By, Origin>;
  static constexpr bool kMayBeDivided = !kTracksOrigins;
  static constexpr int kLanes = K;
  static constexpr bool kFollowsRecording = false;  ///< rendezvous may add blocking

  ModelRules(const LaneMachines& machines, const TraceDefinitions& trace)
      : machines_(&machines),
        message_costs_(machines),
        collective_costs_(machines),
        plays_(machines),
        origins_(trace.timelines()) {
    for (int lane = 0; lane < K; ++lane) inverse_cpu_[lane] = 1 / machines.cpu[lane];
    is_alone_ = trace.timelines() == 1;
    takes_overhead_out_ = machines.function_ticks != 0 || machines.outside_ticks != 0;
    for (int level = 0; level < kLevels; ++level) {
      all_have_[level] = true;
      for (const Interconnect& net : machines.interconnects)
        all_have_[level] = all_have_[level] && net.has(static_cast<Level>(level));
    }
    right_behind_ticks_ = kRightBehind * machines.ticks_per_second;
    for (const Communicator& comm : trace.comms)
      widest_.push_back(machines.pairs.widest(comm.members));
    for (int i = 0; i < kLevels; ++i) {
      const auto level = static_cast<Level>(i);
      if (!all_have_[i] || !machines.pairs.placement().has(level)) continue;
      presence_from_ =
          std::min(presence_from_, machines.interconnects[0].needs_presence_from(level));
    }
  }

  /// Compute between two calls: `recorded` ticks, containing `function_records` function records.
  [[gnu::always_inline]] Lanes<K> compute(double recorded, bool before_mpi_call,
                                          uint32_t function_records) {
    double left = recorded;
    if (takes_overhead_out_ && (before_mpi_call || function_records > 0)) {
      left -= machines_->function_ticks * function_records;
      if (before_mpi_call) left -= machines_->outside_ticks;
      if (left < 0) {
        if (recorded >= 0) clipped_.add(-left);
        left = std::min(recorded, 0.0);
      }
    }
    return left * inverse_cpu_;
  }

  const ClippedOverhead& clipped() const { return clipped_; }

  /// True when that part of a call only waits for the completions of later calls.
  bool spins(const Call& call, SpinningFlags part) const {
    return (call.spinning & part) != 0 && machines_->spinning_waits && !is_alone_;
  }

  void begin_call(TimelineState<K>& timeline) { timeline.busy = timeline.enter; }

  /// Sets the own work of a call that packs data.
  void note_losses(TimelineState<K>& timeline, const Call& call) {
    if (!(call.spinning & kLoses)) [[likely]]
      return;
    const Action* const action = timeline.block.packing_of(call);
    if (!action) return;
    if (!machines_->minima) {
      asks_for_survey_ = true;
      return;
    }
    const PackingAction& packing = action->packing;
    const auto blocks = static_cast<double>(packing.blocks);
    const auto bytes = static_cast<double>(packing.bytes);
    // The curve is that of memory as calibrate walks through it; programs may walk worse.
    double ticks = machines_->minima->packing_of(call.name, packing);
    if (const auto known = machines_->interconnects[0].packing(bytes, blocks)) {
      const double here = *known * (1 - packing.earlier / blocks);  // sends are packed once
      ticks = std::max(ticks, here * machines_->ticks_per_second);
    }
    timeline.block.set_packing(call, ticks);
  }
  /// The recording has to be surveyed, and the pass repeated: calls pack data.
  bool asks_for_survey() const { return asks_for_survey_; }

  [[gnu::always_inline]] void send(TimelineState<K>& timeline, const Call& call,
                                   const Action& action, Transfer<K>& transfer) {
    const LaneMessageCost<K>& cost = message_cost(transfer.pair, transfer.bytes);
    const Lanes<K> start = start_send(timeline, call, action, transfer, cost).time;
    if (transfer.handshake) {
      transfer.sent = start;
    } else {
      transfer.arrival() = start + cost.transfer;
    }
  }

  [[gnu::always_inline]] void post(TimelineState<K>& timeline, const Action& action,
                                   Transfer<K>& transfer) {
    // With many lanes this write is a third of a message's memory traffic.
    if (K == 1 || looks_at_posts(timeline.rank, action)) transfer.posted = timeline.enter;
  }

  /// Both sides are known.
  void matched(Transfer<K>& transfer) {
    if (!transfer.handshake) return;
    const LaneMessageCost<K>& cost = message_cost(transfer.pair, transfer.bytes);
    transfer.arrival() = requested(transfer, cost) + (cost.transfer - cost.latency);
  }

  // --- Where origins are tracked ---

  /// The current call of `timeline` sent the message `id`, whose handshake is not complete.
  void note_send(int timeline, TransferId id) { origins_.set_arrival(id, origins_.out(timeline)); }
  /// Both sides of `id` are known, and its handshake is not complete. `receiver`: timeline.
  void note_match(TransferId id, const Transfer<K>& transfer, int receiver) {
    origins_.set_receiver(id, receiver);
    if (!transfer.handshake) return;
    const LaneMessageCost<K>& cost = message_cost(transfer.pair, transfer.bytes);
    const Time sent{transfer.sent, origins_.arrival(id)};
    origins_.set_arrival(id, cost.requested(sent, posted(id, transfer)).origin);
  }
  /// It arrives, by pull or push, due to `by`; timeline -1: due to earlier events.
  void note_arrival(TransferId id, const Origin& by) {
    if (by.timeline >= 0) origins_.set_arrival(id, by);
  }
  /// What determined when the last call left that waited.
  const By& last_origin() const { return last_origin_; }

  // --- Messages that need a process inside MPI: presence.h ---

  /// The smallest messages that do; infinity: none.
  double needs_presence_from() const { return presence_from_; }

  Protocol protocol(PairClass pair, uint64_t bytes) { return message_cost(pair, bytes).protocol; }

  /// The handshake of a pull or push message; both sides are known.
  HandshakeTimes<K> handshake_times(const Transfer<K>& transfer) {
    const LaneMessageCost<K>& cost = message_cost(transfer.pair, transfer.bytes);
    return cost.handshake(requested(transfer, cost));
  }

  // --- Collectives whose messages are played: collective_plays.h ---

  bool plays(const Communicator& comm) const { return CollectivePlays<K>::plays(comm); }

  /// Member `local` enters a collective in `timeline`.
  void enter_collective(CollectiveInstance<K>& instance, const Action& action, int local,
                        int timeline, const Lanes<K>& enter, const PortTimes<K>& ports,
                        int local_members, const TraceDefinitions& trace) {
    const Communicator& comm = trace.comms[action.comm];
    if (!plays(comm)) return;
    std::array<Origin, 2> since;  // of the ports
    since.fill({timeline, enter[0]});
    if constexpr (kTracksOrigins) since = origins_.ports(timeline);
    plays_.enter(instance, action, local, timeline, enter, ports, since, comm, widest_[action.comm],
                 local_members, trace, collective_costs_);
  }
  /// The same for a member in another process.
  void enter_elsewhere(CollectiveInstance<K>& instance, uint32_t comm, const Entered<K>& member,
                       int local_members, const TraceDefinitions& trace) {
    plays_.enter(instance, comm, member, trace.comms[comm], widest_[comm], local_members,
                 collective_costs_);
  }
  static bool has_equal_parts(CollectiveOp op) { return CollectivePlays<K>::has_equal_parts(op); }
  static double payload_of(const Action& action, int local, const TraceDefinitions& trace) {
    return CollectivePlays<K>::payload_of(action, local, trace);
  }
  CollectivePlays<K>& plays() { return plays_; }

  /// What determines when a member leaves a collective whose messages are played. With one lane.
  std::optional<Origin> play_origin(const Awaited& awaited, const RuleContext<K>& context) const {
    const CollectiveInstance<K>& instance =
        context.collectives->get(awaited.action->comm, awaited.instance);
    if (!plays_.is_played(instance.play)) return {};
    return plays_.leave(instance.play, awaited.local, {}).origin;
  }

  /// How the messages of a collective occupied the in-port of a member, where they are played.
  std::optional<typename CollectivePlays<K>::Received> received(
      const Awaited& awaited, const RuleContext<K>& context) const {
    const uint32_t comm = awaited.action->comm;
    if (context.trace->comms[comm].size() <= 1) return {};
    const CollectiveInstance<K>& instance = context.collectives->get(comm, awaited.instance);
    if (instance.abandoned || !plays_.is_played(instance.play)) return {};
    return plays_.received(instance.play, awaited.local);
  }

  // --- One-sided communication: windows.h ---

  /// An operation begins; `result`: the action of the data it fetches, or null.
  void begin_one_sided(TimelineState<K>& timeline, const Action& action, const Action* result,
                       OneSided<K>& operation, Stream<K>& aimed) {
    const LaneMessageCost<K>& there = message_cost(operation.pair, action.one_sided.bytes);
    const Time taken = start_one_sided(timeline, operation, there);
    const Dated<K> start{taken.time, taken.origin};
    operation.stores.add(start, there.gap, there.transfer);
    aimed.add(start, there.gap, there.transfer);
    operation.through = aimed.gaps;
    if (!result) return;
    const LaneMessageCost<K>& back = message_cost(operation.pair, result->one_sided.bytes);
    operation.fetches = true;
    const Lanes<K> way = there.transfer + back.transfer;
    // Results drain one after the other: the last arrives no earlier than all gaps after the first.
    operation.results.landed.time += back.gap;
    operation.results.landed.raise(start + way);
    operation.results.behind =
        (operation.results.behind + back.gap).max(operation.results.gaps + way);
    operation.results.gaps += there.gap;
    operation.in_gaps += back.gap;
  }

  /// When the notification of a post or complete is sent.
  Lanes<K> notify(TimelineState<K>& timeline, PairClass pair) {
    timeline.busy += message_cost(pair, 0).send_overhead;
    return timeline.busy;
  }

  /// When the origin of an epoch can know that its target is ready; never, if it does not post.
  Dated<K> ready(const Epoch<K>& epoch, PairClass pair) {
    return {epoch.posted + message_cost(pair, 0).latency, {epoch.poster, epoch.post_enter}};
  }

  /// When a notification sent at `time` arrives at the other rank.
  Lanes<K> reaches(int from, int to, const Lanes<K>& time) {
    const PairClass pair = this->pair(from, to);
    return pair == Level::kSelf ? time : Lanes<K>(time + message_cost(pair, 0).latency);
  }

  /// True if other members' enters determine when a member leaves a collective, and not its own
  /// (with a root: when it enters long after the root). With one lane.
  bool follows_from_others(const TimelineState<K>& timeline, const Awaited& awaited,
                           const RuleContext<K>& context) {
    if (const auto origin = play_origin(awaited, context))
      return origin->timeline != timeline.number;
    if (awaited.waits_for != Synchronisation::kOneToAll) return true;
    const Action& action = *awaited.action;
    const Communicator& comm = context.trace->comms[action.comm];
    const CollectiveInstance<K>& instance = context.collectives->get(action.comm, awaited.instance);
    if (!instance.waits_for_root(awaited.local, comm)) return false;
    const LaneCollectiveCost<K>& cost =
        collective_cost(action, comm, awaited.local, false, *context.trace);
    return instance.root_enter[0] + cost.total[0] >=
           context.arrival(timeline, awaited)[0] + cost.departure[0];
  }

  /// When a send completes whose sender waits.
  Lanes<K> completion(const Transfer<K>& transfer) {
    return transfer.handshake ? transfer.arrival()
                              : acknowledged(transfer, message_cost(transfer.pair, transfer.bytes));
  }
  /// When the request to send of a message arrives at its receiver; `enter`: of the send. With one
  /// lane, as the next function.
  Lanes<K> request_comes(const Transfer<K>& transfer, const Lanes<K>& enter) {
    const LaneMessageCost<K>& cost = message_cost(transfer.pair, transfer.bytes);
    return enter + cost.send_overhead + cost.latency;
  }
  /// When its receiver has it, if its port is free.
  Lanes<K> received(const Transfer<K>& transfer) {
    return transfer.arrival() +
           message_cost(transfer.pair, transfer.bytes).expected(transfer.synchronous);
  }
  /// Processor time of the messages of the current call.
  Lanes<K> overheads(const TimelineState<K>& timeline, const Call& call,
                     const RuleContext<K>& context) {
    Lanes<K> sum = Lanes<K>::Zero();
    bool is_first = true;  // the first in its direction; an approximation
    for (const Action& action : timeline.block.actions_of(call)) {
      if (action.kind != ActionKind::kSend) continue;
      const LaneMessageCost<K>& cost =
          message_cost(pair(timeline.rank, action.message.peer), action.message.bytes);
      sum += is_first ? cost.send_overhead : cost.following_send;
      is_first = false;
    }
    is_first = true;
    for (const Awaited& awaited : timeline.awaited) {
      if (awaited.kind != Awaited::Kind::kReceive || awaited.transfer == kNoTransfer) continue;
      const Transfer<K>& transfer = (*context.matcher)[awaited.transfer];
      if (transfer.abandoned) continue;
      const LaneMessageCost<K>& cost = message_cost(transfer.pair, transfer.bytes);
      sum += cost.expected(transfer.synchronous);
      if (!is_first && !transfer.synchronous) sum -= cost.receive_overhead - cost.following_receive;
      is_first = false;
    }
    return sum;
  }
  /// When a collective completes for a member that waits for it in the current call.
  Lanes<K> completion(const TimelineState<K>& timeline, const Call& call, const Awaited& awaited,
                      const RuleContext<K>& context) {
    return collective_leave(timeline, call, awaited, context).time;
  }

  /// When a call that waits for nothing leaves.
  const Lanes<K>& leave_at_once(const TimelineState<K>& timeline) const { return timeline.busy; }

  /// When the current call leaves. The result overwrites TimelineState::busy: with many lanes a
  /// copy costs as much as the arithmetic.
  [[gnu::always_inline]] const Lanes<K>& leave(TimelineState<K>& timeline, const Call& call,
                                               const RuleContext<K>& context) {
    const double recorded = call.leave - call.enter;
    last_origin_ = own_enter(timeline);
    if (call.role != CallRole::kMpi && call.role != CallRole::kFinalize) {
      const bool is_gone = call.role == CallRole::kFlush ||
                           (call.role == CallRole::kStolen && !machines_->keep_stolen);
      return timeline.busy = timeline.enter + (is_gone ? 0 : recorded);
    }
    if (call.is_kept() || is_alone_) {
      if (spins(call, kSpinning)) return timeline.busy = timeline.enter;
      if (call.spinning != 0) outcomes_.look(timeline, call);
      return timeline.busy = timeline.enter + kept(timeline, call);
    }

    if (outcomes_.knows_tests()) outcomes_.end_tests(timeline, *context.matcher);
    if (call.spinning & kLookedFor ||
        (!timeline.awaited.empty() &&
         Outcomes<K>::is_up_to_the_machine(context.trace->calls[call.name]))) {
      look_at_outcome(timeline, call, context);
    }
    // Most calls wait for nothing.
    const double own = callback_work(timeline, call);
    if (timeline.awaited.empty()) {
      if (own > 0) [[unlikely]]
        timeline.busy += own * timeline.inverse_cpu;
      return leave_at_once(timeline);
    }
    Time leave{timeline.busy, own_enter(timeline)};
    Time latest = leave;
    std::optional<Time> flows;  // set where a message may cross
    bool received = false;
    timeline.in_port.expect(timeline.awaited.size());
    origins_.expect(timeline.number);
    for (const AwaitedList::Entry& entry : timeline.awaited.entries()) {
      TransferId id = entry.number;
      bool is_receive = entry.kind == Awaited::Kind::kReceive;
      if (!entry.is_plain) {
        const Awaited& awaited = timeline.awaited.other(entry);
        if (awaited.kind >= Awaited::Kind::kCollective)
          latest.raise(other_leave(timeline, call, awaited, context));
        if (awaited.kind >= Awaited::Kind::kCollective || awaited.transfer == kNoTransfer) continue;
        id = awaited.transfer;
        is_receive = awaited.kind == Awaited::Kind::kReceive;
      }
      const Transfer<K>& transfer = (*context.matcher)[id];
      if (transfer.abandoned || (!is_receive && !transfer.sender_waits)) {
        // A send without a receive is eager.
        if (is_receive) latest.raise(not_replayed(timeline, call));
        continue;
      }
      const LaneMessageCost<K>& cost = message_cost(transfer.pair, transfer.bytes);
      if (is_receive) {
        Time drained = arrived(id, transfer);
        if (cost.crosses) cross(timeline, cost, *context.matcher, flows, drained);
        take_port(timeline, id, cost, drained);
        if (transfer.handshake || !cost.tells_eager) {
          leave.time += cost.receive_overhead;
          latest.raise(drained + cost.receive_overhead);
        } else {
          const bool follows =
              cost.tells_following && (received || receives_right_behind(timeline, call));
          const auto overhead =
              cost.receive(transfer.arrival(), transfer.posted, transfer.synchronous, follows);
          leave.time += overhead.summed;
          latest.raise(drained + overhead.alone);
        }
        received = true;
      } else if (transfer.handshake) {
        latest.raise(arrived(id, transfer));
      } else {
        latest.raise(cost.acknowledged(arrived(id, transfer), posted(id, transfer)));
      }
    }
    if (received) timeline.received_until = call.leave;
    leave.raise(latest);
    timeline.busy = leave.time;
    last_origin_ = leave.origin;
    if (own > 0) [[unlikely]]
      timeline.busy += own * timeline.inverse_cpu;
    return timeline.busy;
  }

  [[gnu::always_inline]] PairClass pair(int from, int to) const {
    return machines_->pairs.of(from, to);
  }

  /// Which members member `local` waits for in a collective. The same in all lanes.
  Synchronisation synchronisation(const Action& action, int local,
                                  const TraceDefinitions& trace) const {
    if (!is_rooted(action.op) || action.collective.root == kRootInOwnGroup)
      return rubato::synchronisation(action.op);
    const double bytes = payload_bytes(trace, action, local);
    return machines_->interconnects[0].collectives().synchronisation(action.op, bytes);
  }

  /// A send that was complete at `since` when recorded completes in the current call (outcomes.h).
  void end_moved(const Transfer<K>& transfer, const Lanes<K>& since) {
    if (transfer.abandoned || !transfer.sender_waits) return;
    outcomes_.add(completion(transfer) - since);
  }

  /// The algorithms used for the collectives of one lane.
  const CollectiveUses& collective_uses(int lane) const { return collective_costs_.uses(lane); }

  const Outcomes<K>& outcomes() const { return outcomes_; }

  /// When a probe leaves: its message, or its request to send, is there.
  Lanes<K> probe_leave(const TimelineState<K>& timeline, const Call& call, const Awaited& awaited,
                       const RuleContext<K>& context) {
    const Transfer<K>* message = context.found_by(awaited, call);
    if (!message) {
      const Lanes<K> own = callback_work(timeline, call) * timeline.inverse_cpu;
      return timeline.enter + kept(timeline, call) - own;  // leave() adds it
    }
    if (!message->handshake) return message->arrival();
    return message->sent + message_cost(message->pair, message->bytes).latency;
  }

  /// Losses that calls which keep their time do not have in the scenario.
  Lanes<K> dropped(const Lost& lost) const {
    return Lanes<K>::Constant(lost.flushing + (machines_->keep_stolen ? 0 : lost.stolen));
  }

  /// A message, or its receive where that is a separate transfer, was delayed this much by other
  /// flows.
  void held_up(TransferId id, double ticks) {
    if (id >= held_up_.size()) held_up_.resize(2 * static_cast<size_t>(id) + 16);
    held_up_[id] = ticks;
  }
  double was_held_up(TransferId id) const { return id < held_up_.size() ? held_up_[id] : 0; }

 protected:
  using Time = Dated<K, By>;

  static Origin own_enter(const TimelineState<K>& timeline) {
    return {timeline.number, timeline.enter[0]};
  }

  /// When the out-port takes a message that is ready at `ready`.
  [[gnu::always_inline]] Time take_out_port(TimelineState<K>& timeline, const Time& ready,
                                            const LaneMessageCost<K>& cost, bool in_burst,
                                            bool second) {
    Time port{timeline.out_port, origins_.out(timeline.number)};
    const Time start = cost.start(ready, port, in_burst, second);
    timeline.out_port = port.time;
    origins_.set_out(timeline.number, start.origin);
    return start;
  }

  /// When the port takes a message.
  [[gnu::always_inline]] Time start_send(TimelineState<K>& timeline, const Call& call,
                                         const Action& action, Transfer<K>& transfer,
                                         const LaneMessageCost<K>& cost) {
    const bool follows =
        cost.tells_following && right_behind(call, timeline.sent_until, timeline.received_until);
    timeline.busy += follows ? cost.following(action.flags & kBlocking) : cost.send_overhead;
    timeline.sent_until = call.leave;
    // Sends of neighbourhood collectives are marked as buffered, too.
    if (action.flags & kBuffered && !is_among_neighbours(action.message.tag))
      timeline.busy += copy_cost(action.message.bytes);
    transfer.handshake = cost.protocol != Protocol::kEager;
    transfer.sender_waits =
        (action.flags & kSynchronous) || (transfer.handshake && !(action.flags & kBuffered));
    return take_out_port(timeline, {timeline.busy, own_enter(timeline)}, cost,
                         action.flags & kInBurst, action.flags & kSecondOfBurst);
  }

  /// The same for a one-sided operation, whose processor time is `cost.send_overhead`.
  Time start_one_sided(TimelineState<K>& timeline, OneSided<K>& operation,
                       const LaneMessageCost<K>& cost) {
    timeline.busy += cost.send_overhead;
    const Time start =
        take_out_port(timeline, {timeline.busy, own_enter(timeline)}, cost, false, false);
    operation.left.raise({timeline.out_port, start.origin});
    return start;
  }

  /// True if the first message that the current call receives is right behind another one.
  bool receives_right_behind(const TimelineState<K>& timeline, const Call& call) const {
    return right_behind(call, timeline.received_until, timeline.sent_until);
  }

  /// `drained`: in: arrival of a message; out: when the in-port has moved it.
  [[gnu::always_inline]] void take_port(TimelineState<K>& timeline, TransferId id,
                                        const LaneMessageCost<K>& cost, Time& drained) {
    using Occupies = typename LaneMessageCost<K>::Occupies;
    if (cost.occupies == Occupies::kNothing) return;
    InPort<K>& port = timeline.in_port;
    Lanes<K> alone = drained.time;
    if constexpr (K == 1) {
      alone -= was_held_up(id);
    }
    const Lanes<K> moved = cost.occupies == Occupies::kEverywhere ? port.take(alone, cost.gap)
                                                                  : port.take_some(alone, cost.gap);
    origins_.take(timeline.number, port, cost.gap, moved, drained);
    if constexpr (K == 1) {
      drained.time = drained.time.max(moved);
    } else {
      drained.time = moved;
    }
  }
  /// The same for data that occupies the port for `gaps`, in some lanes for 0.
  void take_some(TimelineState<K>& timeline, const Lanes<K>& gaps, Time& drained) {
    if (!(gaps > 0).any()) return;
    const Lanes<K> moved = timeline.in_port.take_some(drained.time, gaps);
    origins_.take(timeline.number, timeline.in_port, gaps, moved, drained);
    drained.time = moved;
  }

  /// The reference stays valid during the processing of one action (cost_table.h).
  [[gnu::always_inline]] const LaneMessageCost<K>& message_cost(PairClass pair, uint64_t bytes) {
    return message_costs_.of(pair, bytes);
  }

  /// When a member's work on a communicator or window that it creates ends: the recorded time after
  /// the last member entered.
  [[gnu::noinline]] Time created(const TimelineState<K>& timeline, const Call& call,
                                 const CollectiveInstance<K>& instance) const {
    const Arrivals<K>& all = instance.arrived;
    const double last = std::max(call.enter, all.recorded_last);
    Time begin{timeline.enter, own_enter(timeline)};
    begin.raise({all.last, Origin{all.latest, all.last[0]}});
    return begin + left_since(timeline, call, last) * timeline.inverse_cpu;
  }

  /// The cost of a collective for its member `local`; the reference as above.
  const LaneCollectiveCost<K>& collective_cost(const Action& action, const Communicator& comm,
                                               int local, bool is_root,
                                               const TraceDefinitions& trace) {
    const double bytes = priced_bytes(trace, action, local);
    return collective_costs_.of({bytes, comm.size(), action.op, widest_[action.comm], is_root});
  }

 private:
  /// Recorded seconds between two calls: below any real computation, above the time of a tracer's
  /// records.
  static constexpr double kRightBehind = 1e-6;

  /// True if the latest message of a timeline had the same direction as one of its current call and
  /// came right before it: the latest call of that direction ended at `same`, of the other one at
  /// `other`.
  [[gnu::always_inline]] bool right_behind(const Call& call, double same, double other) const {
    return same > other && call.enter - same < right_behind_ticks_;
  }

  /// False when the time at which a receive was posted does not matter.
  bool looks_at_posts(int rank, const Action& action) {
    if (machines_->looks_at_posts || is_among_neighbours(action.message.tag)) return true;
    const PairClass between = pair(action.message.peer, rank);
    // A receive without a message has no cost to be refused.
    if (!all_have_[static_cast<int>(between.level())]) return true;
    const LaneMessageCost<K>& cost = message_cost(between, action.message.bytes);
    return cost.protocol != Protocol::kEager || cost.tells_unexpected;
  }

  /// The recorded own work of a call, ticks: at most its time without the cost of recording it.
  double callback_work(const TimelineState<K>& timeline, const Call& call) const {
    if (!(call.spinning & kLoses)) return 0;
    const Lost parts = lost_in(timeline.block.actions_of(call));
    const double left = call.leave - call.enter - machines_->inside_ticks - dropped(parts)[0];
    return std::min(parts.own, std::max(0.0, left)) + parts.packing;
  }

  /// The recorded time of a call that cannot be replayed, without its own work, which leave() adds.
  double recorded_rest(const TimelineState<K>& timeline, const Call& call) const {
    return std::max(0.0, call.leave - call.enter - callback_work(timeline, call));
  }
  Time not_replayed(const TimelineState<K>& timeline, const Call& call) const {
    return {timeline.enter + recorded_rest(timeline, call), own_enter(timeline)};
  }

  /// Recorded ticks from `since` until the call left, without its losses, its recorded own work and
  /// the cost of recording it.
  double left_since(const TimelineState<K>& timeline, const Call& call, double since) const {
    double left = call.leave - since - machines_->inside_ticks - lost(timeline, call);
    left -= callback_work(timeline, call);
    return std::max(0.0, left);
  }

  /// Losses that a call which keeps its time does not have in the scenario.
  double lost(const TimelineState<K>& timeline, const Call& call) const {
    if (!(call.spinning & kLoses)) return 0;
    return dropped(lost_in(timeline.block.actions_of(call)))[0];
  }

  /// The time of a call that keeps its recorded time; its own work takes a time by the processor.
  Lanes<K> kept(const TimelineState<K>& timeline, const Call& call) const {
    const double recorded = call.leave - call.enter;
    const double left = std::max(0.0, recorded - machines_->inside_ticks - lost(timeline, call));
    const double own = is_alone_ ? left : std::min(left, callback_work(timeline, call));
    return (left - own) + own * timeline.inverse_cpu;
  }

  [[gnu::noinline]] void look_at_outcome(const TimelineState<K>& timeline, const Call& call,
                                         const RuleContext<K>& context) {
    const MpiCallInfo& info = context.trace->calls[call.name];
    const auto completion = [&](const Awaited& awaited) {
      return completion_of(timeline, call, awaited, context);
    };
    if (call.spinning & kLookedFor) outcomes_.end_looks(timeline, completion);
    if (!timeline.awaited.empty() && Outcomes<K>::is_up_to_the_machine(info))
      outcomes_.look_at(timeline, info, spins(call, kSpinningBefore), completion);
  }

  /// When a request of the current call completes.
  Completion<K> completion_of(const TimelineState<K>& timeline, const Call& call,
                              const Awaited& awaited, const RuleContext<K>& context) {
    Completion<K> completion;
    if (awaited.kind == Awaited::Kind::kCollective) {
      const uint32_t comm = awaited.action->comm;
      if (context.trace->comms[comm].size() <= 1) return completion;
      if (context.collectives->get(comm, awaited.instance).abandoned) return completion;
      completion.known = true;
      completion.time = collective_leave(timeline, call, awaited, context).time;
      completion.open_since = context.arrival(timeline, awaited);
      return completion;
    }
    if (awaited.kind == Awaited::Kind::kProbe) {
      completion.known = context.found_by(awaited, call) != nullptr;
      completion.time = probe_leave(timeline, call, awaited, context);
      return completion;
    }
    if (awaited.kind > Awaited::Kind::kCollective || awaited.transfer == kNoTransfer)
      return completion;
    const Transfer<K>& transfer = (*context.matcher)[awaited.transfer];
    if (transfer.abandoned) return completion;
    const bool is_receive = awaited.kind == Awaited::Kind::kReceive;
    if (!is_receive && !transfer.sender_waits) return completion;
    completion.known = true;
    completion.time = transfer.arrival();
    if (is_receive) {
      // `posted` is written in this case: see EventSource::looks_at_posts.
      if (context.trace->calls[call.name].takes_some) completion.open_since = transfer.posted;
    } else if (!transfer.handshake) {
      completion.time = acknowledged(transfer, message_cost(transfer.pair, transfer.bytes));
    }
    return completion;
  }

  /// When the data of the last rendezvous message started to flow, of those whose sends the current
  /// call waits for; never, if there is none.
  Time latest_flow(const TimelineState<K>& timeline, Matcher<K>& matcher) {
    Time started;
    for (const Awaited& awaited : timeline.awaited) {
      if (awaited.kind != Awaited::Kind::kSend || awaited.transfer == kNoTransfer) continue;
      const Transfer<K>& own = matcher[awaited.transfer];
      if (!own.handshake || !own.sender_waits || own.abandoned) continue;
      started.raise({own.arrival() - message_cost(own.pair, own.bytes).transfer,
                     origins_.arrival(awaited.transfer)});
    }
    return started;
  }

  /// The receiver of a message that arrives at `there` sends meanwhile. `flows`: caches
  /// latest_flow(), which is the same for all messages that a call receives.
  [[gnu::noinline]] void cross(const TimelineState<K>& timeline, const LaneMessageCost<K>& cost,
                               Matcher<K>& matcher, std::optional<Time>& flows, Time& there) {
    if (!flows) flows = latest_flow(timeline, matcher);
    Time started{timeline.out_port - cost.gap, origins_.out(timeline.number)};
    started.raise(*flows);
    cost.cross(started, there);
  }

  Time arrived(TransferId id, const Transfer<K>& transfer) const {
    return {transfer.arrival(), origins_.arrival(id)};
  }
  Time posted(TransferId id, const Transfer<K>& transfer) const {
    return {transfer.posted, origins_.post(id, transfer.posted[0])};
  }
  /// When the request to send has reached a receiver that has posted.
  static Lanes<K> requested(const Transfer<K>& transfer, const LaneMessageCost<K>& cost) {
    using Plain = Dated<K, NoOrigin>;
    return cost.requested(Plain{transfer.sent, {}}, Plain{transfer.posted, {}}).time;
  }
  /// When the sender of an eager synchronous message has the acknowledgment.
  static Lanes<K> acknowledged(const Transfer<K>& transfer, const LaneMessageCost<K>& cost) {
    using Plain = Dated<K, NoOrigin>;
    return cost.acknowledged(Plain{transfer.arrival(), {}}, Plain{transfer.posted, {}}).time;
  }

  /// For anything but a message.
  [[gnu::noinline]] Time other_leave(TimelineState<K>& timeline, const Call& call,
                                     const Awaited& awaited, const RuleContext<K>& context) {
    switch (awaited.kind) {
      case Awaited::Kind::kCollective:
        if (const auto found = received(awaited, context)) {
          Time until{found->until.time, found->until.origin};
          take_some(timeline, found->gaps, until);
        }
        return collective_leave(timeline, call, awaited, context);
      case Awaited::Kind::kEpoch:
        return epoch_leave(timeline, call, awaited, context);
      case Awaited::Kind::kProbe: {
        const bool found = context.found_by(awaited, call) != nullptr;
        return {probe_leave(timeline, call, awaited, context),
                found ? origins_.arrival(awaited.transfer) : By(own_enter(timeline))};
      }
      case Awaited::Kind::kOneSided:
      case Awaited::Kind::kLock:
        break;
      case Awaited::Kind::kSend:
      case Awaited::Kind::kReceive:
      case Awaited::Kind::kMainThread:  // engine/threads.h
      case Awaited::Kind::kThread:
        assert(false);
    }
    return one_sided_leave(timeline, call, awaited, context);
  }

  Time collective_leave(const TimelineState<K>& timeline, const Call& call, const Awaited& awaited,
                        const RuleContext<K>& context) {
    const Action& action = *awaited.action;
    const Communicator& comm = context.trace->comms[action.comm];
    const bool is_started = action.kind != ActionKind::kCollective;
    if (comm.size() <= 1) {
      const double work = is_started ? 0 : left_since(timeline, call, call.enter);
      return {timeline.busy + work * timeline.inverse_cpu, own_enter(timeline)};
    }
    const CollectiveInstance<K>& instance = context.collectives->get(action.comm, awaited.instance);
    if (instance.abandoned) return not_replayed(timeline, call);
    Time leave = communicated(timeline, awaited, instance, comm, context);
    if (action.op == CollectiveOp::kCreateHandle && !is_started)
      leave.raise(created(timeline, call, instance));
    return leave;
  }

  /// When the messages of a collective are complete for a member.
  Time communicated(const TimelineState<K>& timeline, const Awaited& awaited,
                    const CollectiveInstance<K>& instance, const Communicator& comm,
                    const RuleContext<K>& context) {
    if (!plays_.is_played(instance.play))
      return priced_leave(timeline, awaited, instance, comm, context);
    if (const PlayTime<K>* leave = plays_.leave_of_all(instance.play, awaited.local))
      return {leave->time, leave->origin};
    const Time priced = priced_leave(timeline, awaited, instance, comm, context);
    const PlayTime<K> leave =
        plays_.leave(instance.play, awaited.local, {priced.time, priced.origin});
    return {leave.time, leave.origin};
  }

  /// For a collective whose messages are not played: a block with a cost.
  Time priced_leave(const TimelineState<K>& timeline, const Awaited& awaited,
                    const CollectiveInstance<K>& instance, const Communicator& comm,
                    const RuleContext<K>& context) {
    const Action& action = *awaited.action;
    const Lanes<K>& enter = context.arrival(timeline, awaited);
    const Time arrival{enter, Origin{timeline.number, enter[0]}};
    if (action.collective.root == kRootInOwnGroup) return arrival;
    const bool is_root = awaited.local == action.collective.root;
    const LaneCollectiveCost<K>& cost =
        collective_cost(action, comm, awaited.local, is_root, *context.trace);
    switch (awaited.waits_for) {
      case Synchronisation::kOneToAll: {
        if (is_root) return arrival + cost.departure;
        if (!instance.waits_for_root(awaited.local, comm)) return arrival;
        // The root and the ranks in between did not wait for a late member.
        Time leave{instance.root_enter + cost.total,
                   Origin{instance.root_timeline, instance.root_enter[0]}};
        leave.raise(arrival + cost.departure);
        return leave;
      }
      case Synchronisation::kAllToOne:
        if (!is_root) return arrival + cost.departure;
        break;
      case Synchronisation::kPrefix: {
        const Lanes<K>& latest = instance.enters[awaited.local];
        return {latest + cost.total, Origin{instance.latest_of[awaited.local], latest[0]}};
      }
      case Synchronisation::kAllToAll:
        break;
    }
    // On an intercommunicator a member may enter after all that it waits for.
    const Arrivals<K>& all = instance.awaited_by(awaited.local, comm);
    Time leave = arrival;
    leave.raise({all.last, Origin{all.latest, all.last[0]}});
    if (!instance.parts.empty()) {
      double unused = 0;
      Time last;
      instance.parts.latest(awaited.local, unused, last.time);
      last.origin = Origin{instance.parts.latest_in_first_lane(awaited.local).second, last.time[0]};
      leave.raise(last);
    }
    leave.time += cost.total;
    if (!instance.arrivals.empty()) leave.raise(instance.arrivals[awaited.local]);
    return leave;
  }

  Time one_sided_leave(TimelineState<K>& timeline, const Call& call, const Awaited& awaited,
                       const RuleContext<K>& context) {
    const Action& action = *awaited.action;
    const Time at_once{timeline.busy, own_enter(timeline)};
    if (action.kind == ActionKind::kUnlock) return at_once;
    if (action.kind == ActionKind::kLock) {
      const PairClass pair = action.one_sided.target == kNoRoot
                                 ? widest_[action.comm]
                                 : this->pair(timeline.rank, action.one_sided.target);
      Time there = at_once;
      if (pair != Level::kSelf) there.time += message_cost(pair, 0).latency;
      if (awaited.instance > 0) {
        const auto before = static_cast<uint32_t>(awaited.instance - 1);
        there.raise(context.windows->turn(action, before).released);
      }
      if (pair != Level::kSelf) there.time += message_cost(pair, 0).latency;
      return there;
    }
    OneSided<K>* operation = context.windows->find(timeline.rank, action.one_sided.slot);
    if (!operation) return at_once;
    auto& pair = context.windows->pair(action.comm, timeline.rank, operation->target);
    Dated<K> ready;
    if (const Epoch<K>* epoch = context.windows->accessed(pair)) {
      if (pair.completes && epoch->abandoned) return at_once;  // as in epoch_leave()
      if (!pair.completes && (operation->abandoned || epoch->abandoned))
        return not_replayed(timeline, call);
      ready = this->ready(*epoch, operation->pair);
    }
    // Local completion alone ends an epoch: the target waits for the data at the target.
    const bool remotely = action.flags & kRemote && !pair.completes;
    Time leave = remotely ? operation->stores.from(ready) : operation->left;
    if (remotely) {
      leave.time += message_cost(operation->pair, 0).latency;
    } else {
      leave.raise(ready + operation->through);
    }
    if (operation->fetches) {
      Time fetched = operation->results.from(ready);
      take_some(timeline, operation->in_gaps, fetched);
      if (remotely) leave = fetched;
      leave.raise(fetched);
      operation->fetches = false;
      operation->in_gaps.setZero();
    }
    leave.raise(at_once);
    return leave;
  }

  Time epoch_leave(const TimelineState<K>& timeline, const Call& call, const Awaited& awaited,
                   const RuleContext<K>& context) {
    const Action& action = *awaited.action;
    const Epoch<K>& epoch = context.windows->epoch(action, timeline.rank, awaited.instance);
    if (epoch.abandoned) return not_replayed(timeline, call);
    const PairClass pair = this->pair(timeline.rank, action.epoch.peer);
    const Dated<K> ready = this->ready(epoch, pair);
    if (Windows<K>::is_origin(action)) return ready;
    const LaneMessageCost<K>& word = message_cost(pair, 0);
    Dated<K> leave{epoch.completed + word.latency, {epoch.completer, epoch.complete_enter}};
    leave.raise(epoch.stream.from(ready));
    return leave + word.receive_overhead;
  }

  /// The time a rank needs to copy a message into the buffer.
  [[gnu::noinline]] Lanes<K> copy_cost(uint64_t bytes) const {
    Lanes<K> cost;
    for (int lane = 0; lane < K; ++lane) {
      cost[lane] = machines_->interconnects[lane].copy(static_cast<double>(bytes)) *
                   machines_->ticks_per_second;
    }
    return cost;
  }

  const LaneMachines* machines_;
  Lanes<K> inverse_cpu_;
  bool is_alone_ = false;            ///< the run has one timeline
  bool takes_overhead_out_ = false;  ///< from compute
  bool asks_for_survey_ = false;
  double right_behind_ticks_ = 0;       ///< kRightBehind
  std::vector<PairClass> widest_;       ///< by communicator
  std::array<bool, kLevels> all_have_;  ///< by level: every lane's platform has it
  double presence_from_ = std::numeric_limits<double>::infinity();
  std::vector<double> held_up_;  ///< by message, on a network with contention
  MessageCosts<K> message_costs_;
  CollectiveCosts<K> collective_costs_;
  CollectivePlays<K> plays_;
  Outcomes<K> outcomes_;
  ClippedOverhead clipped_;
  [[no_unique_address]] Origins<By> origins_;
  [[no_unique_address]] By last_origin_;
};

/// The rules that tell what determines when a call leaves.
using OriginRules = ModelRules<1, Origin>;

}  // namespace rubato
