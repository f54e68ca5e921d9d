// How fast the replay is and what memory it takes, beside the bare reading of the same archives.
//
//   rubato-bench [--quick] [--only WORD,...] [--real DIR] [--list]
//   [mpirun -n 2] rubato-bench --stream RANKS
//
//   --quick  two minutes at most (without --real): shorter archives, fewer rounds, and without 64
//            scenarios on platforms, thousands of ranks, chunks and SimGrid. All rows take some
//            twenty minutes and 2 GB in $TMPDIR
//   --only   rows with one of these words in their name: platform/infiniband, 1024, simgrid
//   --real   also the archives in DIR, which tests/bench/real_archives.sh makes
//   --list   the names of all rows
//   --stream nothing but a program of so many ranks that is generated as it is replayed, without an
//            archive, by the processes of mpirun: calls/s, and the memory of each (1 M ranks: 4 GB)
//
// The exit code is 1 where a bar was missed. Bars are ratios and memory; what depends on the
// machine (calls a second) has one, too, and does not count.
//
// Made archives have a fixed seed (made_archive.h). Each measurement is a process of its own, in
// processor seconds of one core: where a second one is free, a thread decodes there, and two that
// share a core count more seconds for the same work. What is to be compared takes turns (turns.h).
// What is measured:
//   bare     libotf2 reads every location once, one after the other, with callbacks that only count
//   load     the same, and makes packed calls of the records
//   1, 16, 64  contention-free replays of so many scenarios that differ in numbers alone, with
//            opening and reading the archive
//   1w ...   the same with wait states, beside 1 without
//   engine   the replay alone of one scenario, from decoded calls as the replay holds them
// So load - bare is the cost of callbacks and packing, 1 - load that of the engine. If generated
// archives are kept (RUBATO_BENCH_KEEP=1), their directories are printed.

#include <sched.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>

#include "bars.h"
#include "replays.h"
#include "rows.h"
#include "stream_row.h"
#include "turns.h"

namespace {

/// From now on this process and its children run where it runs now.
void stay_on_one_core() {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
}

struct Arguments {
  Choice choice;
  std::string real;
  int stream_ranks = 0;
};

[[noreturn]] void refuse() {
  std::fprintf(stderr,
               "use: rubato-bench [--quick] [--only WORD,...] [--real DIR] [--list] "
               "| --stream RANKS\n");
  std::exit(1);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--quick") {
      arguments.choice.quick = true;
    } else if (option == "--list") {
      arguments.choice.list = true;
    } else if (option == "--only" && i + 1 < argc) {
      std::istringstream words(argv[++i]);
      for (std::string word; std::getline(words, word, ',');) arguments.choice.only.push_back(word);
    } else if (option == "--real" && i + 1 < argc) {
      arguments.real = argv[++i];
    } else if (option == "--stream" && i + 1 < argc) {
      arguments.stream_ranks = std::atoi(argv[++i]);
      const auto ranks = static_cast<unsigned>(arguments.stream_ranks);
      if (arguments.stream_ranks < 1 || !std::has_single_bit(ranks)) refuse();
    } else {
      refuse();
    }
  }
  return arguments;
}

}  // namespace

bool Choice::takes(const std::string& name) const {
  bool chosen = only.empty();
  for (const std::string& word : only) chosen |= name.find(word) != std::string::npos;
  if (chosen && list) std::printf("%s\n", name.c_str());
  return chosen && !list;
}

int main(int argc, char** argv) {
  const auto [choice, real, stream_ranks] = parse(argc, argv);
  if (stream_ranks > 0) return stream_row(stream_ranks);
  stay_on_one_core();
  if (choice.quick) Turns::be_quick();
  if (!choice.list) print_head();
  try {
    scaling_rows(choice);
    platform_rows(choice);
    command_rows(choice);
    if (!real.empty()) real_rows(choice, real);
    simgrid_rows(choice);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rubato-bench: %s\n", error.what());
    return 1;
  }
  return print_bars() ? 0 : 1;
}
