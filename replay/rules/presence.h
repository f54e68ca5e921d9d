#pragma once

// Who is inside MPI when a message above the eager limit wants to go on.
//
// Such a message is agreed upon first: the sender's request to send takes a trip L, the receiver's
// answer another one, then the data flows. Most MPI libraries have no thread of their own for that:
// what comes in is looked at only while the program is in some call of MPI. So a message may lie
// there while its receiver computes between MPI_Irecv and MPI_Wait, or its sender between MPI_Isend
// and MPI_Wait. With R = max(start + L, posted), when the request is at a receiver that has posted:
//
//   async  a thread or the network card looks: the answer leaves at R
//   pull   the receiver fetches the data: at its first presence in MPI at or after R
//   push   the receiver answers at its first presence P at or after R. The answer is at the sender
//          at P + L, who sends at its first presence that lasts to P + A, not before P + L; T - 2 L
//          later the data is there
//
// A = o_s + L + o_r of an empty message, as both processors have a hand in the answer. Where
// messages cost processor time above all, as over the loopback, L is next to nothing: then the
// answer would always be there before the sender leaves its MPI_Isend, and the data would flow
// while it computes. But a sender that leaves before P + A has not seen it.
//
// A rank is inside from a call's enter to its leave, and all the time that it is blocked there; any
// call that talks to others counts, a failed MPI_Test too, not one like MPI_Comm_rank that only
// looks. A rank with several threads that call MPI is taken to be inside all the time, and so is
// one whose records have ended.
//
// So a message asks one question, or two: which is the first stay of this rank in MPI that lasts to
// a time t or longer? The replay runs ranks in no order of time. The rank may be ahead: then its
// stays since the post are kept here, until no message asks for them any more (t is no earlier than
// the other rank has come). Or it is behind, and then the message waits for it:
//
//   * a call is entered after t: the message goes on at the enter;
//   * a call leaves after t: it went on at t;
//   * a call that waits for the very message does not leave before it goes on: so it does at t, or
//     at the enter if that is later.
//
// There is a fourth case. A rank is blocked in a call that waits for another one, which waits for
// the message: no rank can go on. Then the message that could go on first in time does
// (serve_earliest()). A call can only leave by something that happens later than that, since all
// that could happen earlier has happened: so the rank was still inside. (Where nothing else is to
// happen, the call lasts for ever.) In the same way all messages go on that could do so before the
// first of these arrives.
//
// Lanes. Scenarios with the same protocols share a pass. Which stay answers a question may differ
// by lane, so each lane has an answer of its own; a message is settled, and those who wait for it
// go on, when its arrival is known in every lane. In the fourth case a rank may be blocked because
// of other lanes only: in this one it could go on, and leave its call, at some time that is known
// at least (`bound`). A message that could go on before that does, in this lane. If every lane
// waits for a rank that another lane holds up, the pass is given up (serve_earliest() says so), and
// its scenarios are replayed in smaller ones; a pass of one lane never is.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/base/lanes.h"
#include "models/base/partial_array.h"
#include "models/platform/platform.h"
#include "replay/matching/channel_table.h"
#include "replay/matching/origin.h"
#include "replay/rules/handshake.h"

namespace rubato {

/// Messages that are being agreed upon. Times in ticks, in each lane.
template <int K>
class Presence {
 public:
  /// One bit for each lane.
  using Mask = uint32_t;
  static_assert(K <= 32);
  static constexpr Mask kAllLanes = K == 32 ? ~Mask{0} : (Mask{1} << (K % 32)) - 1;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// Of so many timelines, once they are added.
  explicit Presence(int timelines) : timelines_(timelines) {}

  void add_timelines(const std::vector<int>& timelines) { timelines_.make(&timelines); }

  // --- What timelines do ---

  void always_inside(int timeline) { timelines_[timeline].always = true; }
  /// True while some message may ask when `timeline` is inside; else nobody need tell.
  bool asks_for(int timeline) const { return timelines_[timeline].interested > 0; }
  /// Enters a call of MPI that others can make use of.
  void enter(int timeline, const Lanes<K>& time);
  void leave(int timeline, const Lanes<K>& time);
  void end(int timeline);

  /// True when `timeline` has so many stays in the past that somebody should look whether they may
  /// still be asked for: forget().
  bool has_many_stays(int timeline) const { return stays(timeline) >= timelines_[timeline].many; }
  /// Drops the stays of `timeline` that no message will ask for. `reached(rank)`: a time before
  /// which that rank will neither send nor post, nor be inside MPI, any more.
  template <typename Reached>
  void forget(int timeline, Reached reached);
  /// How many it has.
  size_t stays(int timeline) const { return timelines_[timeline].stays.size(); }

