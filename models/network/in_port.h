#pragma once

// The receive port of a timeline.
//
// It is a server that is busy while it moves bytes. A message occupies it for g, from the arrival
// of its first byte (`first` = arrival - g), or from when the port is free:
//
//   first   ──┬──g──┬        ┬──g──┬
//   port      ▓▓▓▓▓▓▓        ▓▓▓▓▓▓▓         two messages, and a third one whose first byte arrives
//   third         ┬──g──┬                    between theirs: it takes the port's free time from
//   port      ▓▓▓▓▓▓▓▒▒▒▒▒▒▒▓▓▓▓▓▓▓▒         then on, and is received when it has had g of it
//
// The busy times of the port therefore do not depend on the order in which messages are processed.
// The last of several messages is complete when the port has moved the bytes of all of them,
// whatever the order of receives, waits, and requests in one wait.
//
// The replay processes messages in the order in which the program waits for them; it cannot process
// them earlier, since the sender may depend on this rank's next actions. So a message that is
// waited for first is served first, and earlier receive times are never revised. With S the
// messages so far and end(S) the time when the port has moved all of them, served in order of
// arrival:
//
//   end(S) = max over j in S of (first_j + sum of g over those with first >= first_j)
//   a message i is received at end(S + i) if that is later than end(S), else at its arrival: the
//   port had free time for it earlier, and so did the rank.
//
// To compute end(S + i), it suffices to keep the messages in the order of `first`, each with the
// time when the port is done with it. Nearly always the new message is the last. Otherwise each
// lane inserts it at its place and shifts the later ones. Only the latest kKept messages that a
// timeline received before its current call are kept, and at most kMost messages of one call;
// before these the port counts as busy.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "models/base/lanes.h"

namespace rubato {

/// Times in ticks, in each lane.
template <int K>
class InPort {
 public:
  static constexpr size_t kKept = 8;
  static constexpr size_t kMost = 128;  ///< a power of two; 32 KiB with 16 lanes

  /// An idle port without messages.
  InPort() : messages_(kKept, Message{ever(), ever()}) {}

  /// A call waits for `messages` messages, which are served as if all became known at once.
  void expect(size_t messages) {
    if (messages + 2 > messages_.size() && messages_.size() < kMost) [[unlikely]]
      grow(std::min(messages + 2, kMost));
  }

  /// Adds a message whose last byte arrives at `arrival` if the port is free, and which occupies
  /// the port for `gap`, above 0 in every lane. Returns when it is received.
  [[gnu::always_inline]] Lanes<K> take(const Lanes<K>& arrival, const Lanes<K>& gap) {
    const Message& before = messages_[last_];
    Message& next = messages_[next_place()];
    next.first = arrival - gap;
    if (any_before(next.first, before.first)) [[unlikely]]
      return insert(arrival, gap);
    next.done = arrival.max(before.done + gap);
    last_ = next_place();
    return next.done;
  }

  /// The same if some lanes have no gap: in these the message neither occupies the port nor waits.
  Lanes<K> take_some(const Lanes<K>& arrival, const Lanes<K>& gap) { return insert(arrival, gap); }

  /// When the port has moved all messages so far; -infinity: there were none.
  const Lanes<K>& done() const { return messages_[last_].done; }

  /// The start of a lane's last uninterrupted busy period, which ends at done(); -infinity: it
  /// began with messages that are not kept.
  double busy_since(int lane) const;
  /// Of a lane, the arrival of the first byte of the oldest message that is kept.
  double oldest(int lane) const { return back(messages_.size() - 1).first[lane]; }

 private:
  /// In the order of `first`. Between the `done` of one and a later `first` of the next the port is
  /// free.
  struct Message {
    Lanes<K> first, done;
  };

  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();

  static Lanes<K> ever() { return Lanes<K>::Constant(-kNever); }

  /// True if a < b in some lane.
  [[gnu::always_inline]] static bool any_before(const Lanes<K>& a, const Lanes<K>& b) {
    int64_t signs = 0;  // of all differences: one instruction for several lanes
    for (int lane = 0; lane < K; ++lane) signs |= std::bit_cast<int64_t>(a[lane] - b[lane]);
    return signs < 0;
  }

