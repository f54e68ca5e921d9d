#pragma once

// Handshakes of messages above the eager limit: when a process is inside MPI to make progress.
//
// Such a message needs a handshake first: the sender's request to send takes one trip L, the
// receiver's answer another one, then the data flows. Most MPI libraries have no progress thread:
// they look at what came in only while the program is in some MPI call. So a message may be delayed
// while its receiver computes between MPI_Irecv and MPI_Wait, or its sender between MPI_Isend and
// MPI_Wait. With R = max(start + L, posted), when the request is at a receiver that has posted:
//
//   async  a thread or the network card makes progress: the answer leaves at R
//   pull   the receiver fetches the data: at its first presence in MPI at or after R
//   push   the receiver answers at its first presence P at or after R. The answer is at the sender
//          at P + L; the sender sends at its first presence that lasts to P + A, not before P + L;
//          T - 2 L later the data has arrived
//
// A = o_s + L + o_r of an empty message, because both processors handle the answer. Where messages
// cost mostly processor time, as over the loopback, L is nearly zero: then the answer would always
// arrive before the sender leaves its MPI_Isend, and the data would flow while it computes. But a
// sender that leaves before P + A has not seen the answer.
//
// A rank is inside MPI from a call's enter to its leave, and all the time that it is blocked there.
// Any communicating call counts, also a failed MPI_Test, but not a local call like MPI_Comm_rank. A
// rank with several threads that call MPI is assumed to be always inside, and so is a rank whose
// records have ended.
//
// So a message needs the answer to one question, or two: what is the first stay of this rank in MPI
// that lasts to a time t or longer? The replay does not run ranks in the order of time. The rank
// may be ahead: then its stays since the post are kept here, until no message needs them any more
// (t is no earlier than the clock of the other rank). Or it is behind, and then the message waits
// for it:
//
//   * a call is entered after t: the message proceeds at the enter;
//   * a call leaves after t: it proceeded at t;
//   * a call that waits for this very message does not leave before it proceeds: so it does at t,
//     or at the enter if that is later.
//
// There is a fourth case. A rank is blocked in a call that waits for another rank, which waits for
// the message: all ranks are blocked. Then the message that could proceed first in time does so
// (serve_earliest()). A call can only leave by an event later than that, since all earlier events
// have happened: so the rank was still inside. (If no other event remains, the call lasts for
// ever.) In the same way all messages proceed that could do so before the first of these arrives.
//
// Lanes. Scenarios with the same protocols share a pass. The stay that answers a question may
// differ by lane, so each lane has its own answer; a message is settled, and the timelines that
// wait for it are woken, when its arrival is known in every lane. In the fourth case a rank may be
// blocked because of other lanes only: in this lane it could continue, and leave its call, no
// earlier than at a known time (`bound`). A message that could proceed before that does so, in this
// lane. If every lane waits for a rank that another lane delays, the pass is abandoned
// (serve_earliest() reports it), and its scenarios are replayed in smaller passes; a pass of one
// lane is never abandoned.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/base/lanes.h"
#include "models/base/partial_array.h"
#include "models/platform/message_cost.h"
#include "models/platform/platform.h"
#include "replay/matching/channel_table.h"
#include "replay/matching/origin.h"

namespace rubato {

/// Messages whose handshake is in progress. Times in ticks, in each lane.
template <int K>
class Presence {
 public:
  /// One bit for each lane.
  using Mask = uint32_t;
  static_assert(K <= 32);
  static constexpr Mask kAllLanes = K == 32 ? ~Mask{0} : (Mask{1} << (K % 32)) - 1;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// For `timelines` timelines, each of which is then added.
  explicit Presence(int timelines) : timelines_(timelines) {}

  void add_timelines(const std::vector<int>& timelines) { timelines_.make(&timelines); }

  // --- What timelines do ---

  void always_inside(int timeline) { timelines_[timeline].always = true; }
  /// True while some message may need the presence of `timeline`; otherwise stays need not be
  /// reported.
  bool asks_for(int timeline) const { return timelines_[timeline].interested > 0; }
  /// Enters an MPI call in which progress is made.
  void enter(int timeline, const Lanes<K>& time);
  void leave(int timeline, const Lanes<K>& time);
  void end(int timeline);

