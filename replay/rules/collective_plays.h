#pragma once

// The collectives of a run that are simulated message by message (collective_play.h): which ones,
// by which schedule, and those in progress.
//
// A schedule is known once its payload is known: the largest of all members where all wait for all,
// the root's where the root sends to all, else the first member's. Enters before that are kept. (On
// a network with contention messages flow from each member's enter on, so the first member's
// payload counts, and the parts of each sender; those of a Reduce_scatter, and of a started
// Allgatherv, that differ by the first member's record flow when the last member has entered.)
// Lanes whose platforms choose the same algorithms share a play; lanes in which a collective takes
// no time have none. Where a platform has a formula, the messages are stretched so that members
// that enter together are done at the time given by the formula; with parts of several sizes each
// message is stretched as the formula gives for its size. A message costs what messages between its
// two ranks cost, so some may stay on a node while others do not.
//
// A message of an operation with parts is as long as the blocks that it carries, and no message
// without bytes (in a pairwise exchange it is sent anyway). This is known when it is sent: the
// parts of an Alltoallv and a Gatherv are known by their senders, those of an Allgatherv by the
// members that gave them, which have sent them.
//
// Not played: operations on intercommunicators, on windows and of more than kMostMembers members,
// and schedules with more messages than a limit (program()). In those a member waits for the last
// member anyway (a ring of p - 1 rounds).

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/matching/collective_instances.h"
#include "replay/rules/collective_costs.h"
#include "replay/rules/collective_play.h"
#include "replay/rules/lane_machines.h"
#include "replay/trace/collective_sizes.h"

namespace rubato {

// (Not make_shared(): it compares type_info out of line where lanes are compiled for wide vectors,
// which the library lacks.)

/// A schedule with costs, for the lanes that use it.
template <int K>
struct PlannedSchedule {
  std::shared_ptr<const CollectiveProgram> program;
  std::vector<uint32_t> kinds;  ///< by message, index into `costs`
  std::vector<PlayCost<K>> costs;
  std::vector<PairClass> pairs;  ///< by kind: its ranks
  std::vector<Wire> wires;       ///< by kind, of the first lane, in ticks
  /// For messages with parts: `kinds` by bytes, payload, whether it combines, and pair class.
  std::map<std::tuple<double, double, bool, int>, uint32_t> known;
  bool skips_empty = true;  ///< messages without bytes are not sent

  /// Returns the number of the kind.
  uint32_t add(PairClass pair, const PlayCost<K>& cost) {
    costs.push_back(cost);
    pairs.push_back(pair);
    return static_cast<uint32_t>(costs.size()) - 1;
  }
};

template <int K>
struct PlayPlan {
  std::vector<PlannedSchedule<K>> schedules;
  std::array<int8_t, K> of_lane;  ///< index; -1: takes no time, or is not played
};

template <int K>
class CollectivePlays {
 public:
  static constexpr int kMostMembers = 4096;

  explicit CollectivePlays(const LaneMachines& machines) : machines_(&machines) {
    for (int level = 0; level < kLevels; ++level) {
      has_price_[level] = std::ranges::all_of(machines.interconnects, [&](const Interconnect& net) {
        return net.has(static_cast<Level>(level));
      });
    }
  }

  /// Messages of levels for which `shares` is true are flows; the engine reports their arrivals.
  void let_flow(std::function<bool(Level)> shares) { shares_ = std::move(shares); }

  /// (In a divided replay each process plays all of a collective, so its size is limited.)
  static bool plays(const Communicator& comm) {
    return comm.first_group == 0 && !comm.window && comm.size() <= kMostMembers;
  }

  /// True for operations in which all wait for all, and each member's record has all sizes.
  static bool has_equal_parts(CollectiveOp op) {
    return synchronisation(op) == Synchronisation::kAllToAll && !is_vector(op);
  }
  /// The payload in a member's record; of a started collective, in the record of its completion.
  static double payload_of(const Action& action, int local, const TraceDefinitions& trace) {
    return action.kind == ActionKind::kStartCollective ? std::bit_cast<double>(action.start.payload)
                                                       : priced_bytes(trace, action, local);
  }

