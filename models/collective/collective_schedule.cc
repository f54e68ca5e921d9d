// The algorithms of collective_algorithms.cc as lists of messages instead of closed forms, for
// collectives that are replayed message by message. Sources are the same.

#include "models/collective/collective_schedule.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <utility>

#include "models/collective/algorithm_parts.h"

namespace rubato {
namespace {

constexpr int kShare = ScheduledMessage::kShare;

/// Messages by step. Members are numbered from the root on.
class Schedule {
 public:
  explicit Schedule(int p) : p_(p) {}

  int p() const { return p_; }
  /// The first step behind all existing ones.
  int next() const { return next_; }

  /// Whether the following messages are combined with the receiver's data.
  void combine(bool combines) { combines_ = combines; }

  /// Whether members of the following messages are numbered from the last one on.
  void count_backwards(bool backwards) { backwards_ = backwards; }

  /// True if there are more messages than kMostScheduled.
  bool full() const { return messages_.size() > kMostScheduled; }

  /// `first`: as in ScheduledMessage; any number of the block, modulo p.
  void add(int step, int from, int to, double bytes, int first = kShare) {
    if (full()) return;
    from %= p_, to %= p_;
    if (backwards_) from = p_ - 1 - from, to = p_ - 1 - to;
    messages_.push_back({step, from, to, bytes, combines_, first == kShare ? first : first % p_});
    next_ = std::max(next_, step + 1);
  }

  /// In the next step, each of the first `members` sends the blocks from first(member) on to
  /// partner(member).
  template <typename Partner, typename First>
  void round(int members, double bytes, Partner partner, First first) {
    const int step = next_;
    for (int member = 0; member < members; ++member) {
      const int to = partner(member) % p_;
      if (to != member) add(step, member, to, bytes, first(member));
    }
  }
  template <typename Partner, typename First>
  void round(double bytes, Partner partner, First first) {
    round(p_, bytes, partner, first);
  }

  std::vector<ScheduledMessage> numbered_from(int root) && {
    std::stable_sort(messages_.begin(), messages_.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
    for (ScheduledMessage& message : messages_) {
      message.from = (message.from + root) % p_;
      message.to = (message.to + root) % p_;
      if (message.first != kShare) message.first = (message.first + root) % p_;
    }
    return std::move(messages_);
  }

 private:
  int p_;
  int next_ = 0;
  bool combines_ = false;
  bool backwards_ = false;
  std::vector<ScheduledMessage> messages_;
};

int no_block(int) {
  return kShare;
}
int own_block(int member) {
  return member;
}

/// `block`: the first block of the subtree of a member.
template <typename Bytes>
void spread(Schedule& to, int radix, Bytes bytes, int (*block)(int) = no_block) {
  // A member's parent lacks its last digit other than 0, in base `radix`; farthest children first.
  // In binomial trees, which are MPICH's, a member sends to one child after the other; in k-nomial
  // ones, which are Open MPI's, to all at once.
  const int begin = to.next();
  int distance = 1;
  while (distance * radix < to.p()) distance *= radix;
  for (int round = 0; distance >= 1; distance /= radix, ++round) {
    for (int parent = 0; parent < to.p(); parent += distance * radix) {
      int depth = 0;
      for (int rest = parent; rest > 0; rest /= radix) depth += rest % radix != 0;
      for (int k = 1; k < radix && parent + k * distance < to.p(); ++k) {
        const int child = parent + k * distance;
        to.add(begin + (radix == 2 ? round : depth), parent, child,
               bytes(std::min(distance, to.p() - child)), block(child));
      }
    }
  }
}

template <typename Bytes>
void collect(Schedule& to, Bytes bytes, int (*block)(int) = no_block) {
  const int begin = to.next();
  int step = begin;
  for (int distance = 1; distance < to.p(); distance *= 2, ++step) {
    for (int child = distance; child < to.p(); child += 2 * distance)
      to.add(step, child, child - distance, bytes(std::min(distance, to.p() - child)),
             block(child));
  }
}

void linear_down(Schedule& to, double n, int (*block)(int) = no_block) {
  const int step = to.next();
  for (int member = 1; member < to.p(); ++member) to.add(step, 0, member, n, block(member));
}

void linear_up(Schedule& to, double n, int (*block)(int) = no_block) {
  const int step = to.next();
  for (int member = 1; member < to.p(); ++member) to.add(step, member, 0, n, block(member));
}

void chain(Schedule& to, const Segments& segments, bool down) {
  const int begin = to.next();
  for (int k = 0; k < segments.count && !to.full(); ++k) {
    for (int hop = 0; hop + 1 < to.p(); ++hop) {
      const int from = down ? hop : to.p() - 1 - hop;
      to.add(begin + k + hop, from, down ? from + 1 : from - 1, segments.bytes);
    }
  }
}

int depth_of(int member) {
  return floor_log2(member + 1);
}

/// A complete binary tree whose members are numbered level by level.
void binary(Schedule& to, const Segments& segments, bool down) {
  const int begin = to.next();
  const int levels = depth_of(to.p() - 1);
  for (int k = 0; k < segments.count && !to.full(); ++k) {
    for (int child = 1; child < to.p(); ++child) {
      const int parent = (child - 1) / 2;
      if (down) {
        to.add(begin + k + depth_of(parent), parent, child, segments.bytes);
      } else {
        to.add(begin + k + levels - depth_of(child), child, parent, segments.bytes);
      }
    }
  }
}

void allgather_doubling(Schedule& to, double b) {
  const int p = to.p();
  for (int have = 1; have < p; have *= 2)
    to.round(
        std::min(have, p - have) * b, [&](int member) { return member + p - have; }, own_block);
}

/// Each member passes on what it got before, which is its own block, or the one of the member
/// before it, at first.
void ring(Schedule& to, double b, bool own = true) {
  const int p = to.p();
  for (int i = own ? 0 : 1; i < (own ? p - 1 : p); ++i) {
    to.round(
        b, [](int member) { return member + 1; }, [&](int member) { return member + p - i; });
  }
}

/// Reduces the members to the largest power of two: the others send to some of these first, and
/// receive the result at the end. The remaining members are renumbered.
class Fold {
 public:
  enum class Stay {
    kFirst,  ///< the last members send to the first ones
    kOdd,    ///< of the first pairs the odd member remains
    kEven,   ///< the even one remains: with the root
  };
  Fold(Schedule& to, Stay stay)
      : to_(&to), stay_(stay), power_(1 << floor_log2(to.p())), extra_(to.p() - power_) {}

