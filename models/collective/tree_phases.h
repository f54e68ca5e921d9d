#pragma once

#include "models/collective/phase_context.h"

// Phases along trees and chains, and between a root and all others.

namespace rubato::phases {

enum class Way : uint8_t { kDown, kUp };

/// Time that `count` messages occupy a member that does not wait, at its end of them.
inline double occupied(Member member, double count, double n, const RoundCost& cost) {
  return count * (member == Member::kLateReceiver ? cost.receive(n) : cost.send(n));
}

/// The first block of a message to or from the subtree of a member.
inline int first_block(Load load, int member) {
  return load == Load::kBlocks ? member : ScheduledMessage::kShare;
}

/// The largest power of `radix` below p: the distance from a root to its farthest children.
inline int reach(int p, int radix) {
  int distance = 1;
  while (distance * radix < p) distance *= radix;
  return distance;
}

/// Between the root and each other member, the root's messages in a row.
struct Linear {
  Way way;
  Load load;

  double end(double begin, const Prices& prices) const {
    return begin + prices.in_a_row(prices.p - 1, prices.of(load, 1));
  }
  void messages(ScheduleBuilder& to) const {
    const int step = to.next();
    const bool down = way == Way::kDown;
    for (int member = 1; member < to.p; ++member)
      to.add(step, down ? 0 : member, down ? member : 0, to.of(load, 1), first_block(load, member));
  }
  double departure(Member member, const Prices& prices) const {
    const int count = member == Member::kRoot ? prices.p - 1 : 1;
    return occupied(member, count, prices.of(load, 1), prices.cost);
  }
};

/// To the root, which calls one member after the other by an empty message.
struct LinearSync {
  double end(double begin, const Prices& prices) const {
    return begin + (prices.p - 1) * (prices.move(0) + prices.move(prices.payload));
  }
  void messages(ScheduleBuilder& to) const {
    for (int member = 1; member < to.p; ++member) {
      to.add(to.next(), 0, member, 0);
      to.add(to.next(), member, 0, to.payload, member);
    }
  }
  double departure(Member, const Prices& prices) const {
    return prices.cost.move(0) + prices.cost.send(prices.payload);
  }
};

/// Along a k-nomial tree, one message for each subtree: from the root down, farthest children
/// first, or up, nearest children first. With radix 2 the binomial tree of [TRG] 4.1, 4.2 and 4.5.
struct Tree {
  Way way;
  int radix;
  Load load;

  double end(double begin, const Prices& prices) const {
    return begin + subtree_seconds(prices.p, prices);
  }
  void messages(ScheduleBuilder& to) const {
    // A member's parent lacks its last digit other than 0, in base `radix`. In binomial trees,
    // which are MPICH's, a member sends to one child after the other; in k-nomial ones, which are
    // Open MPI's, to all at once.
    const bool down = way == Way::kDown;
    const int begin = to.next();
    int distance = down ? reach(to.p, radix) : 1;
    for (int round = 0; distance >= 1 && distance < to.p; ++round) {
      for (int parent = 0; parent < to.p; parent += distance * radix) {
        int depth = 0;
        for (int rest = parent; rest > 0; rest /= radix) depth += rest % radix != 0;
        const int step = begin + (down && radix > 2 ? depth : round);
        for (int k = 1; k < radix && parent + k * distance < to.p; ++k) {
          const int child = parent + k * distance;
          to.add(step, down ? parent : child, down ? child : parent,
                 to.of(load, std::min(distance, to.p - child)), first_block(load, child));
        }
      }
      distance = down ? distance / radix : distance * radix;
    }
  }
  double departure(Member member, const Prices& prices) const {
    if (member != Member::kRoot) return occupied(member, 1, prices.of(load, 1), prices.cost);
    double seconds = 0;
    for (int left = prices.p; left > 1; left = reach(left, radix)) {
      const int distance = reach(left, radix);
      for (int child = distance; child < left; child += distance)
        seconds += prices.cost.send(prices.of(load, std::min(distance, left - child)));
    }
    return seconds;
  }

 private:
  /// The same both ways.
  double subtree_seconds(int p, const Prices& prices) const {
    double whole = 0;  // of a complete subtree with `distance` members
    for (int distance = 1; distance < p; distance *= radix) {
      double sent = 0;
      double done = 0;
      const int end = std::min(p, distance * radix);
      for (int child = distance; child < end; child += distance) {
        const int members = std::min(distance, end - child);
        const double n = prices.of(load, members);
        const double below = members == distance ? whole : subtree_seconds(members, prices);
        done = std::max(done, sent + prices.move(n) + below);
        sent += prices.next(n);
      }
      whole = std::max(done, sent + whole);
    }
    return whole;
  }
};

/// Along a chain of all members, segment after segment: the pipeline of [PG].
struct Chain {
  Way way;

