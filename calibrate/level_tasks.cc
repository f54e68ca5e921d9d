#include "calibrate/level_tasks.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace rubato {
namespace {

constexpr const char* kTwoOnTwo =
    "mpirun -n 4 --map-by ppr:2:node (Open MPI) or mpiexec -n 4 -ppn 2 (MPICH)";

}  // namespace

std::vector<LevelTask> level_tasks(const std::vector<int>& node_of_rank) {
  const int ranks = static_cast<int>(node_of_rank.size());
  int near = -1;
  int far = -1;
  for (int r = 1; r < ranks; ++r) (node_of_rank[r] == node_of_rank[0] ? near : far) = r;
  std::vector<int> here, there;
  for (int r = 0; r < ranks; ++r) {
    if (node_of_rank[r] == node_of_rank[0]) here.push_back(r);
    if (far > 0 && node_of_rank[r] == node_of_rank[far]) there.push_back(r);
  }
  std::vector<LevelTask> tasks;
  if (near > 0) {
    tasks.push_back({Level::kNode, near});
    const size_t half = here.size() / 2;
    for (size_t i = 0; i < half; ++i) tasks.back().pairs.emplace_back(here[i], here[half + i]);
  }
  if (far > 0) {
    tasks.push_back({Level::kNetwork, far});
    for (size_t i = 0; i < std::min(here.size(), there.size()); ++i)
      tasks.back().pairs.emplace_back(here[i], there[i]);
  }
  tasks.push_back({Level::kSelf, 0});
  return tasks;
}

Level widest_level(const std::vector<int>& node_of_rank) {
  const bool one_node = std::all_of(node_of_rank.begin(), node_of_rank.end(),
                                    [&](int node) { return node == node_of_rank[0]; });
  return !one_node ? Level::kNetwork : node_of_rank.size() > 1 ? Level::kNode : Level::kSelf;
}

std::vector<LevelTask> tasks_asked_for(const std::vector<int>& node_of_rank,
                                       const std::vector<Level>& asked) {
  std::vector<LevelTask> tasks = level_tasks(node_of_rank);
  if (asked.empty()) return tasks;
  std::erase_if(tasks, [&](const LevelTask& task) {
    return task.level != Level::kSelf &&
           std::find(asked.begin(), asked.end(), task.level) == asked.end();
  });
  return tasks;
}

std::optional<Level> unmet_level(const std::vector<int>& node_of_rank,
                                 const std::vector<Level>& asked) {
  const std::vector<LevelTask> tasks = level_tasks(node_of_rank);
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
  return fmt::format(
      "--levels node: rank 0 is alone on its node ({}; all hosts: {}); start two ranks or more on "
      "each, such as by {}",
      host_of_rank.front(), fmt::join(hosts, ", "), kTwoOnTwo);
}

}  // namespace rubato
