// Costs of the algorithms: by hand for a few, and for all of them against a simulation of their
// messages, member by member, on a machine where a message of n bytes takes L + n/B.

#include "models/collective/collective_algorithms.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <deque>
#include <map>

using namespace rubato;

namespace {

using A = Algorithm;
using Op = CollectiveOp;

// Latency 100, 1/B = 2, two messages in a row 30 and half the time on the wire apart, 0.5 a byte to
// combine.
double move(double n) {
  return 100 + 2 * n;
}
double gap(double n) {
  return 30 + n;
}
double combine(double n) {
  return n / 2;
}
const RoundCost kCost{move, gap, [](double n) { return 7 + n; }, combine,
                      [](double n) { return 3 + n; }};

double seconds(Op op, AlgorithmChoice choice, int p, double n) {
  return algorithm_seconds(op, choice, p, n, kCost, [](Op part, double bytes) {
    // Not a price, but a value that distinguishes the parts and their sizes.
    return 1000.0 * (static_cast<int>(part) + 1) + bytes;
  });
}

/// The messages of one collective: what each member does, in its order.
class Schedule {
 public:
  explicit Schedule(int p) : members_(p) {}

  void message(int from, int to, double bytes, bool reduces = false) {
    send(from, to, bytes);
    receive(to, from, bytes, reduces);
  }
  void send(int from, int to, double bytes) {
    members_[from].steps.push_back({Step::kSend, to, bytes, false});
  }
  void receive(int at, int from, double bytes, bool reduces = false) {
    members_[at].steps.push_back({Step::kReceive, from, bytes, reduces});
  }
  /// No member begins the next operation before all have finished the previous one.
  void round() {
    for (Member& member : members_) member.steps.push_back({Step::kRound, 0, 0, false});
  }

  /// When the last member has done its last receive.
  double run() {
    for (;;) {
      bool any = false;
      for (size_t i = 0; i < members_.size(); ++i) {
        while (step(static_cast<int>(i))) any = true;
      }
      if (any) continue;
      if (!next_round()) break;
    }
    double last = 0;
    for (const Member& member : members_) {
      REQUIRE(member.next == member.steps.size());
      last = std::max(last, member.now);
    }
    return last;
  }

 private:
  struct Step {
    enum Kind { kSend, kReceive, kRound } kind;
    int peer;
    double bytes;
    bool reduces;
  };
  struct Member {
    std::vector<Step> steps;
    size_t next = 0;
    double now = 0;
    double out = -1e9, in = -1e9;  ///< of the last message
  };

  bool step(int rank) {
    Member& member = members_[rank];
    if (member.next == member.steps.size()) return false;
    const Step& step = member.steps[member.next];
    if (step.kind == Step::kRound) return false;
    if (step.kind == Step::kSend) {
      const double start = std::max(member.now, member.out);
      member.out = start + gap(step.bytes);
      arrivals_[{rank, step.peer}].push_back(start + move(step.bytes));
    } else {
      auto& arrivals = arrivals_[{step.peer, rank}];
      if (arrivals.empty()) return false;
      member.now = std::max({member.now, arrivals.front(), member.in + gap(step.bytes)});
      if (step.reduces) member.now += combine(step.bytes);
      member.in = member.now;
      arrivals.pop_front();
    }
    ++member.next;
    return true;
  }

  bool next_round() {
    double last = 0;
    for (const Member& member : members_) {
      if (member.next == member.steps.size()) return false;
      last = std::max(last, member.now);
    }
    for (Member& member : members_) {
      ++member.next;
      member.now = last;
    }
    return true;
  }

  std::vector<Member> members_;
  std::map<std::pair<int, int>, std::deque<double>> arrivals_;
};

int below(int p) {  // the largest power of two that is not above p
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(p)));
}

/// Size of the subtree of `rank` in a k-nomial tree: up to the next member of the level above.
int subtree(int rank, int p, int radix) {
  int level = 1;
  while (rank % (level * radix) == 0 && level * radix < p) level *= radix;
  return std::min(level, p - rank);
}