  /// Member `local` enters; `local_members`: the number of members that will call left(). `since`:
  /// the origins of the port times, out and in. Sets instance.play. wake() then returns the
  /// timelines that waited for this.
  void enter(CollectiveInstance<K>& instance, const Action& action, int local, int timeline,
             const Lanes<K>& time, const PortTimes<K>& ports, const std::array<Origin, 2>& since,
             const Communicator& comm, PairClass widest, int local_members,
             const TraceDefinitions& trace, CollectiveCosts<K>& prices) {
    Record* record = record_of(instance, action.op, action.comm, comm, widest, local_members);
    if (!record) return;
    Member& member = record->members[local];
    member.gives_nothing = action.flags & kGivesNothing;
    double payload = payload_of(action, local, trace);
    double own = payload;
    const bool is_started = action.kind == ActionKind::kStartCollective;
    const auto known = is_started ? std::nullopt : own_part(trace, action);
    if (known) std::tie(own, payload) = std::pair(known->own, known->mean);
    if (to_each(action.op) && !is_started) {
      const auto [sent, received] = std::pair(action.collective.sent, action.collective.received);
      if (sent < received) own *= static_cast<double>(sent) / static_cast<double>(received);
    }
    const bool root_has_told =
        action.op == CollectiveOp::kScatterv && record->state == State::kPlays;
    if (!root_has_told) member.own = own;
    member.needs_others = is_started ? action.flags & kUneven
                                     : action.op == CollectiveOp::kReduceScatter && own != payload;
    member.parts.clear();
    if (action.flags & kHasParts)
      for_each_part(action, [&](const Part& part) { member.parts.push_back(part); });
    add(*record, {local, timeline, payload, time, ports}, since, comm, prices);
  }
  /// The same for a member of an operation that has_equal_parts().
  void enter(CollectiveInstance<K>& instance, uint32_t number, const Entered<K>& member,
             const Communicator& comm, PairClass widest, int local_members,
             CollectiveCosts<K>& prices) {
    Record* record = record_of(instance, instance.op, number, comm, widest, local_members);
    if (record) add(*record, member, {}, comm, prices);
  }

  /// A message of a collective in progress has arrived.
  void arrive(int number, uint32_t message, double time) {
    Record& record = records_[number];
    --record.under_way;
    record.plays[0]->arrive(message, time);
    collect(record);
    release(number);
  }

  /// True when the time at which `local` leaves is known, or does not depend on messages.
  bool is_done(int number, int local) const {
    const Record& record = records_[number];
    if (record.state != State::kPlays) return true;
    const int member = record.numbered(local);
    return std::all_of(record.plays.begin(), record.plays.end(),
                       [&](const auto& play) { return play->is_done(member); });
  }
  /// That time; in lanes that do not play, `otherwise`.
  PlayTime<K> leave(int number, int local, const PlayTime<K>& otherwise) const {
    const Record& record = records_[number];
    const int member = record.numbered(local);
    PlayTime<K> leave = otherwise;
    for (int lane = 0; lane < K; ++lane) {
      const int schedule = record.plan->of_lane[lane];
      if (schedule < 0) continue;
      const PlayTime<K>& played = record.plays[schedule]->leave(member);
      leave.time[lane] = played.time[lane];
      if (lane == 0) leave.origin = played.origin;
    }
    return leave;
  }
  /// When the in-port of a member has moved the messages that it received, and how long they
  /// occupied it: 0 in lanes that do not play. (Its out-port is free when it leaves.)
  struct Received {
    PlayTime<K> until{Lanes<K>::Zero(), {}};
    Lanes<K> gaps = Lanes<K>::Zero();
  };
  Received received(int number, int local) const {
    const Record& record = records_[number];
    const int member = record.numbered(local);
    Received received;
    for (int lane = 0; lane < K; ++lane) {
      const int schedule = record.plan->of_lane[lane];
      if (schedule < 0) continue;
      const CollectivePlay<K>& play = *record.plays[schedule];
      received.until.time[lane] = play.in_port(member).time[lane];
      if (lane == 0) received.until.origin = play.in_port(member).origin;
      received.gaps[lane] = play.in_gaps(member)[lane];
    }
    return received;
  }
  /// True where messages determine when members leave, in some lane.
  bool is_played(int number) const {
    return number >= 0 && records_[number].state == State::kPlays;
  }
  /// That time if all lanes use the same schedule; else nullptr.
  const PlayTime<K>* leave_of_all(int number, int local) const {
    const Record& record = records_[number];
    return record.alike ? &record.plays[0]->leave(record.numbered(local)) : nullptr;
  }