  double end(double begin, const Prices& prices) const {
    const auto [count, n] = prices.segments();
    return begin + ((prices.p - 1) * prices.move(n) + prices.further(count - 1, n));
  }
  void messages(ScheduleBuilder& to) const {
    const auto [count, n] = to.segments();
    const int begin = to.next();
    const bool down = way == Way::kDown;
    for (int k = 0; k < count && !to.full(); ++k) {
      for (int hop = 0; hop + 1 < to.p; ++hop) {
        const int from = down ? hop : to.p - 1 - hop;
        to.add(begin + k + hop, from, down ? from + 1 : from - 1, n);
      }
    }
  }
  double departure(Member member, const Prices& prices) const {
    const auto [count, n] = prices.segments();
    return occupied(member, count, n, prices.cost);
  }
};

/// Along a complete binary tree [PG], which has floor_log2(p) levels below its root. Closed forms
/// fill its lowest level with first children before second children; messages fill it from the
/// left.
struct Binary {
  Way way;
  bool from_last = false;  ///< members are numbered from the last one on
  bool half = false;       ///< of the vector, else all of it

  double end(double begin, const Prices& prices) const {
    const auto [count, n] = segments(prices);
    const int levels = floor_log2(prices.p);
    const int lowest = prices.p - prices.power() + 1;  // members of that level
    const double move = prices.move(n);
    const double next = prices.next(n);
    // Of the further segments, a message each for each child of the root.
    const double behind = (count - 1) * std::min(2, prices.p - 1) * next;
    if (way == Way::kUp) {  // a parent takes the second child's message after the first one's
      const bool has_second = lowest > 1 << (levels - 1);
      return begin + (levels * move + (levels - 1 + (has_second ? 1 : 0)) * next + behind);
    }
    // A second child gets its message a gap after the first. Member x of the lowest level is a
    // second child once for each bit set in x.
    const auto last = static_cast<unsigned>(lowest - 1);
    const int seconds = std::max(std::popcount(last), static_cast<int>(std::bit_width(last)) - 1);
    return begin +
           (std::max((levels - 1) * (move + next), levels * move + seconds * next) + behind);
  }
  void messages(ScheduleBuilder& to) const {
    const auto depth_of = [](int member) { return floor_log2(member + 1); };
    const auto [count, n] = segments(to);
    const int begin = to.next();
    const int levels = depth_of(to.p - 1);
    to.backwards = from_last;
    for (int k = 0; k < count && !to.full(); ++k) {
      for (int child = 1; child < to.p; ++child) {
        const int parent = (child - 1) / 2;
        if (way == Way::kDown) {
          to.add(begin + k + depth_of(parent), parent, child, n);
        } else {
          to.add(begin + k + levels - depth_of(child), child, parent, n);
        }
      }
    }
    to.backwards = false;
  }
  double departure(Member member, const Prices& prices) const {
    const int children = member == Member::kRoot ? std::min(2, prices.p - 1) : 1;
    return children * along_edge(member, prices);
  }
  double along_edge(Member member, const Prices& prices) const {
    const auto [count, n] = segments(prices);
    return occupied(member, count, n, prices.cost);
  }

 private:
  Segments segments(const Sizes& sizes) const {
    return {half ? sizes.payload / 2 : sizes.payload, sizes.segment};
  }
};

/// Each half of the vector down one side of a binary tree, then the halves are swapped in pairs,
/// the root with the last member [PG].
struct SplitBinary {
  static constexpr Binary kTree{Way::kDown, false, true};

  double end(double begin, const Prices& prices) const {
    const double half = prices.payload / 2;
    if (prices.p == 2) return begin + (prices.next(half) + prices.move(half));
    return kTree.end(begin, prices) + prices.move(half);
  }
  void messages(ScheduleBuilder& to) const {
    kTree.messages(to);
    const double half = to.payload / 2;
    const int step = to.next();
    for (int member = 1; member + 1 < to.p; member += 2) {
      to.add(step, member, member + 1, half);
      to.add(step, member + 1, member, half);
    }
    if (to.p % 2 == 0) to.add(step, 0, to.p - 1, half);
  }
  double departure(Member member, const Prices& prices) const {
    const double half = prices.payload / 2;
    const double one = kTree.along_edge(member, prices);
    if (member != Member::kRoot) return one + prices.cost.receive(half) + prices.cost.send(half);
    return 2 * one + (prices.p > 2 && prices.p % 2 == 0 ? prices.cost.send(half) : 0);
  }
};

/// The last member, which has the result, sends it to the root.
struct Forward {
  double end(double begin, const Prices& prices) const {
    return begin + prices.move(prices.payload);
  }
  void messages(ScheduleBuilder& to) const { to.add(to.next(), to.p - 1, 0, to.payload); }
  double departure(Member, const Prices&) const { return 0; }  // leaves take no part
};

}  // namespace rubato::phases
