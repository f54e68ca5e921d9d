// The algorithms of collective operations, each written once: a row of operations, algorithm and
// phases. All else follows from the phases: messages, closed form and departures.

#include "models/collective/algorithm_table.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "models/base/error.h"

namespace rubato {
namespace phases {
namespace {

using A = Algorithm;
using enum CollectiveOp;
using enum Amount;
using enum Load;
using enum Stay;
using enum Way;

struct Traits {
  Algorithm algorithm;
  const char* name;
  double cut = 0;  ///< see cut_part()
};
constexpr Traits kTraits[] = {{A::kLinear, "linear"},
                              {A::kLinearSync, "linear_sync"},
                              {A::kScattered, "scattered"},
                              {A::kChain, "chain", 1},
                              {A::kBinary, "binary", 1},
                              {A::kInOrderBinary, "in_order_binary", 1},
                              {A::kSplitBinary, "split_binary", 0.5},
                              {A::kBinomial, "binomial"},
                              {A::kKnomial, "knomial"},
                              {A::kScatterRing, "scatter_ring"},
                              {A::kScatterRecursiveDoubling, "scatter_recursive_doubling"},
                              {A::kRecursiveDoubling, "recursive_doubling"},
                              {A::kRecursiveHalving, "recursive_halving"},
                              {A::kRabenseifner, "rabenseifner"},
                              {A::kButterfly, "butterfly"},
                              {A::kRing, "ring"},
                              {A::kDoubleRing, "double_ring"},
                              {A::kNeighbourExchange, "neighbour_exchange"},
                              {A::kPairwise, "pairwise"},
                              {A::kBruck, "bruck"},
                              {A::kDissemination, "dissemination"},
                              {A::kTree, "tree"},
                              {A::kReduceBcast, "reduce_then_bcast"},
                              {A::kGatherBcast, "gather_then_bcast"},
                              {A::kReduceScatter, "reduce_then_scatter"}};
constexpr size_t kAlgorithms = static_cast<size_t>(A::kEnd);
constexpr bool is_at_its_place(const Traits& traits) {
  return &traits - kTraits == static_cast<std::ptrdiff_t>(traits.algorithm);
}
static_assert(std::size(kTraits) == kAlgorithms && std::ranges::all_of(kTraits, is_at_its_place),
              "an algorithm has no name, or not at its place");

struct Operations {
  uint32_t set = 0;

