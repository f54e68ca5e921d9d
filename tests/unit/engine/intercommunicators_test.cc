// Collectives between two groups, worked out by hand. One tick is one nanosecond.

#include <catch2/catch.hpp>

#include "models/platform/platform_file.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

/// Ends on a scenario, in ns; `measured` has to give the recording back.
std::vector<double> ends(const std::string& text, const Scenario& scenario) {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  const Results results = run_replay(*source, {parse_scenario("measured"), scenario}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.clock_violations.total() == 0);
  CHECK(results.trace.kept.empty());
  CHECK(warnings_about(results.trace).empty());
  std::vector<double> ns;
  for (const RankResult& rank : results.scenarios[1].ranks)
    ns.push_back(std::round(rank.end * 1e12) / 1e3);
  return ns;
}

std::vector<double> ends(const std::string& text, const std::string& scenario = "perfect") {
  return ends(text, parse_scenario(scenario));
}

/// o_s = 10, T = 100 + n, o_r = 20, g = n (all ns); in broadcasts of 600 bytes and more root and
/// children synchronise. A broadcast of 1000 bytes among four takes two rounds of 10 + 1100 + 20;
/// the root sends in both.
Scenario held() {
  Scenario scenario;
  scenario.name = "held";
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    send_overhead = "10ns"
    receive_overhead = "20ns"
    [collectives.bcast]
    sync_limit = "600B"
  )",
                                     "held");
  return scenario;
}

using Ends = std::vector<double>;

}  // namespace

// Groups {0, 1} and {2}. Rank 2 comes at 50: ranks 0 (10) leaves at 50. Rank 1 comes at 400, later
// than all it waits for, and leaves at once; rank 2 waits for it.
TEST_CASE("all-to-all between groups: each waits for the other group") {
  const std::string text = R"(
    comm 1 0 1 | 2
    0: 10..60 barrier comm 1
    0: 60 end
    1: 400..410 barrier comm 1
    1: 410 end
    2: 50..410 barrier comm 1
    2: 410 end
  )";
  CHECK(ends(text) == Ends{50, 400, 400});
  // Dissemination over 3: 2 rounds of a microsecond.
  CHECK(ends(text, "bandela:latency=1us") == Ends{2050, 2400, 2400});
}

// Rank 1 of the first group is root (its own group: -2), and comes at 300. Rank 0 does not wait,
// rank 2 waits for the root, rank 3 comes later. Then rank 2 gathers from the first group: it waits
// for rank 1, which enters at 301, not for rank 3, which comes at 501.
TEST_CASE("rooted between groups: the root and the other group have to do with each other") {
  CHECK(ends(R"(
    comm 1 0 1 | 2 3
    0: 10..11 bcast root -2 0B 0B comm 1
    0: 11..12 gather root 2 8B 0B comm 1
    0: 12 end
    1: 300..301 bcast root 1 16B 0B comm 1
    1: 302..303 gather root 2 8B 0B comm 1
    1: 303 end
    2: 20..310 bcast root 1 0B 8B comm 1
    2: 310..320 gather root 2 0B 16B comm 1
    2: 320 end
    3: 500..501 bcast root 1 0B 8B comm 1
    3: 502..503 gather root -2 0B 0B comm 1
    3: 503 end
  )") == Ends{10, 301, 301, 501});
}

// Merging the groups makes a communicator of both: everybody waits for everybody, rank 0 too for
// rank 1 of its own group.
TEST_CASE("making a communicator of both groups waits for all") {
  CHECK(ends(R"(
    comm 1 0 1 | 2
    0: 10..410 comm_create comm 1
    0: 410 end
    1: 400..410 comm_create comm 1
    1: 410 end
    2: 50..410 comm_create comm 1
    2: 410 end
  )") == Ends{410, 410, 410});  // the recorded 10 after the last one
}

// Rank 0's wait needs the start of rank 2, at 50; rank 2's the one of rank 1, at 400.
TEST_CASE("nonblocking between groups") {
  CHECK(ends(R"(
    comm 1 0 1 | 2
    0: 10..10 ibarrier comm 1 req 1
    0: 20..60 wait 1
    0: 60 end
    1: 400..400 ibarrier comm 1 req 1
    1: 410..420 wait 1
    1: 420 end
    2: 50..50 ibarrier comm 1 req 1
    2: 60..410 wait 1
    2: 410 end
  )") == Ends{50, 410, 400});
}

// The root sends 1000 bytes to each of two members of the other group, so it synchronises: it waits
// for rank 3, which comes at 500, and 2260 more. Rank 2 waits only for the root, rank 3 comes
// later. Rank 1, in the root's group, does not take part.
TEST_CASE("above the sync limit the payload is that of the other group") {
  CHECK(ends(R"(
    comm 1 0 1 | 2 3
    0: 0..10 bcast root 0 2000B comm 1
    0: 10 end
    1: 0..1 bcast root -2 comm 1
    1: 1 end
    2: 0..10 bcast root 0 0B 1000B comm 1
    2: 10 end
    3: 500..510 bcast root 0 0B 1000B comm 1
    3: 510 end
  )",
             held()) == Ends{2760, 0, 2260, 2760});
}

// All participants come at 0. First rank 1 comes at 700; then it comes after a message of rank 2
// that it has received: 2260 + 10 + 108 + 20.
TEST_CASE("no rank waits for the other members of the root's group") {
  const auto text = [](const std::string& rank1, const std::string& rank2) {
    return "comm 1 0 1 | 2 3\n0: 0..10 bcast root 0 2000B comm 1\n0: 10 end\n" + rank1 +
           "2: 0..10 bcast root 0 0B 1000B comm 1\n" + rank2 +
           "3: 0..10 bcast root 0 0B 1000B comm 1\n3: 10 end\n";
  };
  CHECK(ends(text("1: 0..700 local MPI_Comm_rank\n1: 700..701 bcast root -2 comm 1\n1: 701 end\n",
                  "2: 10 end\n"),
             held()) == Ends{2260, 700, 2260, 2260});
  CHECK(ends(text("1: 0..20 recv 2 8B\n1: 20..21 bcast root -2 comm 1\n1: 21 end\n",
                  "2: 10..11 send 1 8B\n2: 11 end\n"),
             held()) == Ends{2260, 2398, 2270, 2260});
}

TEST_CASE("other members of the root's group send nothing in a reduction") {
  CHECK(ends(R"(
    comm 1 0 1 | 2 3
    0: 0..10 reduce root 0 0B 16B comm 1
    0: 10 end
    1: 0..1 local MPI_Comm_rank
    1: 5..6 reduce root -2 comm 1
    1: 6 end
    2: 0..10 reduce root 0 8B 0B comm 1
    2: 10 end
    3: 0..10 reduce root 0 8B 0B comm 1
    3: 10 end
  )",
             held())[1] == 5);
}
