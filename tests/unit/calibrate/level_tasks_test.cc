// Which ranks stand for which level.
#include "calibrate/plan/level_tasks.h"

#include <catch2/catch.hpp>

using namespace rubato;

namespace {

std::vector<std::pair<Level, int>> partners(const std::vector<LevelTask>& tasks) {
  std::vector<std::pair<Level, int>> all;
  for (const LevelTask& task : tasks) all.emplace_back(task.level, task.partner);
  return all;
}

using Partners = std::vector<std::pair<Level, int>>;
using Pairs = std::vector<std::pair<int, int>>;

}  // namespace

TEST_CASE("levels and partners of rank 0, by node") {
  CHECK(partners(level_tasks(Placement({0, 0}))) == Partners{{Level::kNode, 1}, {Level::kSelf, 0}});
  CHECK(partners(level_tasks(Placement({0, 1}))) ==
        Partners{{Level::kNetwork, 1}, {Level::kSelf, 0}});
  // Ranks 0, 1, 4 on one node, 2, 3, 5 on the other: the last of each.
  const auto both = level_tasks(Placement({0, 0, 2, 2, 0, 2}));
  CHECK(partners(both) == Partners{{Level::kNode, 4}, {Level::kNetwork, 5}, {Level::kSelf, 0}});
  CHECK(both[0].pairs == Pairs{{0, 1}});  // three ranks make one pair
  CHECK(both[1].pairs == Pairs{{0, 2}, {1, 3}, {4, 5}});
  CHECK(widest_level(Placement({0})) == Level::kSelf);
  CHECK(widest_level(Placement({0, 0})) == Level::kNode);
  CHECK(widest_level(Placement({0, 0, 2})) == Level::kNetwork);
}

TEST_CASE("sockets are a level if rank 0 has peers on its own socket and on another one") {
  // Ranks 0, 2, 4, 5 on socket 0 of the first node, 1 and 3 on socket 1; 6 and 7 on another node.
  const Placement both({0, 0, 0, 0, 0, 0, 6, 6}, {0, 1, 0, 1, 0, 0, 0, 1});
  const auto tasks = level_tasks(both);
  CHECK(partners(tasks) ==
        Partners{{Level::kSocket, 5}, {Level::kNode, 3}, {Level::kNetwork, 7}, {Level::kSelf, 0}});
  CHECK(tasks[0].pairs == Pairs{{0, 4}, {2, 5}});
  CHECK(tasks[1].pairs == Pairs{{0, 1}, {2, 3}});
  CHECK(tasks[2].pairs == Pairs{{0, 6}, {1, 7}});
  CHECK(partners(tasks_asked_for(both, {Level::kSocket})) ==
        Partners{{Level::kSocket, 5}, {Level::kSelf, 0}});
  // One socket is all of the node, or rank 0 has its own to itself, or may run on both.
  CHECK(partners(level_tasks(Placement({0, 0, 0}, {0, 0, 0}))) ==
        Partners{{Level::kNode, 2}, {Level::kSelf, 0}});
  CHECK(partners(level_tasks(Placement({0, 0, 0}, {0, 1, 1}))) ==
        Partners{{Level::kNode, 2}, {Level::kSelf, 0}});
  const Placement loose({0, 0, 0}, {kNoSocket, 0, 0});
  CHECK(partners(level_tasks(loose)) == Partners{{Level::kNode, 2}, {Level::kSelf, 0}});
  CHECK(unmet_level(loose, {Level::kSocket}) == Level::kSocket);
  // Ranks 2 and 3 may run on the socket of rank 0, or on another.
  const Placement half({0, 0, 0, 0}, {0, 0, kNoSocket, kNoSocket});
  CHECK(partners(level_tasks(half)) == Partners{{Level::kNode, 3}, {Level::kSelf, 0}});
  CHECK(level_tasks(half)[0].pairs == Pairs{{0, 2}, {1, 3}});
  CHECK(unmet_level(half, {Level::kSocket}) == Level::kSocket);
  // Rank 2 is certainly on another.
  const auto three = level_tasks(Placement({0, 0, 0, 0}, {0, 0, 1, kNoSocket}));
  CHECK(partners(three) == Partners{{Level::kSocket, 1}, {Level::kNode, 2}, {Level::kSelf, 0}});
  CHECK(three[1].pairs == Pairs{{0, 2}});
  // Rank 1 is, from one that has a socket to itself.
  CHECK(partners(level_tasks(Placement({0, 0, 0}, {0, 1, kNoSocket}))) ==
        Partners{{Level::kNode, 1}, {Level::kSelf, 0}});
  CHECK(
      complain_of_level(Level::kSocket, {"anna", "anna"})
          .starts_with("--levels socket: rank 0 does not have one rank on its socket and one on "));
}

