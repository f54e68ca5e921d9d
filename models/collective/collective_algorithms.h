#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/collective/collectives.h"

namespace rubato {

/// Costs of a message for the members of a collective, seconds over bytes.
struct RoundCost {
  /// From one member to another, overheads included.
  std::function<double(double)> move;
  /// Time between two messages of a member in the same direction: k messages sent back to back have
  /// arrived after (k - 1) * gap + move. Never more than move.
  std::function<double(double)> gap;
  /// Time that it occupies its sender, if that leaves afterwards.
  std::function<double(double)> send;
  /// To combine `bytes` with `bytes`.
  std::function<double(double)> combine;
  /// Time that it occupies its receiver if it has arrived already or, above the eager limit, could
  /// have.
  std::function<double(double)> receive;
};

/// Algorithms of collective operations in MPI libraries. algorithm_table.cc defines which of them
/// apply to an operation, and the phases of each.
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
  kEnd,  ///< no algorithm: their number
};

/// An algorithm, and its segment size if it passes the data on in segments.
struct AlgorithmChoice {
  Algorithm algorithm = Algorithm::kLinear;
  double segment = 0;  ///< bytes; 0 = the whole message at once

  bool operator==(const AlgorithmChoice&) const = default;
};

/// Name of an algorithm in platform files and reports.
std::string name_of(Algorithm algorithm);

/// The algorithm of `op` with this name. Errors: InputError that lists the known ones.
Algorithm algorithm_named(CollectiveOp op, const std::string& name);

/// The algorithms of `op`, in the order of the enumeration.
std::vector<Algorithm> algorithms_of(CollectiveOp op);

/// True for the algorithms that pass a message on in segments.
bool takes_segments(Algorithm algorithm);

/// Seconds of a part of an algorithm that is composed of other operations.
using PartCost = std::function<double(CollectiveOp op, double bytes)>;

/// Seconds from the enter of the last needed member until the last waiting member has its result,
/// for p > 1 members and `bytes` of payload per member (the part that one member sends to, or gets
/// from, each other; the whole vector for Bcast and reductions to one result). The algorithm must
/// be one of algorithms_of(op).
double algorithm_seconds(CollectiveOp op, AlgorithmChoice choice, int p, double bytes,
                         const RoundCost& cost, const PartCost& part);

/// Seconds from enter to leave of a member that does not wait: the root of a one-to-all
/// (`is_root`), another member whose data has arrived already, a leaf of an all-to-one; else 0.
double departure_seconds(CollectiveOp op, AlgorithmChoice choice, int p, double bytes, bool is_root,
                         const RoundCost& cost);

}  // namespace rubato
