// Which algorithm is chosen, and what a platform file can say about it. The borders of the tables
// are those of Open MPI 4.1.4, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, and of MPICH 4.0.2,
// maint/tuning/coll/mpir/generic.json.

#include "models/collective/collective_model.h"

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "models/platform/interconnect.h"
#include "models/platform/platform_file.h"

using namespace rubato;

namespace {

using Op = CollectiveOp;

std::string openmpi(Op op, int p, double bytes) {
  return name_of(preset_choice(CollectivePreset::kOpenMpi, op, p, bytes).algorithm);
}
std::string mpich(Op op, int p, double bytes) {
  return name_of(preset_choice(CollectivePreset::kMpich, op, p, bytes).algorithm);
}

const std::string kHead =
    "format = 1\n"
    "[level.node]\n"
    "transfer = [ { from = \"0B\", latency = \"1us\", bandwidth = \"1GB/s\" } ]\n";  // lines 1 to 3

CollectiveModel model_of(const std::string& text) {
  return parse_platform(kHead + text, "cluster.toml").collectives;
}

std::string complaint(const std::string& text) {
  try {
    model_of(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string chosen(const CollectiveModel& model, Op op, int p, double bytes) {
  return name_of(model.choose(op, p, bytes).algorithm);
}

}  // namespace

TEST_CASE("Open MPI's choice at the borders of its tables") {
  // Allreduce: fewer than 4, 8, 16, 32, 64, 128, ... processes.
  CHECK(openmpi(Op::kAllreduce, 3, 4095) == "recursive_doubling");
  CHECK(openmpi(Op::kAllreduce, 3, 4096) == "ring");
  CHECK(openmpi(Op::kAllreduce, 3, 8192) == "recursive_doubling");
  CHECK(openmpi(Op::kAllreduce, 3, 16384) == "ring");
  CHECK(openmpi(Op::kAllreduce, 3, 262143) == "ring");  // the segmented one, without segments
  CHECK(openmpi(Op::kAllreduce, 3, 262144) == "rabenseifner");
  CHECK(openmpi(Op::kAllreduce, 4, 8191) == "recursive_doubling");
  CHECK(openmpi(Op::kAllreduce, 4, 8192) == "rabenseifner");
  CHECK(openmpi(Op::kAllreduce, 16, 4096) == "rabenseifner");
  CHECK(openmpi(Op::kAllreduce, 127, 262143) == "recursive_doubling");
  CHECK(openmpi(Op::kAllreduce, 128, 131071) == "reduce_then_bcast");
  CHECK(openmpi(Op::kAllreduce, 128, 131072) == "recursive_doubling");
  CHECK(openmpi(Op::kAllreduce, 512, 2047) == "reduce_then_bcast");
  CHECK(openmpi(Op::kAllreduce, 512, 2048) == "recursive_doubling");
  CHECK(openmpi(Op::kAllreduce, 5000, 32768) == "rabenseifner");

  CHECK(openmpi(Op::kBcast, 2, 31) == "chain");
  CHECK(openmpi(Op::kBcast, 2, 32) == "binary");
  CHECK(openmpi(Op::kBcast, 3, 1048575) == "binomial");
  CHECK(openmpi(Op::kBcast, 3, 1048576) == "binary");
  CHECK(openmpi(Op::kBcast, 7, 8191) == "binomial");
  CHECK(openmpi(Op::kBcast, 7, 8192) == "linear");
  CHECK(openmpi(Op::kBcast, 8, 7) == "knomial");
  CHECK(openmpi(Op::kBcast, 8, 8) == "binary");
  CHECK(openmpi(Op::kBcast, 31, 1048576) == "scatter_recursive_doubling");
  CHECK(openmpi(Op::kBcast, 32, 1048576) == "knomial");
  CHECK(openmpi(Op::kBcast, 256, 16384) == "split_binary");

  CHECK(openmpi(Op::kReduce, 2, 31) == "chain");
  CHECK(openmpi(Op::kReduce, 2, 32) == "linear");
  CHECK(openmpi(Op::kReduce, 15, 8191) == "binary");
  CHECK(openmpi(Op::kReduce, 15, 8192) == "binomial");
  CHECK(openmpi(Op::kReduce, 300, 8192) == "in_order_binary");

  CHECK(openmpi(Op::kAlltoall, 2, 32767) == "pairwise");
  CHECK(openmpi(Op::kAlltoall, 2, 32768) == "linear");
  CHECK(openmpi(Op::kAlltoall, 16, 3) == "linear");
  CHECK(openmpi(Op::kAlltoall, 16, 4) == "bruck");
  CHECK(openmpi(Op::kAlltoall, 16, 512) == "linear");
  CHECK(openmpi(Op::kAlltoall, 64, 262144) == "pairwise");
  CHECK(openmpi(Op::kAlltoallv, 3, 8) == "pairwise");
  CHECK(openmpi(Op::kAlltoallv, 4, 8) == "linear");

  CHECK(openmpi(Op::kAllgather, 31, 1e6) == "recursive_doubling");
  CHECK(openmpi(Op::kAllgather, 32, 1023) == "recursive_doubling");
  CHECK(openmpi(Op::kAllgather, 32, 1024) == "neighbour_exchange");
  CHECK(openmpi(Op::kAllgather, 32, 65536) == "ring");
  CHECK(openmpi(Op::kAllgatherv, 7, 255) == "gather_then_bcast");
  CHECK(openmpi(Op::kAllgatherv, 7, 256) == "neighbour_exchange");

  CHECK(openmpi(Op::kGather, 7, 1023) == "binomial");
  CHECK(openmpi(Op::kGather, 7, 1024) == "linear");
  CHECK(openmpi(Op::kGather, 7, 262144) == "linear_sync");
  CHECK(openmpi(Op::kGather, 8, 262144) == "binomial");
  CHECK(openmpi(Op::kScatter, 15, 16383) == "binomial");
  CHECK(openmpi(Op::kScatter, 15, 16384) == "linear");

  // Of all blocks together: 4 * 65536 B.
  CHECK(openmpi(Op::kReduceScatter, 4, 65535) == "recursive_halving");
  CHECK(openmpi(Op::kReduceScatter, 4, 65536) == "ring");
  CHECK(openmpi(Op::kReduceScatterBlock, 4, 1048576) == "reduce_then_scatter");

  CHECK(openmpi(Op::kBarrier, 3, 0) == "recursive_doubling");
  CHECK(openmpi(Op::kBarrier, 4, 0) == "linear");
  CHECK(openmpi(Op::kBarrier, 8, 0) == "recursive_doubling");
  CHECK(openmpi(Op::kBarrier, 64, 0) == "dissemination");
  CHECK(openmpi(Op::kBarrier, 256, 0) == "tree");

  // The component basic does the rest.
  CHECK(openmpi(Op::kScan, 100, 8) == "linear");
  CHECK(openmpi(Op::kGatherv, 100, 8) == "linear");

  // 16 B among 4 are two doubles: fewer than a ring or Rabenseifner's parts want.
  CHECK(openmpi(Op::kAllreduce, 4, 15) == "recursive_doubling");
  CHECK(openmpi(Op::kAllreduce, 32, 128) == "linear");        // 16 elements for 32 parts
  CHECK(openmpi(Op::kAllreduce, 32, 256) == "rabenseifner");  // 32 elements
}

TEST_CASE("MPICH's choice at the borders of its rules") {
  CHECK(mpich(Op::kBcast, 7, 1e6) == "binomial");
  CHECK(mpich(Op::kBcast, 8, 12288) == "binomial");
  CHECK(mpich(Op::kBcast, 8, 12289) == "scatter_recursive_doubling");
  CHECK(mpich(Op::kBcast, 8, 524288) == "scatter_recursive_doubling");
  CHECK(mpich(Op::kBcast, 8, 524289) == "scatter_ring");
  CHECK(mpich(Op::kBcast, 9, 12289) == "scatter_ring");
  CHECK(mpich(Op::kAllreduce, 4, 8) == "recursive_doubling");
  CHECK(mpich(Op::kAllreduce, 4, 31) == "recursive_doubling");  // not a double for each of 4
  CHECK(mpich(Op::kAllreduce, 4, 32) == "rabenseifner");
  CHECK(mpich(Op::kReduce, 4, 2048) == "binomial");
  CHECK(mpich(Op::kReduce, 4, 2049) == "rabenseifner");
  // Bytes of all together.
  CHECK(mpich(Op::kAllgather, 4, 131071) == "recursive_doubling");
  CHECK(mpich(Op::kAllgather, 4, 131072) == "ring");  // 4 * 128 KiB = 512 KiB
  CHECK(mpich(Op::kAllgather, 5, 16383) == "bruck");
  CHECK(mpich(Op::kAllgather, 5, 16384) == "ring");  // 5 * 16 KiB = 80 KiB
  CHECK(mpich(Op::kReduceScatterBlock, 4, 131071) == "recursive_halving");
  CHECK(mpich(Op::kReduceScatterBlock, 4, 131072) == "pairwise");
  CHECK(mpich(Op::kAlltoall, 7, 32768) == "scattered");
  CHECK(mpich(Op::kAlltoall, 7, 32769) == "pairwise");
  CHECK(mpich(Op::kAlltoall, 8, 256) == "bruck");
  CHECK(mpich(Op::kAlltoall, 8, 257) == "scattered");
  CHECK(mpich(Op::kAlltoallv, 8, 1e6) == "scattered");
  CHECK(mpich(Op::kGather, 8, 1e6) == "binomial");
  CHECK(mpich(Op::kGatherv, 8, 1e6) == "linear");
  CHECK(mpich(Op::kScan, 8, 8) == "recursive_doubling");
  CHECK(mpich(Op::kBarrier, 8, 0) == "dissemination");
}

TEST_CASE("presets choose only algorithms that the operation supports") {
  for (int i = 0; i <= static_cast<int>(Op::kDestroyHandle); ++i) {
    const auto op = static_cast<Op>(i);
    const std::vector<Algorithm> known = algorithms_of(op);
    for (const CollectivePreset preset : {CollectivePreset::kMpich, CollectivePreset::kOpenMpi}) {
      for (int p = 2; p < 10000; p = p * 3 / 2 + 1) {
        for (double n = 0; n < 1e8; n = n * 1.7 + 1) {
          const Algorithm algorithm = preset_choice(preset, op, p, n).algorithm;
          INFO(name_of(op) << " " << name_of(algorithm) << " p " << p << " n " << n);
          REQUIRE(std::find(known.begin(), known.end(), algorithm) != known.end());
        }
      }
    }
  }
}

TEST_CASE("a platform file chooses algorithms") {
  const CollectiveModel model = model_of(R"(
    [collectives]
    preset = "openmpi"
    [collectives.allreduce]
    algorithm = "ring"
    [collectives.bcast]
    algorithm = [
      { name = "binomial" },
      { from = "12KiB", processes = 8, name = "chain", segment = "64KiB" },
    ]
    [collectives.reduce]
    algorithm = [ { from = "1MiB", name = "rabenseifner" } ]
    [collectives.gather]
    sync_limit = "1KiB"
  )");
  CHECK(chosen(model, Op::kAllreduce, 4, 8) == "ring");
  CHECK(chosen(model, Op::kBcast, 7, 1e6) == "binomial");
  CHECK(chosen(model, Op::kBcast, 8, 12287) == "binomial");
  CHECK(model.choose(Op::kBcast, 8, 12288) == AlgorithmChoice{Algorithm::kChain, 65536});
  CHECK(chosen(model, Op::kReduce, 4, 8) == "binary");  // no entry holds: Open MPI's
  CHECK(chosen(model, Op::kReduce, 4, 1 << 20) == "rabenseifner");
  CHECK(chosen(model, Op::kBarrier, 4, 0) == "linear");

  CHECK(model.synchronisation(Op::kGather, 1023) == Synchronisation::kAllToOne);
  CHECK(model.synchronisation(Op::kGather, 1024) == Synchronisation::kAllToAll);
  CHECK(model.synchronisation(Op::kScatter, 1e9) == Synchronisation::kOneToAll);
  CHECK(model.synchronisation(Op::kScan, 1e9) == Synchronisation::kPrefix);

  CHECK(chosen(model_of(""), Op::kBarrier, 4, 0) ==
        "dissemination");  // MPICH where nothing is said
}

TEST_CASE("an allreduce on a ring takes 2(p-1) rounds of a p-th") {
  const Platform platform = parse_platform(kHead + R"(
    send_overhead = "100ns"
    [collectives]
    reduction_bandwidth = "2GB/s"
    [collectives.allreduce]
    algorithm = "ring"
  )",
                                           "cluster.toml");
  // 4000 B among 4: 6 rounds of 0.1 us + 1 us + 1000 B / 1 GB/s, half of them with 0.5 us to add.
  CHECK(Interconnect(platform).collective(Op::kAllreduce, 4, 4000, Level::kNode) ==
        Approx(6 * 2.1e-6 + 3 * 0.5e-6));
  CHECK(Interconnect(platform).collective(Op::kAllreduce, 1, 4000, Level::kNode) == 0);
  // A linear Scatterv (MPICH's) to 4 others of 1000 B each: messages go out 1 us apart, what a
  // message takes the port; the root leaves when four have taken 0.1 us and 1 us each.
  CHECK(Interconnect(platform).collective(Op::kScatterv, 5, 1000, Level::kNode) ==
        Approx(3 * 1e-6 + 2.1e-6));
  CHECK(Interconnect(platform).collective_departure(Op::kScatterv, 5, 1000, Level::kNode, true) ==
        Approx(4 * 1.1e-6));
}

TEST_CASE("formulas in p and d") {
  const std::string text = R"(
    [collectives.alltoall]
    formula = [
      { constant = "1us", log_p = "2us", p = "3us" },
      { from = "1000B", d = "1ns", d_log_p = "10ns", d_p = "100ns" },
    ]
  )";
  const CollectiveModel model = model_of(text);
  const RoundCost unused;
  CHECK(model.seconds(Op::kAlltoall, 8, 999, unused) == Approx(1e-6 + 3 * 2e-6 + 8 * 3e-6));
  // 1000 B: (1 + 3 * 10 + 8 * 100) ns each
  CHECK(model.seconds(Op::kAlltoall, 8, 1000, unused) == Approx(831e-6));
  CHECK(model.seconds(Op::kAlltoall, 1, 1000, unused) == 0);
  CHECK(model.describe(Op::kAlltoall, 8, 8) == "formula");
  CHECK(model.describe(Op::kBarrier, 8, 0) == "dissemination");
  CHECK(model_of("[collectives]\nmodel = \"algorithm\"\n" + text).describe(Op::kAlltoall, 8, 8) ==
        "bruck");
  CHECK(model_of("[collectives]\nmodel = \"perfect\"\n" + text)
            .seconds(Op::kAlltoall, 8, 8, unused) == 0);
  // A line that crosses zero stays there; a platform file with one is refused.
  CollectiveFormula line;
  line.constant = -5e-6;
  line.p = 1e-6;
  CHECK(line(4, 0) == 0);
  CHECK(line(7, 0) == Approx(2e-6));
}

TEST_CASE("formulas of each number of processes") {
  const CollectiveModel model = model_of(R"(
    [collectives.bcast]
    formula = [
      { processes = 2, from = "0B", constant = "2us" },
      { processes = 2, from = "1000B", d = "3ns" },
      { processes = 4, from = "0B", constant = "5us", d = "1ns" },
      { processes = 16, from = "500B", d = "20ns" },
      { processes = 16, from = "2000B", d = "10ns" },
    ]
  )");
  const RoundCost unused;
  const auto us = [&](int p, double bytes) {
    return 1e6 * model.seconds(Op::kBcast, p, bytes, unused);
  };
  CHECK(us(2, 999) == Approx(2));
  CHECK(us(2, 1000) == Approx(3));
  CHECK(us(4, 1000) == Approx(6));
  CHECK(us(16, 400) == Approx(8));  // no piece begins earlier
  CHECK(us(16, 2000) == Approx(20));
  // 8 is halfway between 4 and 16, and 3 is log2(1.5) = 0.58496 of the way from 2 to 4.
  CHECK(us(8, 1000) == Approx((6. + 20) / 2));
  CHECK(us(3, 1000) == Approx(3 + 0.58496 * 3).epsilon(1e-5));
  CHECK(model.of(Op::kBcast).formula_processes == 16);  // beyond it time grows as the algorithm's
}

TEST_CASE("written collectives are read back unchanged") {
  const std::string text = kHead + R"(
    [collectives]
    model = "algorithm"
    preset = "openmpi"
    reduction_bandwidth = "4GB/s"
    [collectives.bcast]
    sync_limit = "64KiB"
    algorithm = [ { name = "linear" }, { processes = 9, from = "1KiB", name = "chain", segment = "8KiB" } ]
    [collectives.barrier]
    formula = [ { constant = "1us", d_log_p = "2ns" } ]
    [collectives.reduce]
    formula = [ { processes = 2, constant = "1us" }, { processes = 3, constant = "2us" } ]
  )";
  const Platform first = parse_platform(text, "first");
  const std::string once = format_platform(first);
  const Platform again = parse_platform(once, "again");
  CHECK(format_platform(again) == once);
  CHECK(again.collectives.preset == CollectivePreset::kOpenMpi);
  CHECK(again.collectives.pricing == CollectivePricing::kAlgorithm);
  CHECK(again.reduction_bandwidth == Approx(4e9));
  CHECK(again.collectives.choose(Op::kBcast, 9, 1024) == AlgorithmChoice{Algorithm::kChain, 8192});
  CHECK(chosen(again.collectives, Op::kBcast, 8, 1024) == "linear");
  CHECK(again.collectives.of(Op::kBcast).sync_limit == 65536);
  CHECK(again.collectives.of(Op::kBarrier).formula[0].d_log_p == Approx(2e-9));
  CHECK(again.collectives.of(Op::kReduce).formula[1].processes == 3);
}

