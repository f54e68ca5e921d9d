#include "tools/link_report.h"

#include <catch2/catch.hpp>

using namespace rubato;

namespace {

/// 2 s; two links of 100 bytes per second, of which one carries 180 bytes and the other 40.
ScenarioResult two_links() {
  ScenarioResult scenario;
  scenario.name = "tree";
  scenario.elapsed = 2;
  scenario.links.emplace();
  scenario.links->begin = 0.5;
  scenario.links->bin = 0.75;
  scenario.links->kinds = {{"level 1", 2, 220, 200, {150, 70}}};
  scenario.links->hottest = {{"up", 180, 100}, {"down", 40, 100}};
  scenario.links->flows = 9;
  return scenario;
}

}  // namespace

// 180 of 100 * 2, 40 of 200; on average 220 of 200 * 2, in the first bin 150 of 200 * 0.75, in the
// second 70 of 150.
TEST_CASE("links are as busy as the bytes that they carry") {
  ScenarioResult scenario = two_links();
  CHECK(links_line(scenario) ==
        "Hottest links on tree: up 90 % busy, down 20 %; no flow was slowed down.");
  scenario.links->slowed = 2;
  scenario.links->delay = 0.5;
  CHECK(
      links_line(scenario) ==
      "Hottest links on tree: up 90 % busy, down 20 %; 2 of 9 flows were slowed down, by 250.0 ms "
      "on average.");
  const auto json = links_to_json(scenario);
  CHECK(json["kinds"][0]["mean"] == 0.55);
  CHECK(json["kinds"][0]["peak"] == 1.0);
  CHECK(json["kinds"][0]["by_bin"][1] == 0.4667);
  CHECK(json["hottest"][0]["mean"] == 0.9);
  CHECK(json["delay"] == 0.5);
}

TEST_CASE("no links, no line") {
  ScenarioResult scenario = two_links();
  scenario.links->flows = 0;
  CHECK(links_line(scenario).empty());
  scenario = two_links();
  scenario.deadlock = "rank 0 waits for rank 0";
  CHECK(links_line(scenario).empty());
  CHECK(links_to_json(scenario).is_null());
  scenario = {};
  CHECK(links_line(scenario).empty());
  CHECK(links_to_json(scenario).is_null());
}
