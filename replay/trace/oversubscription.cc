#include "replay/trace/oversubscription.h"

#include <algorithm>
#include <cmath>

#include "models/base/grouped.h"

namespace rubato {
namespace {

constexpr double kSwitchesPerSecond = 10;  ///< above this rate a warning is given
constexpr double kMostWaited = 0.02;       ///< of threads, as of ranks in lost_cores.cc

/// Ranks and cores of a node. Archives record the number of a rank's cores, not the cores
/// themselves; so the node's ranks have at most the sum of their numbers.
struct Node {
  uint64_t ranks = 0;
  uint64_t cores = 0;
  uint64_t allowed = 0;
  bool known = true;

  uint64_t distinct_cores() const { return std::min(cores, allowed); }
};

std::string crowded_nodes(const std::vector<RankProcessors>& ranks,
                          std::span<const int> node_of_rank,
                          const std::vector<std::string>& names) {
  std::vector<Node> nodes(names.size());
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    Node& node = nodes[node_of_rank[rank]];
    ++node.ranks;
    if (!ranks[rank].cores_on_node) {
      node.known = false;
      continue;
    }
    node.cores = std::max(node.cores, *ranks[rank].cores_on_node);
    node.allowed += ranks[rank].affinity_cores.value_or(*ranks[rank].cores_on_node);
  }
  size_t crowded = 0;
  size_t worst = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].known || nodes[i].ranks <= nodes[i].distinct_cores()) continue;
    const bool is_worst = crowded++ == 0 || nodes[i].ranks * nodes[worst].distinct_cores() >
                                                nodes[worst].ranks * nodes[i].distinct_cores();
    if (is_worst) worst = i;
  }
  if (crowded == 0) return "";
  const uint64_t cores = nodes[worst].distinct_cores();
  return std::to_string(nodes[worst].ranks) + " ranks had " + std::to_string(cores) +
         (cores == 1 ? " core" : " cores") + " on node '" + names[worst] + "'" +
         (crowded > 1 ? " (and on " + std::to_string(crowded - 1) + " more)" : "");
}

std::string interrupted_ranks(const std::vector<RankProcessors>& ranks, double seconds) {
  size_t interrupted = 0;
  size_t worst = 0;
  const auto rate = [&](size_t rank) {
    return static_cast<double>(ranks[rank].involuntary_switches.value_or(0)) / seconds;
  };
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rate(rank) <= kSwitchesPerSecond) continue;
    if (interrupted++ == 0 || rate(rank) > rate(worst)) worst = rank;
  }
  if (interrupted == 0) return "";
  return std::to_string(interrupted) + " of " + std::to_string(ranks.size()) +
         " ranks had more than " + std::to_string(std::lround(kSwitchesPerSecond)) +
         " involuntary context switches per second (rank " + std::to_string(worst) + ": " +
         grouped(static_cast<uint64_t>(std::llround(rate(worst)))) + ")";
}

std::string waiting_threads(const std::vector<RankProcessors>& ranks, double seconds) {
  size_t waiting = 0;
  double most = 0;
  for (const RankProcessors& rank : ranks) {
    const auto waited = static_cast<double>(rank.threads_waited.value_or(0)) * 1e-9;
    const auto ran = static_cast<double>(rank.threads_ran.value_or(0)) * 1e-9;
    if (waited <= kMostWaited * std::max(seconds, ran + waited)) continue;
    ++waiting;
    most = std::max(most, waited / (ran + waited));
  }
  if (waiting == 0) return "";
  return "threads without MPI calls waited for cores in " + std::to_string(waiting) + " of " +
         std::to_string(ranks.size()) + " ranks, for up to " +
         std::to_string(std::lround(100 * most)) +
         " % of their time (how long their ranks waited for them is not known)";
}

}  // namespace

bool shares_cores(const std::vector<RankProcessors>& ranks, std::span<const int> node_of_rank,
                  const std::vector<std::string>& nodes, double seconds) {
  return !crowded_nodes(ranks, node_of_rank, nodes).empty() ||
         !waiting_threads(ranks, seconds).empty();
}

std::string oversubscription(const std::vector<RankProcessors>& ranks,
                             std::span<const int> node_of_rank,
                             const std::vector<std::string>& nodes, double seconds) {
  std::string sentence;
  for (const std::string& part :
       {crowded_nodes(ranks, node_of_rank, nodes), waiting_threads(ranks, seconds),
        seconds > 0 ? interrupted_ranks(ranks, seconds) : ""})
    sentence += (sentence.empty() || part.empty() ? "" : "; ") + part;
  return sentence.empty() ? "" : sentence.append(kTimeWithoutCores);
}

}  // namespace rubato