/// Down from 0: each member receives, then sends to its children, the farthest level first. `each`
/// says how much a subtree of so many members gets.
template <class Bytes>
void down(Schedule& s, int p, int radix, Bytes each) {
  for (int rank = 0; rank < p; ++rank) {
    int level = 1;  // of the children that are farthest
    while (level * radix < p && (rank == 0 || rank % (level * radix) == 0)) level *= radix;
    if (rank > 0) {
      int mine = 1;
      while (rank % (mine * radix) == 0) mine *= radix;
      const int parent = rank - rank / mine % radix * mine;
      s.receive(rank, parent, each(subtree(rank, p, radix)));
      level = mine / radix;
    }
    for (; level >= 1; level /= radix) {
      for (int j = 1; j < radix && rank + j * level < p; ++j)
        s.send(rank, rank + j * level, each(subtree(rank + j * level, p, radix)));
    }
  }
}

template <class Bytes>
void up(Schedule& s, int p, Bytes each, bool reduces) {
  for (int rank = 0; rank < p; ++rank) {
    int level = 1;
    for (; rank % (2 * level) == 0 && level < p; level *= 2) {
      if (rank + level < p)
        s.receive(rank, rank + level, each(subtree(rank + level, p, 2)), reduces);
    }
    if (rank > 0) s.send(rank, rank - level, each(subtree(rank, p, 2)));
  }
}

/// The complete binary tree: level l begins at 2^l - 1; the children of its x-th member are the
/// x-th and the (x + 2^l)-th of the next level.
int binary_parent(int rank, int& which) {
  int level = 0;
  while ((2 << level) - 1 <= rank) ++level;
  const int x = rank - ((1 << level) - 1);
  const int half = 1 << (level - 1);
  which = x / half;
  return half - 1 + x % half;
}

std::vector<std::vector<int>> binary_children(int p) {
  std::vector<std::vector<int>> children(p);
  for (int rank = 1; rank < p; ++rank) {
    int which = 0;
    children[binary_parent(rank, which)].push_back(rank);
  }
  return children;
}

void binary(Schedule& s, int p, int segments, double bytes, bool to_root) {
  const auto children = binary_children(p);
  for (int rank = 0; rank < p; ++rank) {
    int which = 0;
    for (int i = 0; i < segments; ++i) {
      if (!to_root && rank > 0) s.receive(rank, binary_parent(rank, which), bytes);
      for (const int child : children[rank]) {
        if (to_root) {
          s.receive(rank, child, bytes, true);
        } else {
          s.send(rank, child, bytes);
        }
      }
      if (to_root && rank > 0) s.send(rank, binary_parent(rank, which), bytes);
    }
  }
}

void chain(Schedule& s, int p, int segments, double bytes, bool to_root) {
  for (int rank = 0; rank < p; ++rank) {
    for (int i = 0; i < segments; ++i) {
      if (!to_root && rank > 0) s.receive(rank, rank - 1, bytes);
      if (!to_root && rank + 1 < p) s.send(rank, rank + 1, bytes);
      if (to_root && rank + 1 < p) s.receive(rank, rank + 1, bytes, true);
      if (to_root && rank > 0) s.send(rank, rank - 1, bytes);
    }
  }
}

/// Everybody sends to the member `distance` ahead, and gets from the one as far behind.
void shift(Schedule& s, int p, int distance, double bytes, bool reduces = false) {
  for (int rank = 0; rank < p; ++rank) s.send(rank, (rank + distance) % p, bytes);
  for (int rank = 0; rank < p; ++rank) s.receive(rank, (rank + p - distance) % p, bytes, reduces);
  s.round();
}

void ring(Schedule& s, int p, double bytes, bool reduces) {
  for (int i = 0; i < p - 1; ++i) shift(s, p, 1, bytes, reduces);
}

void bruck_allgather(Schedule& s, int p, double b) {
  for (int have = 1; have < p; have *= 2) shift(s, p, have, std::min(have, p - have) * b);
}

/// The members beyond a power of two hand their vectors to neighbours; the rank of the i-th that
/// goes on.
std::vector<int> fold(Schedule& s, int p, double bytes, bool reduces = true) {
  const int extra = p - below(p);
  std::vector<int> left;
  for (int rank = 0; rank < p; ++rank) {
    if (rank < 2 * extra && rank % 2 == 0) {
      s.message(rank, rank + 1, bytes, reduces);
    } else {
      left.push_back(rank);
    }
  }
  s.round();
  return left;
}
void unfold(Schedule& s, int p, double bytes) {
  for (int rank = 0; rank < 2 * (p - below(p)); rank += 2) s.message(rank + 1, rank, bytes);
}

