#pragma once

// The events that determine the ends of calls on a modelled machine: for the critical path. The
// arithmetic is that of ModelRules; each time has an origin, and a maximum has the origin of its
// greater operand. So if a rank computes less, calls with an origin in that rank end earlier, and
// no others do, as long as no maximum changes sides.
//
//   start of a message   its own call; behind a busy port, the call since which the port is busy
//   arrival              that of the start; with a handshake, the post if it came after the
//                        request; by pull or push, the call of the side that lets it proceed
//                        (presence.h)
//   receive              that of the arrival; behind a busy in-port, the message since which it is
//                        busy
//   collective           the member that entered last of those waited for; in a fence also the puts
//   call                 its own enter, if its overheads end last
//
// These are separate rules, so that replays without observers pay nothing.

#include <algorithm>
#include <cmath>
#include <vector>

#include "replay/rules/model_rules.h"

namespace rubato {

/// True for rules that track origins.
template <class Rules>
inline constexpr bool kKnowsOrigins = requires {
  Rules::kKnowsOrigins;
};

class OriginRules : public ModelRules<1> {
 public:
  static constexpr bool kMayBeDivided = false;
  static constexpr bool kKnowsOrigins = true;

  OriginRules(const LaneMachines& machines, const TraceDefinitions& trace)
      : ModelRules<1>(machines, trace), ports_(trace.timelines()) {
    plays().trace();
  }

  /// The current call sent the message `id`, whose handshake is not complete.
  void note_send(const TimelineState<1>& timeline, TransferId id, const Transfer<1>& transfer) {
    note_start(timeline, message_cost(transfer.pair, transfer.bytes).gap[0]);
    if (id >= messages_.size()) messages_.resize(2 * static_cast<size_t>(id) + 16);
    messages_[id].from = ports_[timeline.number].out;
  }

  /// Both sides of `id` are known, and its handshake is not complete. `receiver`: timeline.
  void note_match(TransferId id, const Transfer<1>& transfer, int receiver) {
    Message& message = messages_[id];
    message.receiver = receiver;
    if (!transfer.handshake) return;
    const LaneMessageCost<1>& cost = message_cost(transfer.pair, transfer.bytes);
    if (transfer.posted[0] > transfer.sent[0] + cost.latency[0])
      message.from = {receiver, transfer.posted[0]};
  }

  /// It arrives, by pull or push, due to `by`; timeline -1: due to earlier events.
  void note_arrival(TransferId id, const Origin& by) {
    if (by.timeline >= 0) messages_[id].from = by;
  }

  /// As ModelRules::begin_one_sided().
  void begin_one_sided(TimelineState<1>& timeline, const Action& action, const Action* result,
                       OneSided<1>& operation, Stream<1>& aimed) {
    const double stores = operation.stores.landed[0], there = aimed.landed[0];
    const double results = operation.results.landed[0], left = operation.left[0];
    ModelRules<1>::begin_one_sided(timeline, action, result, operation, aimed);
    note_start(timeline, message_cost(operation.pair, action.one_sided.bytes).gap[0]);
    const Origin& from = ports_[timeline.number].out;
    if (operation.left[0] > left) operation.left_from = from;
    if (operation.stores.landed[0] > stores) operation.stores.landed_from = from;
    if (aimed.landed[0] > there) aimed.landed_from = from;
    if (!result) return;
    const double gap = message_cost(operation.pair, result->one_sided.bytes).gap[0];
    if (operation.results.landed[0] > results + gap) operation.results.landed_from = from;
  }

  /// As ModelRules::enter_collective().
  void enter_collective(CollectiveInstance<1>& instance, const Action& action, int local,
                        int timeline, const Lanes<1>& enter, const PortTimes<1>& ports,
                        int local_members, const TraceDefinitions& trace) {
    ModelRules<1>::enter_collective(instance, action, local, timeline, enter, ports, local_members,
                                    trace);
    if (instance.play < 0) return;
    const Ports& before = ports_[timeline];
    plays().note_ports(instance.play, local, before.out, before.in_since);
  }