  /// `timeline` will be woken when is_done().
  void wait(int number, int local, int timeline) {
    records_[number].members[local].waits = timeline;
  }
  /// Passes the timelines whose waits have ended to `wake`.
  template <typename Wake>
  void wake(Wake wake) {
    for (const int32_t timeline : woken_) wake(timeline);
    woken_.clear();
  }
  /// A local rank that has not entered and that `local` depends on; -1: none.
  int missing(int number, int local) const {
    const Record& record = records_[number];
    if (record.state != State::kPlays) return -1;
    for (const auto& play : record.plays) {
      const int member = play->missing(record.numbered(local));
      if (member >= 0) return (member + record.root) % static_cast<int>(record.members.size());
    }
    return -1;
  }

  /// A member of this process leaves; true when all have, and the record is released.
  bool left(int number) {
    --records_[number].left;
    return release(number);
  }
  static constexpr int kOver = -2;  ///< CollectiveInstance::play of a collective that all have left

  // --- Flows on a network with contention ---

  /// Calls start(message, time) for each message that may start.
  template <typename Start>
  void start_flows(int number, Start start) {
    if (number < 0 || records_[number].state != State::kPlays) return;
    Record& record = records_[number];
    for (const auto& flow : record.plays[0]->take_flows()) {
      ++record.under_way;
      start(flow.message, flow.start);
    }
  }
  /// The data of a message; Flow::alone: from the earliest possible start.
  Flow message(int number, uint32_t message) const {
    const Record& record = records_[number];
    const PlannedSchedule<K>& schedule = record.plan->schedules[0];
    const ScheduledMessage& what = schedule.program->messages[message];
    const auto size = static_cast<int>(record.members.size());
    const uint32_t kind = schedule.kinds[message];
    const PlayCost<K>& cost = schedule.costs[kind];
    return {.rank = record.group->members[(what.from + record.root) % size],
            .destination = record.group->members[(what.to + record.root) % size],
            .bytes = cost.bytes,
            .length = (cost.shakes_hands ? cost.take : cost.move)[0],
            .data = schedule.wires[kind].data,
            .alone = record.plays[0]->alone(message),
            .port = schedule.wires[kind].port};
  }

 private:
  enum class State : uint8_t { kGathers, kPlays, kNot };
  struct Member {
    bool here = false;
    int32_t waits = -1;
    bool gives_nothing = false;
    bool needs_others = false;  ///< only all members know the parts
    double payload = 0;
    /// Allgatherv, Gatherv: what it contributes. Reduce_scatter, Scatterv: what it receives.
    /// Alltoallv without known parts: what it sends to each member.
    double own = 0;
    std::vector<Part> parts;
  };
  struct Record {
    CollectiveOp op{};
    uint32_t comm = 0;
    PairClass widest;
    int root = 0;
    int count = 0;
    int left = 0;
    int under_way = 0;    ///< number of flowing messages
    int last = -1;        ///< the member that all waited for before messages could flow; -1: none
    bool uneven = false;  ///< messages are priced one by one
    double payload = 0;   ///< with `uneven`: of one member, in the mean
    const Communicator* group = nullptr;
    bool one_class = true;  ///< all pairs of members have the same distance class
    bool alike = false;
    State state = State::kGathers;
    std::vector<Member> members;  ///< by local rank, like those below
    std::vector<PlayTime<K>> enters;
    std::vector<std::array<PlayTime<K>, 2>> ports;  ///< out and in
    std::shared_ptr<PlayPlan<K>> plan;
    std::vector<std::unique_ptr<CollectivePlay<K>>> plays;  ///< by schedule

    /// Programs number members starting at the root.
    int numbered(int local) const {
      const auto size = static_cast<int>(members.size());
      return (local - root + size) % size;
    }
  };
  /// Of uniform operations: members, pair class, payload; where pairs differ, also communicator and
  /// root.
  using PlanKey = std::tuple<CollectiveOp, int, int, double, int64_t, int>;

  static constexpr size_t kMostPlans = 256;
  static constexpr size_t kMostPrograms = 256;
  static constexpr size_t kFewMessages = 512;

