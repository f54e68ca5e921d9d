// Costs of the algorithms of collective operations.
//
// The machine model is LogGP (Alexandrov, Ionescu, Schauser and Scheiman, 1995) with sizes in every
// term: a message takes `move`, the next one of the same sender or to the same receiver follows
// `gap` later, and in a reduction each message that arrives costs `combine` before the next is
// received. All members begin at once, at equal distances. The result is the time at which the last
// member has its result: for algorithms in rounds the sum of the longest message of each round, for
// the others the most expensive path through the tree.
//
// p members, n bytes as in algorithm_seconds(), K = floor(log2 p), r = p - 2^K.
//
// [TRG]  Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in
//        MPICH, 2005
// [PG]   Pjesivac-Grbovic et al., Performance Analysis of MPI Collective Operations, 2007
// [BHKUW] Bruck et al., Efficient Algorithms for All-to-All Communications, 1997

#include "models/collective/collective_algorithms.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

#include "models/base/error.h"
#include "models/collective/algorithm_parts.h"

namespace rubato {
namespace {

int ceil_log2(int p) {
  return std::bit_width(static_cast<unsigned>(p - 1));
}

/// The costs of messages, with or without the arithmetic of a reduction.
struct Prices {
  const RoundCost& cost;
  bool reduces = false;

