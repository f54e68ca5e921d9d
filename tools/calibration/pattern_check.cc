#include "tools/calibration/pattern_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "models/base/units.h"
#include "models/fit/message_pattern.h"
#include "models/platform/uncertainty.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

namespace rubato {
namespace {

constexpr int kMostRanks = 64;      ///< of a pattern that is replayed
constexpr int kFew = 2, kMany = 6;  ///< steps; their difference excludes the first and the last one

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

/// None where the samples do not tell the nodes, or ranks lacked cores.
std::optional<Ranks> all_ranks(const Provenance& measured) {
  const auto number = [&](const char* key) {
    const auto found = measured.find(key);
    return found == measured.end() ? 0 : std::atoi(found->second.c_str());
  };
  const auto hosts = measured.find("hosts");
  const int ranks = number("ranks"), cores = number("cores");
  if (hosts == measured.end() || ranks < 2 || ranks > kMostRanks) return std::nullopt;
  const auto nodes =
      static_cast<int>(std::count(hosts->second.begin(), hosts->second.end(), ',')) + 1;
  const int of_node = ranks / nodes;
  if (ranks % nodes != 0 || (of_node > 1 && of_node > cores)) return std::nullopt;
  Ranks all{{}, "nodes"};
  for (int rank = 0; rank < ranks; ++rank) {
    all.of_job.push_back(rank);
    all.lines += fmt::format(" {}", rank / of_node);
  }
  all.lines += '\n';
  return all;
}

/// Patterns between nodes are those of the first and the last rank (level_tasks()).
Ranks two_nodes(const std::optional<Ranks>& all) {
  if (!all) return {{0, 1}, "nodes 0 1\n"};
  return {{0, all->of_job.back()}, all->lines};
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

/// The patterns whose messages meet others.
bool is_checked(const MessagePattern& pattern) {
  const bool has_mode =
      pattern.mode == PatternMode::kBlocking ||
      (pattern.mode == PatternMode::kNonblocking && pattern.shape != PatternShape::kBisection);
  return has_mode && !pattern.cold && pattern.shape != PatternShape::kPingPong &&
         pattern.shape != PatternShape::kOverlap;
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
  const std::optional<Ranks> all = all_ranks(samples.measured);
  std::vector<CheckedPattern> checked;
  for (const MessagePattern& pattern : parse_patterns("all")) {
    if (!is_checked(pattern)) continue;
    for (const auto& [level, times] : pattern_times(samples, file, pattern.name(), of_loops)) {
      if (level == Level::kSelf || !platform.level(level)) continue;
      const std::optional<Ranks> ranks = !pattern.between_two() ? all
                                         : level == Level::kNetwork
                                             ? two_nodes(all)
                                             : two_of_node(level, tells_sockets);
      if (!ranks) continue;
      for (const auto& [bytes, seconds] : times) {
        const auto run = [&, size = bytes](int steps) {
          return replayed(platform, pattern, *ranks, size, steps);
        };
        const double halves = pattern.shape == PatternShape::kBisection ? 2 : 1;
        const double predicted = (run(kMany) - run(kFew)) / (kMany - kFew) / halves;
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