  // --- What happens to a message by pull or push ---

  /// The current call of `timeline`, entered at `enter`, sends it to rank `to`, or posts its
  /// receive from rank `from`. What the sender says holds, where the receiver took it for another
  /// protocol.
  void send(TransferId message, int timeline, int to, const Lanes<K>& enter, Protocol protocol);
  void post(TransferId message, int timeline, int from, const Lanes<K>& enter, Protocol protocol);
  /// The current call of its sender or receiver does not leave before it arrives.
  void await_send(TransferId message) { await(message, kSender); }
  void await_receive(TransferId message) { await(message, kReceiver); }
  /// The call that waited for it as its sender goes on without.
  void leave_send(TransferId message);
  /// Both sides are known.
  void match(TransferId message, const HandshakeTimes<K>& times);
  /// It has no other side, or is no such message after all.
  void drop(TransferId message);

  /// True for a message that was sent or posted, and neither settled nor dropped.
  bool has(TransferId message) const {
    return message < place_of_.size() && place_of_[message] != kNowhere;
  }
  /// Lanes in which it is known when a message arrives that has() it; `arrival` tells when.
  Mask known(TransferId message) const { return ~messages_[place_of_[message]].open & kAllLanes; }
  const Lanes<K>& arrival(TransferId message) const {
    return messages_[place_of_[message]].arrival;
  }
  /// True where a message has arrived in some lanes only.
  bool lanes_differ() const { return partial_ > 0; }

  /// What became of messages that waited for ranks that cannot go on.
  enum class Served { kNone, kSome, kLanesDisagree };
  /// No rank can go on: lets the first messages go on, for which blocked ranks are there. In lane k
  /// no rank leaves its call before bound[k] unless one of these arrives.
  Served serve_earliest(const Lanes<K>& bound) { return serve_until(earliest(bound)); }
  /// The two halves of that. Several processes tell each other what the first has found out before
  /// the second follows, and nothing else in between.
  Lanes<K> earliest(Lanes<K> bound);
  Served serve_until(const Lanes<K>& bound);

  // --- Messages whose other side is in another process ---

  // Either process has the message, with the side that is there. The receiver's process asks for
  // the receiver, and then, of a push, tells the sender's to ask for the sender. Whoever finds out
  // when it arrives tells the other one.

  /// The sender is elsewhere, as send() says; to be followed by match(), if it was posted.
  void send_elsewhere(TransferId message, Protocol protocol);
  /// The receiver of a message that was sent here, or will not be asked for, is elsewhere.
  void receive_elsewhere(TransferId message, Protocol protocol);
  /// What the other process has to know: in these lanes the sender is asked for at that time, or
  /// the message arrives.
  struct Crossing {
    TransferId message;
    bool asks;
    Mask lanes;
    Lanes<K> time;
  };
  /// To be cleared by whoever told them.
  std::vector<Crossing>& crossings() { return crossings_; }
  /// What it tells. (`times.ready` is not known here, and not looked at.)
  void ask_sender(TransferId message, Mask lanes, const Lanes<K>& since,
                  const HandshakeTimes<K>& times);
  void arrive(TransferId message, Mask lanes, const Lanes<K>& time);

  struct Arrival {
    TransferId message;
    Lanes<K> time;
    Origin by;  ///< with one lane: the call whose enter let it go on; -1: it did so by itself
  };
  /// Messages whose arrival became known in all lanes; to be cleared by whoever took note.
  std::vector<Arrival>& arrivals() { return arrivals_; }

 private:
  enum Side { kReceiver, kSender };
  static constexpr double kAlways = -kNever;
  static constexpr size_t kManyStays = 1024;
  static constexpr uint32_t kNowhere = UINT32_MAX;

