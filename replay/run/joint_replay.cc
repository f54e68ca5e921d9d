#include "replay/run/joint_replay.h"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

#include "models/base/error.h"
#include "replay/cluster/memory_transport.h"
#include "replay/run/driver.h"
#include "replay/sources/input_format.h"

namespace rubato {
namespace {

/// Replays with the ranks divided or, if that is impossible from the start, the scenarios.
Results divide_or_spread(EventSource& source, const std::vector<Scenario>& scenarios,
                         ReplayOptions options,
                         const std::function<void(OneProcess)>& notice_spread) {
  try {
    return replay_in_passes(source, scenarios, options);
  } catch (const NeedsOneProcess& needs) {
    if (needs.why != OneProcess::kTimeOrder && needs.why != OneProcess::kWindows) throw;
    if (notice_spread) notice_spread(needs.why);
    options.spread = std::exchange(options.team, nullptr);
    // Verification needs all records, and one member does it for all.
    if (!options.spread->leads()) options.verify = false;
    return replay_in_passes(source, scenarios, options);
  }
}

/// Null if it cannot be opened: one member alone reports the error.
std::unique_ptr<EventSource> open_or_null(const std::string& archive, const InputOptions& options) {
  try {
    return open_trace(archive, options);
  } catch (const InputError&) {
    return nullptr;
  }
}

}  // namespace

JointReplay replay_jointly(Team& team, const std::string& archive,
                           const std::vector<Scenario>& scenarios, ReplayOptions options,
                           std::unique_ptr<EventSource>& source,
                           const std::function<void(OneProcess)>& notice_spread) {
  JointReplay joint;
  options.team = &team;
  try {
    source = open_or_null(archive, {options.ignore_offsets, options.threads, &team});
    if (team.all(source != nullptr))
      joint.results = divide_or_spread(*source, scenarios, options, notice_spread);
    else if (source)
      joint.why = OneProcess::kFailed;  // another member cannot open the archive
  } catch (const NeedsOneProcess& needs) {
    joint.why = needs.why;
  }
  return joint;
}

int threads_that_pay(const EventSource& source, int asked, bool diagnoses, int processors) {
  // With less work, threads cost more than they save. With fewer ranks, each thread waits for
  // another one too often (share/doc/scale.md); so it does with more than 8 threads.
  constexpr uint64_t kRecordsOfThread = 4000000;
  constexpr int kRanksOfThread = 16;
  constexpr int kMostThreads = 8;
  const std::vector<uint64_t> sizes = source.sizes_of_ranks();
  const auto ranks = static_cast<int>(sizes.size());
  if (asked > 0) return std::clamp(asked, 1, std::max(1, ranks));
  const uint64_t records = std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
  const int most = std::min({processors, kMostThreads, ranks / kRanksOfThread});
  const int threads =
      std::clamp(static_cast<int>(std::min<uint64_t>(records / kRecordsOfThread, kMostThreads)), 1,
                 std::max(1, most));
  // One thread sees the waits in the same replay; after several, it reads everything again.
  constexpr int kLeastBeforeDiagnosis = 4;
  return diagnoses && threads < kLeastBeforeDiagnosis ? 1 : threads;
}

JointReplay replay_on_threads(int threads, const std::string& archive,
                              const std::vector<Scenario>& scenarios, ReplayOptions options,
                              std::unique_ptr<EventSource>& source) {
  MemoryNetwork network(threads);
  options.threads = 1;  // that decode the part of a member
  const auto replay = [&](int self, const ReplayOptions& own, std::unique_ptr<EventSource>& part) {
    const std::unique_ptr<Transport> transport = network.transport(self);
    Team team(*transport);
    try {
      return replay_jointly(team, archive, scenarios, own, part);
    } catch (...) {
      network.abandon();  // no thread waits for the results of this one
      throw;
    }
  };
  const auto help = [&](int self) {
    ReplayOptions own = options;
    own.progress = {};
    std::unique_ptr<EventSource> part;
    try {
      replay(self, own, part);
    } catch (...) {
      // The first thread meets and reports the same error.
    }
  };
  std::vector<std::jthread> helpers;
  try {
    for (int self = 1; self < threads; ++self) helpers.emplace_back(help, self);
  } catch (const std::system_error&) {
    network.abandon();  // the user can have no more threads
    return {};
  }
  try {
    return replay(0, options, source);
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace rubato
