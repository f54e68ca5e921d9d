#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bars.h"
#include "cost.h"
#include "replay/archive/archive.h"
#include "replays.h"
#include "rows.h"
#include "simgrid_peer.h"
#include "temporary_archive.h"

namespace {

/// A halo in SimGrid's replay and in ours, from the same archive.
void measure(const std::string& name, int ranks, uint64_t calls) {
  const MadeArchive what{Workload::kHalo, ranks, calls};
  const TemporaryArchive made(what);
  cost_of([&] { write_for_simgrid(*rubato::open_archive(made.archive()), made.directory()); });
  const Cost ours = best_of_three([&] { replay(made.archive(), bandela(), 1); });
  const double mcalls = static_cast<double>(made_calls(what)) / 1e6;
  std::printf("%-14s %6d %6.2f  %8.3f %8.1f", name.c_str(), ranks, mcalls, mcalls / ours.seconds,
              ours.megabytes);
  for (const SimgridNetwork network : {SimgridNetwork::kFree, SimgridNetwork::kShared}) {
    const Cost theirs = cost_of([&] { become_simgrid(made.directory(), ranks, network); });
    std::printf("  %8.4f %8.1f", mcalls / theirs.seconds, theirs.megabytes);
    std::fflush(stdout);
  }
  std::printf("\n");
}

/// A node for each rank, on a fat tree tapered 2:1.
Machine tree_for(int ranks) {
  const int width = below_tree(ranks);
  return {"fat tree", "bandela",
          fmt::format("ppn=1,latency=0us,bandwidth=1GB/s,contention=fat-tree,"
                      "contention.down={}x{},contention.up=1x{},"
                      "contention.link_bandwidth=1GB/s,latency*",
                      width, width, width / 2)};
}

/// The same on a fat tree with shared links.
void measure_tree(const std::string& name, const MadeArchive& what) {
  const TemporaryArchive made(what);
  cost_of([&] { write_for_simgrid(*rubato::open_archive(made.archive()), made.directory()); });
  const Cost ours = best_of_three([&] { replay(made.archive(), tree_for(what.ranks), 1); });
  const Cost theirs =
      cost_of([&] { become_simgrid(made.directory(), what.ranks, SimgridNetwork::kTree); });
  const double mcalls = static_cast<double>(made_calls(what)) / 1e6;
  const double ratio = theirs.seconds / ours.seconds;
  std::printf("%-24s %6d %8.4f  %8.4f %8.1f  %8.4f %8.1f  %6.0f\n", name.c_str(), what.ranks,
              mcalls, mcalls / ours.seconds, ours.megabytes, mcalls / theirs.seconds,
              theirs.megabytes, ratio);
  std::fflush(stdout);
  expect_at_most(name + ", part of SimGrid's time", 1 / ratio, 0.1);
}

void tree_rows(const std::vector<std::pair<std::string, MadeArchive>>& chosen) {
  std::printf(
      "\nOn a fat tree tapered 2:1 whose links are shared max-min fairly, beside SimGrid's replay "
      "on\nthe same (CM02). Bar: 10 times as fast.\n%-24s %6s %8s  %8s %8s  %8s %8s  %6s\n",
      "", "ranks", "Mcalls", "Rubato", "MB", "SimGrid", "MB", "times");
  for (const auto& [name, what] : chosen) measure_tree(name, what);
}

/// Ours alone, from archives so long that opening them is little of it, beside the same machine
/// without shared links.
void tree_rates(const Choice& choice) {
  bool any = false;
  for (const uint64_t bytes : {uint64_t{8192}, uint64_t{256} << 10}) {
    double at_64 = 0;  // seconds of a million calls
    for (const int ranks : {64, 1024, 4096}) {
      const std::string name = fmt::format("shared/tree/{}/{}K", ranks, bytes >> 10);
      if (choice.quick || !choice.takes(name)) continue;
      if (!any) {
        std::printf("\n%-24s %6s %8s  %8s %8s  %8s %8s\n", "Links shared, and not", "ranks",
                    "Mcalls", "Mcalls/s", "MB", "Mcalls/s", "MB");
        any = true;
      }
      const MadeArchive what{.ranks = ranks, .calls = uint64_t{1} << 19, .bytes = bytes};
      const TemporaryArchive made(what);
      const Machine free{"free", "bandela", "ppn=1,bandwidth=1GB/s,latency*"};
      const Cost shared = best_of_three([&] { replay(made.archive(), tree_for(ranks), 1); });
      const Cost alone = best_of_three([&] { replay(made.archive(), free, 1); });
      const double mcalls = static_cast<double>(made_calls(what)) / 1e6;
      std::printf("%-24s %6d %8.4f  %8.4f %8.1f  %8.4f %8.1f\n", name.c_str(), ranks, mcalls,
                  mcalls / shared.seconds, shared.megabytes, mcalls / alone.seconds,
                  alone.megabytes);
      std::fflush(stdout);
      const double seconds = shared.seconds / mcalls;
      if (ranks == 64) at_64 = seconds;
      if (ranks == 1024) expect_of_this_machine(name + ", Mcalls/s", 1 / seconds, 0.5);
      if (ranks == 4096 && at_64 > 0)
        expect_at_most(name + ", a call's time over that at 64 ranks", seconds / at_64, 3);
    }
  }
}

/// Ours alone: SimGrid's replay of that takes hours.
void dragonfly_row(const std::string& name) {
  const MadeArchive what{.ranks = 16384, .calls = 16384 * 28};
  const TemporaryArchive made(what);
  const Machine dragonfly{"dragonfly", "bandela",
                          "ppn=1,latency=0us,bandwidth=1GB/s,contention=dragonfly,"
                          "contention.shape=32x4x8x16,contention.link_bandwidth=1GB/s,latency*"};
  const Cost ours = best_of_three([&] { replay(made.archive(), dragonfly, 1); });
  const double mcalls = static_cast<double>(made_calls(what)) / 1e6;
  std::printf("\n%s: %.2f Mcalls, %.2f s, %.3f Mcalls/s, %.0f MB\n", name.c_str(), mcalls,
              ours.seconds, mcalls / ours.seconds, ours.megabytes);
}

}  // namespace

