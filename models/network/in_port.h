#pragma once

// The port through which a timeline receives.
//
// It is a server that is busy for as long as it moves bytes. A message occupies it for g, from when
// its first byte is there (`first` = arrival - g), or from when the port is free:
//
//   first   ──┬──g──┬        ┬──g──┬
//   port      ▓▓▓▓▓▓▓        ▓▓▓▓▓▓▓         two messages, and a third one whose first byte comes
//   third         ┬──g──┬                    between theirs: it takes the time that is free
//   port      ▓▓▓▓▓▓▓▒▒▒▒▒▒▒▓▓▓▓▓▓▓▒         from then on, and is received when it has g of it
//
// So when the port is busy does not depend on the order in which messages are taken, and the last
// byte of several comes when the port has moved the bytes of all of them: whatever the order of
// their receives, waits, and requests in one wait.
//
// The replay learns of messages in the order in which the program waits for them, since nothing
// more is known of a message before (its sender may need what this rank does next). So a message
// that is waited for first is served first; what was received before is never taken back. With S
// the messages so far and end(S) when the port has moved all of them, served as they come:
//
//   end(S) = max over j in S of (first_j + sum of g over those with first >= first_j)
//   a message i is received at end(S + i) if that is later than end(S), else at its arrival: the
//   port had time for it before, and so did the rank.
//
// To find end(S + i) it is enough to know, for messages in the order of `first`, when the port is
// done with each. Nearly always the message comes last. Else each lane inserts it where it belongs,
// and shifts what is behind. Of what a timeline received before its current call, the latest
// kKept messages are known, and of those that one call waits for at most kMost; the port counts as
// busy before.

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
  static constexpr size_t kMost = 128;  ///< a power of two; 64 KiB with 32 lanes

  /// Nothing went through it yet.
  InPort() : messages_(kKept, Message{ever(), ever()}) {}

  /// A call waits for so many messages, which are served as if all came to be known at once.
  void expect(size_t messages) {
    if (messages + 2 > messages_.size() && messages_.size() < kMost) [[unlikely]]
      make_room(std::min(messages + 2, kMost));
  }

  /// A message whose last byte is there at `arrival` if the port is free; `gap`, above 0 in every
  /// lane, is how long it takes of it. When it is received.
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

  /// The same where some lanes have no gap: there it takes nothing, and does not wait.
  Lanes<K> take_some(const Lanes<K>& arrival, const Lanes<K>& gap) { return insert(arrival, gap); }

  /// When it has moved everything so far; -infinity: there was nothing.
  const Lanes<K>& done() const { return messages_[last_].done; }

  /// Since when a lane is busy without a break until done().
  double busy_since(int lane) const;

 private:
  /// In the order of `first`. Between the `done` of one and the `first` of the next the port is
  /// free, if that is later.
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
  [[gnu::noinline]] void make_room(size_t messages);

  /// A ring; its size is a power of two.
  std::vector<Message> messages_;
  size_t last_ = 0;
};

template <int K>
Lanes<K> InPort<K>::insert(const Lanes<K>& arrival, const Lanes<K>& gap) {
  // (What takes nothing comes behind everything, and changes nothing.)
  Lanes<K> first;
  for (int lane = 0; lane < K; ++lane)
    first[lane] = gap[lane] > 0 ? arrival[lane] - gap[lane] : kNever;
  const Lanes<K> latest = back(0).first, end = back(0).done;
  // How many, the latest ones, it comes before in some lane. The oldest stays where it is: since
  // when the port is busy with that is not known.
  size_t count = 1;
  while (count + 1 < messages_.size() && any_before(first, back(count).first)) ++count;
  // From the earliest of these on, each place takes what belongs there, and what was there is next.
  // It keeps its time unless it starts later. (`start`: it has the port from then on.) Lanes in
  // which the new one comes last are left as they are, to the last bit.
  Lanes<K> next_first = first, next_start = first, next_done = arrival;
  Lanes<K> done_before = back(count).done, done = done_before;
  for (size_t i = count; i-- > 0;) {
    Message& here = back(i);
    for (int lane = 0; lane < K; ++lane) {
      const double its_first = here.first[lane], its_done = here.done[lane];
      const double its_start = later(its_first, done_before[lane]);
      const double start = later(next_first[lane], done[lane]);
      const double moved = next_done[lane] + (start - next_start[lane]);
      const bool makes_room = first[lane] < its_first;
      here.first[lane] = makes_room ? next_first[lane] : its_first;
      here.done[lane] = done[lane] = makes_room ? moved : its_done;
      next_first[lane] = makes_room ? its_first : next_first[lane];
      next_start[lane] = makes_room ? its_start : next_start[lane];
      next_done[lane] = makes_room ? its_done : next_done[lane];
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
void InPort<K>::make_room(size_t messages) {
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
  return back(messages_.size() - 1).first[lane];
}

}  // namespace rubato
