#pragma once

// What a message costs: its terms, and the conditions under which each counts. Plain messages,
// those in the order of time, those of collectives and the origins of times ask here, so a new term
// changes this file, message_cost.cc (its value), and platform.h and level_curves.cc (its curve).
//
//   start       = max(ready, out-port);  out-port = start + g. In a burst (the sends before it are
//                 not complete yet: call_builder.h) no earlier than out-port + g_b - g; if only one
//                 of them is not, than out-port + g_2 - g
//   eager:      arrival = start + T
//   rendezvous: arrival = max(start + L, post) + T - L     T holds the handshake: request to send,
//                                                          L; clear to send and data, T - L
//   crossing:   arrival + d, d = min(x, max(0, started + o_s + T + o_r - (arrival - T)))
//   acknowledged: max(arrival, post) + y + A, of an eager synchronous message;
//                 A = o_s + L + o_r of an empty message
//
// Messages cross when their receiver sends, too; `started` is the start of its latest message. The
// incoming message of the same length starts at arrival - T; either one alone lasts o_s + T + o_r
// from its start. So d is the remaining duration of the earlier one when the later one starts, at
// most x: all of x where two ranks exchange messages at once, and nothing in a ping-pong, where the
// answer starts after the arrival. d is 1-Lipschitz in the start time, so arrival order is
// preserved.
//
// A process that sends, or receives, messages back to back needs less processor time for each than
// for a single one: the work for the next message has begun already. So an eager message right
// behind another one takes at most f in the sum of a call's overheads (a blocking send exactly f,
// where neither the ends nor the ports take as long: something else limits senders). The last
// message still takes o_s + T + o_r, so its receive takes o_r after its arrival.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "models/base/lanes.h"
#include "models/platform/platform.h"

namespace rubato {

/// The terms of the cost of a message. T: double (seconds, on one machine) or Lanes (ticks). Above
/// the eager limit, transfer includes the handshake: it counts from the start of the send.
template <class T>
struct MessageTerms {
  T send_overhead{};        ///< o_s: the sender's processor
  T receive_overhead{};     ///< o_r: the receiver's processor
  T unexpected_overhead{};  ///< o_r of an eager message that arrived before its receive was posted
  T transfer{};             ///< T: one way
  T gap{};                  ///< g: time that it occupies a port; 0 if it flows over shared links
  T latency{};              ///< L: one way for the smallest message, a leg of a handshake
  T answer{};               ///< A: time until an answer is received, o_s + L + o_r of no bytes
  /// g_b - g: the port is busy for longer behind an open message. Over shared links: time from the
  /// start of the previous message to its own, or 0 if port and links are busy with it for longer.
  T burst_delay{};
  T second_burst_delay{};    ///< g_2 - g: the same for the first message behind an open one
  T crossing_delay{};        ///< x: extra time when its receiver sends at the same time
  T synchronous_overhead{};  ///< y: extra o_r of an eager synchronous message
  /// o_s, o_r and unexpected o_r, right behind another message in the same direction.
  T following_send{}, following_receive{}, following_unexpected{};
  /// o_s of a blocking send right behind another one: if f exceeds what ends and port take, their
  /// time plus that excess on the machine as it was measured.
  T streamed_send{};

  static constexpr std::array<T MessageTerms::*, 15> all() {
    using M = MessageTerms;
    return {&M::send_overhead,
            &M::receive_overhead,
            &M::unexpected_overhead,
            &M::transfer,
            &M::gap,
            &M::latency,
            &M::answer,
            &M::burst_delay,
            &M::second_burst_delay,
            &M::crossing_delay,
            &M::synchronous_overhead,
            &M::following_send,
            &M::following_receive,
            &M::following_unexpected,
            &M::streamed_send};
  }
};
static_assert(sizeof(MessageTerms<double>) == MessageTerms<double>::all().size() * sizeof(double));

/// How a message flows over links that it shares, in seconds or ticks.
struct Wire {
  double data = 0;  ///< the part of T, at its end, in which the bytes move without contention
  double port = 0;  ///< the part of that in which a port of its ranks is busy; 0: no such ports
  double gap = 0;   ///< g, of ports or links: time from its start until it has left
};

/// What the cost of a message depends on, besides its length and the curves of its level.
struct MessageWay {
  double further_latency = 0;  ///< of each one-way trip, in seconds
  /// Of messages that share the links of a topology, and ports with them: seconds that the links of
  /// a node are busy with it, like a port; 0 if they differ between nodes.
  std::optional<double> in_links = {};
};

/// The cost of one message on one machine, in seconds.
struct MessageCost : MessageTerms<double> {
  Protocol protocol = Protocol::kEager;

  MessageCost(const LevelModel& level, double bytes, const MessageWay& way);

  // In a step of a collective. `port`: how long the message occupies a port.

  /// From its start until the receiver has it.
  double move() const { return send_overhead + transfer + receive_overhead; }
  /// From its start until the next one of the same sender, or receiver.
  double next(double port) const;
  /// From its start until the sender may leave.
  double leave(double port) const { return following_send + port; }
  /// For a receiver that is late: the data of a rendezvous waits for it. `combine`: the arithmetic
  /// of a reduction.
  double take(double combine) const {
    return following_receive + combine + (protocol == Protocol::kEager ? 0 : transfer - latency);
  }
};

Wire message_wire(const LevelModel& level, double bytes, const MessageWay& way);

/// The times of a handshake, after the request to send has reached a receiver that has posted
/// (replay/rules/presence.h), in each lane. Ticks.
template <int K>
struct HandshakeTimes {
  Lanes<K> ready;       ///< R: the request to send has arrived and the receive is posted
  Lanes<K> answer;      ///< until the other side can have seen the answer: A for a push, else L; at
                        ///< most T - L
  Lanes<K> data;        ///< T - 2 L, at least 0
  Lanes<K> head_start;  ///< of a push, at most A - L: the data starts when the answer has arrived