void exchange(Schedule& s, int a, int b, double to_a, double to_b, bool reduces) {
  s.send(a, b, to_b);
  s.send(b, a, to_a);
  s.receive(a, b, to_a, reduces);
  s.receive(b, a, to_b, reduces);
}

void recursive_doubling(Schedule& s, int p, double n, bool reduces) {
  const std::vector<int> left = fold(s, p, n, reduces);
  const int power = below(p);
  for (int distance = 1; distance < power; distance *= 2) {
    for (int i = 0; i < power; ++i) {
      if (i < (i ^ distance)) exchange(s, left[i], left[i ^ distance], n, n, reduces);
    }
    s.round();
  }
  unfold(s, p, n);
}

/// Halving of a vector in equal parts and back.
void rabenseifner(Schedule& s, int p, double n, bool to_all) {
  const std::vector<int> left = fold(s, p, n);
  const int power = below(p);
  for (int distance = power / 2; distance >= 1; distance /= 2) {
    const double part = n * distance / power;
    for (int i = 0; i < power; ++i) {
      if (i < (i ^ distance)) exchange(s, left[i], left[i ^ distance], part, part, true);
    }
    s.round();
  }
  for (int distance = 1; distance < power; distance *= 2) {
    const double part = n * distance / power;
    for (int i = 0; i < power; ++i) {
      if (i >= (i ^ distance)) continue;
      if (to_all) {
        exchange(s, left[i], left[i ^ distance], part, part, false);
      } else if (i % (2 * distance) == 0) {
        s.message(left[i ^ distance], left[i], part);
      }
    }
    s.round();
  }
  if (to_all) unfold(s, p, n);
}

/// Reduce-scatter of p blocks; a member that represents a folded one keeps two.
void recursive_halving(Schedule& s, int p, double b) {
  const int power = below(p);
  const int extra = p - power;
  const std::vector<int> left = fold(s, p, p * b);
  const auto blocks = [&](int first, int count) {
    double sum = 0;
    for (int i = first; i < first + count; ++i) sum += i < extra ? 2 : 1;
    return sum * b;
  };
  for (int half = power / 2; half >= 1; half /= 2) {
    for (int i = 0; i < power; ++i) {
      const int partner = i ^ half;
      if (i > partner) continue;
      const int first = i / half * half;
      exchange(s, left[i], left[partner], blocks(first, half), blocks(first + half, half), true);
    }
    s.round();
  }
  unfold(s, p, b);
}

void neighbours(Schedule& s, int p, double b) {
  for (int i = 0; i < p / 2; ++i) {
    const double bytes = i == 0 ? b : 2 * b;
    for (int rank = i % 2; rank < p; rank += 2)
      exchange(s, rank, (rank + 1) % p, bytes, bytes, false);
    s.round();
  }
}

void alltoall_bruck(Schedule& s, int p, double b) {
  for (int bit = 1; bit < p; bit *= 2) {
    int blocks = 0;
    for (int distance = 1; distance < p; ++distance) blocks += distance & bit ? 1 : 0;
    shift(s, p, bit, blocks * b);
  }
}

/// All messages of an all-to-all, `batch` of them under way at a time.
void at_once(Schedule& s, int p, double b, int batch) {
  for (int first = 1; first < p; first += batch) {
    const int end = std::min(p, first + batch);
    for (int distance = first; distance < end; ++distance) {
      for (int rank = 0; rank < p; ++rank) s.send(rank, (rank + distance) % p, b);
    }
    for (int distance = first; distance < end; ++distance) {
      for (int rank = 0; rank < p; ++rank) s.receive(rank, (rank + p - distance) % p, b);
    }
    s.round();
  }
}

void linear(Schedule& s, int p, double n, bool to_root, bool reduces = false) {
  for (int rank = 1; rank < p; ++rank)
    s.message(to_root ? rank : 0, to_root ? 0 : rank, n, reduces);
}

