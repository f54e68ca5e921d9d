#pragma once

// A collective simulated as the messages of its algorithm, each member starting at its own enter.
//
// A member processes its messages step by step (models/collective/collective_schedule.h): it sends
// the messages of a step, receives those of the step, and continues. In every lane, with b when the
// step begins:
//
//   send k of a step      start   = max(b + k f_s, out);  out = start + next
//   receive               there   = max(start + move, in + next, b + take);  in = there
//   the step ends         max(b + sum of f_s + sum of f_r, there of each message received, there of
//                         each message that the member sent with a handshake)
//   the member leaves     when its last step ends, and no message occupies its port any more
//
//   move = o_s + T + o_r, and the reduction of a message that is combined
//   next = max(g, f_s, f_r), at most move; take = f_r, with a handshake f_r + T - L
//
// `take` is the cost for a member that enters after its message has arrived. Where root and
// children wait for each other (sync_limit), a message needs both ends: `take` is `move` if there
// is no handshake anyway, and a step ends no earlier than its messages have arrived. The schedule
// alone defines the dependencies, so a member may leave before others enter, except the receivers
// of its messages with a handshake. Messages are evaluated as members enter, in any order with the
// same result, and independently of the clocks: a message counts once its sender has begun its
// step. On a network with contention, a message with a handshake flows once its receiver has begun
// the step, too.
//
// A member's ports are free when they have moved its messages before (PortTimes).

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/base/lanes.h"
#include "models/collective/collective_schedule.h"
#include "replay/matching/collective_instances.h"

namespace rubato {

/// With one lane times have origins.
template <int K>
using PlayTime = Dated<K, std::conditional_t<K == 1, Origin, NoOrigin>>;

/// Cost of one message in every lane, in ticks.
template <int K>
struct PlayCost {
  double bytes = 0;
  bool holds = false;         ///< its sender waits until it has arrived
  bool shakes_hands = false;  ///< uses a handshake, in all lanes or none
  bool flows = false;  ///< simulated as a flow, where there are flows: arrive() gives its arrival
  Lanes<K> move, next, take;
  Lanes<K> next_in;        ///< `next` for its receiver, which may combine
  Lanes<K> send, receive;  ///< f_s, f_r: processor time
  Lanes<K> leave;          ///< from its start until the sender may leave: f_s + g

  void scale(const Lanes<K>& factor) {
    for (Lanes<K>* part : {&move, &next, &take, &next_in, &send, &receive, &leave}) *part *= factor;
  }
};

/// The schedule, indexed by member.
struct CollectiveProgram {
  std::vector<ScheduledMessage> messages;
  std::vector<uint32_t> kind;             ///< by message; messages of one kind have one cost
  std::vector<ScheduledMessage> example;  ///< of each kind
  /// Numbers of messages by member, and the index of the first one of each member.
  std::vector<uint32_t> sends, receives, first_send, first_receive;

  CollectiveProgram(std::vector<ScheduledMessage> schedule, int members)
      : messages(std::move(schedule)), first_send(members + 1), first_receive(members + 1) {
    for (const ScheduledMessage& message : messages) {
      ++first_send[message.from + 1];
      ++first_receive[message.to + 1];
      uint32_t same = 0;
      while (same < example.size() &&
             (example[same].bytes != message.bytes || example[same].combines != message.combines))
        ++same;
      if (same == example.size()) example.push_back(message);
      kind.push_back(same);
    }
    for (int member = 0; member < members; ++member) {
      first_send[member + 1] += first_send[member];
      first_receive[member + 1] += first_receive[member];
    }
    sends.resize(messages.size());
    receives.resize(messages.size());
    std::vector<uint32_t> send = first_send, receive = first_receive;
    for (uint32_t i = 0; i < messages.size(); ++i) {
      sends[send[messages[i].from]++] = i;
      receives[receive[messages[i].to]++] = i;
    }
  }
  int members() const { return static_cast<int>(first_send.size()) - 1; }
};

/// One collective in progress. Members are numbered as in its program.
template <int K>
class CollectivePlay {
 public:
  /// A message that flows from `start` on, on a network with contention.
  struct Flow {
    uint32_t message;
    double start;
  };
  struct Rules {
    bool flows = false;  ///< messages flow if their cost has `flows`
    /// Sets the kind of a message that is about to be sent; false: it has no bytes, and is no
    /// message. By then the members whose blocks it carries have entered. None: kinds are known.
    std::function<bool(uint32_t)> price = nullptr;
  };

