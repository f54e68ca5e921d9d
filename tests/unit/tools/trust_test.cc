// Regressions: wrong results of real runs, each reduced to the smallest trace. Times are worked out
// by hand; one tick is one nanosecond.

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/toy.h"
#include "tools/words/note_words.h"

using namespace rubato;

// Rank 1 computes 5 ms and sends, three times; rank 0 waits each time. Its receives take 100 from
// the send on, sends take 10. No receive is there that did not wait.
//
//   recorded  sends enter at 5000000, 10000010, 15000020; receives leave 100 later
//   rank1.cpu*10: compute of rank 1 is 500000 each: sends enter at 500000, 1000010, 1500020,
//             receives leave at 1500120 at the latest; rank 0 computes nothing between them
TEST_CASE("measured: a late sender that comes earlier shortens every receive") {
  const char* text = R"(
    nodes 0 1
    0: 0..0 init
    0: 0..5000100 recv 1 8B
    0: 5000100..10000110 recv 1 8B
    0: 10000110..15000120 recv 1 8B
    0: 15000120 end
    1: 0..0 init
    1: 5000000..5000010 send 0 8B
    1: 10000010..10000020 send 0 8B
    1: 15000020..15000030 send 0 8B
    1: 15000030 end
  )";
  check_ends(replay(text, {on("measured")}).scenarios[0], {15000120, 15000030});
  check_ends(replay(text, {on("measured:rank1.cpu*10")}).scenarios[0], {1500120, 1500030});
}

// The same with a loop of tests: each is entered 10 after the last and takes 5; the send, at 1000,
// is found by the test at 1100, which leaves 1105: 105 after it. With a sender ten times as fast
// the send enters at 100. The loop is one wait from its first test, at 0, on: it ends at 100 + 105.
TEST_CASE("measured: a polling loop is a wait where anything changes") {
  std::string text = "nodes 0 1\n0: 0..0 init\n0: 0..0 irecv 1 8B req 1\n";
  for (int enter = 0; enter < 1100; enter += 10)
    text += "0: " + std::to_string(enter) + ".." + std::to_string(enter + 5) + " test\n";
  text +=
      "0: 1100..1105 test 1\n0: 1205 end\n"
      "1: 0..0 init\n1: 1000..1010 send 0 8B\n1: 1010 end\n";
  check_ends(replay(text, {on("measured")}).scenarios[0], {1205, 1010});
  check_ends(replay(text, {on("measured:rank1.cpu*10")}).scenarios[0], {305, 110});
  // Call by call the loop looks as often as it was recorded to: the first test after the arrival
  // is not known to be the last.
  ReplayOptions options;
  options.spinning_waits = false;
  check_ends(replay(text, {on("measured:rank1.cpu*10")}, options).scenarios[0], {1205, 110});
}