  int new_record() {
    if (free_.empty()) {
      records_.emplace_back();
      return static_cast<int>(records_.size()) - 1;
    }
    const int number = free_.back();
    free_.pop_back();
    return number;
  }
  /// nullptr: the collective is over.
  Record* record_of(CollectiveInstance<K>& instance, CollectiveOp op, uint32_t number,
                    const Communicator& comm, PairClass widest, int local_members) {
    if (instance.abandoned || instance.play == kOver) return nullptr;
    if (instance.play < 0) {
      instance.play = new_record();
      Record& record = records_[instance.play];
      record.op = op;
      record.comm = number;
      record.group = &comm;
      record.widest = widest;
      record.root = is_rooted(op) ? instance.root : 0;
      record.one_class = is_one_class(number, comm);
      record.left = local_members;
      record.members.assign(comm.size(), {});
      record.enters.resize(comm.size());
      record.ports.resize(comm.size());
    }
    return &records_[instance.play];
  }
  void add(Record& record, const Entered<K>& entered, const std::array<Origin, 2>& since,
           const Communicator& comm, CollectiveCosts<K>& prices) {
    Member& member = record.members[entered.local];
    member.here = true;
    member.payload = entered.payload;
    record.enters[entered.local] = {entered.enter, Origin{entered.timeline, entered.enter[0]}};
    record.ports[entered.local] = {PlayTime<K>{entered.ports.out, since[0]},
                                   PlayTime<K>{entered.ports.in, since[1]}};
    ++record.count;
    if (record.state == State::kGathers && is_known(record, entered.local)) {
      decide(record, comm, prices);
    } else if (record.state == State::kPlays) {
      come(record, entered.local);
    }
    // For reports only.
    if (record.op == CollectiveOp::kGatherv && entered.local == record.root)
      prices.of({entered.payload, comm.size(), record.op, record.widest, true});
  }
  bool release(int number) {
    Record& record = records_[number];
    if (record.left > 0 || record.under_way > 0) return false;
    assert(crosses_ports(record));
    for (auto& play : record.plays) free_plays_.push_back(std::move(play));
    record.plays.clear();
    record.plan.reset();
    record.count = 0;
    record.last = -1;
    record.state = State::kGathers;
    free_.push_back(number);
    return true;
  }

  bool is_one_class(uint32_t number, const Communicator& comm) {
    const auto [known, is_new] = one_class_.try_emplace(number);
    if (is_new) known->second = machines_->pairs.are_of_one_class(comm.members);
    return known->second;
  }
  static Synchronisation how(const Record& record) { return synchronisation(record.op); }
  bool flows(Level level) const { return K == 1 && shares_ && shares_(level); }
  /// True if some of its messages may flow.
  bool flows(const Record& record) const {
    for (int level = 0; level <= static_cast<int>(record.widest.level()); ++level) {
      if (flows(static_cast<Level>(level))) return true;
    }
    return false;
  }

  /// True where senders know their messages before all members have entered.
  bool is_priced_early(const Record& record) const {
    return record.op == CollectiveOp::kGatherv ||
           (flows(record) && (to_each(record.op) || record.op == CollectiveOp::kAllgatherv));
  }

  /// True if the schedule is known now that `local` has entered. Flows start at each member's
  /// enter, so the first member decides, unless it needs the others' records.
  bool is_known(const Record& record, int local) const {
    const bool all = record.count == static_cast<int>(record.members.size());
    if (flows(record) && how(record) != Synchronisation::kOneToAll) {
      return all || (record.count == 1 && !record.members[local].needs_others);
    }
    switch (how(record)) {
      case Synchronisation::kOneToAll:
        return local == record.root;
      case Synchronisation::kAllToOne:
        return true;
      case Synchronisation::kPrefix:
        return local == 0;
      case Synchronisation::kAllToAll:
        break;
    }
    return all;
  }
  static bool to_each(CollectiveOp op) {
    return op == CollectiveOp::kAlltoallv || op == CollectiveOp::kAlltoallw;
  }
  static bool is_vector(CollectiveOp op) {
    return to_each(op) || op == CollectiveOp::kGatherv || op == CollectiveOp::kScatterv ||
           op == CollectiveOp::kAllgatherv || op == CollectiveOp::kReduceScatter;
  }