  /// As ModelRules::leave(). last_origin() returns the origin of the result until the next call.
  const Lanes<1>& leave(TimelineState<1>& timeline, const Call& call,
                        const RuleContext<1>& context) {
    if (!timeline.awaited.empty()) last_ = end_of(timeline, call, context);
    return ModelRules<1>::leave(timeline, call, context);
  }

  /// Of a call that waited; its time is the leave of the call.
  const FirstDated& last_origin() const { return last_; }

 private:
  /// A message that took an in-port.
  struct Taken {
    double first;   ///< arrival of its first byte
    Origin origin;  ///< of its arrival
    Origin since;   ///< of the first message of the busy period
  };
  struct Ports {
    Origin out;             ///< of the busy period
    std::vector<Taken> in;  ///< the latest messages that occupied the in-port
    Origin in_since;        ///< of the busy period of the in-port that ends last
    double oldest = 0;      ///< InPort::oldest()
  };
  struct Message {
    Origin from;  ///< of the start, later of the arrival
    int32_t receiver = -1;
  };

  static Origin own(const TimelineState<1>& timeline) {
    return {timeline.number, timeline.enter[0]};
  }

  /// A message started that keeps the port busy for `gap`.
  void note_start(const TimelineState<1>& timeline, double gap) {
    const bool waited = timeline.out_port[0] > timeline.busy[0] + gap;
    if (!waited) ports_[timeline.number].out = own(timeline);
  }

  FirstDated end_of(const TimelineState<1>& timeline, const Call& call,
                    const RuleContext<1>& context) {
    const Origin self = own(timeline);
    const double recorded = call.leave - call.enter;
    if (call.is_kept() || call.role == CallRole::kInit) return {timeline.enter[0] + recorded, self};
    fetched_.clear();
    InPort<1> in_port = timeline.in_port;
    in_port.expect(timeline.awaited.size());
    std::vector<Taken>& in = ports_[timeline.number].in;
    if (in.size() > 2 * InPort<1>::kMost)
      in.erase(in.begin(), in.end() - static_cast<std::ptrdiff_t>(InPort<1>::kMost));
    double busy = timeline.busy[0];
    bool right_behind = receives_right_behind(timeline, call);
    FirstDated last;
    for (const Awaited& awaited : timeline.awaited) {
      if (awaited.kind >= Awaited::Kind::kCollective) {
        const FirstDated end = other_end(timeline, call, awaited, context, in_port);
        last.raise(end.time, end.origin);
        continue;
      }
      if (awaited.transfer == kNoTransfer) continue;
      const Transfer<1>& transfer = (*context.matcher)[awaited.transfer];
      const bool is_receive = awaited.kind == Awaited::Kind::kReceive;
      if (transfer.abandoned || (!is_receive && !transfer.sender_waits)) {
        if (is_receive) last.raise(timeline.enter[0] + recorded, self);
        continue;
      }
      const LaneMessageCost<1>& cost = message_cost(transfer.pair, transfer.bytes);
      const Message& message = messages_[awaited.transfer];
      FirstDated there{transfer.arrival()[0], message.from};
      if (is_receive) {
        const bool unexpected = !transfer.handshake && there.time < transfer.posted[0];
        if (cost.crosses) cross(timeline, cost, *context.matcher, there);
        Lanes<1> drained = Lanes<1>::Constant(there.time);
        take_port(in_port, awaited.transfer, cost, drained);
        take(in_port, ports_[timeline.number], there, cost.gap[0], drained[0]);
        double overhead = unexpected ? cost.unexpected_overhead[0] : cost.receive_overhead[0];
        if (transfer.synchronous && !transfer.handshake) overhead += cost.synchronous_overhead[0];
        there.time += overhead;
        if (right_behind && !transfer.handshake && !transfer.synchronous)
          overhead = unexpected ? cost.following_unexpected[0] : cost.following_receive[0];
        busy += overhead;
        right_behind = true;
      } else if (!transfer.handshake) {
        there.raise(transfer.posted[0], {message.receiver, transfer.posted[0]});
        there.time += cost.synchronous_overhead[0] + cost.answer[0];
      }
      last.raise(there.time, there.origin);
    }
    return busy >= last.time ? FirstDated{busy, self} : last;
  }