// The first trace with a clock of rank 1 that is 2000 ahead: every receive ends before its send,
// and is moved to right then, which says nothing about what it takes itself. Compute of rank 1,
// with its clock, is 5002000, 5000000 and 5000000; a tenth of it: sends enter at 500200, 1000210,
// 1500220, and receives leave then.
TEST_CASE("measured: receives without a bound have no cost of their own, with a warning") {
  const char* text = R"(
    nodes 0 1
    0: 0..0 init
    0: 0..5000100 recv 1 8B
    0: 5000100..10000110 recv 1 8B
    0: 10000110..15000120 recv 1 8B
    0: 15000120 end
    1: 0..0 init
    1: 5002000..5002010 send 0 8B
    1: 10002010..10002020 send 0 8B
    1: 15002020..15002030 send 0 8B
    1: 15002030 end
  )";
  const Results alone = replay(text, {on("measured"), on("measured:rank1.cpu*10")});
  check_ends(alone.scenarios[0], {15002020, 15002030});
  check_ends(alone.scenarios[1], {1500220, 1500230});
  REQUIRE(alone.trace.clock_repair.has_value());
  const auto says = [](const Results& results, const std::string& what) {
    const std::vector<std::string> warnings = warnings_about(results.trace);
    return std::count_if(warnings.begin(), warnings.end(), [&](const std::string& warning) {
      return warning.find(what) != std::string::npos;
    });
  };
  CHECK(says(alone, "the cost without waiting of 3 waiting calls is unknown") == 1);
  CHECK(says(alone, "they wait less assume zero") == 1);
  // A sender a thousand times as fast is no faster than the receiver: sends enter at 5002, 10012,
  // 15022; on a machine where a message costs its receiver 10000, receives leave at 10000, 20000
  // and 30000.
  Scenario machine;
  machine.name = machine.platform_file = "slow.toml";
  machine.platform = parse_platform(R"(
    format = 1
    [level.network]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    receive_overhead = "10us"
  )",
                                    "slow");
  const Results priced = replay(text, {on("measured:rank1.cpu*1000"), machine});
  check_ends(priced.scenarios[0], {30000, 15032});
  CHECK(says(priced, "they wait less assume the message cost of slow.toml") == 1);
  CHECK(says(replay(text, {on("measured")}), "cost without waiting") == 0);
}

// The core is lost for 200 between the polls at 500 and 715, before the send: that is a part of the
// wait, as long as what rank 1 does takes. Ten times as fast, it sends at 100 as above.
TEST_CASE("measured: a core that is lost in a polling loop is part of the wait") {
  std::string text = "nodes 0 1\n0: 0..0 init\n0: 0..0 irecv 1 8B req 1\n";
  for (int enter = 0; enter < 1105; enter += 10) {
    if (enter == 510) enter = 715;
    text += "0: " + std::to_string(enter) + ".." + std::to_string(enter + 5) + " test" +
            (enter == 715 ? " stolen 200\n" : "\n");
  }
  text +=
      "0: 1110..1115 test 1\n0: 1215 end\n"
      "1: 0..0 init\n1: 1000..1010 send 0 8B\n1: 1010 end\n";
  check_ends(replay(text, {on("measured")}).scenarios[0], {1215, 1010});
  check_ends(replay(text, {on("measured:rank1.cpu*10")}).scenarios[0], {100 + 115 + 100, 110});
  check_ends(replay(text, {on("undisturbed")}).scenarios[0], {1215, 1010});
}

// A receive shows that a message takes 15. In the loop behind it the core is lost from 505 to 705;
// the send is at 600, so `undisturbed` has the message 105 earlier than 720, when a poll found it,
// but no more than 15 after the send: at 615, and 10 of compute follow.
TEST_CASE("undisturbed: a core that is lost in a polling loop after the send delays no message") {
  std::string text =
      "nodes 0 1\n0: 0..0 init\n0: 0..25 recv 1 8B tag 1\n0: 25..25 irecv 1 8B req 1\n";
  for (int enter = 30; enter <= 500; enter += 10)
    text += "0: " + std::to_string(enter) + ".." + std::to_string(enter + 5) + " test\n";
  text +=
      "0: 715..720 test 1 stolen 200\n0: 730 end\n"
      "1: 0..0 init\n1: 10..11 send 0 8B tag 1\n1: 600..601 send 0 8B\n1: 601 end\n";
  check_ends(replay(text, {on("measured")}).scenarios[0], {730, 601});
  check_ends(replay(text, {on("undisturbed")}).scenarios[0], {625, 601});
  ReplayOptions keep;
  keep.keep_stolen = true;
  check_ends(replay(text, {on("undisturbed")}, keep).scenarios[0], {730, 601});
}

