// Sends that were cancelled are no messages: times worked out by hand. One tick is one nanosecond;
// on `perfect` a message arrives when its send is entered.

#include <catch2/catch.hpp>

#include "models/platform/platform_file.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/ends.h"

using namespace rubato;

namespace {

Results replay(const std::string& text, const std::vector<Scenario>& scenarios) {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  const Results results = run_replay(*source, scenarios, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.kept.empty());
  return results;
}

const std::vector<Scenario> kPerfect = {parse_scenario("measured"), parse_scenario("perfect")};

/// Rank 0 sends twice the same, at 10 and at 1000; what it does with the first in between is
/// `wait`. Rank 1 receives one.
std::string twice(const std::string& wait) {
  return "0: 0..0 init\n0: 10..12 isend 1 8B tag 3 req 1\n0: 20..25 " + wait +
         "\n0: 1000..1002 isend 1 8B tag 3 req 2\n0: 1010..1012 wait 2\n0: 1020 end\n"
         "1: 0..0 init\n1: 500..1100 recv 0 8B tag 3\n1: 1200 end\n";
}

}  // namespace

// The receive, posted at 500, gets what rank 0 sends after 10, 8, 975 and no time in calls: at 993.
// Then 100 of compute.
TEST_CASE("a receive gets the message after a cancelled one") {
  const Results results = replay(twice("wait cancelled 1"), kPerfect);
  CHECK(results.trace.messages == 1);
  CHECK(results.trace.unmatched_sends == 0);
  check_ends(results.scenarios[1], {1009, 1093});
}

// A request that is freed after MPI_Cancel: it is unknown whether the cancel succeeded, so both are
// messages, and the first is received when it is posted.
TEST_CASE("a send that was freed may have been a message all the same") {
  const Results results = replay(twice("request_free cancelled 1"), kPerfect);
  CHECK(results.trace.messages == 2);
  CHECK(results.trace.unmatched_sends == 1);
  check_ends(results.scenarios[1], {1009, 600});
}

// No rank waits for a cancelled message, whatever protocol its size has. Rank 0 waits for the
// second alone, whose request is there at 993 + 1000, and its 100 kB 10000 later: at 11993. Then 8
// of compute, and 100 on rank 1.
TEST_CASE("a cancelled send that would wait for its receiver") {
  std::string text = twice("wait cancelled 1");
  for (size_t at = text.find("8B"); at != std::string::npos; at = text.find("8B", at))
    text.replace(at, 2, "100000B");
  Scenario machine;
  machine.platform = parse_platform(R"(
      format = 1
      [level.node]
      transfer = [ { from = "0B", latency = "1us", bandwidth = "10GB/s" } ]
      protocol = [ { from = "0B", kind = "eager" }, { from = "1kB", kind = "async" } ]
      gap = "0s"
    )",
                                    "machine");
  const Results results = replay(text, {parse_scenario("measured"), machine});
  check_ends(results.scenarios[1], {12001, 12093});
}

// Sends of ranks with threads carry their number on their channel: the cancelled one gets none.
TEST_CASE("a cancelled send of a thread does not count on its channel") {
  const Results results =
      replay(twice("wait cancelled 1") + "0.1: 5..6 send 1 8B tag 9\n1.1: 3..9 recv 0 8B tag 9\n",
             kPerfect);
  CHECK(results.trace.messages == 2);
  CHECK(results.trace.unmatched_sends == 0);
  CHECK(results.trace.unmatched_receives == 0);
  check_ends(results.scenarios[1], {1009, 1093});
}

TEST_CASE("where some sends are cancelled, those whose completion is missing are messages") {
  const std::string text =
      "0: 0..0 init\n"
      "0: 0..1 isend 1 8B tag 4 req 9\n0: 2..3 wait cancelled 9\n"
      "0: 10..12 isend 1 8B tag 3 req 1\n"
      "0: 1000..1002 isend 1 8B tag 3 req 1\n0: 1020 end\n"
      "1: 0..0 init\n1: 500..510 recv 0 8B tag 3\n1: 520..1100 recv 0 8B tag 3\n1: 1200 end\n";
  // Rank 0: calls at 0, 1, 8 and 996, which take no time, then 18. Rank 1 gets the first at once
  // and the second, after 10 more, at 996, and computes 100.
  const Results results = replay(text, kPerfect);
  CHECK(results.trace.messages == 2);
  CHECK(results.trace.unmatched_sends == 0);
  check_ends(results.scenarios[1], {1014, 1096});
}

// One in partitions that is cancelled leaves nowhere, and its slot serves the next request; one
// that is freed leaves where its last partition was ready, at 14. Rank 0's calls take nothing: they
// are entered at 0, 8, 21 and 985, and 11 are left behind the wait.
TEST_CASE("a cancelled send in partitions") {
  const std::string begin =
      "0: 0..0 init\n0: 0..2 isend 1 8B tag 3 req 1 partitioned\n0: 10..12 pready 1\n"
      "0: 25..28 ";
  const std::string sends =
      "0: 992..993 isend 1 8B tag 3 req 2\n0: 993..1100 wait 2\n0: 1111 end\n1: 0..0 init\n";
  const std::string cancelled = begin + "wait cancelled 1\n" + sends;
  const Results results =
      replay(cancelled + "1: 500..1100 recv 0 8B tag 3\n1: 1200 end\n", kPerfect);
  CHECK(results.trace.messages == 1);
  CHECK(results.trace.unmatched_sends == 0);
  check_ends(results.scenarios[1], {996, 1085});
  // A message to rank 2 shows when rank 1 has that message: at 8.
  const Results freed =
      replay(begin + "request_free cancelled 1\n" + sends +
                 "1: 1..1 irecv 0 8B tag 3 req 1 partitioned\n1: 1..50 wait 1\n"
                 "1: 50..51 send 2 8B\n1: 500..1100 recv 0 8B tag 3\n1: 1200 end\n"
                 "2: 0..51 recv 1 8B\n",
             kPerfect);
  CHECK(freed.trace.messages == 3);
  CHECK(freed.trace.unmatched_sends + freed.trace.unmatched_receives == 0);
  check_ends(freed.scenarios[1], {996, 1085, 8});
}