  /// True when `timeline` has so many past stays that forget() should be called.
  bool has_many_stays(int timeline) const { return stays(timeline) >= timelines_[timeline].many; }
  /// Drops the stays of `timeline` that no message will need. `reached(rank)`: a time before which
  /// that rank will neither send nor post, nor be inside MPI, any more.
  template <typename Reached>
  void forget(int timeline, Reached reached);
  /// Number of stays kept for `timeline`.
  size_t stays(int timeline) const { return timelines_[timeline].stays.size(); }

  // --- What happens to a message by pull or push ---

  /// The current call of `timeline`, entered at `enter`, sends the message to rank `to`, or posts
  /// its receive from rank `from`. The sender's protocol overrides the one assumed by the receiver.
  void send(TransferId message, int timeline, int to, const Lanes<K>& enter, Protocol protocol);
  void post(TransferId message, int timeline, int from, const Lanes<K>& enter, Protocol protocol);
  /// The current call of its sender or receiver waits for its arrival.
  void await_send(TransferId message) { await(message, kSender); }
  void await_receive(TransferId message) { await(message, kReceiver); }
  /// The call of the sender that waited for it continues without it.
  void leave_send(TransferId message);
  /// Both sides are known.
  void match(TransferId message, const HandshakeTimes<K>& times);
  /// It has no other side, or needs no handshake after all.
  void drop(TransferId message);

  /// True for a message that was sent or posted, and neither settled nor dropped.
  bool has(TransferId message) const {
    return message < place_of_.size() && place_of_[message] != kNowhere;
  }
  /// Lanes in which the arrival of a message that has() it is known; `arrival` returns it.
  Mask known(TransferId message) const { return ~messages_[place_of_[message]].open & kAllLanes; }
  const Lanes<K>& arrival(TransferId message) const {
    return messages_[place_of_[message]].arrival;
  }
  /// True where a message has arrived in some lanes only.
  bool lanes_differ() const { return partial_ > 0; }

  /// Result for messages that wait for blocked ranks.
  enum class Served { kNone, kSome, kLanesDisagree };
  /// All ranks are blocked: lets the earliest messages proceed, for which the blocked ranks are
  /// inside MPI. In lane k no rank leaves its call before bound[k] unless one of these arrives.
  Served serve_earliest(const Lanes<K>& bound) { return serve_until(earliest(bound)); }
  /// The two halves of serve_earliest(). Several processes exchange the result of the first half
  /// before the second one, and nothing else in between.
  Lanes<K> earliest(Lanes<K> bound);
  Served serve_until(const Lanes<K>& bound);

  // --- Messages whose other side is in another process ---

  // Both processes have the message, each with its own side. The receiver's process determines the
  // presence of the receiver and then, for a push, asks the sender's process for that of the
  // sender. The process that determines the arrival notifies the other one.

  /// The sender is in another process, as in send(); match() follows if the receive was posted.
  void send_elsewhere(TransferId message, Protocol protocol);
  /// The receiver of a message that was sent here, or whose presence does not matter, is in another
  /// process.
  void receive_elsewhere(TransferId message, Protocol protocol);
  /// A notification for the other process: in these lanes the sender's presence is needed at
  /// `time`, or the message arrives at `time`.
  struct Crossing {
    TransferId message;
    bool asks;
    Mask lanes;
    Lanes<K> time;
  };
  /// The caller clears them after sending.
  std::vector<Crossing>& crossings() { return crossings_; }
  /// Handles a question from the other process. (`times.ready` is unknown here, and not used.)
  void ask_sender(TransferId message, Mask lanes, const Lanes<K>& since,
                  const HandshakeTimes<K>& times);
  void arrive(TransferId message, Mask lanes, const Lanes<K>& time);

  struct Arrival {
    TransferId message;
    Lanes<K> time;
    Origin by;  ///< with one lane: the call whose enter let it proceed; -1: none needed
  };
  /// Messages whose arrival became known in all lanes; the caller clears them.
  std::vector<Arrival>& arrivals() { return arrivals_; }

 private:
  enum Side { kReceiver, kSender };
  static constexpr double kAlways = -kNever;
  static constexpr size_t kManyStays = 1024;
  static constexpr uint32_t kNowhere = UINT32_MAX;