  /// `costs`: by message kind. The arguments must outlive the play.
  void begin(const CollectiveProgram& program, const std::vector<PlayCost<K>>& costs,
             const std::vector<uint32_t>& kinds, Rules rules) {
    program_ = &program;
    costs_ = &costs;
    kinds_ = &kinds;
    rules_ = std::move(rules);
    members_.assign(program.members(), {});
    for (int i = 0; i < program.members(); ++i) {
      members_[i].send = program.first_send[i];
      members_[i].receive = program.first_receive[i];
    }
    states_.assign(program.messages.size(), kNotSent);
    there_.resize(program.messages.size());
    flows_.clear();
    finished_.clear();
  }

  /// Marks a message as not sent, because its part is empty.
  void leave_out(uint32_t message) {
    states_[message] = kNone;
    go_on_.push_back(program_->messages[message].to);
    run();
  }

  /// `out`, `in`: when its ports are free.
  void enter(int member, const PlayTime<K>& time, const PlayTime<K>& out = {},
             const PlayTime<K>& in = {}) {
    Member& state = members_[member];
    state.has_entered = true;
    state.here = time;
    state.out = out;
    state.in = in;
    go_on_.push_back(member);
    run();
  }
  /// A message of a Flow has arrived.
  void arrive(uint32_t message, double time) {
    there_[message].time.setConstant(time);
    states_[message] = kSent;
    go_on_.push_back(program_->messages[message].to);
    run();
  }

  bool has_entered(int member) const { return members_[member].has_entered; }
  bool is_done(int member) const { return members_[member].is_done; }
  /// REQUIRES: is_done(member).
  const PlayTime<K>& leave(int member) const { return members_[member].here; }
  /// When its in-port has moved the messages that it received, and how long these occupied it.
  const PlayTime<K>& in_port(int member) const { return members_[member].in; }
  const Lanes<K>& in_gaps(int member) const { return members_[member].in_gaps; }

  /// A member that has not entered and that `member` depends on; -1: none.
  int missing(int member) const {
    for (size_t hops = 0; hops <= members_.size(); ++hops) {
      const Member& state = members_[member];
      if (!state.has_entered) return member;
      if (state.is_done) return -1;
      const bool receives =
          state.receive < program_->first_receive[member + 1] &&
          program_->messages[program_->receives[state.receive]].step == state.step;
      member = receives ? program_->messages[program_->receives[state.receive]].from
                        : program_->messages[program_->sends[state.held]].to;
    }
    return -1;
  }

  /// Messages to start, and members that became done, since the last call.
  std::vector<Flow> take_flows() { return std::exchange(flows_, {}); }
  const std::vector<int>& finished() const { return finished_; }
  void forget_finished() { finished_.clear(); }

  /// Arrival of a flowing message without contention.
  double alone(uint32_t message) const { return there_[message].time[0]; }