/// The messages of each algorithm, for n bytes in `segments`.
double simulated(Op op, AlgorithmChoice choice, int p, double n, int segments) {
  Schedule s(p);
  const auto vector = [n](int) { return n; };
  const auto blocks = [n](int members) { return members * n; };
  const auto shares = [n, p](int members) { return members * (n / p); };
  const A a = choice.algorithm;
  switch (op) {
    case Op::kBarrier:
      if (a == A::kLinear) {
        linear(s, p, 0, true);
        s.round();
        linear(s, p, 0, false);
      } else if (a == A::kDoubleRing) {
        for (int i = 0; i < 2 * p; ++i) s.message(i % p, (i + 1) % p, 0);
      } else if (a == A::kTree) {
        up(
            s, p, [](int) { return 0.0; }, false);
        s.round();
        down(s, p, 2, [](int) { return 0.0; });
      } else if (a == A::kRecursiveDoubling) {
        recursive_doubling(s, p, 0, false);
      } else {
        for (int distance = 1; distance < p; distance *= 2) shift(s, p, distance, 0);
      }
      break;
    case Op::kBcast:
      if (a == A::kLinear) linear(s, p, n, false);
      if (a == A::kChain) chain(s, p, segments, n / segments, false);
      if (a == A::kBinary) binary(s, p, segments, n / segments, false);
      if (a == A::kBinomial) down(s, p, 2, vector);
      if (a == A::kKnomial) down(s, p, 4, vector);
      if (a == A::kScatterRing || a == A::kScatterRecursiveDoubling) {
        down(s, p, 2, shares);
        s.round();
        if (a == A::kScatterRing) ring(s, p, n / p, false);
        if (a != A::kScatterRing) bruck_allgather(s, p, n / p);
      }
      if (a == A::kSplitBinary && p > 2) {
        binary(s, p, segments, n / 2 / segments, false);
        s.round();
        for (int rank = 1; rank + 1 < p; rank += 2)  // each with its twin on the other side
          exchange(s, rank, rank + 1, n / 2, n / 2, false);
        if (p % 2 == 0) s.message(0, p - 1, n / 2);
      } else if (a == A::kSplitBinary) {
        s.message(0, 1, n / 2);
        s.message(0, 1, n / 2);
      }
      break;
    case Op::kGather:
      if (a == A::kLinear) linear(s, p, n, true);
      if (a == A::kBinomial) up(s, p, blocks, false);
      for (int rank = 1; a == A::kLinearSync && rank < p; ++rank) {
        s.message(0, rank, 0);
        s.message(rank, 0, n);
        s.round();
      }
      break;
    case Op::kScatter:
      if (a == A::kLinear) linear(s, p, n, false);
      if (a == A::kBinomial) down(s, p, 2, blocks);
      break;
    case Op::kAllgather:
      if (a == A::kRing || (a == A::kNeighbourExchange && p % 2)) {
        ring(s, p, n, false);
      } else if (a == A::kNeighbourExchange) {
        neighbours(s, p, n);
      } else {
        bruck_allgather(s, p, n);
      }
      break;
    case Op::kAlltoall:
      if (a == A::kPairwise) {
        for (int i = 1; i < p; ++i) shift(s, p, i, n);
      } else if (a == A::kBruck) {
        alltoall_bruck(s, p, n);
      } else {
        at_once(s, p, n, a == A::kScattered ? 32 : p);
      }
      break;
    case Op::kAllreduce:
      if (a == A::kLinear) {
        linear(s, p, n, true, true);
        s.round();
        linear(s, p, n, false);
      }
      if (a == A::kRecursiveDoubling) recursive_doubling(s, p, n, true);
      if (a == A::kRabenseifner) rabenseifner(s, p, n, true);
      if (a == A::kRing) {
        ring(s, p, n / p, true);
        ring(s, p, n / p, false);
      }
      break;
    case Op::kReduce:
      if (a == A::kLinear) linear(s, p, n, true, true);
      if (a == A::kChain) chain(s, p, segments, n / segments, true);
      if (a == A::kBinary || a == A::kInOrderBinary) binary(s, p, segments, n / segments, true);
      if (a == A::kInOrderBinary) {
        s.round();
        s.message(0, 1, n);
      }
      if (a == A::kBinomial) up(s, p, vector, true);
      if (a == A::kRabenseifner) rabenseifner(s, p, n, false);
      break;
    case Op::kReduceScatter:
      if (a == A::kRing) ring(s, p, n, true);
      if (a == A::kPairwise) {
        for (int i = 1; i < p; ++i) shift(s, p, i, n, true);
      }
      if (a == A::kRecursiveHalving || a == A::kButterfly) recursive_halving(s, p, n);
      if (a == A::kButterfly && p > 2) {
        s.round();
        shift(s, p, 1, n);
      }
      if (a == A::kRecursiveDoubling) {
        for (int have = 1; have < p; have *= 2) shift(s, p, have, (p - have) * n, true);
      }
      break;
    default:  // scans
      if (a == A::kLinear) {
        for (int rank = 1; rank < p; ++rank) s.message(rank - 1, rank, n, true);
      } else {
        for (int distance = 1; distance < p; distance *= 2) shift(s, p, distance, n, true);
      }
  }
  return s.run();
}

