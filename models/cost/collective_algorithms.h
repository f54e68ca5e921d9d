#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/cost/collectives.h"

namespace rubato {

/// What a message costs the members of a collective, seconds over bytes.
struct RoundCost {
  /// From one member to another, overheads included.
  std::function<double(double)> move;
  /// Between one message of a member and its next in the same direction: sent back to back, k
  /// messages are there after (k - 1) * gap + move. Never more than move.
  std::function<double(double)> gap;
  /// How long it holds up a member that sends it and then leaves.
  std::function<double(double)> send;
  /// To combine `bytes` with `bytes`.
  std::function<double(double)> combine;
  /// How long it holds up a member that takes it when it is there already, or, above the eager
  /// limit, could be.
  std::function<double(double)> receive;
};

/// The ways in which libraries perform collective operations. Which of them an operation knows,
/// and what each costs, stands in collective_algorithms.cc.
enum class Algorithm : uint8_t {
  kLinear,
  kLinearSync,
  kScattered,
  kChain,
  kBinary,
  kInOrderBinary,
  kSplitBinary,
  kBinomial,
  kKnomial,
  kScatterRing,
  kScatterRecursiveDoubling,
  kRecursiveDoubling,
  kRecursiveHalving,
  kRabenseifner,
  kButterfly,
  kRing,
  kDoubleRing,
  kNeighbourExchange,
  kPairwise,
  kBruck,
  kDissemination,
  kTree,
  kReduceBcast,
  kGatherBcast,
  kReduceScatter,
};

/// An algorithm, and in how large pieces it passes the data on where it does so.
struct AlgorithmChoice {
  Algorithm algorithm = Algorithm::kLinear;
  double segment = 0;  ///< bytes; 0 = the whole message at once

  bool operator==(const AlgorithmChoice&) const = default;
};

/// What platform files and reports call an algorithm.
std::string name_of(Algorithm algorithm);

/// The algorithm of `op` with this name. Errors: InputError that lists those there are.
Algorithm algorithm_named(CollectiveOp op, const std::string& name);

/// The algorithms that `op` knows, in the order of the enumeration.
std::vector<Algorithm> algorithms_of(CollectiveOp op);

/// True for the algorithms that pass a message on in segments.
bool takes_segments(Algorithm algorithm);

/// Seconds of one of the parts that an algorithm made of other operations consists of.
using PartCost = std::function<double(CollectiveOp op, double bytes)>;

/// Seconds from the moment everybody needed is there until the last member that waits has its
/// result, for p > 1 members and `bytes` of payload per member (what one member contributes to or
/// gets from each other; the whole vector for Bcast and reductions to one result). The algorithm
/// must be one of algorithms_of(op).
double algorithm_seconds(CollectiveOp op, AlgorithmChoice choice, int p, double bytes,
                         const RoundCost& cost, const PartCost& part);

/// Seconds after its enter at which a member leaves that waits for nobody (`is_root` says which one
/// is asked for): the root of a one-to-all, one of the others that comes when its data is there
/// already, a leaf of an all-to-one; else 0.
double departure_seconds(CollectiveOp op, AlgorithmChoice choice, int p, double bytes, bool is_root,
                         const RoundCost& cost);

}  // namespace rubato
