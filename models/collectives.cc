#include "models/collectives.h"

#include <bit>
#include <cmath>

namespace rubato {
namespace {

/// Rounds of a binomial tree, of recursive doubling, of a dissemination: ceil(log2 p).
int log_rounds(int p) {
  return std::bit_width(static_cast<unsigned>(p - 1));
}

/// Rounds whose message halves each time: n/2, n/4, ... (scatter by halving, reduce-scatter).
double halving(int p, double bytes, const RoundCost& cost, bool combine) {
  double seconds = 0;
  double part = bytes;
  for (int round = 0; round < log_rounds(p); ++round) {
    part /= 2;
    seconds += cost.move(part) + (combine ? cost.combine(part) : 0);
  }
  return seconds;
}

double equal_rounds(int rounds, double bytes, const RoundCost& cost, bool combine) {
  return rounds * (cost.move(bytes) + (combine ? cost.combine(bytes) : 0));
}

// Where MPICH changes algorithms (bytes), as the paper and its configuration give them.
constexpr double kBcastLong = 12288;
constexpr double kAllgatherLong = 81920;  // of all members together
constexpr double kReduceLong = 2048;
constexpr double kAlltoallBruck = 256;

double allgather(int p, double bytes, const RoundCost& cost) {
  // Recursive doubling moves b, 2b, 4b, ...: the halves of p*b from the other end. The ring moves
  // b, p - 1 times.
  if (p * bytes < kAllgatherLong) return halving(p, p * bytes, cost, false);
  return equal_rounds(p - 1, bytes, cost, false);
}

}  // namespace

Synchronisation synchronisation(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kBcast:
    case CollectiveOp::kScatter:
    case CollectiveOp::kScatterv:
      return Synchronisation::kOneToAll;
    case CollectiveOp::kGather:
    case CollectiveOp::kGatherv:
    case CollectiveOp::kReduce:
      return Synchronisation::kAllToOne;
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:
      return Synchronisation::kPrefix;
    default:
      return Synchronisation::kAllToAll;
  }
}

double collective_seconds(CollectiveOp op, int p, double bytes, const RoundCost& cost) {
  if (p <= 1) return 0;
  const int rounds = log_rounds(p);
  switch (op) {
    case CollectiveOp::kBarrier:  // dissemination
      return equal_rounds(rounds, 0, cost, false);
    case CollectiveOp::kBcast:  // binomial; scatter by halving and a ring allgather
      if (bytes < kBcastLong || p < 8) return equal_rounds(rounds, bytes, cost, false);
      return halving(p, bytes, cost, false) + equal_rounds(p - 1, bytes / p, cost, false);
    case CollectiveOp::kGather:
    case CollectiveOp::kGatherv:
    case CollectiveOp::kScatter:
    case CollectiveOp::kScatterv:  // binomial: half of all the data in the round next to the root
      return halving(p, p * bytes, cost, false);
    case CollectiveOp::kAllgather:
    case CollectiveOp::kAllgatherv:
      return allgather(p, bytes, cost);
    case CollectiveOp::kAlltoall:  // Bruck; pairwise exchange
      if (bytes <= kAlltoallBruck && p >= 8)
        return equal_rounds(rounds, bytes * p / 2, cost, false);
      return equal_rounds(p - 1, bytes, cost, false);
    case CollectiveOp::kAlltoallv:
    case CollectiveOp::kAlltoallw:
      return equal_rounds(p - 1, bytes, cost, false);
    case CollectiveOp::kAllreduce:  // recursive doubling; Rabenseifner's reduce-scatter and
                                    // allgather
    case CollectiveOp::kReduce:     // binomial; Rabenseifner's reduce-scatter and gather
      if (bytes <= kReduceLong) return equal_rounds(rounds, bytes, cost, true);
      return halving(p, bytes, cost, true) + halving(p, bytes, cost, false);
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kReduceScatterBlock:  // recursive halving over the whole vector
      return halving(p, p * bytes, cost, true);
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:  // recursive doubling
      return equal_rounds(rounds, bytes, cost, true);
    case CollectiveOp::kCreateHandle:
    case CollectiveOp::kDestroyHandle:  // a few words from everybody to everybody
      return allgather(p, 8, cost);
  }
  return 0;
}

int departing_messages(CollectiveOp op, int p, bool is_root) {
  if (p <= 1) return 0;
  if (synchronisation(op) == Synchronisation::kOneToAll) return is_root ? log_rounds(p) : 0;
  if (synchronisation(op) == Synchronisation::kAllToOne) return is_root ? 0 : 1;
  return 0;
}

}  // namespace rubato