void simgrid_rows(const Choice& choice) {
  const bool few = choice.takes("simgrid/64"), many = choice.takes("simgrid/1024");
  std::vector<std::pair<std::string, MadeArchive>> trees;
  for (const int ranks : {64, 1024, 4096}) {
    const uint64_t calls = ranks == 64 ? 112000 : static_cast<uint64_t>(ranks) * 28;
    for (const uint64_t bytes : {uint64_t{8192}, uint64_t{256} << 10}) {
      const std::string name = fmt::format("simgrid/tree/{}/{}K", ranks, bytes >> 10);
      if (choice.takes(name))
        trees.push_back({name, {.ranks = ranks, .calls = calls, .bytes = bytes}});
    }
  }
  // (Of 256 ranks SimGrid takes more than ten minutes.)
  if (choice.takes("simgrid/tree/64/alltoall"))
    trees.push_back({"simgrid/tree/64/alltoall",
                     {.workload = Workload::kAlltoall, .ranks = 64, .calls = 64 * 32}});
  tree_rates(choice);
  if (choice.takes("shared/dragonfly/16384") && !choice.quick)
    dragonfly_row("shared/dragonfly/16384");
  if (choice.quick || (!few && !many && trees.empty())) return;
  if (!simgrid_is_here()) {
    std::printf("\nNot measured beside SimGrid's replay: there is no smpirun (libsimgrid-dev).\n");
    return;
  }
  if (!trees.empty()) tree_rows(trees);
  if (!few && !many) return;
  std::printf(
      "\nBeside SimGrid's replay (smpirun -replay) of the same calls as time-independent traces,\n"
      "Mcalls/s and MB: ours with opening and reading the archive; SimGrid's without contention\n"
      "(CM02, FATPIPE), as ours is, and with its default model, where links are shared.\n");
  std::printf("%-14s %6s %6s  %8s %8s  %8s %8s  %8s %8s\n", "", "ranks", "Mcalls", "Rubato", "MB",
              "SimGrid", "MB", "shared", "MB");
  if (few) measure("simgrid/64", 64, 448000);
  if (many) measure("simgrid/1024", 1024, 28672);
}
