// Made archives on bandela, whose bars are narrower than those of platforms with more physics.

#include <cstdio>
#include <deque>
#include <string>

#include "bars.h"
#include "replays.h"
#include "rows.h"
#include "temporary_archive.h"

namespace {

constexpr uint64_t kSmall = 256 << 10, kLarge = 1024 << 10;

Figures measure(const std::string& name, const MadeArchive& what, bool many) {
  const TemporaryArchive made(what);
  replay(made.archive(), bandela(), 1, false, true);
  Figures figures{.name = name, .calls = static_cast<double>(made_calls(what))};
  Turns turns;
  add(turns, figures, made.archive(), bandela(), {true, many, many, many, many, many});
  turns.run();
  print_row(figures);
  return figures;
}

/// Expected values of halos.
void expect(const Figures& f) {
  expect_at_most(f.name + ": 1 scenario / bare decode", f.times_bare(), 1.5);
  expect_at_most(f.name + ": peak MB", f.one.megabytes, f.megabytes_allowed());
  if (f.engine.seconds == 0) return;
  expect_at_most(f.name + ": 16 scenarios / 1", f.times_one(f.sixteen), 1.3);
  expect_at_most(f.name + ": 64 scenarios / 1", f.times_one(f.sixty_four), 2.5);
  expect_at_most(f.name + ": 16 with wait states / 1", f.times_one(f.sixteen_waits), 2);
  expect_at_most(f.name + ": 64 with wait states / 1", f.times_one(f.sixty_four_waits), 5);
  expect_of_this_machine(f.name + ": engine alone, Mcalls/s", f.calls / 1e6 / f.engine.seconds, 20);
}

void halo(const Choice& choice, int ranks, uint64_t chunk, bool many) {
  const std::string name =
      "scaling/halo/" + std::to_string(ranks) + "/" + std::to_string(chunk >> 10) + "KiB";
  if (!choice.takes(name)) return;
  expect(measure(name, {Workload::kHalo, ranks, choice.calls(2000000), chunk}, many));
}

void pattern(const Choice& choice, const char* pattern, Workload workload, int ranks) {
  const std::string name = std::string("scaling/") + pattern + "/" + std::to_string(ranks);
  if (choice.takes(name)) measure(name, {workload, ranks, choice.calls(2000000), kSmall}, false);
}

/// How much slower a call is among many ranks than among 64. To open the files is left aside: one
/// turn of each, mostly that, is taken out.
void slowdown(const Choice& choice, int ranks) {
  const std::string name = "scaling/slowdown/" + std::to_string(ranks);
  if (choice.quick || !choice.takes(name)) return;
  const MadeArchive all[] = {{Workload::kHalo, ranks, 4000000, kSmall},
                             {Workload::kHalo, ranks, 1, kSmall},
                             {Workload::kHalo, 64, 2000000, kSmall},
                             {Workload::kHalo, 64, 1, kSmall}};
  enum { kMany, kManyOneTurn, kFew, kFewOneTurn, kArchives };
  std::deque<TemporaryArchive> made;
  for (const MadeArchive& what : all) made.emplace_back(what);
  Figures figures{.name = name, .calls = static_cast<double>(made_calls(all[kMany]))};
  Cost costs[kArchives];
  Turns turns;
  add(turns, figures, made[kMany].archive(), bandela(), {true, false, false, false, false, false});
  for (int i = kManyOneTurn; i < kArchives; ++i)
    turns.add(costs[i], [&, i] { replay(made[i].archive(), bandela(), 1); });
  turns.run();
  print_row(figures);
  costs[kMany] = figures.one;
  const auto per_call = [&](int archive, int one_turn) {
    return (costs[archive].seconds - costs[one_turn].seconds) /
           static_cast<double>(made_calls(all[archive]) - made_calls(all[one_turn]));
  };
  expect_at_most(name + ": a call / one of 64 ranks",
                 per_call(kMany, kManyOneTurn) / per_call(kFew, kFewOneTurn), 2);
}

/// Files of 3 and of 12 chunks, of the least size that libotf2 takes: 64 ranks, 46 B a call.
void chunks(const Choice& choice) {
  if (choice.quick || !choice.takes("scaling/chunks")) return;
  const auto of_chunks = [](uint64_t count) {
    return MadeArchive{Workload::kHalo, 64, 64 * count * kSmall / 46, kSmall};
  };
  const Figures three = measure("scaling/chunks/3", of_chunks(3), false);
  const Figures twelve = measure("scaling/chunks/12", of_chunks(12), false);
  expect_at_most("scaling/chunks: peak of 12 / of 3", twelve.one.megabytes / three.one.megabytes,
                 1.05);
}

/// A receive that is always open delays only itself, however long it is open.
void pending(const Choice& choice) {
  if (choice.quick || !choice.takes("scaling/pending")) return;
  const auto of_calls = [](uint64_t calls) {
    return MadeArchive{Workload::kHalo, 4, calls, kSmall, 8192, true};
  };
  const Figures once = measure("scaling/pending/1", of_calls(2000000), false);
  const Figures four = measure("scaling/pending/4", of_calls(8000000), false);
  expect_at_most("scaling/pending/1: peak MB", once.one.megabytes, once.megabytes_allowed());
  expect_at_most("scaling/pending: peak of 4 times the calls / of them",
                 four.one.megabytes / once.one.megabytes, 1.05);
}

}  // namespace

void scaling_rows(const Choice& choice) {
  halo(choice, 64, kSmall, true);
  halo(choice, 64, kLarge, false);
  halo(choice, 1024, kSmall, true);
  halo(choice, 1024, kLarge, false);
  slowdown(choice, 4096);
  slowdown(choice, 16384);
  pattern(choice, "ring", Workload::kRing, 1000);
  pattern(choice, "alltoall", Workload::kAlltoall, 64);
  pattern(choice, "master-worker", Workload::kMasterWorker, 64);
  chunks(choice);
  pending(choice);
}
