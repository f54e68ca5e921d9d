// The regular halo on real platforms: latency and bandwidth only (bandela), a preset, and a
// calibrated file with all keys. 8 KiB are eager on all but infiniband-hdr, which uses a handshake
// from 8 KiB on and so has an additional row of 4 KiB; 256 KiB are fetched by their receiver.

#include <memory>
#include <string>

#include "bars.h"
#include "replays.h"
#include "rows.h"
#include "temporary_archive.h"

namespace {

void expect(const Figures& f) {
  expect_at_most(f.name + ": 1 scenario / bare decode", f.times_bare(), 2);
  expect_at_most(f.name + ": peak MB", f.one.megabytes, f.megabytes_allowed());
  expect_at_most(f.name + ": 16 scenarios / 1", f.times_one(f.sixteen), 2);
  if (f.sixty_four.seconds > 0)
    expect_at_most(f.name + ": 64 scenarios / 1", f.times_one(f.sixty_four), 5);
  expect_at_most(f.name + ": with wait states / without", f.times_one(f.one_waits), 1.3);
}

void halos(const Choice& choice, int ranks, uint64_t bytes) {
  const MadeArchive what{Workload::kHalo, ranks, choice.calls(1000000), 256 << 10, bytes};
  std::unique_ptr<TemporaryArchive> made;  // once for all machines
  for (const Machine& machine : {bandela(), infiniband(), calibrated_network()}) {
    if (bytes == 4096 && machine.name != infiniband().name) continue;
    const std::string name = "platform/" + machine.name + "/" + std::to_string(bytes >> 10) +
                             "KiB/" + std::to_string(ranks);
    if (!choice.takes(name)) continue;
    if (!made) made = std::make_unique<TemporaryArchive>(what);
    replay(made->archive(), machine, 1, false, true);
    Figures figures{.name = name, .calls = static_cast<double>(made_calls(what))};
    Turns turns;
    add(turns, figures, made->archive(), machine,
        {!choice.quick, true, !choice.quick, true, false, !choice.quick});
    turns.run();
    print_row(figures);
    expect(figures);
  }
}

}  // namespace

void platform_rows(const Choice& choice) {
  for (const int ranks : {64, 1024}) {
    for (const uint64_t bytes : {4, 8, 256}) halos(choice, ranks, bytes << 10);
  }
}