  /// Bytes of a message of an operation with parts.
  static double bytes_of(const Record& record, const ScheduledMessage& message) {
    if (to_each(record.op)) return part_to(record.members[message.from], message.to);
    const auto p = static_cast<int>(record.members.size());
    const bool is_share = message.first == ScheduledMessage::kShare;
    const int first = is_share ? 0 : message.first;
    const auto end = first + (is_share ? p : static_cast<int>(std::lround(message.bytes)));
    double bytes = 0;
    for (int block = first; block < end; ++block)
      bytes += record.members[(block + record.root) % p].own;
    return is_share ? bytes * (message.bytes / p) : bytes;
  }
  /// True if the messages with parts bring across each member's port what has to cross it.
  static bool crosses_ports(const Record& record) {
    const auto p = static_cast<int>(record.members.size());
    if (record.state != State::kPlays || !record.uneven || record.count < p) return true;
    const double all = bytes_of(record, {.bytes = static_cast<double>(p)});
    for (const PlannedSchedule<K>& schedule : record.plan->schedules) {
      std::vector<double> in(p), out(p);
      for (const ScheduledMessage& message : schedule.program->messages) {
        out[message.from] += bytes_of(record, message);
        in[message.to] += bytes_of(record, message);
      }
      for (int member = 0; member < p; ++member) {
        const double own = record.members[(member + record.root) % p].own, others = all - own;
        const bool is_root = member == 0;
        double gives = 0, gets = 0;
        if (to_each(record.op)) {
          for (int other = 0; other < p; ++other) {
            if (other == member) continue;
            gives += part_to(record.members[member], other);
            gets += part_to(record.members[other], member);
          }
        } else if (is_rooted(record.op)) {
          const bool sends = is_root == (record.op == CollectiveOp::kScatterv);
          (sends ? gives : gets) = is_root ? others : own;
        } else {
          const bool reduces = record.op == CollectiveOp::kReduceScatter;
          gives = reduces ? others : own, gets = reduces ? own : others;
        }
        if (out[member] < gives * (1 - 1e-9) || in[member] < gets * (1 - 1e-9)) return false;
      }
    }
    return true;
  }
  /// Bytes that a member of an Alltoallv sends to another member.
  static double part_to(const Member& from, int to) {
    if (from.parts.empty()) return from.gives_nothing ? 0 : from.own;
    return part_at(from.parts, to);
  }
  /// The entry of local rank `at` in a list of parts.
  static double part_at(const std::vector<Part>& parts, int at) {
    auto left = static_cast<uint64_t>(at);
    for (const Part& part : parts) {
      if (left < part.members) return static_cast<double>(part.bytes);
      left -= part.members;
    }
    return 0;
  }

  /// Cost of a message in ticks, stretched by the formula for equal parts of `payload`, if there is
  /// one.
  PlayCost<K> part_cost(const Record& record, PairClass pair, double bytes, double payload,
                        bool combines) {
    const auto p = static_cast<int>(record.members.size());
    const auto [cost, is_new] =
        part_costs_.find({{payload, p, record.op, record.widest, combines}, pair, bytes});
    if (is_new) {
      *cost = play_cost(pair, bytes, combines);
      cost->scale(stretch(record, p, payload));
      hold(record, payload, *cost);
    }
    return *cost;
  }
  /// Sets the kind of a message with parts. False: it has no bytes, and is not sent.
  bool price(const Record& record, PlannedSchedule<K>& schedule, uint32_t number) {
    const ScheduledMessage& message = schedule.program->messages[number];
    const double bytes = bytes_of(record, message);
    if (bytes == 0 && message.bytes > 0 && schedule.skips_empty) return false;
    const bool is_share = message.first == ScheduledMessage::kShare;
    const double payload = is_share ? record.payload : bytes / message.bytes;
    const PairClass pair = pair_of(record, *record.group, message);
    const auto [kind, is_new] =
        schedule.known.try_emplace({bytes, payload, message.combines, pair.number()});
    if (is_new) {
      const PlayCost<K> cost = part_cost(record, pair, bytes, payload, message.combines);
      kind->second = schedule.add(pair, cost);
      schedule.wires.push_back(wire(pair, cost));
    }
    schedule.kinds[number] = kind->second;
    return true;
  }
  /// The sender waits for its receiver if root and children wait for each other for that payload.
  void hold(const Record& record, double payload, PlayCost<K>& cost) const {
    const CollectiveModel& model = machines_->interconnects[0].collectives();
    const bool together = is_rooted(record.op) &&
                          model.synchronisation(record.op, payload) == Synchronisation::kAllToAll;
    if (!together) return;
    cost.holds = true;
    if (!cost.shakes_hands) cost.take = cost.move;
  }
  Lanes<K> stretch(const Record& record, int p, double payload) const {
    Lanes<K> factor;
    for (int lane = 0; lane < K; ++lane)
      factor[lane] = machines_->interconnects[lane].stretch(record.op, p, payload, record.widest);
    return factor;
  }
  PlayCost<K> play_cost(PairClass pair, double bytes, bool combines) const {
    PlayCost<K> cost;
    cost.bytes = bytes;
    cost.flows = flows(pair.level());
    for (int lane = 0; lane < K; ++lane) {
      machines_->require(lane, pair.level());
      const Interconnect& net = machines_->interconnects[lane];
      const MessageCost message = net.message(pair, bytes);
      const double combine = combines ? net.combine(bytes) : 0;
      cost.holds = cost.shakes_hands = message.protocol != Protocol::kEager;
      cost.move[lane] = message.move() + combine;
      cost.next[lane] = message.next(message.gap);
      cost.next_in[lane] = cost.next[lane] + combine;
      cost.send[lane] = message.following_send;
      cost.receive[lane] = message.following_receive + combine;
      cost.take[lane] = message.take(combine);
      cost.leave[lane] = message.leave(message.gap);
    }
    cost.scale(Lanes<K>::Constant(machines_->ticks_per_second));
    return cost;
  }
  Wire wire(PairClass pair, const PlayCost<K>& cost) const {
    if (!cost.flows) return {};
    Wire wire = machines_->wire(pair, cost.bytes);
    wire.data = std::min(wire.data, (cost.shakes_hands ? cost.take : cost.move)[0]);
    wire.port = std::min(wire.port, wire.data);
    return wire;
  }