  constexpr Operations(CollectiveOp op) : set(1U << static_cast<int>(op)) {}
  constexpr Operations(std::initializer_list<CollectiveOp> ops) {
    for (const CollectiveOp op : ops) set |= 1U << static_cast<int>(op);
  }
};
constexpr Operations kGathers = {kGather, kGatherv};
constexpr Operations kScatters = {kScatter, kScatterv};
constexpr Operations kAllgathers = {kAllgather, kAllgatherv, kCreateHandle, kDestroyHandle};
constexpr Operations kEqualAllgathers = {kAllgather, kCreateHandle, kDestroyHandle};
constexpr Operations kAlltoalls = {kAlltoall, kAlltoallv, kAlltoallw};
constexpr Operations kReduceScatters = {kReduceScatter, kReduceScatterBlock};
constexpr Operations kScans = {kScan, kExscan};

struct Row {
  Operations operations;
  Algorithm algorithm;
  Phases phases;
};
constexpr bool kCombines = true;
constexpr Row kRows[] = {
    {kBarrier, A::kLinear, {{Linear{kUp, kVector}}, {Linear{kDown, kVector}}}},
    {kBarrier, A::kRecursiveDoubling, {{Exchanges{kFirst}}, {Fold{Fold::kBack, kFirst}}}},
    {kBarrier, A::kDoubleRing, {{Token{}}}},
    {kBarrier, A::kDissemination, {{Dissemination{true}}}},
    {kBarrier, A::kTree, {{Tree{kUp, 2, kVector}}, {Tree{kDown, 2, kVector}}}},

    {kBcast, A::kLinear, {{Linear{kDown, kVector}}}},
    {kBcast, A::kChain, {{Chain{kDown}}}},
    {kBcast, A::kBinary, {{Binary{kDown}}}},
    {kBcast, A::kSplitBinary, {{SplitBinary{}}}},
    {kBcast, A::kBinomial, {{Tree{kDown, 2, kVector}}}},
    {kBcast, A::kKnomial, {{Tree{kDown, 4, kVector}}}},  // Open MPI's radix
    // Van de Geijn's, [TRG] 4.2.
    {kBcast, A::kScatterRing, {{Tree{kDown, 2, kShares}}, {Ring{kShare}}}},
    {kBcast,
     A::kScatterRecursiveDoubling,
     {{Tree{kDown, 2, kShares}}, {Doubling{Doubling::kGathered, kShare}}}},

    {kGathers, A::kLinear, {{Linear{kUp, kBlocks}}}},
    {kGathers, A::kLinearSync, {{LinearSync{}}}},
    {kGathers, A::kBinomial, {{Tree{kUp, 2, kBlocks}}}},

    {kScatters, A::kLinear, {{Linear{kDown, kBlocks}}}},
    {kScatters, A::kBinomial, {{Tree{kDown, 2, kBlocks}}}},

    {kAllgathers, A::kRecursiveDoubling, {{Doubling{Doubling::kGathered, kPayload}}}},
    {kAllgathers, A::kBruck, {{Doubling{Doubling::kGathered, kPayload}}}},
    {kAllgathers, A::kRing, {{Ring{kPayload}}}},
    {kAllgathers, A::kNeighbourExchange, {{NeighbourExchange{}}}},
    {kEqualAllgathers, A::kGatherBcast, {{Part{kGather, kPayload}}, {Part{kBcast, kAll}}}},
    {kAllgatherv, A::kGatherBcast, {{Part{kGatherv, kPayload}}, {Part{kBcast, kAll}}}},

    {kAlltoalls, A::kLinear, {{Batches{Batches::kAll}}}},
    {kAlltoalls, A::kScattered, {{Batches{32}}}},  // MPICH's limit
    {kAlltoalls, A::kPairwise, {{Batches{1}}}},
    {kAlltoall, A::kBruck, {{Doubling{Doubling::kForwarded, kPayload}}}},

    {kAllreduce, A::kLinear, {{Linear{kUp, kVector}, kCombines}, {Linear{kDown, kVector}}}},
    {kAllreduce, A::kRecursiveDoubling, {{Exchanges{kOdd}, kCombines}, {Fold{Fold::kBack, kOdd}}}},
    {kAllreduce,
     A::kRabenseifner,
     {{Fold{Fold::kOver, kOdd}, kCombines},
      {Halving{kOdd}, kCombines},
      {Growing{kOdd, true}},
      {Fold{Fold::kBack, kOdd}}}},
    // A reduce-scatter and an allgather (Patarasuk and Yuan, 2009).
    {kAllreduce, A::kRing, {{Ring{kShare}, kCombines}, {Ring{kShare}}}},
    {kAllreduce, A::kReduceBcast, {{Part{kReduce, kPayload}}, {Part{kBcast, kPayload}}}},

    {kReduce, A::kLinear, {{Linear{kUp, kVector}, kCombines}}},
    {kReduce, A::kChain, {{Chain{kUp}, kCombines}}},
    {kReduce, A::kBinary, {{Binary{kUp}, kCombines}}},
    // The root of the tree is the last rank, which sends the result on [PG].
    {kReduce, A::kInOrderBinary, {{Binary{kUp, true}, kCombines}, {Forward{}}}},
    {kReduce, A::kBinomial, {{Tree{kUp, 2, kVector}, kCombines}}},
    {kReduce,
     A::kRabenseifner,
     {{Fold{Fold::kOver, kEven}, kCombines}, {Halving{kEven}, kCombines}, {Growing{kEven, false}}}},

    {kReduceScatters, A::kRecursiveDoubling, {{Doubling{Doubling::kNeeded, kPayload}, kCombines}}},
    {kReduceScatters,
     A::kRecursiveHalving,
     {{Fold{Fold::kOver, kOdd, kAll}, kCombines},
      {BlockHalving{false}, kCombines},
      {Fold{Fold::kBack, kOdd, kPayload, Fold::kOwn}}}},
    // Halving that keeps the order, and a swap (Traeff, 2005).
    {kReduceScatters,
     A::kButterfly,
     {{Fold{Fold::kOver, kOdd, kAll}, kCombines},
      {BlockHalving{true}, kCombines},
      {Fold{Fold::kBack, kOdd, kPayload, Fold::kOpposite}},
      {Mirror{}}}},
    {kReduceScatters, A::kRing, {{Ring{kPayload, false}, kCombines}}},
    {kReduceScatters, A::kPairwise, {{Batches{1}, kCombines}}},
    {kReduceScatter, A::kReduceScatter, {{Part{kReduce, kAll}}, {Part{kScatterv, kPayload}}}},
    {kReduceScatterBlock, A::kReduceScatter, {{Part{kReduce, kAll}}, {Part{kScatter, kPayload}}}},

    {kScans, A::kLinear, {{Chain{kDown}, kCombines}}},
    {kScans, A::kRecursiveDoubling, {{Dissemination{false}, kCombines}}},
};

/// The row of an operation and an algorithm; null if the operation has no such algorithm.
constexpr auto kTable = [] {
  std::array<std::array<const Row*, kAlgorithms>, kCollectiveOps + 2> table{};
  for (const Row& row : kRows) {
    for (size_t op = 0; op < table.size(); ++op) {
      if ((row.operations.set >> op & 1) == 0) continue;
      const Row*& entry = table[op][static_cast<size_t>(row.algorithm)];
      if (entry) throw "an operation has two rows of one algorithm";
      entry = &row;
    }
  }
  return table;
}();
constexpr bool has_algorithm(const std::array<const Row*, kAlgorithms>& of_operation) {
  return std::ranges::any_of(of_operation, [](const Row* row) { return row != nullptr; });
}
static_assert(std::ranges::all_of(kTable, has_algorithm), "an operation has no algorithm");

constexpr bool has_row(const Traits& traits) {
  return std::ranges::count(kRows, traits.algorithm, &Row::algorithm) > 0;
}
static_assert(std::ranges::all_of(kTraits, has_row), "an algorithm has no row");

}  // namespace

const Phases& phases_of(CollectiveOp op, Algorithm algorithm) {
  const Row* row = kTable[static_cast<size_t>(op)][static_cast<size_t>(algorithm)];
  assert(row);
  return row->phases;
}

double cut_part(Algorithm algorithm) {
  return kTraits[static_cast<size_t>(algorithm)].cut;
}

}  // namespace phases

std::string name_of(Algorithm algorithm) {
  return phases::kTraits[static_cast<size_t>(algorithm)].name;
}

bool takes_segments(Algorithm algorithm) {
  return phases::cut_part(algorithm) > 0;
}

std::vector<Algorithm> algorithms_of(CollectiveOp op) {
  std::vector<Algorithm> algorithms;
  for (const phases::Row* row : phases::kTable[static_cast<size_t>(op)]) {
    if (row) algorithms.push_back(row->algorithm);
  }
  return algorithms;
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

}  // namespace rubato
