#include <cstdio>
#include <string>

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

}  // namespace

void simgrid_rows(const Choice& choice) {
  const bool few = choice.takes("simgrid/64"), many = choice.takes("simgrid/1024");
  if (choice.quick || (!few && !many)) return;
  if (!simgrid_is_here()) {
    std::printf("\nNot measured beside SimGrid's replay: there is no smpirun (libsimgrid-dev).\n");
    return;
  }
  std::printf(
      "\nBeside SimGrid's replay (smpirun -replay) of the same calls as time-independent traces,\n"
      "Mcalls/s and MB: ours with opening and reading the archive; SimGrid's without contention\n"
      "(CM02, FATPIPE), as ours is, and with its default model, where links are shared.\n");
  std::printf("%-14s %6s %6s  %8s %8s  %8s %8s  %8s %8s\n", "", "ranks", "Mcalls", "Rubato", "MB",
              "SimGrid", "MB", "shared", "MB");
  if (few) measure("simgrid/64", 64, 448000);
  if (many) measure("simgrid/1024", 1024, 28672);
}