bool is_made_of_others(A algorithm) {
  return algorithm == A::kReduceBcast || algorithm == A::kGatherBcast ||
         algorithm == A::kReduceScatter;
}

}  // namespace

TEST_CASE("every algorithm costs what a simulation of its messages takes") {
  for (const Op op : {Op::kBarrier, Op::kBcast, Op::kGather, Op::kScatter, Op::kAllgather,
                      Op::kAlltoall, Op::kAllreduce, Op::kReduce, Op::kReduceScatter, Op::kScan}) {
    for (const A algorithm : algorithms_of(op)) {
      if (is_made_of_others(algorithm)) continue;
      for (int p = 2; p <= 17; ++p) {
        for (const double n : {0.0, 8.0, 960.0, 12000.0}) {
          INFO(name_of(op) << " " << name_of(algorithm) << " p " << p << " n " << n);
          CHECK(seconds(op, {algorithm}, p, n) == Approx(simulated(op, {algorithm}, p, n, 1)));
          if (!takes_segments(algorithm) || n == 0) continue;
          // 12 equal segments, of half the vector where each half goes its own way.
          const double whole = algorithm == A::kSplitBinary ? n / 2 : n;
          const AlgorithmChoice cut{algorithm, whole / 12};
          CHECK(seconds(op, cut, p, n) == Approx(simulated(op, cut, p, n, 12)));
        }
      }
    }
  }
}

TEST_CASE("a few by hand") {
  // Allreduce on a ring of 4, 400 B: 3 rounds of 100 B with arithmetic, 3 without.
  CHECK(seconds(Op::kAllreduce, {A::kRing}, 4, 400) == 3 * (300 + 50) + 3 * 300);
  // Rabenseifner on 4: 200 B and 100 B, combined, and back.
  CHECK(seconds(Op::kAllreduce, {A::kRabenseifner}, 4, 400) == 500 + 100 + 300 + 50 + 300 + 500);
  // Recursive doubling on 6: fold, two rounds, unfold; 8 B.
  CHECK(seconds(Op::kAllreduce, {A::kRecursiveDoubling}, 6, 8) == 3 * (116 + 4) + 116);
  // Binomial on 8: three messages one after the other; on 6: 4 hangs below 0, 5 below 4, but 3
  // behind 2, which is sent to a gap later, is later still.
  CHECK(seconds(Op::kBcast, {A::kBinomial}, 8, 50) == 3 * 200);
  CHECK(seconds(Op::kBcast, {A::kBinomial}, 6, 50) == 80 + 2 * 200);
  // Linear on 5: the fourth message leaves after three gaps.
  CHECK(seconds(Op::kScatter, {A::kLinear}, 5, 50) == 3 * 80 + 200);
  // A chain of 4, 300 B in 3 segments: three hops, two segments behind.
  CHECK(seconds(Op::kBcast, {A::kChain, 100}, 4, 300) == 3 * 300 + 2 * 130);
  // 250 B make 3 equal segments, too.
  CHECK(seconds(Op::kBcast, {A::kChain, 100}, 2, 250) ==
        Approx(100 + 2 * 250.0 / 3 + 2 * (30 + 250.0 / 3)));
  // Gather of 10 B on 4: 10, then 20 next to the root.
  CHECK(seconds(Op::kGather, {A::kBinomial}, 4, 10) == 120 + 140);
  // Bruck among 5: distances 1, 2, 3, 4 hold bit 0 twice, bit 1 twice, bit 2 once.
  CHECK(seconds(Op::kAlltoall, {A::kBruck}, 5, 10) == 140 + 140 + 120);
  // 33 messages of MPICH's scattered all-to-all: 32 at once, then one.
  CHECK(seconds(Op::kAlltoall, {A::kScattered}, 34, 0) == 31 * 30 + 100 + 100);
  // Operations composed of others, as the numbers of seconds() show.
  const auto part = [](Op op, double n) { return 1000.0 * (static_cast<int>(op) + 1) + n; };
  CHECK(seconds(Op::kAllreduce, {A::kReduceBcast}, 4, 8) ==
        part(Op::kReduce, 8) + part(Op::kBcast, 8));
  CHECK(seconds(Op::kAllgatherv, {A::kGatherBcast}, 4, 8) ==
        part(Op::kGatherv, 8) + part(Op::kBcast, 32));
  CHECK(seconds(Op::kReduceScatterBlock, {A::kReduceScatter}, 4, 8) ==
        part(Op::kReduce, 32) + part(Op::kScatter, 8));
}