TEST_CASE("errors about collectives in a platform file are reported with their line") {
  CHECK(complaint("[collectives.scan]\nalgorithm = \"ring\"") ==
        "cluster.toml:5: 'scan' has no algorithm 'ring'; use one of 'linear', "
        "'recursive_doubling'");
  CHECK(complaint("[collectives]\nallreduce = { algorithm = [ { name = \"rign\" } ] }")
            .find("cluster.toml:5: 'allreduce' has no algorithm 'rign'; use one of 'linear', "
                  "'recursive_doubling', 'rabenseifner', 'ring', 'reduce_then_bcast'") == 0);
  CHECK(
      complaint("[collectives.alreduce]\nalgorithm = \"ring\"").find("did you mean 'allreduce'?") !=
      std::string::npos);
  CHECK(complaint("[collectives]\npreset = \"intel\"") ==
        "cluster.toml:5: collectives.preset 'intel' is not known; use one of 'mpich', 'openmpi'");
  CHECK(complaint("[collectives]\nmodel = \"guess\"")
            .find("use one of 'analytic', 'algorithm', 'perfect'") != std::string::npos);
  CHECK(complaint("[collectives.bcast]\nalgorithm = \"linear\"\nsegment = \"1KiB\"") ==
        "cluster.toml:6: collectives.bcast: the algorithm 'linear' does not cut messages into "
        "segments");
  CHECK(complaint("[collectives.bcast]\nsegment = \"1KiB\"").find("needs an 'algorithm'") !=
        std::string::npos);
  CHECK(complaint("[collectives.allreduce]\nsync_limit = \"1KiB\"")
            .find("cluster.toml:5: collectives.allreduce: 'sync_limit' is for operations with a "
                  "root") == 0);
  CHECK(complaint("[collectives.bcast]\nalgorithm = [ { processes = 0, name = \"linear\" } ]")
            .find("must be a whole number above 0") != std::string::npos);
  CHECK(complaint("[collectives.bcast]\nformula = [ { log_q = \"1us\" } ]")
            .find("did you mean 'log_p'?") != std::string::npos);
  CHECK(complaint("[collectives.bcast]\nformula = [ { processes = 1, constant = \"1us\" } ]")
            .find("'processes' must be 2 or more") != std::string::npos);
  CHECK(complaint(
            "[collectives.bcast]\nformula = [ { p = \"1us\" }, { processes = 4, p = \"1us\" } ]")
            .find("in all entries, or in none") != std::string::npos);
  CHECK(
      complaint("[collectives.bcast]\nformula = [ { processes = 4, p = \"1us\" }, { processes = 2, "
                "from = \"8B\", p = \"1us\" } ]")
          .find("must not decrease") != std::string::npos);
  CHECK(complaint("[collectives.bcast]\nformula_processes = 8\nformula = [ { processes = 4, p = "
                  "\"1us\" } ]")
            .find("formula_processes must be 4") != std::string::npos);
  CHECK(complaint("[collectives.bcast]\nformula = [ { from = \"1KiB\" }, { from = \"1KiB\" } ]")
            .find("sizes must increase") != std::string::npos);
}