  std::shared_ptr<const CollectiveProgram> program(CollectiveOp op, int p,
                                                   const std::vector<AlgorithmChoice>& choices) {
    std::vector<std::pair<int, double>> key;
    for (const AlgorithmChoice& choice : choices)
      key.emplace_back(static_cast<int>(choice.algorithm), choice.segment);
    if (programs_.size() > kMostPrograms) programs_.clear();
    const auto [found, is_new] = programs_.try_emplace({op, p, key});
    if (!is_new) return found->second;
    auto messages = unit_schedule(op, choices, p);
    const size_t most = shares_ ? kMostScheduled : std::max(kFewMessages, size_t{16} * p);
    if (messages.size() <= most) found->second.reset(new CollectiveProgram(std::move(messages), p));
    return found->second;
  }

  /// Bytes of a message of a unit schedule, without rounding errors.
  static double part_of(const ScheduledMessage& message, double payload) {
    const double bytes = message.bytes * payload, whole = std::round(bytes);
    return std::abs(bytes - whole) <= 1e-9 * whole ? whole : bytes;
  }

  /// For equal parts: the time that members need that enter together, in every lane.
  static Lanes<K> whole(const PlannedSchedule<K>& schedule) {
    CollectivePlay<K> play;
    play.begin(*schedule.program, schedule.costs, schedule.kinds, {});
    const int members = schedule.program->members();
    for (int member = 0; member < members; ++member) play.enter(member, {Lanes<K>::Zero(), {}});
    Lanes<K> time = Lanes<K>::Zero();
    for (int member = 0; member < members; ++member) time = time.max(play.leave(member).time);
    return time;
  }

  /// The pair class of the ends of a message, numbered as in programs; that of the most distant
  /// members where a platform has only a cost for those.
  PairClass pair_of(const Record& record, const Communicator& comm,
                    const ScheduledMessage& message) const {
    if (record.one_class) return record.widest;
    const auto at = [&](int number) { return comm.members[(number + record.root) % comm.size()]; };
    const PairClass pair = machines_->pairs.of(at(message.from), at(message.to));
    return has_price_[static_cast<size_t>(pair.level())] ? pair : record.widest;
  }

  PlannedSchedule<K> scheduled(const Record& record, const Communicator& comm,
                               std::shared_ptr<const CollectiveProgram> program,
                               const std::vector<AlgorithmChoice>& choices, double payload,
                               const Lanes<K>& total) {
    PlannedSchedule<K> schedule;
    schedule.program = std::move(program);
    schedule.skips_empty = choices[0].algorithm != Algorithm::kPairwise;
    if (record.uneven) {  // price() sets the others
      schedule.kinds.resize(schedule.program->messages.size());
      return schedule;
    }
    price_equal_parts(record, comm, payload, schedule);
    const auto is_measured = [&](const Interconnect& net) {
      return net.collectives().has_formula(record.op, payload);
    };
    if (std::ranges::any_of(machines_->interconnects, is_measured)) {
      Lanes<K> factor = Lanes<K>::Ones();
      const Lanes<K> alone = whole(schedule);
      for (int lane = 0; lane < K; ++lane) {
        if (is_measured(machines_->interconnects[lane]) && alone[lane] > 0)
          factor[lane] = total[lane] / alone[lane];
      }
      for (PlayCost<K>& cost : schedule.costs) cost.scale(factor);
    }
    for (size_t i = 0; i < schedule.costs.size(); ++i)
      schedule.wires.push_back(wire(schedule.pairs[i], schedule.costs[i]));
    return schedule;
  }
  /// The program's kinds of messages, for each class of pairs.
  void price_equal_parts(const Record& record, const Communicator& comm, double payload,
                         PlannedSchedule<K>& schedule) {
    const CollectiveProgram& program = *schedule.program;
    const auto add = [&](const ScheduledMessage& example, PairClass pair) {
      PlayCost<K> cost = play_cost(pair, part_of(example, payload), example.combines);
      hold(record, payload, cost);
      return schedule.add(pair, cost);
    };
    if (record.one_class) {
      schedule.kinds = program.kind;
      for (const ScheduledMessage& example : program.example) add(example, record.widest);
      return;
    }
    constexpr uint32_t kNone = ~0u;
    std::vector<uint32_t> known(program.example.size() * machines_->pairs.classes(), kNone);
    for (size_t i = 0; i < program.messages.size(); ++i) {
      const PairClass pair = pair_of(record, comm, program.messages[i]);
      uint32_t& kind = known[program.kind[i] * machines_->pairs.classes() + pair.number()];
      if (kind == kNone) kind = add(program.example[program.kind[i]], pair);
      schedule.kinds.push_back(kind);
    }
  }
  /// True where messages differ not only by their place in the schedule.
  static bool has_parts(const Record& record, double payload) {
    if (!is_vector(record.op)) return false;
    const auto are_all = [&](const std::vector<Part>& parts) {
      return parts.size() == 1 && static_cast<double>(parts[0].bytes) == payload;
    };
    const std::vector<Part>& of_root = record.members[record.root].parts;
    if (record.op == CollectiveOp::kScatterv) return !of_root.empty() && !are_all(of_root);
    return !std::ranges::all_of(record.members, [&](const Member& member) {
      if (!member.here) return true;
      if (!to_each(record.op)) return member.own == payload;
      if (member.gives_nothing || member.payload != payload) return false;
      return member.parts.empty() ? member.own == payload : are_all(member.parts);
    });
  }