// toy: o_s = 10, T = 100 + n, o_r = 20, above 1000 bytes a rendezvous whose T holds the handshake
// (L = 100).
//
// Both ranks: isend enters at 0, leaves at 10, the test at 10 leaves at once, irecv at 10 (posts),
// the wait enters at 10. Data: max(start + L, post) + T - L with start = 10: max(110, 10) + 6000 =
// 6110. The wait leaves at max over the receive, 6110 + 20, and its own send, 6110: 6130.
TEST_CASE("a test that found a rendezvous send complete is no deadlock") {
  const char* text = R"(
    0: 0..0 init
    0: 0..0 isend 1 6000B req 1
    0: 0..0 test 1
    0: 0..0 irecv 1 6000B req 2
    0: 0..0 wait 2
    0: 0 end
    1: 0..0 init
    1: 0..0 isend 0 6000B req 1
    1: 0..0 test 1
    1: 0..0 irecv 0 6000B req 2
    1: 0..0 wait 2
    1: 0 end
  )";
  const ScenarioResult result = replay(text, {toy()}).scenarios[0];
  check_ends(result, {6130, 6130});
  // Both tests came too early: by 6110 - 10 each.
  CHECK(result.contradicted_outcomes == 2);
  CHECK(result.contradicted_time == Approx(12200e-9));
}

// Waitany takes its send first; the receive behind it is what the other rank needs. Rank 0: isend
// 0..10, isend's Waitany at 10 cannot wait for rank 1, which posts only after the message that rank
// 0 sends after the Waitany. Rank 1 receives that (8 bytes) first.
//
//   rank 0 sends 8 bytes at 10 + 10 (its port is busy with 2000 bytes until 10 + 2000): start
//   2010, arrival 2010 + 108 = 2118, received 2118 + 20 = 2138 by rank 1, which then posts.
//   Data of the rendezvous: max(10 + 100, 2138) + 2000 = 4138, received at 4158. Rank 0 waits for
//   it in its last wait, which leaves at 4138.
TEST_CASE("Waitany that took a rendezvous send continues with other requests") {
  const char* text = R"(
    0: 0..0 init
    0: 0..0 isend 1 2000B req 1
    0: 0..0 waitany 1
    0: 0..0 isend 1 8B req 2 tag 1
    0: 0..0 wait 2
    0: 0 end
    1: 0..0 init
    1: 0..0 recv 0 8B tag 1
    1: 0..0 recv 0 2000B
    1: 0 end
  )";
  const ScenarioResult result = replay(text, {toy()}).scenarios[0];
  check_ends(result, {4138, 4158});
  CHECK(result.contradicted_outcomes == 1);
}

TEST_CASE("sends without a possible wait are still a deadlock") {
  // Blocking sends: nothing moves.
  const char* text = R"(
    0: 0..0 send 1 2000B
    0: 0..0 recv 1 2000B
    0: 0 end
    1: 0..0 send 0 2000B
    1: 0..0 recv 0 2000B
    1: 0 end
  )";
  CHECK_FALSE(replay(text, {toy()}).scenarios[0].deadlock.empty());
}

// Rank 0 sends 2000 bytes, frees the request, computes 100000 and ends; rank 1 posts at 300000.
//   rank 0: isend 0..10, free at once, 100000 of compute: ends at 100010
//   rank 1: data at max(110, 300000) + 2000, received 20 later: 302020
TEST_CASE("a send whose request is freed does not wait") {
  const char* text = R"(
    0: 0..0 init
    0: 0..0 isend 1 2000B req 1
    0: 0..0 request_free 1
    0: 100000 end
    1: 0..0 init
    1: 300000..302020 recv 0 2000B
    1: 302020 end
  )";
  check_ends(replay(text, {toy()}).scenarios[0], {100010, 302020});
  // A synchronous one likewise, and `measured` gives it back.
  std::string synchronous = text;
  synchronous.replace(synchronous.find("isend"), 5, "issend");
  ReplayOptions options;
  options.verify = true;
  const Results results = replay(synchronous, {on("measured")}, options);
  check_ends(results.scenarios[0], {100000, 302020});
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.clock_violations.total() == 0);
}