  struct Message {
    TransferId id = kNoTransfer;  ///< kNoTransfer: nobody's
    Protocol protocol = Protocol::kPull;
    bool matched = false;
    std::array<bool, 2> awaited{};         ///< by side
    std::array<bool, 2> elsewhere{};       ///< that side is in another process
    std::array<bool, 2> interested{};      ///< may still ask for the presence of that side
    std::array<int, 2> timeline{-1, -1};   ///< of the sender only where it matters
    std::array<int, 2> other_rank{};       ///< the one at the other side
    std::array<size_t, 2> posting_call{};  ///< number of the call, see Timeline
    std::array<Mask, 2> waits{};           ///< lanes in which it waits for that side
    Mask open = kAllLanes;                 ///< lanes in which its arrival is not known
    Mask asks_sender = 0;                  ///< of them those that ask for the sender
    Lanes<K> since;                        ///< the time that is asked for
    HandshakeTimes<K> times;
    Lanes<K> arrival;
    Origin by;  ///< as Arrival's
  };
  struct Stay {
    Lanes<K> enter, leave;
  };
  /// A message that waits for a timeline, which is that side of it.
  struct Waiting {
    uint32_t place;
    Side side;
    bool operator==(const Waiting&) const = default;
  };
  struct Timeline {
    bool always = false;
    bool ended = false;
    bool inside = false;
    int interested = 0;  ///< messages that may ask for a presence
    Lanes<K> enter;      ///< of the current call, while somebody is interested
    /// Calls that may be asked for, the first one of number `first_number`. Those before are
    /// numbered, too, from the last time when no message was interested.
    std::vector<Stay> stays;
    size_t first_number = 0;
    size_t many = kManyStays;  ///< of them are worth a look
    std::vector<Waiting> waiting;
    Lanes<K> earliest;  ///< of what they ask for, no later than that

    size_t current_call() const { return first_number + stays.size(); }
  };

  static bool has_lane(Mask mask, int lane) { return (mask >> lane & 1) != 0; }
  template <typename Condition>
  static Mask mask_of(const Condition& condition) {
    Mask mask = 0;
    for (int lane = 0; lane < K; ++lane) mask |= Mask{condition(lane)} << lane;
    return mask;
  }
  /// Replaces `value` by `other` in the lanes of `mask`.
  static void set(Lanes<K>& value, Mask mask, const Lanes<K>& other);

  Message& message_of(TransferId id) { return messages_[place_of_[id]]; }
  uint32_t place_for(TransferId id);
  void give_up(uint32_t place);
  void begin(TransferId id, Side side, int timeline, int other, const Lanes<K>& enter,
             Protocol protocol);
  void await(TransferId id, Side side);
  /// Lets the message go on in those lanes in which it is known when the side that it asks for is
  /// there.
  void ask(uint32_t place);
  /// The same of one side and the lanes that ask for it.
  void ask(uint32_t place, Side side, Mask lanes);
  /// The lanes, out of `lanes`, in which a stay of the past is the answer, and its beginning there.
  Mask lanes_of_stays(const Message& message, Side side, Mask lanes) const;
  Lanes<K> enter_of_stays(const Message& message, Side side, Mask lanes) const;
  /// The first stay that may be the answer: index into the stays of its timeline.
  size_t first_stay(const Message& message, Side side) const {
    const Timeline& timeline = timelines_[message.timeline[side]];
    return std::max(message.posting_call[side], timeline.first_number) - timeline.first_number;
  }
  void ask_again(Timeline& timeline);
  void stop_waiting(uint32_t place, Side side);
  /// The side it asked for is there in these lanes, in a stay since `enter`.
  void serve(uint32_t place, Side side, Mask lanes, const Lanes<K>& enter);
  /// When that leads to something else: the message arrives, or (push) asks its sender.
  Lanes<K> after(const Message& message, Side side, const Lanes<K>& enter) const;
  /// In these lanes it arrives then.
  void settle(Message& message, Mask lanes, const Lanes<K>& arrival);
  /// In all lanes it is known when it arrives: nothing more is asked.
  void finish_if_settled(uint32_t place);
  void lose_interest(Message& message, Side side);

