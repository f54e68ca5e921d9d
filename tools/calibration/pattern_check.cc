#include "tools/calibration/pattern_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "models/base/error.h"
#include "models/base/units.h"
#include "models/fit/message_pattern.h"
#include "models/platform/uncertainty.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

namespace rubato {
namespace {

constexpr int kMostRanks = 32;  ///< of a pattern that is replayed

/// The ranks of a pattern among those of a job.
struct Ranks {
  std::vector<int> of_job;  ///< by rank of the pattern
  std::string lines;        ///< of a text trace: the nodes and sockets of the job
};

Ranks two_of_node(Level level, bool tells_sockets) {
  Ranks ranks{{0, 1}, "nodes 0 0\n"};
  if (tells_sockets) ranks.lines += level == Level::kSocket ? "sockets 0 0\n" : "sockets 0 1\n";
  return ranks;
}

/// So many ranks, each on a node of its own or all on one.
Ranks all_of(int ranks, bool are_apart) {
  Ranks all{{}, "nodes"};
  for (int rank = 0; rank < ranks; ++rank) {
    all.of_job.push_back(rank);
    all.lines += fmt::format(" {}", are_apart ? rank : 0);
  }
  all.lines += '\n';
  return all;
}

/// Patterns between nodes are those of the first and the last rank (level_tasks()).
Ranks two_nodes(const Provenance& measured) {
  const int nodes = std::clamp(calibrated_nodes(measured), 2, kMostRanks);
  return {{0, nodes - 1}, all_of(nodes, true).lines};
}

/// All ranks of the calibration, where these were all on one node, or one on each (samples name the
/// nodes, but not those of the ranks), with a core each, and can be replayed.
std::optional<Ranks> all_ranks(const Provenance& measured, bool tells_sockets) {
  const auto number = measured.find("ranks");
  const int ranks = number == measured.end() ? 0 : std::atoi(number->second.c_str());
  const int nodes = calibrated_nodes(measured);
  if (ranks < 2 || ranks > kMostRanks) return std::nullopt;
  if (nodes > 1 && nodes == ranks) return all_of(ranks, true);
  const bool have_cores = ranks <= cores_of_nodes(measured).value_or(ranks);
  return nodes == 1 && !tells_sockets && have_cores ? std::optional(all_of(ranks, false))
                                                    : std::nullopt;
}

/// The calls of a rank of the pattern in a step, all of which take no time when recorded.
std::string step_of(const MessagePattern& pattern, int rank, const Ranks& ranks, double bytes) {
  const auto count = static_cast<int>(ranks.of_job.size());
  const PatternNeighbours peers = neighbours_of(pattern.shape, rank, count);
  const auto call = [&](const std::string& words) {
    return fmt::format("{}: 0..0 {}\n", ranks.of_job[rank], words);
  };
  const auto to = [&](int k) { return ranks.of_job[peers.to[k]]; };
  const auto from = [&](int k) { return ranks.of_job[peers.from[k]]; };
  std::string text, requests;
  if (pattern.shape == PatternShape::kBisection) {
    if (peers.count == 0) return "";
    const std::string send = call(fmt::format("send {} {}B", to(0), bytes));
    const std::string receive = call(fmt::format("recv {} {}B", from(0), bytes));
    return rank < count / 2 ? send + receive : receive + send;
  }
  for (int k = 0; k < peers.count; ++k) {
    if (pattern.mode == PatternMode::kBlocking) {
      text += call(fmt::format("sendrecv {} {}B {} {}B tag {}", to(k), bytes, from(k), bytes, k));
      continue;
    }
    text += call(fmt::format("irecv {} {}B tag {} req {}", from(k), bytes, k, k));
    requests += fmt::format(" {}", k);
  }
  if (requests.empty()) return text;
  for (int k = 0; k < peers.count; ++k) {
    text += call(fmt::format("isend {} {}B tag {} req {}", to(k), bytes, k, peers.count + k));
    requests += fmt::format(" {}", peers.count + k);
  }
  return text + call("waitall" + requests);
}

/// Seconds of so many steps on the platform.
double replayed(const Platform& platform, const MessagePattern& pattern, const Ranks& ranks,
                double bytes, int steps) {
  std::string text = ranks.lines;
  for (int of_job = 0; of_job <= ranks.of_job.back(); ++of_job) {
    text += fmt::format("{}: 0 local MPI_Comm_rank\n", of_job);
    const auto rank = std::ranges::find(ranks.of_job, of_job);
    if (rank != ranks.of_job.end()) {
      const auto number = static_cast<int>(rank - ranks.of_job.begin());
      const std::string step = step_of(pattern, number, ranks, bytes);
      for (int i = 0; i < steps; ++i) text += step;
    }
    text += fmt::format("{}: 0 end\n", of_job);
  }
  Scenario scenario;
  scenario.name = pattern.name();
  scenario.platform = platform;
  ReplayOptions options;
  options.wait_states = false;
  return run_replay(*parse_text_trace(text), {scenario}, options).scenarios.front().elapsed;
}

/// Seconds of a step, as calibrate measures it; 0 if the platform does not fit the ranks. After as
/// many steps as there are ranks each is like all later ones: what the first one began has come
/// round. The number is even, since ranks may wait in turn.
double step_seconds(const Platform& platform, const MessagePattern& pattern, const Ranks& ranks,
                    double bytes) {
  const int first = 2 * static_cast<int>(ranks.of_job.size());
  const double by_turns = pattern.shape == PatternShape::kBisection ? 2 : 1;
  try {
    const double before = replayed(platform, pattern, ranks, bytes, first);
    const double all = replayed(platform, pattern, ranks, bytes, 2 * first);
    return (all - before) / first / by_turns;
  } catch (const InputError&) {  // fewer nodes in its network than took part
    return 0;
  }
}

double rms_error(const std::vector<CheckedPattern>& patterns) {
  double squares = 0;
  for (const CheckedPattern& pattern : patterns) squares += std::pow(pattern.error(), 2);
  return std::sqrt(squares / static_cast<double>(patterns.size()));
}

}  // namespace

std::vector<CheckedPattern> check_patterns(const Platform& platform, const SampleFile& samples,
                                           const std::string& file, OfLoops of_loops) {
  const bool tells_sockets = platform.level(Level::kSocket).has_value();
  const std::optional<Ranks> all = all_ranks(samples.measured, tells_sockets);
  std::vector<CheckedPattern> checked;
  for (const MessagePattern& pattern : checked_patterns()) {
    for (const auto& [level, times] : pattern_times(samples, file, pattern.name(), of_loops)) {
      if (level == Level::kSelf || !platform.level(level)) continue;
      const bool is_of_two = pattern.between_two();
      if (!is_of_two && !all) continue;
      const Ranks ranks = !is_of_two                 ? *all
                          : level == Level::kNetwork ? two_nodes(samples.measured)
                                                     : two_of_node(level, tells_sockets);
      for (const auto& [bytes, seconds] : times) {
        const double predicted = step_seconds(platform, pattern, ranks, bytes);
        if (seconds > 0 && predicted > 0)
          checked.push_back({pattern.name(), bytes, seconds, predicted});
      }
    }
  }
  return checked;
}

double model_error(const std::vector<CheckedPattern>& patterns, bool exact) {
  if (patterns.empty()) return exact ? kModelErrorInSimulator : kModelError;
  return std::max(kModelErrorInSimulator, rms_error(patterns));
}

std::string describe(const std::vector<CheckedPattern>& patterns) {
  if (patterns.empty()) return "";
  const CheckedPattern& worst = *std::ranges::max_element(
      patterns, {}, [](const CheckedPattern& pattern) { return std::abs(pattern.error()); });
  return fmt::format(
      "The file predicts {} measured patterns within {:.1f} % (rms), at worst {:.1f} % ({} of "
      "{}).\n",
      patterns.size(), 100 * rms_error(patterns), 100 * std::abs(worst.error()), worst.name,
      format_bytes(worst.bytes));
}

}  // namespace rubato