  /// The receiver sends, too, so the message arrives later (model_rules.h).
  void cross(const TimelineState<1>& timeline, const LaneMessageCost<1>& cost, Matcher<1>& matcher,
             FirstDated& there) {
    FirstDated started{timeline.out_port[0] - cost.gap[0], ports_[timeline.number].out};
    for (const Awaited& awaited : timeline.awaited) {
      if (awaited.kind != Awaited::Kind::kSend || awaited.transfer == kNoTransfer) continue;
      const Transfer<1>& sent = matcher[awaited.transfer];
      if (!sent.handshake || !sent.sender_waits || sent.abandoned) continue;
      started.raise(sent.arrival()[0] - message_cost(sent.pair, sent.bytes).transfer[0],
                    messages_[awaited.transfer].from);
    }
    const double delay = started.time + cost.crossing_window[0] - there.time;
    if (delay <= 0) return;
    if (delay < cost.crossing_delay[0]) there.origin = started.origin;
    there.time += std::min(delay, cost.crossing_delay[0]);
  }

  /// The in-port has moved a message of `gap` that arrived at `there`, and is free at `drained`.
  static void take(const InPort<1>& port, Ports& ports, FirstDated& there, double gap,
                   double drained) {
    if (!(gap > 0)) return;
    std::vector<Taken>& in = ports.in;
    in.push_back({there.time - gap, there.origin, there.origin});
    // A forgotten begin is that of the message that the port kept longest before this one.
    const double known = port.busy_since(0), since = std::isfinite(known) ? known : ports.oldest;
    const auto first = std::find_if(in.rbegin(), in.rend(),
                                    [&](const Taken& other) { return other.first == since; });
    if (first != in.rend()) ports.in_since = first->since;
    ports.oldest = port.oldest(0);
    if (drained <= there.time) return;
    in.back().since = ports.in_since;
    for (Taken& other : in) {  // all of the busy period
      if (other.first >= since) other.since = ports.in_since;
    }
    there = {drained, ports.in_since};
  }

  /// As ModelRules::other_leave(). Updates `in_port`.
  FirstDated other_end(const TimelineState<1>& timeline, const Call& call, const Awaited& awaited,
                       const RuleContext<1>& context, InPort<1>& in_port) {
    switch (awaited.kind) {
      case Awaited::Kind::kCollective:
        occupy(timeline, awaited, context, in_port);
        return collective_end(timeline, call, awaited, context);
      case Awaited::Kind::kEpoch:
        return epoch_end(timeline, call, awaited, context);
      case Awaited::Kind::kProbe:
        return {probe_leave(timeline, call, awaited, context)[0],
                context.found_by(awaited, call) ? messages_[awaited.transfer].from : own(timeline)};
      case Awaited::Kind::kOneSided:
      case Awaited::Kind::kLock:
        break;
      case Awaited::Kind::kSend:
      case Awaited::Kind::kReceive:
      case Awaited::Kind::kMainThread:  // engine/threads.h
      case Awaited::Kind::kThread:
        assert(false);
    }
    if (awaited.action->kind == ActionKind::kLock) return lock_end(timeline, awaited, context);
    return one_sided_end(timeline, call, awaited, context, in_port);
  }

