#include "stream_row.h"

#include <sys/resource.h>

#include <cstdio>

#include "cost.h"
#include "made_program.h"
#include "models/scenario/scenario.h"
#include "replay/study/run_replay.h"
#include "tools/launch/processes.h"

namespace {

constexpr double kCallsPerRank = 100;  ///< of made_program()

double megabytes_at_most() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// A process's share.
struct Share {
  Cost cost;
  uint64_t batches = 0, bytes = 0;  ///< sent to others
};

}  // namespace

int stream_row(int ranks) {
  rubato::Processes processes({"stream"});
  const bool together = processes.begin();
  rubato::Team* const team = together ? processes.team() : nullptr;
  rubato::ReplayOptions options;
  options.team = team;
  const double start = cpu_now();
  const auto source = made_program(ranks, team);
  const rubato::Results results = rubato::run_replay(
      *source, {rubato::parse_scenario("bandela:latency=1us,bandwidth=1GB/s", RUBATO_PLATFORMS)},
      options);
  Share mine{{cpu_now() - start, megabytes_at_most()}};
  std::vector<Share> shares = {mine};
  if (team) {
    mine.batches = team->batches_sent();
    mine.bytes = team->bytes_sent();
    rubato::ByteWriter told;
    told.value(mine);
    shares.clear();
    for (const rubato::Bytes& bytes : team->gather(told.take()))
      rubato::ByteReader(bytes).value(shares.emplace_back());
    processes.end();
  }
  if (!processes.leads()) return 0;
  if (!results.scenarios[0].deadlock.empty()) {
    std::fprintf(stderr, "rubato-bench: %s\n", results.scenarios[0].deadlock.c_str());
    return 1;
  }
  const double calls = kCallsPerRank * ranks;
  double busiest = 0;
  for (size_t process = 0; process < shares.size(); ++process) {
    const Share& share = shares[process];
    busiest = std::max(busiest, share.cost.seconds);
    std::printf("process %zu: %7.2f CPU s, %7.0f MB, %8llu batches, %10llu bytes sent\n", process,
                share.cost.seconds, share.cost.megabytes,
                static_cast<unsigned long long>(share.batches),
                static_cast<unsigned long long>(share.bytes));
  }
  std::printf("%d ranks, %.0f calls: %.2f Mcalls per CPU s of the busiest process\n", ranks, calls,
              calls / 1e6 / busiest);
  return 0;
}