  const PlayCost<K>& cost(uint32_t message) const { return (*costs_)[(*kinds_)[message]]; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr int kNoStep = std::numeric_limits<int>::max();
  enum State : uint8_t { kNotSent, kOffered, kSent, kReceived, kNone };

  struct Member {
    bool has_entered = false;
    bool is_done = false;
    bool in_step = false;
    uint32_t send = 0;     ///< next of `sends`
    uint32_t receive = 0;  ///< next of `receives`
    uint32_t held = 0;     ///< first of `sends` in the current step
    int step = 0;
    PlayTime<K> here;     ///< begin of the step
    PlayTime<K> busy;     ///< `here` plus the processor time of its messages
    PlayTime<K> latest;   ///< latest arrival in this step
    PlayTime<K> out, in;  ///< ports
    Lanes<K> in_gaps = Lanes<K>::Zero();
    Lanes<K> free = Lanes<K>::Constant(-kNever);  ///< when its port is free
  };

  void run() {
    while (!go_on_.empty()) {
      const int member = go_on_.back();
      go_on_.pop_back();
      advance(member);
    }
  }

  int step_at(const std::vector<uint32_t>& list, uint32_t at, uint32_t end) const {
    return at < end ? program_->messages[list[at]].step : kNoStep;
  }

  void advance(int number) {
    Member& member = members_[number];
    if (!member.has_entered || member.is_done) return;
    const uint32_t last_send = program_->first_send[number + 1];
    const uint32_t last_receive = program_->first_receive[number + 1];
    while (true) {
      // All messages of a step are sent when it begins.
      const int first_receive = step_at(program_->receives, member.receive, last_receive);
      if (!member.in_step) {
        const int first_send = step_at(program_->sends, member.send, last_send);
        member.step = std::min(first_receive, first_send);
        if (member.step == kNoStep) break;
        member.in_step = true;
        member.busy = member.here;
        member.latest = member.here;
        member.held = member.send;
        for (; step_at(program_->sends, member.send, last_send) == member.step; ++member.send)
          send(member, program_->sends[member.send]);
        if (rules_.flows) answer_offers(number, member);
      }
      for (; step_at(program_->receives, member.receive, last_receive) == member.step;
           ++member.receive) {
        if (!receive(member, program_->receives[member.receive])) return;
      }
      if (!sends_complete(member)) return;
      member.here = member.busy;
      member.here.raise(member.latest);
      member.in_step = false;
    }
    member.here.raise({member.free, member.out.origin});
    member.is_done = true;
    finished_.push_back(number);
  }

  void send(Member& member, uint32_t message) {
    if (states_[message] == kNone) return;
    if (rules_.price && !rules_.price(message)) {
      states_[message] = kNone;
      go_on_.push_back(program_->messages[message].to);
      return;
    }
    const PlayCost<K>& cost = this->cost(message);
    PlayTime<K> start = member.busy;
    start.raise(member.out);
    member.out = start + cost.next;
    member.busy.time += cost.send;
    member.free = member.free.max(start.time + cost.leave);
    if (rules_.flows && cost.flows) return flow(message, start);
    there_[message] = start + cost.move;
    states_[message] = kSent;
    const int to = program_->messages[message].to;
    if (members_[to].in_step) go_on_.push_back(to);
  }

  /// Its sender has begun its step. With a handshake it flows once its receiver has, too.
  void flow(uint32_t message, const PlayTime<K>& start) {
    const Member& to = members_[program_->messages[message].to];
    if (!cost(message).shakes_hands) {
      there_[message] = start + cost(message).move;
      flows_.push_back({message, start.time[0]});
    } else if (to.in_step && to.step == program_->messages[message].step) {
      answer(message, start, to.here);
    } else {
      states_[message] = kOffered;
      there_[message] = start;
    }
  }
  /// Its receiver has begun its step at `here`; the request may have arrived before.
  void answer(uint32_t message, const PlayTime<K>& start, const PlayTime<K>& here) {
    const PlayCost<K>& cost = this->cost(message);
    flows_.push_back({message, std::max(start.time[0], here.time[0])});
    PlayTime<K> alone = start + cost.move;
    alone.raise(here + cost.take);
    there_[message] = alone;
  }
  void answer_offers(int number, const Member& member) {
    const uint32_t last = program_->first_receive[number + 1];
    for (uint32_t i = member.receive; step_at(program_->receives, i, last) == member.step; ++i) {
      const uint32_t message = program_->receives[i];
      if (states_[message] != kOffered) continue;
      states_[message] = kNotSent;
      answer(message, PlayTime<K>(there_[message]), member.here);
    }
  }

  /// False while the message has not arrived.
  bool receive(Member& member, uint32_t message) {
    if (states_[message] == kNone) return true;
    if (states_[message] == kNotSent || states_[message] == kOffered) return false;
    const PlayCost<K>& cost = this->cost(message);
    PlayTime<K>& there = there_[message];
    there.raise(member.in + cost.next_in);
    there.raise(member.here + cost.take);
    member.in = there;
    member.in_gaps += cost.next_in;
    member.busy.time += cost.receive;
    member.latest.raise(there);
    states_[message] = kReceived;
    if (cost.holds) go_on_.push_back(program_->messages[message].from);
    return true;
  }

  /// True when the messages of this step whose sender must wait have been received.
  bool sends_complete(Member& member) {
    for (; member.held < member.send; ++member.held) {
      const uint32_t message = program_->sends[member.held];
      if (states_[message] == kNone || !cost(message).holds) continue;
      if (states_[message] != kReceived) return false;
      member.latest.raise(there_[message]);
    }
    return true;
  }

  const CollectiveProgram* program_ = nullptr;
  const std::vector<PlayCost<K>>* costs_ = nullptr;
  const std::vector<uint32_t>* kinds_ = nullptr;
  Rules rules_;
  std::vector<Member> members_;
  // By message:
  std::vector<PlayTime<K>> there_;
  std::vector<State> states_;
  std::vector<int> go_on_;  ///< members to advance
  std::vector<Flow> flows_;
  std::vector<int> finished_;
};

}  // namespace rubato