  double move(double n) const { return cost.move(n) + (reduces ? cost.combine(n) : 0); }
  /// Cost of each further message of a member that sends, or receives, several in a row.
  double next(double n) const { return cost.gap(n) + (reduces ? cost.combine(n) : 0); }
  double rounds(double count, double n) const { return count * move(n); }
};

/// Bytes for a subtree with this number of members.
using SubtreeBytes = std::function<double(int)>;

/// The largest power of `radix` below p: the distance from a root to its farthest children.
int reach(int p, int radix) {
  int distance = 1;
  while (distance * radix < p) distance *= radix;
  return distance;
}

/// From the root down a k-nomial tree, farthest children first, one message for each subtree. With
/// radix 2 the binomial tree of [TRG] 4.2 (broadcast, scatter).
double spread(int p, int radix, const SubtreeBytes& bytes, const Prices& prices) {
  if (p == 1) return 0;
  const int distance = reach(p, radix);
  const double whole = spread(distance, radix, bytes, prices);  // a complete subtree
  double sent = 0;
  double done = 0;
  for (int child = distance; child < p; child += distance) {
    const int members = std::min(distance, p - child);
    const double below = members == distance ? whole : spread(members, radix, bytes, prices);
    done = std::max(done, sent + prices.move(bytes(members)) + below);
    sent += prices.next(bytes(members));
  }
  return std::max(done, sent + whole);
}

/// The time of the root in spread().
double spread_root(int p, int radix, const SubtreeBytes& bytes, const RoundCost& cost) {
  double seconds = 0;
  for (int left = p; left > 1; left = reach(left, radix)) {
    const int distance = reach(left, radix);
    for (int child = distance; child < left; child += distance)
      seconds += cost.send(bytes(std::min(distance, left - child)));
  }
  return seconds;
}

/// Up a binomial tree, nearest children first: [TRG] 4.1 and 4.5 (gather, reduce).
double collect(int p, const SubtreeBytes& bytes, const Prices& prices) {
  if (p == 1) return 0;
  const int distance = reach(p, 2);
  const int members = p - distance;
  const double n = bytes(members);
  const double mine = collect(distance, bytes, prices);
  const double theirs = members == distance ? mine : collect(members, bytes, prices);
  return std::max(theirs + prices.move(n), mine + prices.next(n));
}

/// Everything between the root and each other member, the root's messages in a row.
double linear(int p, double n, const Prices& prices) {
  return (p - 2) * prices.next(n) + prices.move(n);
}

/// Along a chain of all members, segment after segment: the pipeline of [PG].
double chain(int p, const Segments& segments, const Prices& prices) {
  return (p - 1) * prices.move(segments.bytes) + (segments.count - 1) * prices.next(segments.bytes);
}

/// Members on the lowest level of a complete binary tree, which has floor_log2(p) levels below its
/// root. They are placed below first children before second children.
int lowest(int p) {
  return p - (1 << floor_log2(p)) + 1;
}

/// Cost of the further segments in a binary tree: a message each for each child of the root.
double behind(int p, const Segments& segments, const Prices& prices) {
  return (segments.count - 1) * std::min(2, p - 1) * prices.next(segments.bytes);
}

/// Down a complete binary tree [PG]. A second child gets its message a gap after the first.
double binary_down(int p, const Segments& segments, const Prices& prices) {
  const int levels = floor_log2(p);
  const auto last = static_cast<unsigned>(lowest(p) - 1);
  // Member x of the lowest level is a second child once for each bit set in x.
  const int behind_sibling =
      std::max(std::popcount(last), static_cast<int>(std::bit_width(last)) - 1);
  const double move = prices.move(segments.bytes);
  const double next = prices.next(segments.bytes);
  return std::max((levels - 1) * (move + next), levels * move + behind_sibling * next) +
         behind(p, segments, prices);
}

/// Up the same tree: a parent takes the second child's message after the first one's.
double binary_up(int p, const Segments& segments, const Prices& prices) {
  const int levels = floor_log2(p);
  const bool has_second = lowest(p) > 1 << (levels - 1);
  return levels * prices.move(segments.bytes) +
         (levels - 1 + (has_second ? 1 : 0)) * prices.next(segments.bytes) +
         behind(p, segments, prices);
}

/// Allgather of blocks b: messages of b, 2b, 4b, ... and in the last round the missing blocks.
/// Recursive doubling where p is a power of two, else Bruck's: [TRG] 4.1, [BHKUW].
double allgather_doubling(int p, double b, const Prices& prices) {
  double seconds = 0;
  for (int have = 1; have < p; have *= 2) seconds += prices.move(std::min(have, p - have) * b);
  return seconds;
}

/// Messages n/2, n/4, ... between 2^K members.
double halving(int p, double n, const Prices& prices) {
  double seconds = 0;
  for (int part = 2; part <= p; part *= 2) seconds += prices.move(n / part);
  return seconds;
}

/// Whole vectors between partners at distance 1, 2, 4, ... The r members beyond a power of two send
/// their vectors to a partner first and receive the result at the end: [TRG] 4.5.
double recursive_doubling(int p, double n, const Prices& plain, const Prices& reducing) {
  const bool fold = !std::has_single_bit(static_cast<unsigned>(p));
  return reducing.rounds(floor_log2(p) + (fold ? 1 : 0), n) + (fold ? plain.move(n) : 0);
}

/// Rabenseifner's reduce-scatter by halving, then the same way back: an allgather, or a gather to
/// the root, after which no result is sent on: [TRG] 4.5.
double rabenseifner(int p, double n, bool to_all, const Prices& plain, const Prices& reducing) {
  const bool fold = !std::has_single_bit(static_cast<unsigned>(p));
  return (fold ? reducing.move(n) + (to_all ? plain.move(n) : 0) : 0) + halving(p, n, reducing) +
         halving(p, n, plain);
}

/// Reduce-scatter of p blocks b by recursive halving [TRG] 4.4. Each of r members acts for two.
double recursive_halving(int p, double b, const Prices& plain, const Prices& reducing) {
  const int power = 1 << floor_log2(p);
  const int extra = p - power;
  double seconds = extra > 0 ? reducing.move(p * b) + plain.move(b) : 0;
  for (int half = power / 2; half >= 1; half /= 2)
    seconds += reducing.move((half + std::min(half, extra)) * b);
  return seconds;
}

/// Reduce-scatter by recursive doubling [TRG] 4.4: messages with all data that partners still need.
double reduce_scatter_doubling(int p, double b, const Prices& reducing) {
  double seconds = 0;
  for (int have = 1; have < p; have *= 2) seconds += reducing.move((p - have) * b);
  return seconds;
}

/// All-to-all by store and forward [BHKUW]: round k carries the blocks whose distance has bit k.
double alltoall_bruck(int p, double b, const Prices& prices) {
  double seconds = 0;
  for (int bit = 1; bit < p; bit *= 2) {
    const int blocks = p / (2 * bit) * bit + std::max(0, p % (2 * bit) - bit);
    seconds += prices.move(blocks * b);
  }
  return seconds;
}

/// All-to-all with all messages under way at once, `batch` at a time.
double alltoall_at_once(int p, double b, int batch, const Prices& prices) {
  const int full = (p - 1) / batch;
  const int rest = (p - 1) % batch;
  return full * linear(batch + 1, b, prices) + (rest > 0 ? linear(rest + 1, b, prices) : 0);
}

/// Allgather between neighbours, first on one side, then two blocks at a time on both sides in turn
/// (Chen et al., 2005). An odd p uses the ring.
double neighbour_exchange(int p, double b, const Prices& prices) {
  if (p % 2 != 0) return prices.rounds(p - 1, b);
  return prices.move(b) + prices.rounds(p / 2 - 1, 2 * b);
}

double bcast(AlgorithmChoice choice, int p, double n, const Prices& prices) {
  const SubtreeBytes vector = [n](int) { return n; };
  const SubtreeBytes share = [n, p](int members) { return members * (n / p); };
  switch (choice.algorithm) {
    case Algorithm::kLinear:
      return linear(p, n, prices);
    case Algorithm::kChain:
      return chain(p, Segments(n, choice.segment), prices);
    case Algorithm::kBinary:
      return binary_down(p, Segments(n, choice.segment), prices);
    case Algorithm::kSplitBinary:  // each half down one side of the tree, then swapped [PG]
      if (p == 2) return prices.next(n / 2) + prices.move(n / 2);
      return binary_down(p, Segments(n / 2, choice.segment), prices) + prices.move(n / 2);
    case Algorithm::kKnomial:
      return spread(p, kRadix, vector, prices);
    case Algorithm::kScatterRing:  // van de Geijn's, [TRG] 4.2
      return spread(p, 2, share, prices) + prices.rounds(p - 1, n / p);
    case Algorithm::kScatterRecursiveDoubling:
      return spread(p, 2, share, prices) + allgather_doubling(p, n / p, prices);
    default:
      return spread(p, 2, vector, prices);
  }
}

double barrier(Algorithm algorithm, int p, const Prices& prices) {
  const SubtreeBytes nothing = [](int) { return 0.0; };
  switch (algorithm) {
    case Algorithm::kLinear:  // to a root and back
      return 2 * linear(p, 0, prices);
    case Algorithm::kTree:
      return collect(p, nothing, prices) + spread(p, 2, nothing, prices);
    case Algorithm::kDoubleRing:  // a token circulates twice
      return prices.rounds(2.0 * p, 0);
    case Algorithm::kRecursiveDoubling:
      return recursive_doubling(p, 0, prices, prices);
    default:  // dissemination (Hensgen, Finkel and Manber, 1988)
      return prices.rounds(ceil_log2(p), 0);
  }
}

double gather(Algorithm algorithm, int p, double n, const Prices& prices) {
  if (algorithm == Algorithm::kBinomial)
    return collect(
        p, [n](int members) { return members * n; }, prices);
  // linear_sync: the root calls one member after the other.
  if (algorithm == Algorithm::kLinearSync) return (p - 1) * (prices.move(0) + prices.move(n));
  return linear(p, n, prices);
}

double scatter(Algorithm algorithm, int p, double n, const Prices& prices) {
  if (algorithm == Algorithm::kBinomial)
    return spread(
        p, 2, [n](int members) { return members * n; }, prices);
  return linear(p, n, prices);
}

double allgather(Algorithm algorithm, int p, double n, const Prices& prices) {
  if (algorithm == Algorithm::kRing) return prices.rounds(p - 1, n);
  if (algorithm == Algorithm::kNeighbourExchange) return neighbour_exchange(p, n, prices);
  return allgather_doubling(p, n, prices);
}

double alltoall(Algorithm algorithm, int p, double n, const Prices& prices) {
  if (algorithm == Algorithm::kPairwise) return prices.rounds(p - 1, n);
  if (algorithm == Algorithm::kBruck) return alltoall_bruck(p, n, prices);
  return alltoall_at_once(p, n, algorithm == Algorithm::kScattered ? kBatch : p - 1, prices);
}

double allreduce(Algorithm algorithm, int p, double n, const Prices& plain,
                 const Prices& reducing) {
  if (algorithm == Algorithm::kLinear) return linear(p, n, reducing) + linear(p, n, plain);
  if (algorithm == Algorithm::kRecursiveDoubling) return recursive_doubling(p, n, plain, reducing);
  if (algorithm == Algorithm::kRabenseifner) return rabenseifner(p, n, true, plain, reducing);
  // ring: a reduce-scatter and an allgather round the ring (Patarasuk and Yuan, 2009)
  return reducing.rounds(p - 1, n / p) + plain.rounds(p - 1, n / p);
}

double reduce(AlgorithmChoice choice, int p, double n, const Prices& plain,
              const Prices& reducing) {
  const Segments segments(n, choice.segment);
  switch (choice.algorithm) {
    case Algorithm::kLinear:
      return linear(p, n, reducing);
    case Algorithm::kChain:
      return chain(p, segments, reducing);
    case Algorithm::kBinary:
      return binary_up(p, segments, reducing);
    case Algorithm::kInOrderBinary:  // the root is the last rank, which sends to rank 0 [PG]
      return binary_up(p, segments, reducing) + plain.move(n);
    case Algorithm::kRabenseifner:
      return rabenseifner(p, n, false, plain, reducing);
    default:
      return collect(
          p, [n](int) { return n; }, reducing);
  }
}

double reduce_scatter(Algorithm algorithm, int p, double n, const Prices& plain,
                      const Prices& reducing) {
  switch (algorithm) {
    case Algorithm::kRecursiveHalving:
      return recursive_halving(p, n, plain, reducing);
    case Algorithm::kButterfly:  // halving that keeps the order, and a swap (Traeff, 2005)
      return recursive_halving(p, n, plain, reducing) + (p > 2 ? plain.move(n) : 0);
    case Algorithm::kRecursiveDoubling:
      return reduce_scatter_doubling(p, n, reducing);
    default:  // pairwise and ring: a block a round
      return reducing.rounds(p - 1, n);
  }
}

struct Name {
  Algorithm algorithm;
  const char* name;
};
constexpr std::array kNames = {
    Name{Algorithm::kLinear, "linear"},
    Name{Algorithm::kLinearSync, "linear_sync"},
    Name{Algorithm::kScattered, "scattered"},
    Name{Algorithm::kChain, "chain"},
    Name{Algorithm::kBinary, "binary"},
    Name{Algorithm::kInOrderBinary, "in_order_binary"},
    Name{Algorithm::kSplitBinary, "split_binary"},
    Name{Algorithm::kBinomial, "binomial"},
    Name{Algorithm::kKnomial, "knomial"},
    Name{Algorithm::kScatterRing, "scatter_ring"},
    Name{Algorithm::kScatterRecursiveDoubling, "scatter_recursive_doubling"},
    Name{Algorithm::kRecursiveDoubling, "recursive_doubling"},
    Name{Algorithm::kRecursiveHalving, "recursive_halving"},
    Name{Algorithm::kRabenseifner, "rabenseifner"},
    Name{Algorithm::kButterfly, "butterfly"},
    Name{Algorithm::kRing, "ring"},
    Name{Algorithm::kDoubleRing, "double_ring"},
    Name{Algorithm::kNeighbourExchange, "neighbour_exchange"},
    Name{Algorithm::kPairwise, "pairwise"},
    Name{Algorithm::kBruck, "bruck"},
    Name{Algorithm::kDissemination, "dissemination"},
    Name{Algorithm::kTree, "tree"},
    Name{Algorithm::kReduceBcast, "reduce_then_bcast"},
    Name{Algorithm::kGatherBcast, "gather_then_bcast"},
    Name{Algorithm::kReduceScatter, "reduce_then_scatter"},
};

}  // namespace

std::string name_of(Algorithm algorithm) {
  return std::find_if(kNames.begin(), kNames.end(),
                      [&](const Name& entry) { return entry.algorithm == algorithm; })
      ->name;
}

Algorithm algorithm_named(CollectiveOp op, const std::string& name) {
  std::vector<std::string> names;
  for (const Algorithm algorithm : algorithms_of(op)) {
    if (name_of(algorithm) == name) return algorithm;
    names.push_back(name_of(algorithm));
  }
  throw InputError("'" + name_of(op) + "' has no algorithm '" + name + "'; use one of " +
                   quoted_list(names));
}

std::vector<Algorithm> algorithms_of(CollectiveOp op) {
  using A = Algorithm;
  switch (op) {
    case CollectiveOp::kBarrier:
      return {A::kLinear, A::kRecursiveDoubling, A::kDoubleRing, A::kDissemination, A::kTree};
    case CollectiveOp::kBcast:
      return {A::kLinear,   A::kChain,   A::kBinary,      A::kSplitBinary,
              A::kBinomial, A::kKnomial, A::kScatterRing, A::kScatterRecursiveDoubling};
    case CollectiveOp::kGather:
    case CollectiveOp::kGatherv:
      return {A::kLinear, A::kLinearSync, A::kBinomial};
    case CollectiveOp::kScatter:
    case CollectiveOp::kScatterv:
      return {A::kLinear, A::kBinomial};
    case CollectiveOp::kAlltoall:
      return {A::kLinear, A::kScattered, A::kPairwise, A::kBruck};
    case CollectiveOp::kAlltoallv:
    case CollectiveOp::kAlltoallw:
      return {A::kLinear, A::kScattered, A::kPairwise};
    case CollectiveOp::kAllreduce:
      return {A::kLinear, A::kRecursiveDoubling, A::kRabenseifner, A::kRing, A::kReduceBcast};
    case CollectiveOp::kReduce:
      return {A::kLinear, A::kChain, A::kBinary, A::kInOrderBinary, A::kBinomial, A::kRabenseifner};
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kReduceScatterBlock:
      return {A::kRecursiveDoubling, A::kRecursiveHalving, A::kButterfly, A::kRing,
              A::kPairwise,          A::kReduceScatter};
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:
      return {A::kLinear, A::kRecursiveDoubling};
    case CollectiveOp::kAllgather:
    case CollectiveOp::kAllgatherv:
    case CollectiveOp::kCreateHandle:
    case CollectiveOp::kDestroyHandle:
      return {A::kRecursiveDoubling, A::kRing, A::kNeighbourExchange, A::kBruck, A::kGatherBcast};
  }
  return {};
}

bool takes_segments(Algorithm algorithm) {
  return algorithm == Algorithm::kChain || algorithm == Algorithm::kBinary ||
         algorithm == Algorithm::kInOrderBinary || algorithm == Algorithm::kSplitBinary;
}

double algorithm_seconds(CollectiveOp op, AlgorithmChoice choice, int p, double bytes,
                         const RoundCost& cost, const PartCost& part) {
  assert(p > 1);
  const Prices plain{cost, false};
  const Prices reducing{cost, true};
  if (choice.algorithm == Algorithm::kReduceBcast)
    return part(CollectiveOp::kReduce, bytes) + part(CollectiveOp::kBcast, bytes);
  if (choice.algorithm == Algorithm::kGatherBcast) {
    const bool vector = op == CollectiveOp::kAllgatherv;
    return part(vector ? CollectiveOp::kGatherv : CollectiveOp::kGather, bytes) +
           part(CollectiveOp::kBcast, p * bytes);
  }
  if (choice.algorithm == Algorithm::kReduceScatter) {
    const bool vector = op == CollectiveOp::kReduceScatter;
    return part(CollectiveOp::kReduce, p * bytes) +
           part(vector ? CollectiveOp::kScatterv : CollectiveOp::kScatter, bytes);
  }
  switch (op) {
    case CollectiveOp::kBarrier:
      return barrier(choice.algorithm, p, plain);
    case CollectiveOp::kBcast:
      return bcast(choice, p, bytes, plain);
    case CollectiveOp::kGather:
    case CollectiveOp::kGatherv:
      return gather(choice.algorithm, p, bytes, plain);
    case CollectiveOp::kScatter:
    case CollectiveOp::kScatterv:
      return scatter(choice.algorithm, p, bytes, plain);
    case CollectiveOp::kAllgather:
    case CollectiveOp::kAllgatherv:
    case CollectiveOp::kCreateHandle:
    case CollectiveOp::kDestroyHandle:
      return allgather(choice.algorithm, p, bytes, plain);
    case CollectiveOp::kAlltoall:
    case CollectiveOp::kAlltoallv:
    case CollectiveOp::kAlltoallw:
      return alltoall(choice.algorithm, p, bytes, plain);
    case CollectiveOp::kAllreduce:
      return allreduce(choice.algorithm, p, bytes, plain, reducing);
    case CollectiveOp::kReduce:
      return reduce(choice, p, bytes, plain, reducing);
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kReduceScatterBlock:
      return reduce_scatter(choice.algorithm, p, bytes, plain, reducing);
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:  // from rank to rank; recursive doubling
      return reducing.rounds(choice.algorithm == Algorithm::kLinear ? p - 1 : ceil_log2(p), bytes);
  }
  return 0;
}

namespace {

/// Remaining time of a member of a one-to-all that arrives last.
double late_receiver_seconds(AlgorithmChoice choice, int p, double bytes, const RoundCost& cost) {
  switch (choice.algorithm) {
    case Algorithm::kScatterRing:  // after the scatter all need each other
      return Prices{cost}.rounds(p - 1, bytes / p);
    case Algorithm::kScatterRecursiveDoubling:
      return allgather_doubling(p, bytes / p, {cost});
    case Algorithm::kSplitBinary: {  // one half goes to its partner
      const Segments segments(bytes / 2, choice.segment);
      return segments.count * cost.receive(segments.bytes) + cost.receive(bytes / 2) +
             cost.send(bytes / 2);
    }
    default: {
      const Segments segments(bytes, choice.segment);
      return segments.count * cost.receive(segments.bytes);
    }
  }
}

}  // namespace

double departure_seconds(CollectiveOp op, AlgorithmChoice choice, int p, double bytes, bool is_root,
                         const RoundCost& cost) {
  const Synchronisation who = synchronisation(op);
  if (who == Synchronisation::kAllToOne && !is_root) {  // a leaf
    if (choice.algorithm == Algorithm::kLinearSync) return cost.move(0) + cost.send(bytes);
    if (choice.algorithm == Algorithm::kRabenseifner)
      return halving(p, bytes, {cost, true}) + cost.send(bytes / (1 << floor_log2(p)));
    const Segments segments(bytes, choice.segment);
    return segments.count * cost.send(segments.bytes);
  }
  if (who != Synchronisation::kOneToAll) return 0;
  if (!is_root) return late_receiver_seconds(choice, p, bytes, cost);
  const bool is_bcast = op == CollectiveOp::kBcast;
  const SubtreeBytes message = [&](int members) { return is_bcast ? bytes : members * bytes; };
  const SubtreeBytes share = [&](int members) { return members * (bytes / p); };
  const Segments segments(choice.algorithm == Algorithm::kSplitBinary ? bytes / 2 : bytes,
                          choice.segment);
  const double pass_on = segments.count * cost.send(segments.bytes);
  switch (choice.algorithm) {
    case Algorithm::kLinear:
      return (p - 1) * cost.send(bytes);
    case Algorithm::kChain:
      return pass_on;
    case Algorithm::kBinary:
      return std::min(2, p - 1) * pass_on;
    case Algorithm::kSplitBinary:
      return 2 * pass_on + (p > 2 && p % 2 == 0 ? cost.send(bytes / 2) : 0);
    case Algorithm::kKnomial:
      return spread_root(p, kRadix, message, cost);
    case Algorithm::kScatterRing:  // the root takes part in the allgather
      return spread_root(p, 2, share, cost) + Prices{cost}.rounds(p - 1, bytes / p);
    case Algorithm::kScatterRecursiveDoubling:
      return spread_root(p, 2, share, cost) + allgather_doubling(p, bytes / p, {cost});
    default:
      return spread_root(p, 2, message, cost);
  }
}

}  // namespace rubato
