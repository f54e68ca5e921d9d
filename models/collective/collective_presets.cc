// The default algorithms of Open MPI 4.1 and MPICH 4.0, by number of processes and size of the
// message: facts of their configuration, as tables.
//
// Open MPI: the component "tuned", its decisions for commutative operations
// (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of 4.1.4), and for the other operations the
// component "basic" (linear). Sizes are those of one block, of all blocks for Reduce_scatter. By
// default nothing is cut into segments. So the pipeline is a chain, the segmented ring a plain
// ring, and the synchronised linear all-to-all starts all messages at once.
//
// MPICH: the built-in selection file maint/tuning/coll/mpir/generic.json of 4.0.2 for commutative,
// built-in operations that are not in place. Its algorithms for communicators of several nodes
// (a tree between nodes and one inside) are not modelled, nor those through shared memory.

#include <algorithm>
#include <bit>
#include <vector>

#include "models/collective/collective_model.h"

namespace rubato {
namespace {

using A = Algorithm;
constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

/// The algorithm from `bytes` on.
struct Step {
  double bytes;
  Algorithm algorithm;
};
/// The steps from `processes` on. The last band, and the last step, that is reached applies.
struct Band {
  int processes;
  std::vector<Step> steps;
};
using Bands = std::vector<Band>;

// Open MPI.
const Bands kOpenMpiBarrier = {
    {2, {{0, A::kRecursiveDoubling}}},
    {4, {{0, A::kLinear}}},
    {8, {{0, A::kRecursiveDoubling}}},
    {64, {{0, A::kDissemination}}},
    {256, {{0, A::kTree}}},
    {512, {{0, A::kDissemination}}},
    {1024, {{0, A::kTree}}},
    {4096, {{0, A::kDissemination}}},
};
const Bands kOpenMpiBcast = {
    {2,
     {{0, A::kChain},
      {32, A::kBinary},
      {256, A::kChain},
      {512, A::kKnomial},
      {1 * kKiB, A::kLinear},
      {32 * kKiB, A::kBinary},
      {128 * kKiB, A::kChain},
      {256 * kKiB, A::kLinear},
      {512 * kKiB, A::kBinomial},
      {1 * kMiB, A::kBinary}}},
    {4,
     {{0, A::kBinary},
      {64, A::kBinomial},
      {128, A::kBinary},
      {2 * kKiB, A::kBinomial},
      {8 * kKiB, A::kLinear},
      {1 * kMiB, A::kChain}}},
    {8,
     {{0, A::kKnomial},
      {8, A::kBinary},
      {64, A::kKnomial},
      {4 * kKiB, A::kBinary},
      {16 * kKiB, A::kBinomial},
      {32 * kKiB, A::kLinear}}},
    {16, {{0, A::kKnomial}, {4 * kKiB, A::kBinomial}, {1 * kMiB, A::kScatterRecursiveDoubling}}},
    {32, {{0, A::kBinomial}, {2 * kKiB, A::kKnomial}}},
    {64, {{0, A::kKnomial}}},
    {128,
     {{0, A::kBinomial},
      {2, A::kBinary},
      {16 * kKiB, A::kLinear},
      {32 * kKiB, A::kBinary},
      {64 * kKiB, A::kKnomial}}},
    {256, {{0, A::kKnomial}, {16 * kKiB, A::kSplitBinary}, {32 * kKiB, A::kKnomial}}},
    {1024, {{0, A::kKnomial}, {512 * kKiB, A::kScatterRecursiveDoubling}}},
    {2048, {{0, A::kKnomial}, {256 * kKiB, A::kScatterRecursiveDoubling}}},
    {4096,
     {{0, A::kKnomial},
      {8 * kKiB, A::kBinary},
      {16 * kKiB, A::kKnomial},
      {256 * kKiB, A::kScatterRecursiveDoubling}}},
};
const Bands kOpenMpiGather = {
    {2,
     {{0, A::kLinearSync},
      {2, A::kLinear},
      {4, A::kBinomial},
      {32 * kKiB, A::kLinear},
      {64 * kKiB, A::kBinomial},
      {128 * kKiB, A::kLinearSync}}},
    {4,
     {{0, A::kBinomial},
      {1 * kKiB, A::kLinear},
      {8 * kKiB, A::kBinomial},
      {32 * kKiB, A::kLinear},
      {256 * kKiB, A::kLinearSync}}},
    {8, {{0, A::kBinomial}}},
    {256, {{0, A::kBinomial}, {2 * kKiB, A::kLinear}, {8 * kKiB, A::kBinomial}}},
    {512, {{0, A::kBinomial}}},
};
const Bands kOpenMpiScatter = {
    {2, {{0, A::kLinear}}},
    {4,
     {{0, A::kBinomial}, {2 * kKiB, A::kLinear}, {4 * kKiB, A::kBinomial}, {8 * kKiB, A::kLinear}}},
    {8, {{0, A::kBinomial}, {16 * kKiB, A::kLinear}}},
    {32, {{0, A::kBinomial}, {512, A::kLinear}, {8 * kKiB, A::kBinomial}, {16 * kKiB, A::kLinear}}},
    {64, {{0, A::kBinomial}, {512, A::kLinear}}},
};
const Bands kOpenMpiAllgather = {
    {2, {{0, A::kRing}}},
    {3, {{0, A::kRecursiveDoubling}}},
    {32, {{0, A::kRecursiveDoubling}, {1 * kKiB, A::kNeighbourExchange}, {64 * kKiB, A::kRing}}},
    {64, {{0, A::kRecursiveDoubling}, {512, A::kNeighbourExchange}, {64 * kKiB, A::kRing}}},
    {128,
     {{0, A::kRecursiveDoubling},
      {512, A::kNeighbourExchange},
      {128 * kKiB, A::kRing},
      {512 * kKiB, A::kNeighbourExchange},
      {1 * kMiB, A::kRing}}},
    {256,
     {{0, A::kRecursiveDoubling},
      {32, A::kBruck},
      {128, A::kRecursiveDoubling},
      {1 * kKiB, A::kNeighbourExchange},
      {128 * kKiB, A::kRing},
      {512 * kKiB, A::kNeighbourExchange},
      {1 * kMiB, A::kRing}}},
    {512,
     {{0, A::kRecursiveDoubling},
      {64, A::kBruck},
      {256, A::kRecursiveDoubling},
      {2 * kKiB, A::kNeighbourExchange}}},
    {1024,
     {{0, A::kRecursiveDoubling},
      {4, A::kBruck},
      {8, A::kRecursiveDoubling},
      {16, A::kBruck},
      {32, A::kRecursiveDoubling},
      {256, A::kBruck},
      {512, A::kRecursiveDoubling},
      {4 * kKiB, A::kNeighbourExchange}}},
    {2048,
     {{0, A::kBruck},
      {32, A::kRecursiveDoubling},
      {128, A::kBruck},
      {512, A::kRecursiveDoubling},
      {4 * kKiB, A::kNeighbourExchange}}},
    {4096,
     {{0, A::kRecursiveDoubling},
      {2, A::kBruck},
      {8, A::kRecursiveDoubling},
      {16, A::kBruck},
      {512, A::kRecursiveDoubling},
      {4 * kKiB, A::kNeighbourExchange}}},
};
const Bands kOpenMpiAllgatherv = {
    {2, {{0, A::kRing}}},
    {3,
     {{0, A::kGatherBcast},
      {256, A::kNeighbourExchange},
      {4 * kKiB, A::kRing},
      {8 * kKiB, A::kNeighbourExchange},
      {16 * kKiB, A::kBruck},
      {256 * kKiB, A::kNeighbourExchange}}},
    {8, {{0, A::kGatherBcast}, {1 * kKiB, A::kBruck}}},
    {16, {{0, A::kGatherBcast}, {128, A::kBruck}, {256 * kKiB, A::kRing}}},
    {32, {{0, A::kGatherBcast}, {256, A::kBruck}, {8 * kKiB, A::kRing}}},
    {64, {{0, A::kGatherBcast}, {256, A::kBruck}, {4 * kKiB, A::kRing}}},
    {128, {{0, A::kBruck}, {1 * kKiB, A::kNeighbourExchange}, {64 * kKiB, A::kRing}}},
    {256, {{0, A::kBruck}, {1 * kKiB, A::kRing}}},
    {512,
     {{0, A::kBruck},
      {512, A::kGatherBcast},
      {1 * kKiB, A::kBruck},
      {4 * kKiB, A::kNeighbourExchange},
      {1 * kMiB, A::kRing}}},
    {1024, {{0, A::kBruck}, {4 * kKiB, A::kNeighbourExchange}}},
};
const Bands kOpenMpiAlltoall = {
    {2, {{0, A::kPairwise}, {32 * kKiB, A::kLinear}, {256 * kKiB, A::kPairwise}}},
    {3, {{0, A::kLinear}, {512 * kKiB, A::kPairwise}, {1 * kMiB, A::kLinear}}},
    {8, {{0, A::kLinear}}},
    {16, {{0, A::kLinear}, {4, A::kBruck}, {512, A::kLinear}}},
    {32, {{0, A::kBruck}, {512, A::kLinear}}},
    {64, {{0, A::kBruck}, {1 * kKiB, A::kLinear}, {256 * kKiB, A::kPairwise}}},
    {256, {{0, A::kBruck}, {1 * kKiB, A::kLinear}, {32 * kKiB, A::kPairwise}}},
    {512, {{0, A::kBruck}, {512, A::kLinear}, {256 * kKiB, A::kPairwise}}},
    {1024, {{0, A::kBruck}, {512, A::kLinear}}},
    {2048, {{0, A::kBruck}, {1 * kKiB, A::kLinear}}},
    {4096, {{0, A::kBruck}, {2 * kKiB, A::kLinear}}},
};
const Bands kOpenMpiAlltoallv = {
    {2, {{0, A::kPairwise}}}, {4, {{0, A::kLinear}}},     {64, {{0, A::kPairwise}}},
    {128, {{0, A::kLinear}}}, {256, {{0, A::kPairwise}}}, {1024, {{0, A::kLinear}}},
};
const Bands kOpenMpiAllreduce = {
    {2,
     {{0, A::kRing},
      {8, A::kRecursiveDoubling},
      {4 * kKiB, A::kRing},
      {8 * kKiB, A::kRecursiveDoubling},
      {16 * kKiB, A::kRing},
      {256 * kKiB, A::kRabenseifner}}},
    {4, {{0, A::kRing}, {16, A::kRecursiveDoubling}, {8 * kKiB, A::kRabenseifner}}},
    {8, {{0, A::kRecursiveDoubling}, {8 * kKiB, A::kRabenseifner}}},
    {16, {{0, A::kRing}, {64, A::kRecursiveDoubling}, {4 * kKiB, A::kRabenseifner}}},
    {32, {{0, A::kRing}, {128, A::kRabenseifner}}},
    {64, {{0, A::kRecursiveDoubling}, {256 * kKiB, A::kRabenseifner}}},
    {128,
     {{0, A::kReduceBcast}, {128 * kKiB, A::kRecursiveDoubling}, {256 * kKiB, A::kRabenseifner}}},
    {256, {{0, A::kReduceBcast}, {4 * kKiB, A::kRabenseifner}}},
    {512, {{0, A::kReduceBcast}, {2 * kKiB, A::kRecursiveDoubling}, {16 * kKiB, A::kRabenseifner}}},
    {2048,
     {{0, A::kReduceBcast},
      {2 * kKiB, A::kRing},
      {4 * kKiB, A::kRecursiveDoubling},
      {16 * kKiB, A::kRabenseifner}}},
    {4096,
     {{0, A::kReduceBcast},
      {2 * kKiB, A::kRing},
      {16 * kKiB, A::kRecursiveDoubling},
      {32 * kKiB, A::kRabenseifner}}},
};
const Bands kOpenMpiReduce = {
    {2,
     {{0, A::kRabenseifner},
      {8, A::kBinary},
      {16, A::kChain},
      {32, A::kLinear},
      {256 * kKiB, A::kChain}}},
    {4,
     {{0, A::kBinary},
      {4 * kKiB, A::kChain},
      {64 * kKiB, A::kBinomial},
      {256 * kKiB, A::kLinear},
      {512 * kKiB, A::kBinomial},
      {1 * kMiB, A::kLinear}}},
    {8, {{0, A::kBinary}, {8 * kKiB, A::kBinomial}}},
    {16, {{0, A::kBinary}, {4 * kKiB, A::kBinomial}}},
    {32, {{0, A::kBinomial}}},
    {256, {{0, A::kBinomial}, {8 * kKiB, A::kInOrderBinary}, {16 * kKiB, A::kBinomial}}},
    {512, {{0, A::kBinomial}}},
    {2048,
     {{0, A::kBinomial},
      {512, A::kInOrderBinary},
      {1 * kKiB, A::kBinomial},
      {8 * kKiB, A::kInOrderBinary},
      {16 * kKiB, A::kBinomial}}},
    {4096,
     {{0, A::kBinomial},
      {16, A::kInOrderBinary},
      {32, A::kBinomial},
      {1 * kKiB, A::kInOrderBinary},
      {2 * kKiB, A::kBinomial},
      {8 * kKiB, A::kInOrderBinary},
      {16 * kKiB, A::kBinomial}}},
};
const Bands kOpenMpiReduceScatter = {
    {2, {{0, A::kRing}, {64 * kKiB, A::kButterfly}, {128 * kKiB, A::kRing}}},
    {4, {{0, A::kReduceScatter}, {8, A::kRecursiveHalving}, {256 * kKiB, A::kRing}}},
    {8, {{0, A::kRecursiveHalving}, {256 * kKiB, A::kRing}}},
    {32,
     {{0, A::kReduceScatter},
      {64, A::kRecursiveHalving},
      {2 * kKiB, A::kButterfly},
      {512 * kKiB, A::kRing}}},
    {64,
     {{0, A::kReduceScatter},
      {256, A::kRecursiveHalving},
      {512, A::kButterfly},
      {2 * kKiB, A::kRecursiveHalving},
      {4 * kKiB, A::kButterfly}}},
    {128, {{0, A::kReduceScatter}, {256, A::kRecursiveHalving}, {512, A::kButterfly}}},
    {256, {{0, A::kReduceScatter}, {256, A::kRecursiveHalving}, {1 * kKiB, A::kButterfly}}},
    {512,
     {{0, A::kReduceScatter},
      {512, A::kRecursiveHalving},
      {2 * kKiB, A::kButterfly},
      {8 * kKiB, A::kRecursiveHalving},
      {16 * kKiB, A::kButterfly}}},
    {1024,
     {{0, A::kReduceScatter},
      {512, A::kRecursiveHalving},
      {4 * kKiB, A::kButterfly},
      {16 * kKiB, A::kRecursiveHalving},
      {32 * kKiB, A::kButterfly}}},
    {2048, {{0, A::kReduceScatter}, {512, A::kRecursiveHalving}, {4 * kKiB, A::kButterfly}}},
    {4096, {{0, A::kReduceScatter}, {1 * kKiB, A::kRecursiveHalving}, {8 * kKiB, A::kButterfly}}},
};
const Bands kOpenMpiReduceScatterBlock = {
    {2,
     {{0, A::kRecursiveDoubling},
      {4, A::kButterfly},
      {8, A::kRecursiveHalving},
      {16, A::kButterfly},
      {128, A::kRecursiveHalving},
      {256, A::kButterfly},
      {4 * kKiB, A::kRecursiveHalving},
      {8 * kKiB, A::kButterfly},
      {128 * kKiB, A::kReduceScatter}}},
    {4,
     {{0, A::kRecursiveHalving},
      {8, A::kRecursiveDoubling},
      {32, A::kButterfly},
      {256, A::kRecursiveHalving},
      {8 * kKiB, A::kButterfly},
      {16 * kKiB, A::kRecursiveHalving},
      {1 * kMiB, A::kReduceScatter}}},
    {8,
     {{0, A::kReduceScatter},
      {4, A::kRecursiveHalving},
      {32, A::kButterfly},
      {128, A::kRecursiveHalving},
      {512 * kKiB, A::kReduceScatter},
      {4 * kMiB, A::kButterfly}}},
    {16,
     {{0, A::kReduceScatter},
      {32, A::kRecursiveHalving},
      {512 * kKiB, A::kReduceScatter},
      {2 * kMiB, A::kRecursiveHalving},
      {4 * kMiB, A::kButterfly}}},
    {32,
     {{0, A::kRecursiveHalving},
      {4, A::kReduceScatter},
      {16, A::kButterfly},
      {64 * kKiB, A::kReduceScatter},
      {256 * kKiB, A::kButterfly}}},
};

const Bands kAlwaysLinear = {{2, {{0, A::kLinear}}}};

// MPICH, for any number of processes. Each step begins one byte above the upper limit of a rule.
const Bands kMpichBcast = {
    {2, {{0, A::kBinomial}}},
    {8, {{0, A::kBinomial}, {12 * kKiB + 1, A::kScatterRing}}},
};
const Bands kMpichBcastPowerOfTwo = {
    {2, {{0, A::kBinomial}}},
    {8,
     {{0, A::kBinomial},
      {12 * kKiB + 1, A::kScatterRecursiveDoubling},
      {512 * kKiB + 1, A::kScatterRing}}},
};
const Bands kMpichBarrier = {{2, {{0, A::kDissemination}}}};
const Bands kMpichBinomial = {{2, {{0, A::kBinomial}}}};
const Bands kMpichScan = {{2, {{0, A::kRecursiveDoubling}}}};
const Bands kMpichScattered = {{2, {{0, A::kScattered}}}};
const Bands kMpichAlltoall = {
    {2, {{0, A::kScattered}, {32 * kKiB + 1, A::kPairwise}}},
    {8, {{0, A::kBruck}, {257, A::kScattered}, {32 * kKiB + 1, A::kPairwise}}},
};
const Bands kMpichAllreduce = {{2, {{0, A::kRecursiveDoubling}, {9, A::kRabenseifner}}}};
const Bands kMpichReduce = {{2, {{0, A::kBinomial}, {2 * kKiB + 1, A::kRabenseifner}}}};
// By the bytes of all members together.
const Bands kMpichAllgather = {{2, {{0, A::kBruck}, {80 * kKiB, A::kRing}}}};
const Bands kMpichAllgatherPowerOfTwo = {{2, {{0, A::kRecursiveDoubling}, {512 * kKiB, A::kRing}}}};
const Bands kMpichReduceScatter = {{2, {{0, A::kRecursiveHalving}, {512 * kKiB, A::kPairwise}}}};

Algorithm look_up(const Bands& bands, int p, double bytes) {
  const auto band =
      std::find_if(bands.rbegin(), bands.rend(), [&](const Band& b) { return p >= b.processes; });
  return std::find_if(band->steps.rbegin(), band->steps.rend(),
                      [&](const Step& step) { return bytes >= step.bytes; })
      ->algorithm;
}

Algorithm openmpi_table(CollectiveOp op, int p, double bytes) {
  switch (op) {
    case CollectiveOp::kBarrier:
      return look_up(kOpenMpiBarrier, p, bytes);
    case CollectiveOp::kBcast:
      return look_up(kOpenMpiBcast, p, bytes);
    case CollectiveOp::kGather:
      return look_up(kOpenMpiGather, p, bytes);
    case CollectiveOp::kScatter:
      return look_up(kOpenMpiScatter, p, bytes);
    case CollectiveOp::kAllgatherv:
      return look_up(kOpenMpiAllgatherv, p, bytes);
    case CollectiveOp::kAlltoall:
      return look_up(kOpenMpiAlltoall, p, bytes);
    case CollectiveOp::kAlltoallv:
      return look_up(kOpenMpiAlltoallv, p, bytes);
    case CollectiveOp::kAllreduce:
      return look_up(kOpenMpiAllreduce, p, bytes);
    case CollectiveOp::kReduce:
      return look_up(kOpenMpiReduce, p, bytes);
    case CollectiveOp::kReduceScatter:
      return look_up(kOpenMpiReduceScatter, p, p * bytes);
    case CollectiveOp::kReduceScatterBlock:
      return look_up(kOpenMpiReduceScatterBlock, p, bytes);
    case CollectiveOp::kAllgather:
    case CollectiveOp::kCreateHandle:
    case CollectiveOp::kDestroyHandle:
      return look_up(kOpenMpiAllgather, p, bytes);
    case CollectiveOp::kGatherv:
    case CollectiveOp::kScatterv:
    case CollectiveOp::kAlltoallw:
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:
      break;
  }
  return look_up(kAlwaysLinear, p, bytes);
}

Algorithm mpich_table(CollectiveOp op, int p, double bytes) {
  const bool power_of_two = std::has_single_bit(static_cast<unsigned>(p));
  switch (op) {
    case CollectiveOp::kBarrier:
      return look_up(kMpichBarrier, p, bytes);
    case CollectiveOp::kBcast:
      return look_up(power_of_two ? kMpichBcastPowerOfTwo : kMpichBcast, p, bytes);
    case CollectiveOp::kGather:
    case CollectiveOp::kScatter:
      return look_up(kMpichBinomial, p, bytes);
    case CollectiveOp::kGatherv:
    case CollectiveOp::kScatterv:
      break;
    case CollectiveOp::kAlltoall:
      return look_up(kMpichAlltoall, p, bytes);
    case CollectiveOp::kAlltoallv:
    case CollectiveOp::kAlltoallw:
      return look_up(kMpichScattered, p, bytes);
    case CollectiveOp::kAllreduce:
      return look_up(kMpichAllreduce, p, bytes);
    case CollectiveOp::kReduce:
      return look_up(kMpichReduce, p, bytes);
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kReduceScatterBlock:
      return look_up(kMpichReduceScatter, p, p * bytes);
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:
      return look_up(kMpichScan, p, bytes);
    case CollectiveOp::kAllgather:
    case CollectiveOp::kAllgatherv:
    case CollectiveOp::kCreateHandle:
    case CollectiveOp::kDestroyHandle:
      return look_up(power_of_two ? kMpichAllgatherPowerOfTwo : kMpichAllgather, p, p * bytes);
  }
  return look_up(kAlwaysLinear, p, bytes);
}

/// An algorithm that gives each member a part of the vector needs an element for each; with fewer
/// elements libraries choose another one. Archives do not hold the size of an element: assumed to
/// be that of a double.
Algorithm with_enough_elements(CollectivePreset preset, CollectiveOp op, Algorithm algorithm, int p,
                               double bytes) {
  if (op != CollectiveOp::kAllreduce && op != CollectiveOp::kReduce) return algorithm;
  const double elements = bytes / sizeof(double);
  if (algorithm == A::kRing && elements < p) return A::kRecursiveDoubling;
  if (algorithm != A::kRabenseifner || elements >= std::bit_floor(static_cast<unsigned>(p)))
    return algorithm;
  if (preset == CollectivePreset::kOpenMpi) return A::kLinear;
  return op == CollectiveOp::kReduce ? A::kBinomial : A::kRecursiveDoubling;
}

}  // namespace

AlgorithmChoice preset_choice(CollectivePreset preset, CollectiveOp op, int p, double bytes) {
  const Algorithm algorithm = preset == CollectivePreset::kOpenMpi ? openmpi_table(op, p, bytes)
                                                                   : mpich_table(op, p, bytes);
  return {with_enough_elements(preset, op, algorithm, p, bytes)};
}

}  // namespace rubato