TEST_CASE("members without waits leave when their own messages are sent") {
  // A message of n bytes holds its sender up for 7 + n.
  const auto root = [](Op op, AlgorithmChoice choice, int p, double n) {
    return departure_seconds(op, choice, p, n, true, kCost);
  };
  CHECK(root(Op::kBcast, {A::kBinomial}, 8, 50) == 3 * 57);
  CHECK(root(Op::kBcast, {A::kLinear}, 8, 50) == 7 * 57);
  CHECK(root(Op::kBcast, {A::kKnomial}, 10, 50) == 5 * 57);  // 4, 8, 1, 2, 3
  CHECK(root(Op::kBcast, {A::kChain, 10}, 8, 50) == 5 * 17);
  CHECK(root(Op::kBcast, {A::kBinary}, 8, 50) == 2 * 57);
  CHECK(root(Op::kBcast, {A::kSplitBinary}, 8, 50) == 3 * 32);       // a half each, one to the last
  CHECK(root(Op::kScatter, {A::kBinomial}, 6, 10) == 27 + 27 + 17);  // 2, 2 and 1 blocks
  // Scatter of 400 B to 4, then a ring of 3 rounds in which the root takes part.
  CHECK(root(Op::kBcast, {A::kScatterRing}, 4, 400) == 207 + 107 + 3 * 300);
  CHECK(root(Op::kReduce, {A::kBinomial}, 8, 50) == 0);  // it waits
  const auto leaf = [](Op op, AlgorithmChoice choice, int p, double n) {
    return departure_seconds(op, choice, p, n, false, kCost);
  };
  CHECK(leaf(Op::kReduce, {A::kBinomial}, 8, 50) == 57);
  CHECK(leaf(Op::kGather, {A::kLinearSync}, 8, 50) == 100 + 57);
  CHECK(leaf(Op::kReduce, {A::kRabenseifner}, 4, 400) == 500 + 100 + 300 + 50 + 107);
  // One that comes when its data is there takes it: 3 + n each.
  CHECK(leaf(Op::kBcast, {A::kBinomial}, 8, 50) == 53);
  CHECK(leaf(Op::kBcast, {A::kChain, 10}, 8, 50) == 5 * 13);
  CHECK(leaf(Op::kScatter, {A::kLinear}, 8, 50) == 53);
  // Half from its parent, half from its partner, which gets the first one: 28 + 28 + 32.
  CHECK(leaf(Op::kBcast, {A::kSplitBinary}, 8, 50) == 88);
  // A ring of 3 rounds of 100 B needs everybody.
  CHECK(leaf(Op::kBcast, {A::kScatterRing}, 4, 400) == 3 * 300);
  CHECK(leaf(Op::kAllreduce, {A::kRing}, 8, 50) == 0);
}