  struct Message {
    TransferId id = kNoTransfer;  ///< kNoTransfer: free entry
    Protocol protocol = Protocol::kPull;
    bool matched = false;
    std::array<bool, 2> awaited{};         ///< by side
    std::array<bool, 2> elsewhere{};       ///< that side is in another process
    std::array<bool, 2> interested{};      ///< may still need the presence of that side
    std::array<int, 2> timeline{-1, -1};   ///< for the sender only where it matters
    std::array<int, 2> other_rank{};       ///< rank of the other side
    std::array<size_t, 2> posting_call{};  ///< number of the call, see Timeline
    std::array<Mask, 2> waits{};           ///< lanes in which it waits for that side
    Mask open = kAllLanes;                 ///< lanes in which its arrival is not known
    Mask asks_sender = 0;                  ///< those of them that wait for the sender
    Lanes<K> since;                        ///< the time from which presence is needed
    HandshakeTimes<K> times;
    Lanes<K> arrival;
    Origin by;  ///< as Arrival's
  };
  struct Stay {
    Lanes<K> enter, leave;
  };
  /// A message that waits for a timeline, and the side of the message that this timeline is.
  struct Waiting {
    uint32_t place;
    Side side;
    bool operator==(const Waiting&) const = default;
  };
  struct Timeline {
    bool always = false;
    bool ended = false;
    bool inside = false;
    int interested = 0;  ///< messages that may need its presence
    Lanes<K> enter;      ///< of the current call, while `interested` is not 0
    /// Stays that may be needed, the first one with number `first_number`. Earlier ones are also
    /// numbered, starting from the last time when no message was interested.
    std::vector<Stay> stays;
    size_t first_number = 0;
    size_t many = kManyStays;  ///< number of stays from which forget() is worth it
    std::vector<Waiting> waiting;
    Lanes<K> earliest;  ///< a lower bound of the times that messages wait for

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
  /// Lets the message proceed in the lanes in which the presence of the awaited side is known.
  void ask(uint32_t place);
  /// The same for one side and the lanes that wait for it.
  void ask(uint32_t place, Side side, Mask lanes);
  /// The lanes, out of `lanes`, in which a past stay is the answer; sets its begin there.
  Mask lanes_of_stays(const Message& message, Side side, Mask lanes) const;
  Lanes<K> enter_of_stays(const Message& message, Side side, Mask lanes) const;
  /// The first stay that may be the answer: index into the stays of its timeline.
  size_t first_stay(const Message& message, Side side) const {
    const Timeline& timeline = timelines_[message.timeline[side]];
    return std::max(message.posting_call[side], timeline.first_number) - timeline.first_number;
  }
  void ask_again(Timeline& timeline);
  void stop_waiting(uint32_t place, Side side);
  /// The awaited side is inside in these lanes, in a stay since `enter`.
  void serve(uint32_t place, Side side, Mask lanes, const Lanes<K>& enter);
  /// The time of the next event: the message arrives, or (push) needs its sender.
  Lanes<K> after(const Message& message, Side side, const Lanes<K>& enter) const;
  /// The message arrives at that time in these lanes.
  void settle(Message& message, Mask lanes, const Lanes<K>& arrival);
  /// Ends the handshake if the arrival is known in all lanes.
  void finish_if_settled(uint32_t place);
  void lose_interest(Message& message, Side side);

  PartialArray<Timeline> timelines_;
  std::vector<uint32_t> place_of_;  ///< by transfer: index into messages_, or kNowhere
  std::vector<Message> messages_;
  std::vector<uint32_t> free_;
  size_t partial_ = 0;  ///< messages that have arrived in some lanes only
  std::vector<Arrival> arrivals_;
  std::vector<Crossing> crossings_;
  std::vector<Waiting> asked_again_;  ///< scratch list, used while messages of a list are processed
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
    Message& message = messages_[place];  // the times need no reset: they are written before use
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

// --- Questions ---

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
  // A push may need its sender now in lanes that the receiver has answered.
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
    if (side == kReceiver) return;  // its process asks the receiver, and then the sender here
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
      enter[lane] = 0;  // not used
      continue;
    }
    size_t low = first, high = timeline.stays.size() - 1;  // the first stay that lasts to `since`
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
  asked_again_.swap(timeline.waiting);  // messages that still wait are added again
  for (const auto& [place, side] : asked_again_) {
    Message& message = messages_[place];
    if (message.id == kNoTransfer) continue;  // finished through its other side, the same timeline
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
    // A push can send data up to a head start before its sender could see the answer.
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
  if (protocol != Protocol::kPush && !has(id)) return;  // no question before it is posted
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
  // By lane, the earliest next event of a message. Messages that wait for an earlier time than that
  // proceed, too: the event after a question is later than the question.
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