  size_t next_place() const { return (last_ + 1) & (messages_.size() - 1); }
  Message& back(size_t i) { return messages_[(last_ - i) & (messages_.size() - 1)]; }
  const Message& back(size_t i) const { return messages_[(last_ - i) & (messages_.size() - 1)]; }

  static double later(double a, double b) { return a < b ? b : a; }

  [[gnu::noinline]] Lanes<K> insert(const Lanes<K>& arrival, const Lanes<K>& gap);
  [[gnu::noinline]] void grow(size_t messages);

  /// A ring; its size is a power of two.
  std::vector<Message> messages_;
  size_t last_ = 0;
};

template <int K>
Lanes<K> InPort<K>::insert(const Lanes<K>& arrival, const Lanes<K>& gap) {
  // (A message without a gap sorts behind all others and changes nothing.)
  Lanes<K> first;
  for (int lane = 0; lane < K; ++lane)
    first[lane] = gap[lane] > 0 ? arrival[lane] - gap[lane] : kNever;
  const Lanes<K> latest = back(0).first, end = back(0).done;
  // The number of latest messages that it precedes in some lane. The oldest message keeps its
  // place, since the begin of its busy time is not known.
  size_t count = 1;
  while (count + 1 < messages_.size() && any_before(first, back(count).first)) ++count;
  // Insertion: from the earliest of these on, each place takes the message that belongs there, and
  // the displaced message is carried to the next place. A message keeps its time unless it now
  // starts later (`start`: when it gets the port). Lanes in which the new one is last stay
  // bit-equal.
  Lanes<K> next_first = first, next_start = first, next_done = arrival;
  Lanes<K> done_before = back(count).done, done = done_before;
  for (size_t i = count; i-- > 0;) {
    Message& here = back(i);
    for (int lane = 0; lane < K; ++lane) {
      const double its_first = here.first[lane], its_done = here.done[lane];
      const double its_start = later(its_first, done_before[lane]);
      const double start = later(next_first[lane], done[lane]);
      const double moved = next_done[lane] + (start - next_start[lane]);
      const bool comes_first = first[lane] < its_first;
      here.first[lane] = comes_first ? next_first[lane] : its_first;
      here.done[lane] = done[lane] = comes_first ? moved : its_done;
      next_first[lane] = comes_first ? its_first : next_first[lane];
      next_start[lane] = comes_first ? its_start : next_start[lane];
      next_done[lane] = comes_first ? its_done : next_done[lane];
      done_before[lane] = its_done;
    }
  }
  last_ = next_place();
  Message& last = messages_[last_];
  Lanes<K> received;
  for (int lane = 0; lane < K; ++lane) {
    const bool inserted = first[lane] < latest[lane], nothing = !(gap[lane] > 0);
    const double start = later(next_first[lane], done[lane]);
    const double moved = next_done[lane] + (start - next_start[lane]);
    const double queued = later(arrival[lane], end[lane] + gap[lane]);
    const double done_last = inserted ? moved : nothing ? end[lane] : queued;
    const bool in_time = done_last - end[lane] <= kRounding * std::abs(end[lane]);
    last.first[lane] = inserted ? next_first[lane] : nothing ? latest[lane] : first[lane];
    last.done[lane] = done_last;
    received[lane] = nothing || (inserted && in_time) ? arrival[lane] : done_last;
  }
  return received;
}

template <int K>
void InPort<K>::grow(size_t messages) {
  decltype(messages_) more(std::bit_ceil(messages), messages_[next_place()]);
  for (size_t i = 0; i < messages_.size(); ++i) more[more.size() - 1 - i] = back(i);
  messages_ = std::move(more);
  last_ = messages_.size() - 1;
}

template <int K>
double InPort<K>::busy_since(int lane) const {
  for (size_t i = 0; i + 1 < messages_.size(); ++i) {
    if (back(i).first[lane] >= back(i + 1).done[lane]) return back(i).first[lane];
  }
  return -kNever;
}

}  // namespace rubato
