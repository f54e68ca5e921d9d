#pragma once

#include "models/collective/phase_context.h"

// Phases in rounds, in each of which every member has a partner.

namespace rubato::phases {

/// The member, or block, this far ahead; to be taken modulo p.
inline auto ahead_by(int distance) {
  return [distance](int member) { return member + distance; };
}

inline int no_block(int) {
  return ScheduledMessage::kShare;
}

/// p - 1 rounds in which each member passes on to the next member what it got before.
struct Ring {
  Amount amount;
  bool own_first = true;  ///< its own block at first, else that of the member before it

  double end(double begin, const Prices& prices) const {
    return begin + (prices.p - 1) * prices.move(prices.of(amount));
  }
  void messages(ScheduleBuilder& to) const {
    const int last = to.p - (own_first ? 0 : 1);
    for (int round = 0; round < to.p - 1; ++round)
      to.round(to.p, to.of(amount), ahead_by(1), ahead_by(last - round));
  }
};

/// Rounds at distance 1, 2, 4, ... with some of the blocks.
struct Doubling {
  enum Carry : uint8_t {
    /// All that the sender has, in the last round the missing ones. Recursive doubling where p is a
    /// power of two, else Bruck's allgather: [TRG] 4.1, [BHKUW].
    kGathered,
    kNeeded,     ///< all that the partner still needs: reduce-scatter of [TRG] 4.4
    kForwarded,  ///< those whose distance has that bit: all-to-all of [BHKUW]
  } carry;
  Amount block;

  double end(double begin, const Prices& prices) const {
    const double n = prices.of(block);
    double seconds = 0;
    for (int distance = 1; distance < prices.p; distance *= 2)
      seconds += prices.move(blocks(prices.p, distance) * n);
    return begin + seconds;
  }
  void messages(ScheduleBuilder& to) const {
    for (int distance = 1; distance < to.p; distance *= 2) {
      const auto partner = ahead_by(carry == kGathered ? to.p - distance : distance);
      to.round(to.p, blocks(to.p, distance) * to.of(block), partner, [&](int member) {
        return carry == kGathered ? member : carry == kNeeded ? partner(member) : no_block(member);
      });
    }
  }

 private:
  /// Blocks in a message.
  int blocks(int p, int distance) const {
    return carry == kGathered ? std::min(distance, p - distance)
           : carry == kNeeded
               ? p - distance
               : p / (2 * distance) * distance + std::max(0, p % (2 * distance) - distance);
  }
};

/// Rounds at distance 1, 2, 4, ... with the payload (Hensgen, Finkel and Manber, 1988).
struct Dissemination {
  bool wraps;  ///< the last members send to the first ones, else to none

  double end(double begin, const Prices& prices) const {
    const int rounds = std::bit_width(static_cast<unsigned>(prices.p - 1));
    return begin + rounds * prices.move(prices.payload);
  }
  void messages(ScheduleBuilder& to) const {
    for (int distance = 1; distance < to.p; distance *= 2)
      to.round(to.p - (wraps ? 0 : distance), to.payload, ahead_by(distance), no_block);
  }
};

/// An empty message circulates twice.
struct Token {
  double end(double begin, const Prices& prices) const {
    return begin + 2.0 * prices.p * prices.move(0);
  }
  void messages(ScheduleBuilder& to) const {
    for (int hop = 0; hop < 2 * to.p; ++hop) to.add(to.next(), hop, hop + 1, 0);
  }
};

/// Allgather between neighbours, first on one side, then two blocks at a time on both sides in turn
/// (Chen et al., 2005). An odd p uses the ring.
struct NeighbourExchange {
  double end(double begin, const Prices& prices) const {
    if (prices.p % 2 != 0) return Ring{Amount::kPayload}.end(begin, prices);
    const double n = prices.payload;
    return begin + (prices.move(n) + (prices.p / 2 - 1) * prices.move(2 * n));
  }
  void messages(ScheduleBuilder& to) const {
    if (to.p % 2 != 0) return Ring{Amount::kPayload}.messages(to);
    const auto right_if = [p = to.p](bool even_ones) {
      return [=](int member) {
        return member % 2 == (even_ones ? 0 : 1) ? member + 1 : member + p - 1;
      };
    };
    to.round(to.p, to.payload, right_if(true), ahead_by(0));
    for (int i = 1; i < to.p / 2; ++i) {
      // The blocks of a pair, which have come i - 1 members from there.
      const auto right = right_if(i % 2 == 0);
      to.round(to.p, 2 * to.payload, right, [&](int member) {
        const bool to_the_right = right(member) == member + 1;
        return (to_the_right ? member + to.p - (i - 1) : member + i - 1) / 2 * 2;
      });
    }
  }
};

/// Messages from each member to every other, `most` receivers at a time.
struct Batches {
  static constexpr int kAll = 0;
  int most;

  double end(double begin, const Prices& prices) const {
    const int batch = most == kAll ? prices.p - 1 : most;
    const int full = (prices.p - 1) / batch;
    const int rest = (prices.p - 1) % batch;
    const double n = prices.payload;
    return begin + ((full > 0 ? full * prices.in_a_row(batch, n) : 0) +
                    (rest > 0 ? prices.in_a_row(rest, n) : 0));
  }
  void messages(ScheduleBuilder& to) const {
    const int batch = most == kAll ? to.p - 1 : most;
    for (int first = 1; first < to.p && !to.full(); first += batch) {
      const int step = to.next();
      const int end = std::min(to.p, first + batch);
      for (int distance = first; distance < end && !to.full(); ++distance) {
        for (int member = 0; member < to.p; ++member)
          to.add(step, member, member + distance, to.payload, member + distance);
      }
    }
  }
};

/// Opposite members, the first and the last, ..., swap their blocks. No
/// message if p = 2: BlockHalving has put the blocks in place.
struct Mirror {
  double end(double begin, const Prices& prices) const {
    return prices.p > 2 ? begin + prices.move(prices.payload) : begin;
  }
  void messages(ScheduleBuilder& to) const {
    const auto opposite = [&](int member) { return to.p - 1 - member; };
    if (to.p > 2) to.round(to.p, to.payload, opposite, opposite);
  }
};

}  // namespace rubato::phases