  int power() const { return power_; }
  int extra() const { return extra_; }
  void over(double n) const { all(n, false); }
  void back(double n) const {
    to_->combine(false);
    all(n, true);
  }
  void add(int step, int from, int to, double n, int first = kShare) const {
    to_->add(step, member(from), member(to), n, first);
  }
  /// Each member sends to the one whose number differs in that bit.
  void exchange(int bit, double n) const {
    const int step = to_->next();
    for (int i = 0; i < power_; ++i) add(step, i, i ^ bit, n);
  }

 private:
  int member(int i) const {
    if (stay_ == Stay::kFirst) return i;
    return i >= extra_ ? i + extra_ : 2 * i + (stay_ == Stay::kOdd ? 1 : 0);
  }
  void all(double n, bool back) const {
    const int step = to_->next();
    for (int i = 0; i < extra_; ++i) {
      const int other = stay_ == Stay::kFirst ? power_ + i : member(i) ^ 1;
      if (back) {
        to_->add(step, member(i), other, n);
      } else {
        to_->add(step, other, member(i), n);
      }
    }
  }

  Schedule* to_;
  Stay stay_;
  int power_, extra_;
};

void recursive_doubling(Schedule& to, Fold::Stay stay, double n, bool reduces) {
  const Fold fold(to, stay);
  to.combine(reduces);
  fold.over(n);
  for (int distance = 1; distance < fold.power(); distance *= 2) fold.exchange(distance, n);
  fold.back(n);
}

void rabenseifner(Schedule& to, double n, bool to_all) {
  const Fold fold(to, to_all ? Fold::Stay::kOdd : Fold::Stay::kEven);
  const int power = fold.power();
  to.combine(true);
  fold.over(n);
  for (int distance = power / 2, part = 2; distance >= 1; distance /= 2, part *= 2)
    fold.exchange(distance, n / part);
  to.combine(false);
  for (int distance = 1, part = power; distance < power; distance *= 2, part /= 2) {
    if (to_all) {
      fold.exchange(distance, n / part);
      continue;
    }
    // A gather to the root.
    const int step = to.next();
    for (int member = distance; member < power; member += 2 * distance)
      fold.add(step, member, member - distance, n / part);
  }
  if (to_all) fold.back(n);
}

/// `mirrored`: each member ends with the block of the opposite one.
void recursive_halving(Schedule& to, double b, bool mirrored) {
  const Fold fold(to, Fold::Stay::kOdd);
  const int p = to.p();
  // The remaining members below the number of those folded act for two.
  const auto begin = [&](int member) { return member + std::min(member, fold.extra()); };
  to.combine(true);
  fold.over(p * b);
  for (int half = fold.power() / 2; half >= 1; half /= 2) {
    const int step = to.next();
    for (int member = 0; member < fold.power(); ++member) {
      const int other = member ^ half;
      const int first = begin(other / half * half), end = begin((other / half + 1) * half);
      fold.add(step, member, other, (end - first) * b, mirrored ? p - end : first);
    }
  }
  to.combine(false);
  const int step = to.next();
  for (int even = 0; even < 2 * fold.extra(); even += 2)
    to.add(step, even + 1, even, b, mirrored ? p - 1 - even : even);
}

void bcast(Schedule& to, AlgorithmChoice choice, double n) {
  const int p = to.p();
  const auto whole = [n](int) { return n; };
  const auto share = [n, p](int members) { return members * (n / p); };
  switch (choice.algorithm) {
    case Algorithm::kLinear:
      return linear_down(to, n);
    case Algorithm::kChain:
      return chain(to, Segments(n, choice.segment), true);
    case Algorithm::kBinary:
      return binary(to, Segments(n, choice.segment), true);
    case Algorithm::kSplitBinary: {
      binary(to, Segments(n / 2, choice.segment), true);
      const int step = to.next();  // the halves are swapped in pairs, the root with the last
      for (int member = 1; member + 1 < p; member += 2) {
        to.add(step, member, member + 1, n / 2);
        to.add(step, member + 1, member, n / 2);
      }
      if (p % 2 == 0) to.add(step, 0, p - 1, n / 2);
      return;
    }
    case Algorithm::kKnomial:
      return spread(to, kRadix, whole);
    case Algorithm::kScatterRing:
      spread(to, 2, share);
      return ring(to, n / p);
    case Algorithm::kScatterRecursiveDoubling:
      spread(to, 2, share);
      return allgather_doubling(to, n / p);
    default:
      return spread(to, 2, whole);
  }
}

void barrier(Schedule& to, Algorithm algorithm) {
  const auto nothing = [](int) { return 0.0; };
  switch (algorithm) {
    case Algorithm::kLinear:
      linear_up(to, 0);
      return linear_down(to, 0);
    case Algorithm::kTree:
      collect(to, nothing);
      return spread(to, 2, nothing);
    case Algorithm::kDoubleRing:
      for (int step = 0; step < 2 * to.p(); ++step) to.add(step, step, step + 1, 0);
      return;
    case Algorithm::kRecursiveDoubling:
      return recursive_doubling(to, Fold::Stay::kFirst, 0, false);
    default:
      for (int distance = 1; distance < to.p(); distance *= 2) {
        to.round(
            0, [&](int member) { return member + distance; }, no_block);
      }
  }
}

void gather(Schedule& to, Algorithm algorithm, double n) {
  if (algorithm == Algorithm::kBinomial) {
    return collect(
        to, [n](int members) { return members * n; }, own_block);
  }
  if (algorithm != Algorithm::kLinearSync) return linear_up(to, n, own_block);
  for (int member = 1; member < to.p(); ++member) {
    to.add(to.next(), 0, member, 0);
    to.add(to.next(), member, 0, n, member);
  }
}

void allgather(Schedule& to, Algorithm algorithm, double n) {
  const int p = to.p();
  if (algorithm == Algorithm::kRing || (algorithm == Algorithm::kNeighbourExchange && p % 2 != 0)) {
    return ring(to, n);
  }
  if (algorithm != Algorithm::kNeighbourExchange) return allgather_doubling(to, n);
  const auto right_if = [p](bool even_ones) {
    return
        [=](int member) { return member % 2 == (even_ones ? 0 : 1) ? member + 1 : member + p - 1; };
  };
  to.round(n, right_if(true), own_block);
  for (int i = 1; i < p / 2; ++i) {
    // The blocks of a pair, which have come i - 1 members from there.
    const auto right = right_if(i % 2 == 0);
    to.round(2 * n, right, [&](int member) {
      const bool to_the_right = right(member) == member + 1;
      return (to_the_right ? member + p - (i - 1) : member + i - 1) / 2 * 2;
    });
  }
}

void alltoall(Schedule& to, Algorithm algorithm, double n) {
  const int p = to.p();
  if (algorithm == Algorithm::kBruck) {
    for (int bit = 1; bit < p; bit *= 2) {
      const int blocks = p / (2 * bit) * bit + std::max(0, p % (2 * bit) - bit);
      to.round(
          blocks * n, [&](int member) { return member + bit; }, no_block);
    }
    return;
  }
  const int batch = algorithm == Algorithm::kPairwise    ? 1
                    : algorithm == Algorithm::kScattered ? kBatch
                                                         : p - 1;
  for (int first = 1; first < p && !to.full(); first += batch) {
    const int step = to.next();
    for (int distance = first; distance < std::min(p, first + batch); ++distance) {
      for (int member = 0; member < p; ++member)
        to.add(step, member, member + distance, n, member + distance);
    }
  }
}

void allreduce(Schedule& to, Algorithm algorithm, double n) {
  switch (algorithm) {
    case Algorithm::kLinear:
      to.combine(true);
      linear_up(to, n);
      to.combine(false);
      return linear_down(to, n);
    case Algorithm::kRecursiveDoubling:
      return recursive_doubling(to, Fold::Stay::kOdd, n, true);
    case Algorithm::kRabenseifner:
      return rabenseifner(to, n, true);
    default:
      to.combine(true);
      ring(to, n / to.p());
      to.combine(false);
      return ring(to, n / to.p());
  }
}

void reduce(Schedule& to, AlgorithmChoice choice, double n) {
  const Segments segments(n, choice.segment);
  to.combine(true);
  switch (choice.algorithm) {
    case Algorithm::kLinear:
      return linear_up(to, n);
    case Algorithm::kChain:
      return chain(to, segments, false);
    case Algorithm::kBinary:
      return binary(to, segments, false);
    case Algorithm::kInOrderBinary:  // the root is the last member, which sends the result on
      to.count_backwards(true);
      binary(to, segments, false);
      to.count_backwards(false);
      to.combine(false);
      return to.add(to.next(), to.p() - 1, 0, n);
    case Algorithm::kRabenseifner:
      return rabenseifner(to, n, false);
    default:
      return collect(to, [n](int) { return n; });
  }
}

void reduce_scatter(Schedule& to, Algorithm algorithm, double b) {
  const int p = to.p();
  const auto opposite = [p](int member) { return p - 1 - member; };
  to.combine(true);
  switch (algorithm) {
    case Algorithm::kButterfly:
      recursive_halving(to, b, p > 2);
      if (p > 2) to.round(b, opposite, opposite);
      return;
    case Algorithm::kRecursiveHalving:
      return recursive_halving(to, b, false);
    case Algorithm::kRecursiveDoubling:
      for (int have = 1; have < p; have *= 2) {
        const auto partner = [&](int member) { return member + have; };
        to.round((p - have) * b, partner, partner);
      }
      return;
    case Algorithm::kRing:
      return ring(to, b, false);
    default:
      return alltoall(to, Algorithm::kPairwise, b);
  }
}

void scan(Schedule& to, Algorithm algorithm, double n) {
  const int p = to.p();
  to.combine(true);
  if (algorithm == Algorithm::kLinear) return chain(to, Segments(n, 0), true);
  for (int distance = 1; distance < p; distance *= 2)
    to.round(
        p - distance, n, [&](int member) { return member + distance; }, no_block);
}

}  // namespace

std::vector<ScheduledMessage> algorithm_schedule(CollectiveOp op, AlgorithmChoice choice, int p,
                                                 double bytes, int root) {
  assert(p > 1);
  Schedule schedule(p);
  switch (op) {
    case CollectiveOp::kBarrier:
      barrier(schedule, choice.algorithm);
      break;
    case CollectiveOp::kBcast:
      bcast(schedule, choice, bytes);
      break;
    case CollectiveOp::kGather:
    case CollectiveOp::kGatherv:
      gather(schedule, choice.algorithm, bytes);
      break;
    case CollectiveOp::kScatter:
    case CollectiveOp::kScatterv:
      if (choice.algorithm == Algorithm::kBinomial) {
        spread(
            schedule, 2, [bytes](int members) { return members * bytes; }, own_block);
      } else {
        linear_down(schedule, bytes, own_block);
      }
      break;
    case CollectiveOp::kAllgather:
    case CollectiveOp::kAllgatherv:
    case CollectiveOp::kCreateHandle:
    case CollectiveOp::kDestroyHandle:
      allgather(schedule, choice.algorithm, bytes);
      break;
    case CollectiveOp::kAlltoall:
    case CollectiveOp::kAlltoallv:
    case CollectiveOp::kAlltoallw:
      alltoall(schedule, choice.algorithm, bytes);
      break;
    case CollectiveOp::kAllreduce:
      allreduce(schedule, choice.algorithm, bytes);
      break;
    case CollectiveOp::kReduce:
      reduce(schedule, choice, bytes);
      break;
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kReduceScatterBlock:
      reduce_scatter(schedule, choice.algorithm, bytes);
      break;
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:
      scan(schedule, choice.algorithm, bytes);
      break;
  }
  return std::move(schedule).numbered_from(is_rooted(op) ? std::max(root, 0) : 0);
}

namespace {

/// The operations of which an algorithm is composed, in order; none if it is not composed.
std::vector<std::pair<CollectiveOp, double>> parts_of(CollectiveOp op, Algorithm algorithm, int p,
                                                      double bytes) {
  using Op = CollectiveOp;
  switch (algorithm) {
    case Algorithm::kReduceBcast:
      return {{Op::kReduce, bytes}, {Op::kBcast, bytes}};
    case Algorithm::kGatherBcast:
      return {{op == Op::kAllgatherv ? Op::kGatherv : Op::kGather, bytes}, {Op::kBcast, p * bytes}};
    case Algorithm::kReduceScatter:
      return {{Op::kReduce, p * bytes},
              {op == Op::kReduceScatter ? Op::kScatterv : Op::kScatter, bytes}};
    default:
      return {};
  }
}

/// The algorithms of `choices` over `bytes`; segments are bytes here.
std::vector<ScheduledMessage> schedule_of(CollectiveOp op,
                                          const std::vector<AlgorithmChoice>& choices, int p,
                                          double bytes, int root) {
  const auto parts = parts_of(op, choices[0].algorithm, p, bytes);
  if (parts.empty()) return algorithm_schedule(op, choices[0], p, bytes, root);
  std::vector<ScheduledMessage> schedule;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int steps = schedule.empty() ? 0 : schedule.back().step + 1;
    for (ScheduledMessage message :
         algorithm_schedule(parts[i].first, choices[i + 1], p, parts[i].second, 0)) {
      message.step += steps;
      schedule.push_back(message);
    }
  }
  return schedule;
}

/// The algorithms that `model` chooses, as schedule_of() takes them.
std::vector<AlgorithmChoice> choices_of(CollectiveOp op, const CollectiveModel& model, int p,
                                        double bytes) {
  std::vector<AlgorithmChoice> choices = {model.choose(op, p, bytes)};
  for (const auto& [part, size] : parts_of(op, choices[0].algorithm, p, bytes))
    choices.push_back(model.choose(part, p, size));
  return choices;
}

bool makes_handles(CollectiveOp op) {
  return op == CollectiveOp::kCreateHandle || op == CollectiveOp::kDestroyHandle;
}

}  // namespace

std::vector<ScheduledMessage> collective_schedule(CollectiveOp op, const CollectiveModel& model,
                                                  int p, double bytes, int root) {
  if (makes_handles(op))
    return collective_schedule(CollectiveOp::kAllgather, model, p, kHandleBytes, root);
  return schedule_of(op, choices_of(op, model, p, bytes), p, bytes, root);
}

std::vector<AlgorithmChoice> schedule_choices(CollectiveOp op, const CollectiveModel& model, int p,
                                              double bytes) {
  auto choices = choices_of(op, model, p, bytes);
  const auto parts = parts_of(op, choices[0].algorithm, p, bytes);
  for (size_t i = 0; i < choices.size(); ++i) {
    AlgorithmChoice& choice = choices[i];
    const double n = (i == 0 ? bytes : parts[i - 1].second) *
                     (choice.algorithm == Algorithm::kSplitBinary ? 0.5 : 1);
    const double count = Segments(n, choice.segment).count;
    // A little more than a segment, so that rounding does not add one.
    constexpr double kMore = 1 + 1e-9;
    choice.segment = count > 1 ? n / bytes / count * kMore : 0;
  }
  return choices;
}

std::vector<ScheduledMessage> unit_schedule(CollectiveOp op,
                                            const std::vector<AlgorithmChoice>& choices, int p) {
  return schedule_of(op, choices, p, 1, 0);
}

}  // namespace rubato
