// Messages in partitions, worked out by hand. One tick is one nanosecond.

#include <catch2/catch.hpp>
#include <cmath>

#include "models/platform/platform_file.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

using namespace rubato;

namespace {

/// T = 100 + n, o_s = 10, o_r = 20.
Scenario toy() {
  Scenario scenario;
  scenario.name = "toy";
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    send_overhead = "10ns"
    receive_overhead = "20ns"
  )",
                                     "toy");
  return scenario;
}

/// Ends in ns; `measured` has to give the recording back, and nothing is kept or left over.
std::vector<double> ends(const std::string& text, const Scenario& scenario) {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  const Results results = run_replay(*source, {parse_scenario("measured"), scenario}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.kept.empty());
  CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
  std::vector<double> ns;
  for (const RankResult& rank : results.scenarios[1].ranks)
    ns.push_back(std::round(rank.end * 1e12) / 1e3);
  return ns;
}

using Ends = std::vector<double>;

const Scenario kPerfect = parse_scenario("perfect");

}  // namespace

TEST_CASE("a message in partitions leaves when the last of them is ready") {
  const char* text = R"(
    0: 0..10 isend 1 8B req 1 partitioned
    0: 1000..1010 pready 1
    0: 2000..2010 pready 1
    0: 2010..2020 wait 1
    0: 2020 end
    1: 0..10 irecv 0 8B req 1 partitioned
    1: 10..2030 wait 1
    1: 2030 end
  )";
  // Calls take nothing: 990 of compute, 990 more, then the message is there.
  CHECK(ends(text, kPerfect) == Ends{1980, 1980});
  // The second MPI_Pready sends: 1980 + 10. It arrives 108 later, and takes 20 to receive.
  CHECK(ends(text, toy()) == Ends{1990, 1990 + 108 + 20});
}

TEST_CASE("which of two messages has a partition ready is on record, or taken to be both") {
  const std::string receivers = R"(
    1: 0..0 irecv 0 8B req 1 partitioned
    1: 0..1000 wait 1
    2: 0..0 irecv 0 8B req 1 partitioned
    2: 0..2000 wait 1
  )";
  const std::string starts = R"(
    0: 0..0 isend 1 8B req 1 partitioned
    0: 0..0 isend 2 8B req 2 partitioned
  )";
  CHECK(ends(starts +
                 "0: 1000..1000 pready 1\n0: 2000..2000 pready 2\n0: 2000..2000 waitall 1 2\n" +
                 receivers,
             kPerfect) == Ends{2000, 1000, 2000});
  // The last one before the completion it is then, for both.
  CHECK(ends(starts + "0: 1000..1000 pready\n0: 2000..2000 pready\n0: 2000..2000 waitall 1 2\n" +
                 receivers,
             kPerfect) == Ends{2000, 2000, 2000});
}

// On one channel the receive that was posted first, in partitions, would take the plain message,
// and the plain one wait until 1000; a message to rank 2 shows when rank 1 continued.
TEST_CASE("partitioned messages match no others") {
  const char* text = R"(
    0: 0..0 isend 1 8B req 2
    0: 0..0 isend 1 8B req 1 partitioned
    0: 1000..1000 pready 1
    0: 1000..1000 waitall 1 2
    1: 0..0 irecv 0 8B req 1 partitioned
    1: 0..0 irecv 0 8B req 2
    1: 0..0 wait 2
    1: 0..0 send 2 8B
    1: 0..1000 wait 1
    2: 0..0 recv 1 8B
  )";
  CHECK(ends(text, kPerfect) == Ends{1000, 1000, 0});
}

TEST_CASE("another thread may make a partition ready") {
  const char* text = R"(
    0: 0..0 isend 1 8B req 1 partitioned
    0.1: 700..710 pready 1
    0: 800..810 wait 1
    0: 810 end
    1: 0..0 irecv 0 8B req 1 partitioned
    1: 0..710 wait 1
    1: 710 end
  )";
  // The thread begins at 700, and its call takes nothing. Rank 0 does not wait at 800.
  CHECK(ends(text, kPerfect) == Ends{800, 700});
}

TEST_CASE("a message in partitions whose completion is not on record leaves all the same") {
  const char* text = R"(
    0: 0..0 isend 1 8B req 1 partitioned
    0: 300..300 pready 1
    0: 300..300 isend 1 8B req 1 partitioned
    0: 500..500 pready 1
    0: 600 end
    1: 0..0 irecv 0 8B req 1 partitioned
    1: 0..300 wait 1
    1: 300..300 irecv 0 8B req 1 partitioned
    1: 300..500 wait 1
    1: 500 end
  )";
  CHECK(ends(text, kPerfect) == Ends{600, 500});
}