  /// nullptr: no lane plays.
  std::shared_ptr<PlayPlan<K>> plan(Record& record, const Communicator& comm, double payload,
                                    CollectiveCosts<K>& prices) {
    const int p = comm.size();
    const bool handles =
        record.op == CollectiveOp::kCreateHandle || record.op == CollectiveOp::kDestroyHandle;
    const CollectiveOp op = handles ? CollectiveOp::kAllgather : record.op;
    if (handles) payload = kHandleBytes;
    const bool early = is_priced_early(record);
    record.uneven = early || has_parts(record, payload);
    const PlanKey key{record.op,
                      p,
                      record.widest.number(),
                      payload,
                      record.one_class ? -1 : static_cast<int64_t>(record.comm),
                      record.one_class ? 0 : record.root};
    if (!record.uneven) {
      const auto known = plans_.find(key);
      if (known != plans_.end()) return known->second;
    }
    // In a Gatherv each member has its own payload, and the algorithm is chosen without it.
    if (record.op == CollectiveOp::kGatherv) payload = 0;
    record.payload = payload;
    Lanes<K> total = Lanes<K>::Zero();
    if (record.op != CollectiveOp::kGatherv)
      total = prices.of({payload, p, record.op, record.widest, false}).total;
    std::shared_ptr<PlayPlan<K>> plan(new PlayPlan<K>);
    std::vector<std::vector<AlgorithmChoice>> seen;
    for (int lane = 0; lane < K; ++lane) {
      plan->of_lane[lane] = -1;
      const CollectiveModel& model = machines_->interconnects[lane].collectives();
      const bool is_free = early ? model.describe(op, p, 1) == "perfect" : !(total[lane] > 0);
      if (is_free) continue;
      auto choices = schedule_choices(op, model, p, payload);
      size_t same = std::find(seen.begin(), seen.end(), choices) - seen.begin();
      if (same == seen.size()) {
        auto program = this->program(op, p, choices);
        if (!program) continue;
        plan->schedules.push_back(
            scheduled(record, comm, std::move(program), choices, payload, total));
        seen.push_back(std::move(choices));
      }
      plan->of_lane[lane] = static_cast<int8_t>(same);
    }
    if (plan->schedules.empty()) plan = nullptr;
    if (!record.uneven) {
      if (plans_.size() > kMostPlans) plans_.clear();
      plans_[key] = plan;
    }
    return plan;
  }