  /// Duration of the data transfer of a push once its sender is inside MPI, since `enter`, and can
  /// have seen the answer, since `answered`.
  Lanes<K> from_sender(const Lanes<K>& answered, const Lanes<K>& enter) const {
    return data - (answered - enter).max(0.0).min(head_start);
  }
};

/// The cost of one message in every lane, in ticks. Time: Lanes with raise(), the maximum, and +
/// (replay/matching/origin.h).
template <int K>
struct LaneMessageCost : MessageTerms<Lanes<K>> {
  using Terms = MessageTerms<Lanes<K>>;
  /// o_s + 2 T + o_r: an arrival later than this after the receiver's own send started crosses
  /// nothing.
  Lanes<K> crossing_window;
  Wire wire;  ///< of the first lane; the order of time has only one
  Protocol protocol = Protocol::kEager;
  /// g is above 0 in no lane, in some, or in all of them.
  enum class Occupies : uint8_t { kNothing, kSomewhere, kEverywhere } occupies = Occupies::kNothing;
  bool tells_unexpected = false;  ///< the overhead of an unexpected message differs in some lane
  bool tells_eager = false;       ///< o_r of an eager message depends on more than its length
  bool tells_following = false;  ///< the overhead right behind another message differs in some lane
  bool crosses = false;          ///< x is above 0 in some lane
  bool slows_bursts = false;     ///< g_b or g_2 exceeds g in some lane

  void set(int lane, const MessageCost& seconds, double ticks_per_second) {
    const auto of_lane = MessageTerms<double>::all();
    const auto of_all = Terms::all();
    for (size_t i = 0; i < of_all.size(); ++i)
      (this->*of_all[i])[lane] = seconds.*of_lane[i] * ticks_per_second;
    if (lane == 0) protocol = seconds.protocol;
  }
  /// All lanes are set.
  void derive() {
    const Terms& t = *this;
    crossing_window = t.send_overhead + 2 * t.transfer + t.receive_overhead;
    crosses = (t.crossing_delay > 0).any();
    slows_bursts = (t.burst_delay > 0 || t.second_burst_delay > 0).any();
    if ((t.gap > 0).any())
      occupies = (t.gap > 0).all() ? Occupies::kEverywhere : Occupies::kSomewhere;
    tells_unexpected = (t.unexpected_overhead != t.receive_overhead).any();
    tells_following = (t.following_send != t.send_overhead || t.streamed_send != t.send_overhead ||
                       t.following_receive != t.receive_overhead ||
                       t.following_unexpected != t.unexpected_overhead)
                          .any();
    tells_eager = tells_unexpected || tells_following || (t.synchronous_overhead > 0).any();
  }

  // --- Its sender ---

  /// The processor time of a send right behind another one.
  const Lanes<K>& following(bool blocking) const {
    return blocking ? this->streamed_send : this->following_send;
  }
  /// When the out-port takes a message that is ready at `ready`; `port`: when it is free, in and
  /// out. `second`: of its burst.
  template <class Time>
  [[gnu::always_inline]] Time start(Time ready, Time& port, bool in_burst, bool second) const {
    ready.raise(port);
    if (slows_bursts && in_burst)
      ready.raise(port + (second ? this->second_burst_delay : this->burst_delay));
    port = ready + this->gap;
    return ready;
  }
  /// When the sender of an eager synchronous message has the acknowledgment.
  template <class Time>
  Time acknowledged(Time arrival, const Time& posted) const {
    arrival.raise(posted);
    return arrival + (this->synchronous_overhead + this->answer);
  }

  // --- A rendezvous ---

  /// When the request to send has reached a receiver that has posted.
  template <class Time>
  Time requested(const Time& sent, const Time& posted) const {
    Time ready = sent + this->latency;
    ready.raise(posted);
    return ready;
  }
  /// `ready`: as requested().
  HandshakeTimes<K> handshake(const Lanes<K>& ready) const {
    const Lanes<K> after_request = this->transfer - this->latency;
    HandshakeTimes<K> times;
    times.ready = ready;
    times.answer = (protocol == Protocol::kPush ? this->answer : this->latency).min(after_request);
    times.data = after_request - this->latency.min(after_request);
    times.head_start = times.data - (after_request - times.answer);
    return times;
  }

  // --- Its receiver ---

  /// Delays a message that arrives at `there`; its receiver's latest message started at `started`.
  template <class Time>
  void cross(const Time& started, Time& there) const {
    there.delay(started + crossing_window, this->crossing_delay);
  }
  /// The processor time of an eager message: after its arrival, and in the sum of a call.
  struct Received {
    Lanes<K> alone, summed;
  };
  [[gnu::always_inline]] Received receive(const Lanes<K>& arrival, const Lanes<K>& posted,
                                          bool synchronous, bool follows) const {
    const auto unexpected = arrival < posted;
    Received time;
    time.alone = unexpected.select(this->unexpected_overhead, this->receive_overhead);
    if (synchronous) [[unlikely]]
      time.alone += this->synchronous_overhead;
    time.summed = time.alone;
    if (follows && !synchronous)
      time.summed = unexpected.select(this->following_unexpected, this->following_receive);
    return time;
  }
  /// The same of one whose receive was posted before, with or without a handshake.
  Lanes<K> expected(bool synchronous) const {
    if (protocol != Protocol::kEager || !synchronous) return this->receive_overhead;
    return this->receive_overhead + this->synchronous_overhead;
  }
};

}  // namespace rubato
