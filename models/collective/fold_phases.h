#pragma once

#include "models/collective/phase_context.h"

// Phases in rounds between 2^K members. The r others are folded: each has a partner among the
// members that remain, which acts for both.

namespace rubato::phases {

/// Which members remain.
enum class Stay : uint8_t {
  kFirst,  ///< the last members are folded into the first ones
  kOdd,    ///< of the first pairs the odd member remains
  kEven,   ///< the even one remains, so the root does
};

/// The members that remain, which are renumbered.
struct Remaining : Sizes {
  Stay stay;

  int member(int i) const {
    if (stay == Stay::kFirst) return i;
    return i >= extra() ? i + extra() : 2 * i + (stay == Stay::kOdd ? 1 : 0);
  }
  /// The member that is folded into member(i), i < r.
  int folded(int i) const { return stay == Stay::kFirst ? power() + i : member(i) ^ 1; }
  /// In the next step each sends to the one whose number differs in that bit; `down`: only those
  /// that have this bit, and none below it.
  void exchange(ScheduleBuilder& to, int bit, double n, bool down = false) const {
    const int step = to.next();
    for (int i = 0; i < power(); ++i) {
      if (!down || i % (2 * bit) == bit) to.add(step, member(i), member(i ^ bit), n);
    }
  }
};

/// The folded members send to their partners, or back. No message if p is a power of two.
struct Fold {
  enum Direction : uint8_t { kOver, kBack } direction;
  Stay stay;
  Amount amount = Amount::kPayload;
  /// The block in the message: a share of all, the receiver's, or that of the receiver's opposite.
  enum Block : uint8_t { kShare, kOwn, kOpposite } block = kShare;

  double end(double begin, const Prices& prices) const {
    return prices.extra() > 0 ? begin + prices.move(prices.of(amount)) : begin;
  }
  void messages(ScheduleBuilder& to) const {
    const Remaining remaining{to, stay};
    const int step = to.next();
    for (int i = 0; i < to.extra(); ++i) {
      int from = remaining.folded(i), receiver = remaining.member(i);
      if (direction == kBack) std::swap(from, receiver);
      to.add(step, from, receiver, to.of(amount),
             block == kShare ? ScheduledMessage::kShare
             : block == kOwn ? receiver
                             : to.p - 1 - receiver);
    }
  }
  double departure(Member, const Prices&) const { return 0; }  // a leaf that is not folded
};

/// Whole vectors, from the folded members and then between partners at distance 1, 2, 4, ...:
/// [TRG] 4.5.
struct Exchanges {
  Stay stay;

  double end(double begin, const Prices& prices) const {
    const int rounds = floor_log2(prices.p) + (prices.extra() > 0 ? 1 : 0);
    return begin + rounds * prices.move(prices.payload);
  }
  void messages(ScheduleBuilder& to) const {
    Fold{Fold::kOver, stay}.messages(to);
    const Remaining remaining{to, stay};
    for (int distance = 1; distance < to.power(); distance *= 2)
      remaining.exchange(to, distance, to.payload);
  }
};

/// Messages n/2, n/4, ...
inline double halving_seconds(const Prices& prices) {
  double seconds = 0;
  for (int part = 2; part <= prices.p; part *= 2) seconds += prices.move(prices.payload / part);
  return seconds;
}

/// Half of the vector between the most distant partners, then a quarter, ...: Rabenseifner's
/// reduce-scatter, [TRG] 4.5.
struct Halving {
  Stay stay;

  double end(double begin, const Prices& prices) const { return begin + halving_seconds(prices); }
  void messages(ScheduleBuilder& to) const {
    const Remaining remaining{to, stay};
    for (int distance = to.power() / 2, part = 2; distance >= 1; distance /= 2, part *= 2)
      remaining.exchange(to, distance, to.payload / part);
  }
};

/// The way back from Halving: an allgather, or a gather to the root.
struct Growing {
  Stay stay;
  bool to_all;

  double end(double begin, const Prices& prices) const { return begin + halving_seconds(prices); }
  void messages(ScheduleBuilder& to) const {
    const Remaining remaining{to, stay};
    for (int distance = 1, part = to.power(); distance < to.power(); distance *= 2, part /= 2)
      remaining.exchange(to, distance, to.payload / part, !to_all);
  }
  double departure(Member, const Prices& prices) const {
    return prices.cost.send(prices.payload / prices.power());
  }
};

/// Reduce-scatter by recursive halving [TRG] 4.4: the odd ones of the first pairs remain, and each
/// acts for two.
struct BlockHalving {
  bool to_opposite;  ///< each member ends with the block of the opposite one if p > 2

  double end(double begin, const Prices& prices) const {
    const int extra = prices.extra();
    double seconds = begin;  // in this order of summation
    for (int half = prices.power() / 2; half >= 1; half /= 2)
      seconds += prices.move((half + std::min(half, extra)) * prices.payload);
    return seconds;
  }
  void messages(ScheduleBuilder& to) const {
    const Remaining remaining{to, Stay::kOdd};
    const bool mirrored = to_opposite && to.p > 2;
    const auto block = [&](int i) { return i + std::min(i, to.extra()); };
    for (int half = to.power() / 2; half >= 1; half /= 2) {
      const int step = to.next();
      for (int i = 0; i < to.power(); ++i) {
        const int other = i ^ half;
        const int first = block(other / half * half), behind = block((other / half + 1) * half);
        to.add(step, remaining.member(i), remaining.member(other), (behind - first) * to.payload,
               mirrored ? to.p - behind : first);
      }
    }
  }
};

}  // namespace rubato::phases
