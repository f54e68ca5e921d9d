// Messages with different recorded lengths at both sides, and receives without a send, on machines
// where these would deadlock. One tick is one nanosecond.

#include <catch2/catch.hpp>

#include "models/platform/platform_file.h"
#include "tests/unit/toy.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

/// T = 1000 + n, a port is busy for n; a message of 1000 bytes or more waits for its receiver.
Scenario rendezvous(const std::string& kind = "async") {
  Scenario scenario;
  scenario.name = kind;
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = ")" +
                                         kind + R"(" } ]
  )",
                                     "rendezvous");
  return scenario;
}

bool contradicts_itself(const Results& results) {
  for (const std::string& warning : warnings_about(results.trace)) {
    if (warning.find("the archive is inconsistent") == 0) return true;
  }
  return false;
}

}  // namespace

// Rank 0 waits in its second send for rank 1, which would wait in its first receive for a message
// of 2^60 bytes.
TEST_CASE("a receive of an impossible length is matched by order, and no deadlock") {
  const char* const text = R"(
    0: 0..10 send 1 8B tag 1
    0: 10..50 send 1 2000B tag 2
    0: 60 end
    1: 0..100 recv 0 1152921504606846976B tag 1
    1: 100..200 recv 0 2000B tag 2
    1: 200 end
  )";
  // The first message arrives at 1008. The port takes the second at 8; its request is there at
  // 1008, too, when rank 1 posts: so it arrives at 8 + 3000. Rank 0 computes 10 behind it.
  for (const bool beside : {false, true}) {
    std::vector<Scenario> scenarios = {rendezvous()};
    if (beside) scenarios.insert(scenarios.begin(), on("measured"));
    const Results results = replay(text, scenarios);
    const ScenarioResult& last = results.scenarios.back();
    CHECK(last.deadlock.empty());
    check_ends(last, Ends{3018, 3008});
    CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
    CHECK(results.trace.misfits.count == 1);
    CHECK(results.trace.misfits.first ==
          "rank 1, event 1 (MPI_Recv): 1152921504606846976 bytes received, 8 sent by rank 0 with "
          "tag 1 on communicator 'MPI_COMM_WORLD'");
    CHECK(contradicts_itself(results));
  }
}

TEST_CASE("of two lengths the one that was sent counts, whichever side comes first") {
  const auto end_of_receiver = [](const std::string& text) {
    const Results results = replay(text, {rendezvous()});
    CHECK(results.trace.misfits.count == 1);
    return ends_of(results.scenarios[0])[1];
  };
  for (const bool sends_first : {true, false}) {
    const std::string early = "0..10 ", late = "100..110 ";
    for (const int sent : {8, 500}) {
      const std::string send =
          "0: " + (sends_first ? early : late) + "send 1 " + std::to_string(sent) + "B\n";
      const std::string receive =
          "1: " + (sends_first ? late : early) + "recv 0 " + std::to_string(508 - sent) + "B\n";
      const std::string begin = "0: 0 local MPI_Comm_rank\n1: 0 local MPI_Comm_rank\n";
      const double since = sends_first ? 0 : 100;
      CHECK(end_of_receiver(begin + send + receive) == Approx(since + 1000 + sent));
    }
  }
}

// The receive is posted first, for a length that is eager, and the one that was sent is not. Both
// ranks wait inside MPI, so presence does not matter: the request leaves at 100, and the message of
// 2000 bytes arrives 3000 later. The same beside other scenarios of one pass.
TEST_CASE("a receive posted first is not affected by a message that waits for it") {
  const char* const text = R"(
    0: 0 local MPI_Comm_rank
    0: 100..110 send 1 2000B
    1: 0..10 recv 0 8B
  )";
  for (const std::string kind : {"async", "pull", "push"}) {
    for (const size_t count : {1, 4}) {
      const Results results = replay(text, std::vector<Scenario>(count, rendezvous(kind)));
      CHECK(results.trace.misfits.count == 1);
      for (const ScenarioResult& scenario : results.scenarios) {
        INFO(kind << " of " << count);
        CHECK(scenario.deadlock.empty());
        CHECK(ends_of(scenario)[1] == Approx(3100));
      }
    }
  }
}

// On perfect a receive leaves when its message is sent: at 0, 9 and 18; 1 of compute is behind it.
TEST_CASE("one wrong length does not affect the messages after it") {
  const char* const text = R"(
    0: 0..1 send 1 8B
    0: 10..11 send 1 8B
    0: 20..21 send 1 8B
    0: 21 end
    1: 0..5 recv 0 8B
    1: 5..15 recv 0 1152921504606846976B
    1: 15..25 recv 0 8B
    1: 26 end
  )";
  ReplayOptions options;
  options.verify = true;
  const Results results = replay(text, {on("measured"), on("perfect")}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.misfits.count == 1);
  CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
  CHECK(results.scenarios[1].ranks[1].end == Approx(19e-9));
}

// One receive is not recorded, so the order is unknown, and the receive keeps its 100. The port
// takes the third send at 16.
TEST_CASE("where a channel has a hole, a receive of another length keeps its time") {
  const char* const text = R"(
    0: 0..10 send 1 8B tag 1
    0: 10..20 send 1 8B tag 1
    0: 20..50 send 1 2000B tag 2
    0: 50 end
    1: 0..100 recv 0 16B tag 1
    1: 100..200 recv 0 2000B tag 2
    1: 200 end
  )";
  const Results results = replay(text, {rendezvous()});
  CHECK(results.scenarios[0].deadlock.empty());
  check_ends(results.scenarios[0], Ends{3016, 3016});
  CHECK(results.trace.unmatched_sends == 2);
  CHECK(results.trace.unmatched_receives == 1);
  CHECK(results.trace.misfits.count == 0);
  CHECK_FALSE(contradicts_itself(results));
}

// The send for which rank 1 waits is not recorded, and rank 0 waits for rank 1.
TEST_CASE("a receive whose send is missing is no deadlock either") {
  for (const std::string receive :
       {"1: 0..100 recv 0 8B tag 1\n", "1: 0..1 irecv 0 8B tag 1 req 1\n1: 1..100 wait 1\n"}) {
    const std::string text = R"(
      0: 0..50 send 1 2000B tag 2
      0: 50 end
      1: 100..200 recv 0 2000B tag 2
      1: 200 end
    )";
    const size_t at = text.find("1: 100");
    const Results results = replay(text.substr(0, at) + receive + text.substr(at), {rendezvous()});
    CHECK(results.scenarios[0].deadlock.empty());
    CHECK(results.scenarios[0].ranks[0].end == Approx(3000e-9));
    CHECK(results.scenarios[0].ranks[1].end == Approx(3000e-9));
    CHECK(results.trace.unmatched_receives == 1);
  }
}