  /// The messages that a member of a collective received occupied its in-port.
  void occupy(const TimelineState<1>& timeline, const Awaited& awaited,
              const RuleContext<1>& context, InPort<1>& in_port) {
    const auto found = received(awaited, context);
    if (!found || !(found->gaps[0] > 0)) return;
    FirstDated there{found->until[0], play_origins(awaited, context)->in};
    const Lanes<1> moved = in_port.take_some(found->until, found->gaps);
    take(in_port, ports_[timeline.number], there, found->gaps[0], moved[0]);
  }

  FirstDated collective_end(const TimelineState<1>& timeline, const Call& call,
                            const Awaited& awaited, const RuleContext<1>& context) {
    FirstDated end = communicated_end(timeline, call, awaited, context);
    const Action& action = *awaited.action;
    const bool is_started = action.kind != ActionKind::kCollective;
    if (action.op != CollectiveOp::kCreateHandle || is_started) return end;
    if (context.trace->comms[action.comm].size() <= 1) return end;
    const CollectiveInstance<1>& instance = context.collectives->get(action.comm, awaited.instance);
    if (instance.abandoned) return end;
    const Arrivals<1>& all = instance.arrived;
    const bool is_last = all.last[0] <= timeline.enter[0];
    end.raise(created(timeline, call, instance)[0],
              is_last ? own(timeline) : Origin{all.latest, all.last[0]});
    return end;
  }

  FirstDated communicated_end(const TimelineState<1>& timeline, const Call& call,
                              const Awaited& awaited, const RuleContext<1>& context) {
    const Action& action = *awaited.action;
    const Communicator& comm = context.trace->comms[action.comm];
    if (comm.size() <= 1) return {timeline.busy[0], own(timeline)};
    const CollectiveInstance<1>& instance = context.collectives->get(action.comm, awaited.instance);
    if (instance.abandoned) return {timeline.enter[0] + (call.leave - call.enter), own(timeline)};
    if (const auto origins = play_origins(awaited, context))
      return {plays().leave(instance.play, awaited.local, Lanes<1>::Zero())[0], origins->leave};
    const double arrival = context.arrival(timeline, awaited)[0];
    const Origin self{timeline.number, arrival};  // for a nonblocking operation, its start
    if (action.collective.root == kRootInOwnGroup) return {arrival, self};
    const bool is_root = awaited.local == action.collective.root;
    const auto& cost = collective_cost(action, comm, awaited.local, is_root, *context.trace);
    const double total = cost.total[0];
    switch (awaited.waits_for) {
      case Synchronisation::kOneToAll: {
        if (is_root) return {arrival + cost.departure[0], self};
        if (!instance.waits_for_root(awaited.local, comm)) return {arrival, self};
        FirstDated end{instance.root_enter[0] + total,
                       {instance.root_timeline, instance.root_enter[0]}};
        end.raise(arrival + cost.departure[0], self);
        return end;
      }
      case Synchronisation::kAllToOne:
        if (!is_root) return {arrival + cost.departure[0], self};
        break;
      case Synchronisation::kPrefix: {
        const double enter = instance.enters[awaited.local][0];
        return {enter + cost.total[0], {instance.latest_of[awaited.local], enter}};
      }
      case Synchronisation::kAllToAll:
        break;
    }
    FirstDated end{arrival, self};
    const Arrivals<1>& all = instance.awaited_by(awaited.local, comm);
    end.raise(all.last[0], {all.latest, all.last[0]});
    if (!instance.parts.empty()) {
      const auto [time, sender] = instance.parts.latest_in_first_lane(awaited.local);
      end.raise(time, {sender, time});
    }
    end.time += total;
    if (!instance.arrivals.empty())
      end.raise(instance.arrivals[awaited.local][0], instance.arrivals_from[awaited.local]);
    return end;
  }