  void decide(Record& record, const Communicator& comm, CollectiveCosts<K>& prices) {
    record.state = State::kNot;
    const int p = comm.size();
    if (record.root < 0 || record.root >= p) return;
    double payload = 0;
    if (how(record) == Synchronisation::kOneToAll) {
      payload = record.members[record.root].payload;
    } else if (how(record) == Synchronisation::kPrefix && record.members[0].here) {
      payload = record.members[0].payload;
    } else {
      for (const Member& member : record.members) {
        if (member.here) payload = std::max(payload, member.payload);
      }
    }
    if (std::ranges::any_of(record.members, &Member::needs_others)) {
      payload = 0;
      for (const Member& member : record.members) payload += member.own;
      payload /= p;
    }
    record.plan = plan(record, comm, payload, prices);
    if (!record.plan) return;
    record.state = State::kPlays;
    if (record.op == CollectiveOp::kScatterv && record.uneven) {
      for (int local = 0; local < p; ++local)
        record.members[local].own = part_at(record.members[record.root].parts, local);
    }
    const std::array<int8_t, K>& of_lane = record.plan->of_lane;
    record.alike = std::all_of(of_lane.begin(), of_lane.end(), [](int i) { return i == 0; });
    for (PlannedSchedule<K>& schedule : record.plan->schedules) {
      if (free_plays_.empty()) {
        record.plays.push_back(std::make_unique<CollectivePlay<K>>());
      } else {
        record.plays.push_back(std::move(free_plays_.back()));
        free_plays_.pop_back();
      }
      CollectivePlay<K>& play = *record.plays.back();
      typename CollectivePlay<K>::Rules rules{flows(record)};
      if (record.uneven && !to_each(record.op))
        rules.price = [this, &record, &schedule](uint32_t message) {
          return price(record, schedule, message);
        };
      play.begin(*schedule.program, schedule.costs, schedule.kinds, std::move(rules));
    }
    // Flows cannot begin before the schedule is known.
    record.last = -1;
    if (flows(record) && how(record) == Synchronisation::kAllToAll && record.count == p && p > 1) {
      record.last = 0;
      for (int local = 1; local < p; ++local) {
        if (record.enters[local].time[0] > record.enters[record.last].time[0]) record.last = local;
      }
    }
    for (int local = 0; local < p; ++local) {
      if (record.members[local].here) come(record, local);
    }
  }

  /// A member enters the plays of its record, once.
  void come(Record& record, int local) {
    const int number = record.numbered(local);
    for (size_t i = 0; i < record.plays.size(); ++i) {
      CollectivePlay<K>& play = *record.plays[i];
      if (play.has_entered(number)) continue;
      if (record.uneven && to_each(record.op)) leave_out_empty(record, i, number);
      play.enter(number, record.enters[record.last >= 0 ? record.last : local],
                 record.ports[local][0], record.ports[local][1]);
    }
    collect(record);
  }

  /// Prices the messages of a member whose record has them.
  void leave_out_empty(Record& record, size_t which, int number) {
    PlannedSchedule<K>& schedule = record.plan->schedules[which];
    const CollectiveProgram& program = *schedule.program;
    for (uint32_t i = program.first_send[number]; i < program.first_send[number + 1]; ++i) {
      const uint32_t message = program.sends[i];
      if (!price(record, schedule, message)) record.plays[which]->leave_out(message);
    }
  }

  void collect(Record& record) {
    const auto size = static_cast<int>(record.members.size());
    for (auto& play : record.plays) {
      for (const int number : play->finished()) {
        int32_t& waits = record.members[(number + record.root) % size].waits;
        if (waits >= 0) woken_.push_back(std::exchange(waits, -1));
      }
      play->forget_finished();
    }
  }

  const LaneMachines* machines_;
  std::function<bool(Level)> shares_;
  std::deque<Record> records_;
  std::vector<int> free_;
  std::vector<std::unique_ptr<CollectivePlay<K>>> free_plays_;
  std::vector<int32_t> woken_;
  std::map<PlanKey, std::shared_ptr<PlayPlan<K>>> plans_;
  std::unordered_map<uint32_t, bool> one_class_;  ///< by communicator
  std::array<bool, kLevels> has_price_;           ///< in all lanes
  using ProgramKey = std::tuple<CollectiveOp, int, std::vector<std::pair<int, double>>>;
  std::map<ProgramKey, std::shared_ptr<const CollectiveProgram>> programs_;
  /// The parameters that determine the stretch of a message, with is_root where the receiver
  /// combines; the pair class, and its bytes.
  struct PartKey {
    CollectiveKey of;
    PairClass pair;
    double bytes;
    bool operator==(const PartKey&) const = default;
  };
  struct PartHash {
    size_t operator()(const PartKey& key) const {
      return CollectiveHash()(key.of) ^ static_cast<size_t>(key.pair.number()) << 24 ^
             std::hash<double>()(key.bytes) * 31;
    }
  };
  CostTable<PartKey, PlayCost<K>, PartHash> part_costs_;
};

}  // namespace rubato
