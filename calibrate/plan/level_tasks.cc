#include "calibrate/plan/level_tasks.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace rubato {
namespace {

constexpr const char* kTwoOnTwo =
    "mpirun -n 4 --map-by ppr:2:node (Open MPI) or mpiexec -n 4 -ppn 2 (MPICH)";

using Pairs = std::vector<std::pair<int, int>>;

/// As many as both have.
Pairs couples(const std::vector<int>& some, const std::vector<int>& others) {
  Pairs pairs;
  for (size_t i = 0; i < std::min(some.size(), others.size()); ++i)
    pairs.emplace_back(some[i], others[i]);
  return pairs;
}

/// Each of the first half with one of the second.
Pairs halves(const std::vector<int>& ranks) {
  const auto middle = ranks.begin() + static_cast<long>(ranks.size() / 2);
  return couples({ranks.begin(), middle}, {middle, ranks.end()});
}

}  // namespace

std::vector<LevelTask> level_tasks(const Placement& placement) {
  // Seen from rank 0. What is elsewhere on its node is beside it where its socket is known.
  std::vector<int> on_socket, beside, elsewhere, on_node, there;
  int far = -1;
  for (int r = 0; r < placement.ranks(); ++r) {
    const Level level = placement.level(0, r);
    if (level <= Level::kSocket) on_socket.push_back(r);
    if (level == Level::kNode) elsewhere.push_back(r);
    if (level == Level::kNode && placement.socket_of(r) != kNoSocket) beside.push_back(r);
    if (level <= Level::kNode) on_node.push_back(r);
    if (level == Level::kNetwork) far = r;
  }
  for (int r = 0; r < placement.ranks(); ++r) {
    if (far > 0 && placement.node_of(r) == placement.node_of(far)) there.push_back(r);
  }
  std::vector<LevelTask> tasks;
  if (on_socket.size() > 1 && !beside.empty()) {
    tasks.push_back({Level::kSocket, on_socket.back(), halves(on_socket)});
    tasks.push_back({Level::kNode, beside.back(), couples(on_socket, beside)});
  } else if (on_socket.size() > 1 && !elsewhere.empty()) {
    tasks.push_back({Level::kNode, elsewhere.back(), couples(on_socket, elsewhere)});
  } else if (on_node.size() > 1) {
    // Rank 0 has a socket to itself, or its own is not known, or it is all of the node. The first
    // pair is as far apart as rank 0 and its partner.
    const bool is_apart = placement.socket_of(0) != kNoSocket && !beside.empty();
    const int partner = is_apart ? beside.back() : on_node.back();
    Pairs pairs = halves(on_node);
    const Level distance = placement.level(0, partner);
    std::erase_if(pairs, [&](const auto& pair) {
      return placement.level(pair.first, pair.second) != distance;
    });
    tasks.push_back({Level::kNode, partner, pairs});
  }
  if (far > 0) tasks.push_back({Level::kNetwork, far, couples(on_node, there)});
  tasks.push_back({Level::kSelf, 0});
  return tasks;
}

Level widest_level(const Placement& placement) {
  if (placement.nodes() > 1) return Level::kNetwork;
  return placement.ranks() > 1 ? Level::kNode : Level::kSelf;
}

std::vector<LevelTask> tasks_asked_for(const Placement& placement,
                                       const std::vector<Level>& asked) {
  std::vector<LevelTask> tasks = level_tasks(placement);
  if (asked.empty()) return tasks;
  std::erase_if(tasks, [&](const LevelTask& task) {
    return task.level != Level::kSelf &&
           std::find(asked.begin(), asked.end(), task.level) == asked.end();
  });
  return tasks;
}

std::optional<Level> unmet_level(const Placement& placement, const std::vector<Level>& asked) {
  const std::vector<LevelTask> tasks = level_tasks(placement);
  for (const Level level : asked) {
    if (std::none_of(tasks.begin(), tasks.end(),
                     [&](const LevelTask& task) { return task.level == level; }))
      return level;
  }
  return std::nullopt;
}

std::string complain_of_level(Level level, const std::vector<std::string>& host_of_rank) {
  std::vector<std::string> hosts;
  for (const std::string& host : host_of_rank) {
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  }
  if (level == Level::kNetwork) {
    return fmt::format(
        "--levels network: all {} ranks are on one node ({}); start some on another "
        "one, such as by {}",
        host_of_rank.size(), fmt::join(hosts, ", "), kTwoOnTwo);
  }
  if (level == Level::kSocket) {
    return fmt::format(
        "--levels socket: rank 0 does not have one rank on its socket and one on another of its "
        "node, as far as ranks are bound to one ({}); bind them, such as by mpirun --map-by "
        "ppr:2:socket --bind-to core (Open MPI) or mpiexec -bind-to core -map-by socket (MPICH)",
        fmt::join(hosts, ", "));
  }
  return fmt::format(
      "--levels node: rank 0 is alone on its node ({}; all hosts: {}); start two ranks or more on "
      "each, such as by {}",
      host_of_rank.front(), fmt::join(hosts, ", "), kTwoOnTwo);
}

}  // namespace rubato