  PartialArray<Timeline> timelines_;
  std::vector<uint32_t> place_of_;  ///< by transfer: index into messages_, or kNowhere
  std::vector<Message> messages_;
  std::vector<uint32_t> free_;
  size_t partial_ = 0;  ///< messages that have arrived in some lanes only
  std::vector<Arrival> arrivals_;
  std::vector<Crossing> crossings_;
  std::vector<Waiting> asked_again_;  ///< while messages of this list are asked
};

// --- What timelines do ---

template <int K>
void Presence<K>::enter(int timeline, const Lanes<K>& time) {
  Timeline& state = timelines_[timeline];
  state.inside = true;
  state.enter = time;
  if (!state.waiting.empty() && (state.earliest <= time).any()) ask_again(state);
}

template <int K>
void Presence<K>::leave(int timeline, const Lanes<K>& time) {
  Timeline& state = timelines_[timeline];
  state.inside = false;
  state.stays.push_back({state.enter, time});
  if (!state.waiting.empty() && (state.earliest <= time).any()) ask_again(state);
}

template <int K>
void Presence<K>::end(int timeline) {
  timelines_[timeline].ended = true;
  ask_again(timelines_[timeline]);
}

template <int K>
template <typename Reached>
void Presence<K>::forget(int timeline, Reached reached) {
  Timeline& state = timelines_[timeline];
  Lanes<K> needed = Lanes<K>::Constant(kNever);
  for (const Message& message : messages_) {
    if (message.id == kNoTransfer) continue;
    for (const Side side : {kReceiver, kSender}) {
      if (!message.interested[side] || message.timeline[side] != timeline) continue;
      needed = needed.min(message.matched ? message.since : reached(message.other_rank[side]));
    }
  }
  const auto first = std::find_if(state.stays.begin(), state.stays.end(),
                                  [&](const Stay& stay) { return !(stay.leave < needed).all(); });
  state.first_number += static_cast<size_t>(first - state.stays.begin());
  state.stays.erase(state.stays.begin(), first);
  state.many = std::max(kManyStays, 2 * state.stays.size());
}

// --- What happens to a message ---

template <int K>
void Presence<K>::send(TransferId id, int timeline, int to, const Lanes<K>& enter,
                       Protocol protocol) {
  if (protocol == Protocol::kPush) return begin(id, kSender, timeline, to, enter, protocol);
  if (has(id)) message_of(id).protocol = protocol;
}

template <int K>
void Presence<K>::post(TransferId id, int timeline, int from, const Lanes<K>& enter,
                       Protocol protocol) {
  begin(id, kReceiver, timeline, from, enter, protocol);
}

template <int K>
void Presence<K>::begin(TransferId id, Side side, int timeline, int other, const Lanes<K>& enter,
                        Protocol protocol) {
  Message& message = messages_[place_for(id)];
  Timeline& state = timelines_[timeline];
  if (++state.interested == 1) {
    state.inside = true;
    state.enter = enter;
  }
  message.protocol = protocol;
  message.timeline[side] = timeline;
  message.other_rank[side] = other;
  message.posting_call[side] = state.current_call();
  message.interested[side] = true;
}

template <int K>
void Presence<K>::await(TransferId id, Side side) {
  const uint32_t place = place_of_[id];
  Message& message = messages_[place];
  message.awaited[side] = true;
  if (!message.matched || message.waits[side] == 0) return;
  stop_waiting(place, side);
  ask(place);
}

template <int K>
void Presence<K>::leave_send(TransferId id) {
  if (has(id)) message_of(id).awaited[kSender] = false;
}

template <int K>
void Presence<K>::match(TransferId id, const HandshakeTimes<K>& times) {
  const uint32_t place = place_of_[id];
  Message& message = messages_[place];
  message.matched = true;
  message.by = {};
  message.since = times.ready;
  message.times = times;
  ask(place);
}

template <int K>
void Presence<K>::drop(TransferId id) {
  if (!has(id)) return;
  const uint32_t place = place_of_[id];
  for (const Side side : {kReceiver, kSender}) {
    if (messages_[place].waits[side] != 0 && !messages_[place].elsewhere[side])
      stop_waiting(place, side);
    messages_[place].waits[side] = 0;
    lose_interest(messages_[place], side);
  }
  give_up(place);
}

template <int K>
uint32_t Presence<K>::place_for(TransferId id) {
  if (id >= place_of_.size()) place_of_.resize(2 * static_cast<size_t>(id) + 16, kNowhere);
  uint32_t& place = place_of_[id];
  if (place != kNowhere) return place;
  if (free_.empty()) {
    place = static_cast<uint32_t>(messages_.size());
    messages_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
    Message& message = messages_[place];  // but for its times, which are not looked at before
    message.matched = false;
    message.awaited = {};
    message.elsewhere = {};
    message.timeline = {-1, -1};
    message.open = kAllLanes;
    message.asks_sender = 0;
  }
  messages_[place].id = id;
  return place;
}

template <int K>
void Presence<K>::give_up(uint32_t place) {
  Message& message = messages_[place];
  partial_ -= message.open != kAllLanes && message.open != 0;
  place_of_[message.id] = kNowhere;
  message.id = kNoTransfer;
  free_.push_back(place);
}

// --- Asking ---

template <int K>
void Presence<K>::set(Lanes<K>& value, Mask mask, const Lanes<K>& other) {
  if (mask == kAllLanes) {
    value = other;
    return;
  }
  for (int lane = 0; lane < K; ++lane) {
    if (has_lane(mask, lane)) value[lane] = other[lane];
  }
}

template <int K>
void Presence<K>::ask(uint32_t place) {
  // Lanes that the receiver answers may ask the sender then.
  const Mask receiver = messages_[place].open & ~messages_[place].asks_sender;
  if (receiver != 0) ask(place, kReceiver, receiver);
  const Mask sender = messages_[place].open & messages_[place].asks_sender;
  if (sender != 0) ask(place, kSender, sender);
  finish_if_settled(place);
}

template <int K>
void Presence<K>::ask(uint32_t place, Side side, Mask lanes) {
  Message& message = messages_[place];
  lanes &= ~message.waits[side];
  if (lanes == 0) return;
  if (message.elsewhere[side]) {
    if (side == kReceiver) return;  // whose process asks it, and then the sender here
    message.waits[side] |= lanes;
    crossings_.push_back({message.id, true, lanes, message.since});
    return;
  }
  Timeline& timeline = timelines_[message.timeline[side]];
  if (timeline.always) return serve(place, side, lanes, Lanes<K>::Constant(kAlways));
  const Mask past = lanes_of_stays(message, side, lanes);
  if (past != 0) serve(place, side, past, enter_of_stays(message, side, past));
  lanes &= ~past;
  if (lanes == 0) return;
  if (timeline.ended) return serve(place, side, lanes, Lanes<K>::Constant(kAlways));
  if (timeline.inside) {
    const Mask now =
        message.awaited[side] ? lanes : lanes & mask_of(message.since <= timeline.enter);
    if (now != 0) serve(place, side, now, timeline.enter);
    lanes &= ~now;
    if (lanes == 0) return;
  }
  if (message.waits[side] == 0) {
    if (timeline.waiting.empty()) timeline.earliest.setConstant(kNever);
    timeline.waiting.push_back({place, side});
  }
  message.waits[side] |= lanes;
  timeline.earliest = timeline.earliest.min(message.since);
}

template <int K>
typename Presence<K>::Mask Presence<K>::lanes_of_stays(const Message& message, Side side,
                                                       Mask lanes) const {
  const Timeline& timeline = timelines_[message.timeline[side]];
  if (first_stay(message, side) == timeline.stays.size()) return 0;
  return lanes & mask_of(message.since <= timeline.stays.back().leave);
}

template <int K>
Lanes<K> Presence<K>::enter_of_stays(const Message& message, Side side, Mask lanes) const {
  const Timeline& timeline = timelines_[message.timeline[side]];
  const size_t first = first_stay(message, side);
  Lanes<K> enter;
  for (int lane = 0; lane < K; ++lane) {
    if (!has_lane(lanes, lane)) {
      enter[lane] = 0;  // is not looked at
      continue;
    }
    size_t low = first, high = timeline.stays.size() - 1;  // the first that lasts to `since`
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (timeline.stays[middle].leave[lane] < message.since[lane]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    enter[lane] = timeline.stays[low].enter[lane];
  }
  return enter;
}

template <int K>
void Presence<K>::ask_again(Timeline& timeline) {
  asked_again_.swap(timeline.waiting);  // messages that still wait come into the list anew
  for (const auto& [place, side] : asked_again_) {
    Message& message = messages_[place];
    if (message.id == kNoTransfer) continue;  // by its other side, the same timeline
    message.waits[side] = 0;
    ask(place);
  }
  asked_again_.clear();
}

template <int K>
void Presence<K>::stop_waiting(uint32_t place, Side side) {
  Message& message = messages_[place];
  message.waits[side] = 0;
  std::erase(timelines_[message.timeline[side]].waiting, Waiting{place, side});
}

template <int K>
Lanes<K> Presence<K>::after(const Message& message, Side side, const Lanes<K>& enter) const {
  const HandshakeTimes<K>& times = message.times;
  const Lanes<K> time = message.since.max(enter);
  if (side == kSender) return time + times.from_sender(message.since, enter);
  if (message.protocol == Protocol::kPush) return time + times.answer;
  return time + (times.answer + times.data);
}

template <int K>
void Presence<K>::serve(uint32_t place, Side side, Mask lanes, const Lanes<K>& enter) {
  Message& message = messages_[place];
  if constexpr (K == 1) {
    // The data of a push leaves up to a head start before its sender could see the answer.
    const double early = side == kSender ? message.times.head_start[0] : 0;
    if (message.since[0] - enter[0] < early) message.by = {message.timeline[side], enter[0]};
  }
  const Lanes<K> next = after(message, side, enter);
  if (side == kReceiver && message.protocol == Protocol::kPush) {
    message.asks_sender |= lanes;
    set(message.since, lanes, next);
  } else {
    settle(message, lanes, next);
    if (message.elsewhere[kReceiver] || message.elsewhere[kSender])
      crossings_.push_back({message.id, false, lanes, next});
  }
  if (side == kReceiver && (message.open & ~message.asks_sender) == 0)
    lose_interest(message, kReceiver);
  if (message.open == 0) lose_interest(message, kSender);
}

template <int K>
void Presence<K>::settle(Message& message, Mask lanes, const Lanes<K>& arrival) {
  const bool was_partial = message.open != kAllLanes;
  set(message.arrival, lanes, arrival);
  message.open &= ~lanes;
  const bool is_partial = message.open != 0;
  if (is_partial && !was_partial) ++partial_;
  if (!is_partial && was_partial) --partial_;
}

template <int K>
void Presence<K>::send_elsewhere(TransferId id, Protocol protocol) {
  if (protocol != Protocol::kPush && !has(id)) return;  // it has no question before it is posted
  Message& message = messages_[place_for(id)];
  message.protocol = protocol;
  message.elsewhere[kSender] = true;
}

template <int K>
void Presence<K>::receive_elsewhere(TransferId id, Protocol protocol) {
  Message& message = messages_[place_for(id)];
  message.protocol = protocol;
  message.elsewhere[kReceiver] = true;
}

template <int K>
void Presence<K>::ask_sender(TransferId id, Mask lanes, const Lanes<K>& since,
                             const HandshakeTimes<K>& times) {
  const uint32_t place = place_of_[id];
  Message& message = messages_[place];
  set(message.since, lanes, since);
  message.times = times;
  message.asks_sender |= lanes;
  message.matched = (message.open & ~message.asks_sender) == 0;
  const Mask asked = message.open & message.asks_sender;
  if (asked != 0) ask(place, kSender, asked);
  finish_if_settled(place);
}

template <int K>
void Presence<K>::arrive(TransferId id, Mask lanes, const Lanes<K>& time) {
  const uint32_t place = place_of_[id];
  Message& message = messages_[place];
  settle(message, lanes, time);
  message.waits[kSender] &= ~lanes;
  if (message.open == 0) {
    for (const Side side : {kReceiver, kSender}) lose_interest(message, side);
  }
  finish_if_settled(place);
}

template <int K>
void Presence<K>::finish_if_settled(uint32_t place) {
  Message& message = messages_[place];
  if (message.open != 0) return;
  arrivals_.push_back({message.id, message.arrival, message.by});
  give_up(place);
}

template <int K>
void Presence<K>::lose_interest(Message& message, Side side) {
  if (!message.interested[side]) return;
  message.interested[side] = false;
  Timeline& state = timelines_[message.timeline[side]];
  if (--state.interested > 0) return;
  state.first_number += state.stays.size();
  state.stays.clear();
  state.many = kManyStays;
}

template <int K>
Lanes<K> Presence<K>::earliest(Lanes<K> bound) {
  // By lane, when the first of them leads to anything else. A message that is asked about until
  // then is no later than that: what follows from a question is later than the question.
  for (uint32_t place = 0; place < messages_.size(); ++place) {
    const Message& message = messages_[place];
    if (message.id == kNoTransfer) continue;
    for (const Side side : {kReceiver, kSender}) {
      if (message.waits[side] == 0 || message.elsewhere[side]) continue;
      asked_again_.push_back({place, side});
      set(bound, message.waits[side],
          bound.min(after(message, side, timelines_[message.timeline[side]].enter)));
    }
  }
  return bound;
}

template <int K>
typename Presence<K>::Served Presence<K>::serve_until(const Lanes<K>& bound) {
  std::vector<Waiting>& questions = asked_again_;
  bool served = false;
  for (const auto& [place, side] : questions) {
    Message& message = messages_[place];
    const Mask lanes = message.waits[side] & mask_of(message.since <= bound);
    if (lanes == 0) continue;
    served = true;
    message.waits[side] &= ~lanes;
    if (message.waits[side] == 0) stop_waiting(place, side);
    serve(place, side, lanes, timelines_[message.timeline[side]].enter);
    ask(place);
  }
  const bool waits = !questions.empty();
  questions.clear();
  if (served) return Served::kSome;
  return waits ? Served::kLanesDisagree : Served::kNone;
}

}  // namespace rubato