  FirstDated lock_end(const TimelineState<1>& timeline, const Awaited& awaited,
                      const RuleContext<1>& context) {
    const Action& action = *awaited.action;
    const PairClass pair = action.one_sided.target == kNoRoot
                               ? widest_of(action.comm)
                               : this->pair(timeline.rank, action.one_sided.target);
    const double latency = pair == Level::kSelf ? 0 : message_cost(pair, 0).latency[0];
    FirstDated there{timeline.busy[0] + latency, own(timeline)};
    if (awaited.instance > 0) {
      const LockTurn<1>& before =
          context.windows->turn(action, static_cast<uint32_t>(awaited.instance - 1));
      there.raise(before.released[0], before.released_from);
    }
    there.time += latency;
    return there;
  }

  /// Arrival of the last transfer of `stream` if none may start before `ready`.
  static FirstDated landing(const Stream<1>& stream, const FirstDated& ready) {
    FirstDated there{stream.landed[0], stream.landed_from};
    there.raise(ready.time + stream.behind[0], ready.origin);
    return there;
  }

  FirstDated one_sided_end(const TimelineState<1>& timeline, const Call& call,
                           const Awaited& awaited, const RuleContext<1>& context,
                           InPort<1>& in_port) {
    const Action& action = *awaited.action;
    const FirstDated at_once{timeline.busy[0], own(timeline)};
    if (action.kind == ActionKind::kUnlock) return at_once;
    const OneSided<1>* operation = context.windows->find(timeline.rank, action.one_sided.slot);
    if (!operation) return at_once;
    auto& pair = context.windows->pair(action.comm, timeline.rank, operation->target);
    FirstDated ready;
    if (const Epoch<1>* epoch = context.windows->accessed(pair)) {
      if (pair.completes && epoch->abandoned) return at_once;
      if (!pair.completes && (operation->abandoned || epoch->abandoned))
        return {timeline.enter[0] + (call.leave - call.enter), own(timeline)};
      ready = {this->ready(*epoch, operation->pair)[0], {epoch->poster, epoch->post_enter}};
    }
    const bool remotely = action.flags & kRemote && !pair.completes;
    FirstDated end;
    if (remotely) {
      end = landing(operation->stores, ready);
      end.time += message_cost(operation->pair, 0).latency[0];
    } else {
      end = {operation->left[0], operation->left_from};
      end.raise(ready.time + operation->through[0], ready.origin);
    }
    // (Of several that complete in one call, the first one has the results.)
    const bool fetched = std::find(fetched_.begin(), fetched_.end(), operation) != fetched_.end();
    if (operation->fetches && !fetched) {
      fetched_.push_back(operation);
      FirstDated drained = landing(operation->results, ready);
      const Lanes<1> moved =
          in_port.take_some(Lanes<1>::Constant(drained.time), operation->in_gaps);
      take(in_port, ports_[timeline.number], drained, operation->in_gaps[0], moved[0]);
      if (remotely) end = drained;
      end.raise(drained.time, drained.origin);
    }
    end.raise(at_once.time, at_once.origin);
    return end;
  }

  FirstDated epoch_end(const TimelineState<1>& timeline, const Call& call, const Awaited& awaited,
                       const RuleContext<1>& context) {
    const Action& action = *awaited.action;
    const Epoch<1>& epoch = context.windows->epoch(action, timeline.rank, awaited.instance);
    if (epoch.abandoned) return {timeline.enter[0] + (call.leave - call.enter), own(timeline)};
    const LaneMessageCost<1>& word = message_cost(pair(timeline.rank, action.epoch.peer), 0);
    const FirstDated ready{epoch.posted[0] + word.latency[0], {epoch.poster, epoch.post_enter}};
    if (Windows<1>::is_origin(action)) return ready;
    FirstDated end{epoch.completed[0] + word.latency[0], {epoch.completer, epoch.complete_enter}};
    const FirstDated landed = landing(epoch.stream, ready);
    end.raise(landed.time, landed.origin);
    end.time += word.receive_overhead[0];
    return end;
  }

  std::vector<Ports> ports_;                 ///< by timeline
  std::vector<Message> messages_;            ///< by TransferId
  std::vector<const OneSided<1>*> fetched_;  ///< in the current call
  FirstDated last_;
};

}  // namespace rubato