// Three ranks; rank 2 comes at 600 and has nothing to give. Ranks 0 and 1 leave at 30.
// sent = own bytes times members, received = sum of all.
TEST_CASE("no rank waits for a member of an Allgatherv without a part") {
  const auto text = [](const std::string& what, const std::string& wait) {
    std::string all = "one_clock\n";
    for (int rank = 0; rank < 3; ++rank) {
      const std::string begin = "\n" + std::to_string(rank) + ": ";
      const int enter = rank == 2 ? 600 : 10 * rank;
      const int leave = rank == 2 ? 620 : 30;
      all += begin + "0..0 init";
      const std::string bytes = rank == 2 ? " 0B 16B" : " 24B 16B";
      if (wait.empty()) {
        all += begin + std::to_string(enter) + ".." + std::to_string(leave) + " " + what + bytes;
      } else {
        all += begin + std::to_string(enter) + ".." + std::to_string(enter) + " " + what + bytes +
               " req 1";
        all += begin + std::to_string(enter) + ".." + std::to_string(leave) + " wait 1";
      }
      all += begin + std::to_string(leave) + " end";
    }
    return all;
  };
  for (const auto& [what, wait] : {std::pair{"allgatherv", ""}, std::pair{"iallgatherv", "wait"}}) {
    INFO(what);
    const Results results = replay(text(what, wait), {on("measured"), on("perfect")});
    CHECK(results.trace.clock_violations.total() == 0);
    CHECK_FALSE(results.trace.clock_repair.has_value());
    check_ends(results.scenarios[0], {30, 30, 620});
    // Ranks 0 and 1 have what they get when rank 1 comes, at 10.
    check_ends(results.scenarios[1], {10, 10, 600});
  }
}

TEST_CASE("an Allgatherv without any data does not wait") {
  const char* text = R"(
    0: 0..0 init
    0: 10..12 allgatherv 0B 0B
    0: 20 end
    1: 0..0 init
    1: 600..602 allgatherv 0B 0B
    1: 610 end
  )";
  const Results results = replay(text, {on("perfect")});
  CHECK(results.trace.clock_violations.total() == 0);
  check_ends(results.scenarios[0], {18, 608});
}

// Rank 0 gets no element of the sum, gives its part and leaves before rank 1 comes, which gets 8
// bytes of it: sent = sum of counts times members = 16, received = own count times members.
TEST_CASE("a member of a Reduce_scatter that gets nothing may leave before the others come") {
  const char* text = R"(
    0: 0..0 init
    0: 10..15 reduce_scatter 16B 0B
    0: 20 end
    1: 0..0 init
    1: 600..610 reduce_scatter 16B 16B
    1: 620 end
  )";
  ReplayOptions options;
  options.verify = true;
  const Results results = replay(text, {on("measured")}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.clock_violations.total() == 0);
  check_ends(results.scenarios[0], {20, 620});
}

// With one clock for all ranks no clock is wrong: a barrier that was left early is kept.
TEST_CASE("where all ranks have one clock, no time is repaired") {
  const std::string text = R"(
    0: 0..0 init
    0: 10..15 barrier
    0: 20 end
    1: 0..0 init
    1: 600..610 barrier
    1: 620 end
  )";
  ReplayOptions options;
  options.verify = true;
  const Results one = replay("one_clock" + text, {on("measured")}, options);
  CHECK(one.trace.one_clock);
  CHECK(one.trace.clock_violations.total() == 1);
  CHECK_FALSE(one.trace.clock_repair.has_value());
  CHECK(one.identity->differing == 0);
  check_ends(one.scenarios[0], {20, 620});
  // With separate clocks rank 0 is moved to 600, with all that follows. The identity still refers
  // to the archive.
  const Results two = replay(text, {on("measured")}, options);
  CHECK(two.trace.clock_repair.has_value());
  CHECK(two.identity->differing == 0);
  check_ends(two.scenarios[0], {605, 620});
}