TEST_CASE("pairs of level node are not inside a socket, unless the node has one socket") {
  const auto pairs_of_node = [](const std::vector<int>& sockets) {
    const auto tasks = level_tasks(Placement(std::vector<int>(sockets.size(), 0), sockets));
    REQUIRE(tasks[0].level == Level::kNode);
    return tasks[0].pairs;
  };
  // One with one of the other half; of those only the ones that are as far apart as 0 and 3.
  CHECK(pairs_of_node({0, 0, 0, 0}) == Pairs{{0, 2}, {1, 3}});
  CHECK(pairs_of_node({0, 1, 2, 3}) == Pairs{{0, 2}, {1, 3}});
  CHECK(pairs_of_node({0, 1, 1, 1}) == Pairs{{0, 2}});
  CHECK(pairs_of_node({kNoSocket, kNoSocket, kNoSocket, kNoSocket}) == Pairs{{0, 2}, {1, 3}});
  CHECK(pairs_of_node({kNoSocket, 0, 0, 0}) == Pairs{{0, 2}});
  // Ranks 0, 1 and 2 share a socket: only rank 3 may be elsewhere.
  CHECK(pairs_of_node({0, 0, 0, kNoSocket}) == Pairs{{0, 3}});
}

TEST_CASE("requested levels are measured, others are not, self always is") {
  const Placement nodes({0, 0, 2, 2});
  CHECK(partners(tasks_asked_for(nodes, {})) == partners(level_tasks(nodes)));
  CHECK(partners(tasks_asked_for(nodes, {Level::kNetwork})) ==
        Partners{{Level::kNetwork, 3}, {Level::kSelf, 0}});
  CHECK(partners(tasks_asked_for(nodes, {Level::kNetwork, Level::kNode})).size() == 3);
  CHECK(partners(tasks_asked_for(nodes, {Level::kSelf})) == Partners{{Level::kSelf, 0}});
}

TEST_CASE("a requested level that is missing is reported, with hosts and advice") {
  CHECK(!unmet_level(Placement({0, 0}), {}));
  CHECK(!unmet_level(Placement({0, 0, 2}), {Level::kNode, Level::kNetwork, Level::kSelf}));
  CHECK(unmet_level(Placement({0, 0}), {Level::kNode, Level::kNetwork}) == Level::kNetwork);
  // Two share the other node, but rank 0 is alone.
  CHECK(unmet_level(Placement({0, 1, 1}), {Level::kNode}) == Level::kNode);

  const std::string network = complain_of_level(Level::kNetwork, {"anna", "anna"});
  CHECK(
      network.starts_with("--levels network: all 2 ranks are on one node (anna); start some on "));
  const std::string node = complain_of_level(Level::kNode, {"anna", "bob", "bob"});
  CHECK(node.starts_with(
      "--levels node: rank 0 is alone on its node (anna; all hosts: anna, bob); start two "));
  for (const std::string& text : {network, node}) {
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.find("--map-by ppr:2:node") != std::string::npos);
  }
}
