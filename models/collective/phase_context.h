#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/collective/collective_schedule.h"

// Phases: the parts of which the algorithms of collective operations consist (algorithm_table.cc).
// Each kind of phase is a type with
//
//   double end(double begin, const Prices&) const    the closed form of its time
//   void messages(ScheduleBuilder&) const            its messages
//   double departure(Member, const Prices&) const    time of a member that does not wait
//
// side by side in tree_phases.h, round_phases.h and fold_phases.h. A type that lacks one does not
// compile; only phases that are Together (algorithm_table.h) have no departure().
//
// The machine model is LogGP (Alexandrov, Ionescu, Schauser and Scheiman, 1995) with sizes in every
// term: a message takes `move`, the next one of the same sender or to the same receiver follows
// `gap` later, and in a reduction each message that arrives costs `combine` before the next is
// received. All members begin at once, at equal distances. A phase ends when the last member has
// its result: for phases in rounds after the sum of the longest message of each round, for others
// after the most expensive path through the tree.
//
// p members, n bytes as in algorithm_seconds(), K = floor(log2 p), r = p - 2^K.
//
// [TRG]  Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in
//        MPICH, 2005
// [PG]   Pjesivac-Grbovic et al., Performance Analysis of MPI Collective Operations, 2007
// [BHKUW] Bruck et al., Efficient Algorithms for All-to-All Communications, 1997

namespace rubato::phases {

inline int floor_log2(int p) {
  return std::bit_width(static_cast<unsigned>(p)) - 1;
}

/// How a vector is cut into equal segments.
struct Segments {
  double count = 1;
  double bytes = 0;

  Segments(double n, double segment)
      : count(segment > 0 && n > segment ? std::ceil(n / segment) : 1), bytes(n / count) {}
};

/// Bytes of a phase.
enum class Amount : uint8_t { kPayload, kShare, kAll };  ///< n, n/p, p n

/// What a message carries along an edge of a tree.
enum class Load : uint8_t {
  kVector,
  kShares,  ///< an equal share of the vector for each member of the subtree
  kBlocks,  ///< the blocks of the members of the subtree
};

/// What the messages of a collective depend on.
struct Sizes {
  int p;
  double payload;  ///< n
  double segment;  ///< of the algorithm's choice

  double of(Amount amount) const {
    return amount == Amount::kPayload ? payload
           : amount == Amount::kShare ? payload / p
                                      : p * payload;
  }
  double of(Load load, int members) const {
    return load == Load::kVector ? payload
                                 : members * (load == Load::kShares ? payload / p : payload);
  }
  Segments segments() const { return {payload, segment}; }
  int power() const { return 1 << floor_log2(p); }  ///< 2^K
  int extra() const { return p - power(); }         ///< r
};

/// The costs of messages, with or without the arithmetic of a reduction.
struct Prices : Sizes {
  const RoundCost& cost;
  bool combines = false;

  double move(double n) const { return cost.move(n) + (combines ? cost.combine(n) : 0); }
  /// Cost of each further message of a member that sends, or receives, several in a row.
  double next(double n) const { return cost.gap(n) + (combines ? cost.combine(n) : 0); }
  double further(double count, double n) const { return count > 0 ? count * next(n) : 0; }
  double in_a_row(double count, double n) const { return further(count - 1, n) + move(n); }
};

/// The members that do not wait: the root of a one-to-all, another member of it whose data has
/// arrived already, and a leaf of an all-to-one.
enum class Member : uint8_t { kRoot, kLateReceiver, kLeaf };

/// Collects the messages of phases, by step. Members are numbered from the root on.
class ScheduleBuilder : public Sizes {
 public:
  bool combines = false;   ///< the following messages are combined with the receiver's data
  bool backwards = false;  ///< their members are numbered from the last one on

  explicit ScheduleBuilder(const Sizes& sizes) : Sizes(sizes) { assert(p > 1); }

  /// The first step behind all existing ones.
  int next() const { return next_; }

  /// True if there are more messages than kMostScheduled.
  bool full() const { return messages_.size() > kMostScheduled; }

  /// `first`: as in ScheduledMessage; any number of the block, modulo p.
  void add(int step, int from, int to, double bytes, int first = ScheduledMessage::kShare) {
    if (full()) return;
    from %= p, to %= p;
    if (backwards) from = p - 1 - from, to = p - 1 - to;
    if (first != ScheduledMessage::kShare) first %= p;
    messages_.push_back({step, from, to, bytes, combines, first});
    next_ = std::max(next_, step + 1);
  }

  /// In the next step, each of the first `members` sends the blocks from first(member) on to
  /// partner(member).
  template <typename Partner, typename First>
  void round(int members, double bytes, Partner partner, First first) {
    if (full()) return;
    const int step = next_;
    for (int member = 0; member < members; ++member) {
      const int to = partner(member) % p;
      if (to != member) add(step, member, to, bytes, first(member));
    }
  }

  /// The messages, ordered by step, with local ranks.
  std::vector<ScheduledMessage> numbered_from(int root) && {
    std::stable_sort(messages_.begin(), messages_.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
    for (ScheduledMessage& message : messages_) {
      message.from = (message.from + root) % p;
      message.to = (message.to + root) % p;
      if (message.first != ScheduledMessage::kShare) message.first = (message.first + root) % p;
    }
    return std::move(messages_);
  }

 private:
  int next_ = 0;
  std::vector<ScheduledMessage> messages_;
};

}  // namespace rubato::phases
