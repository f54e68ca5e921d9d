#include "tools/report/link_report.h"

#include <catch2/catch.hpp>

#include "tools/report/job_report.h"

using namespace rubato;

namespace {

/// 2 s; two links of 100 bytes per second: one carries 180 bytes, the other 40.
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
        "Busiest links on tree: up 90 % busy, down 20 %; no flow was slowed down.");
  scenario.links->slowed = 2;
  scenario.links->delay = 0.5;
  CHECK(
      links_line(scenario) ==
      "Busiest links on tree: up 90 % busy, down 20 %; 2 of 9 flows were slowed down, by 250.0 ms "
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

// 0.5 s of 2 s are lost: a quarter.
TEST_CASE("what other jobs cost") {
  ScenarioResult scenario = two_links();
  CHECK(job_lines(scenario).empty());
  scenario.elapsed_without_jobs = 1.5;
  scenario.jobs.resize(1);
  scenario.jobs[0].path = "other";
  scenario.jobs[0].ranks = 8;
  scenario.jobs[0].nodes = {4, 5};
  scenario.jobs[0].elapsed = 3;
  CHECK(job_lines(scenario) ==
        std::vector<std::string>{"Other jobs on tree cost 25.0 % (500.0 ms) of the elapsed time.",
                                 "other (8 ranks) takes 3.000 s there, on nodes 4-5."});
  scenario.jobs[0].start = 2;
  scenario.jobs[0].nodes = {4};
  scenario.elapsed_without_jobs = 2;
  CHECK(
      job_lines(scenario) ==
      std::vector<std::string>{"Other jobs on tree cost nothing.",
                               "other (8 ranks) takes 3.000 s there, on node 4, from 2.000 s on."});
  CHECK(jobs_to_json(scenario)["others"][0]["nodes"] == nlohmann::json{4});
}

// Flows take 80 of the 100 * 2 bytes that a link could carry, 40 %, others 30 %.
TEST_CASE("constant loads count as busy") {
  ScenarioResult scenario = two_links();
  scenario.links->kinds[0].load = 0.3;
  scenario.links->hottest = {{"up", 80, 100, 0.3}};
  scenario.links->kinds[0].bytes = 80;
  scenario.links->kinds[0].by_bin = {30, 0};
  CHECK(links_line(scenario) ==
        "Busiest links on tree: up 70 % busy (constant load: level 1 30 %); no flow was slowed "
        "down.");
  const auto json = links_to_json(scenario);
  CHECK(json["kinds"][0]["mean"] == 0.5);  // 80 of 200 * 2, and 0.3
  CHECK(json["kinds"][0]["peak"] == 0.5);  // 30 of 200 * 0.75, and 0.3
  CHECK(json["kinds"][0]["load"] == 0.3);
  CHECK(json["hottest"][0]["mean"] == 0.7);
  // Relative to the time of all jobs, 4 s: 80 of 400, and 0.3.
  scenario.links->span = 4;
  CHECK(links_to_json(scenario)["hottest"][0]["mean"] == 0.5);
}

TEST_CASE("lists of nodes") {
  CHECK(nodes_text({0, 1, 2, 3, 8}) == "0-3+8");
  CHECK(nodes_text({1, 5, 9, 13}) == "1-13/4");
  CHECK(nodes_text({2, 9}) == "2+9");
  CHECK(nodes_text({7}) == "7");
}
