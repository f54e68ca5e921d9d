// Messages above the eager limit that need a rank inside MPI to progress: times worked out by hand.
// One tick is one nanosecond.

#include "replay/rules/presence.h"
#include "replay/study/run_replay.h"

#include <catch2/catch.hpp>

#include "tests/unit/toy.h"

using namespace rubato;

namespace {

/// A machine where a message of n bytes costs o_s = 10, T = 100 + n, o_r = 20, g = n (all ns), so
/// L = 100; of `kind` from 1000 bytes on. 2000 bytes are on their way for T - L = 2000 after the
/// request: 100 for the answer, 1900 for the data. (By push it is o_s + L + o_r = 130 until the
/// sender can have seen the answer.)
Scenario machine(const std::string& kind) {
  Scenario scenario;
  scenario.name = kind;
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = ")" +
                                         kind + R"(" } ]
    send_overhead = "10ns"
    receive_overhead = "20ns"
  )",
                                     kind);
  return scenario;
}

/// When each rank ends, in ns.
Ends ends(const std::string& text, const std::string& kind) {
  return rubato::ends(text, machine(kind));
}

/// A receiver that posts at 0, is in `between` from 1995 to 1996, and waits from 4995 on. (Its
/// MPI_Irecv took 5 when it was recorded, and takes no time here.)
std::string late_wait(const std::string& between) {
  return "0: 0..1 send 1 2000B\n0: 10 end\n"
         "1: 0..5 irecv 0 2000B req 1\n1: 2000..2001 " +
         between + "\n1: 5000..5010 wait 1\n1: 5010 end\n";
}

/// 3000 messages from rank 0 to rank 2, 100 apart when they were recorded.
std::string calls_of_rank_0() {
  std::string text;
  for (int i = 1; i <= 3000; ++i) {
    const std::string time = std::to_string(100 * i);
    text += "0: " + time + ".." + time + " send 2 8B\n2: 0..0 recv 0 8B\n";
  }
  return text;
}

/// More calls than a timeline makes in one turn, which cost nothing.
std::string calls_at_150_ms(const std::string& timeline) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += timeline + ": 150000000..150000000 local MPI_Comm_rank\n";
  return text;
}

Scenario with_fast_rank_1(const std::string& kind) {
  Scenario scenario = machine(kind);
  scenario.processors = parse_scenario("measured:rank1.cpu*1000").processors;
  return scenario;
}

}  // namespace

TEST_CASE("async: no rank has to be inside MPI") {
  // start = 10; the request is there at 110, the data at 2110. The sender computes 9 more. The
  // receiver's wait finds it done: 4995 + 20.
  check(ends(late_wait("local MPI_Comm_rank"), "async"), {2119, 5015});
}

TEST_CASE("pull: the data waits for a receiver that computes") {
  // The request comes at 110, behind MPI_Irecv. The next call is the wait at 4995: arrival 6995.
  check(ends(late_wait("local MPI_Comm_rank"), "pull"), {7004, 7015});
}

TEST_CASE("pull: an unsuccessful test fetches the data, too") {
  // At 1995 the receiver looks: arrival 3995. Its wait at 4995 finds it done.
  check(ends(late_wait("test"), "pull"), {4004, 5015});
}

TEST_CASE("push: a receiver that computes cannot answer either") {
  // The sender is blocked in its send, so inside: the answer leaves at 4995, as with pull.
  check(ends(late_wait("local MPI_Comm_rank"), "push"), {7004, 7015});
  check(ends(late_wait("test"), "push"), {4004, 5015});
}

TEST_CASE("push: a sender that computes does not send") {
  const char* text = R"(
    0: 0..1 isend 1 2000B req 1
    0: 3001..3002 wait 1
    0: 3010 end
    1: 0..9 recv 0 2000B
    1: 9 end
  )";
  // Isend leaves at 10, the wait comes at 3010. The request is at the blocked receiver at 110, the
  // answer at the sender at 210. Push: data from 3010 on, arrival 4910. The sender's end is 8
  // later, the receiver's 20.
  check(ends(text, "push"), {4918, 4930});
  // Pull and async do not need the sender: arrival 2110, its wait leaves at once.
  check(ends(text, "pull"), {3018, 2130});
  check(ends(text, "async"), {3018, 2130});
}

TEST_CASE("push: to see an answer takes the time of both processors") {
  // o_s = 200, L = 0, o_r = 300; 2000 bytes take T = 2000. A = 500.
  const Scenario slow = slow_processors("\"0ns\"");
  const char* text = R"(
    0: 0..0 irecv 1 2000B req 1
    0: 0..1 isend 1 2000B req 2
    0: 5001..5002 wait 1 2
    0: 5002 end
    1: 0..0 local MPI_Comm_rank
    1: 100..100 irecv 0 2000B req 1
    1: 100..101 isend 0 2000B req 2
    1: 5001..5002 wait 1 2
    1: 5002 end
  )";
  // Rank 0 is in MPI_Isend until 200, when its request is at rank 1, which is in its own until 300
  // and answers. Rank 0 can have seen that at 700, when it computes, until 5200; then the data
  // leaves, and is at rank 1 at 7200. Rank 1's request is at rank 0 at 300, which computes, too,
  // and answers at 5200. Rank 1 waits since then: its data is there at 7200, too. Both: + 300.
  check(ends(text, slow), {7500, 7500});

  // Rank 1 posts at 1000 and waits until all is there; it answers at 1000, which can be seen at
  // 1500. A sender that waits from 400, 1400 or 1600 on: the data is there 2000 after the answer
  // left, after the wait began, and likewise. One that looks in from 1100 to 1499 does not see it,
  // and sends when it waits, from 3999 on; from 1100 to 1500 it does.
  const auto sent = [&](const std::string& calls) {
    return ends("0: 0..0 local MPI_Comm_rank\n0: 0..1 isend 1 2000B req 1\n" + calls +
                    "1: 0..0 local MPI_Comm_rank\n1: 1000..1001 recv 0 2000B\n1: 1001 end\n",
                slow)[1];
  };
  CHECK(sent("0: 201..202 wait 1\n0: 202 end\n") == Approx(3300));
  CHECK(sent("0: 1201..1202 wait 1\n0: 1202 end\n") == Approx(3700));
  CHECK(sent("0: 1401..1402 wait 1\n0: 1402 end\n") == Approx(3900));
  CHECK(sent("0: 901..1300 test\n0: 3800..3801 wait 1\n0: 3801 end\n") == Approx(6299));
  CHECK(sent("0: 901..1301 test\n0: 3800..3801 wait 1\n0: 3801 end\n") == Approx(3400));
}

TEST_CASE("a call that was left just when the message came was there for it") {
  // The request comes at 110. A receiver in MPI_Test from 100 to 111 fetches the data then: arrival
  // 2110. One that left at 109 does so in its wait at 4999.
  const auto text = [](const std::string& test) {
    return "0: 0..1 send 1 2000B\n0: 1 end\n1: 0..0 irecv 0 2000B req 1\n1: " + test +
           " test\n1: 4999..5000 wait 1\n1: 5000 end\n";
  };
  check(ends(text("100..111"), "pull"), {2110, 5019});
  check(ends(text("100..109"), "pull"), {6999, 7019});
}

TEST_CASE("a rank that is blocked by another rank is inside MPI") {
  const char* text = R"(
    0: 1000..1001 send 1 2000B
    0: 1001..1002 send 2 8B
    0: 1002 end
    1: 0..1 irecv 0 2000B req 1
    1: 1..2 recv 2 8B
    1: 2..3 wait 1
    1: 3 end
    2: 0..1 recv 0 8B
    2: 1..2 send 1 8B
    2: 2 end
  )";
  // start = 1010, request at 1110. Rank 1 sits in its receive from rank 2, which waits for rank 0,
  // which waits for this very message: so it is fetched at 1110 and arrives at 3110. Rank 0 sends 8
  // bytes from 3120 on, there at 3228: rank 2 leaves at 3248, sends from 3258 on, there at 3366.
  // Rank 1 leaves at 3386. Its in-port moved the 2000 bytes from 1110 to 3110, before the 8 bytes
  // came: 20 more of the processor.
  check(ends(text, "pull"), {3120, 3406, 3258});
}

namespace {

/// Rank 1 sends to rank 2 from `first` on, and rank 3 to rank 0 from `second` on; each receiver
/// sits in a receive from the other sender.
std::string held_up_by_each_other(int first, int second) {
  const auto late = [](int time) { return std::to_string(time) + ".." + std::to_string(time + 1); };
  const auto after = [](int time) {
    return std::to_string(time + 1) + ".." + std::to_string(time + 2);
  };
  return "0: 0..1 irecv 3 2000B req 1\n0: 1..2 recv 1 8B\n0: 10002..10003 wait 1\n0: 10003 end\n"
         "1: 0..0 local MPI_Comm_rank\n1: " +
         late(first) + " send 2 2000B\n1: " + after(first) +
         " send 0 8B\n1: " + std::to_string(first + 2) +
         " end\n"
         "2: 0..1 irecv 1 2000B req 1\n2: 1..2 recv 3 8B\n2: 10002..10003 wait 1\n2: 10003 end\n"
         "3: 0..0 local MPI_Comm_rank\n3: " +
         late(second) + " send 0 2000B\n3: " + after(second) +
         " send 2 8B\n3: " + std::to_string(second + 2) + " end\n";
}

}  // namespace

TEST_CASE("of two messages that block each other the earlier one proceeds") {
  const auto text = held_up_by_each_other;
  // Rank 1 starts at 1010, its request is at rank 2 at 1110, which sits in its receive from rank 3:
  // arrival 3110. Then 8 bytes start at 3120 and are at rank 0 at 3228, which leaves at 3248 and
  // computes until 13248. Rank 3's request comes at 5110: too late for that receive. Arrival 15248;
  // rank 0's wait ends at 15268. Rank 3 starts 8 bytes at 15258, there at 15366; rank 2 leaves at
  // 15386, waits from 25386 on, for what is there: + 20.
  check(ends(text(1000, 5000), "pull"), {15268, 3120, 25406, 15258});
  // The other way round, the other way round.
  check(ends(text(5000, 1000), "pull"), {25406, 15258, 15268, 3120});
}

TEST_CASE("lanes with different first messages are separated") {
  // As above; and with a rank 1 that computes ten times as long, until 10000. There rank 3, which
  // starts at 5010, is the first: its request is at rank 0 at 5110, arrival 7110. Its 8 bytes start
  // at 7120 and are at rank 2 at 7228, which leaves at 7248 and computes until 17248. The request
  // of rank 1, at 10110, waits for that: arrival 19248, rank 2 ends at 19268. Rank 1 starts 8 bytes
  // at 19258, there at 19366; rank 0 leaves at 19386 and waits from 29386 on for what is there: +
  // 20. In a common pass each lane would wait for a message that the other one blocks.
  const auto source = parse_text_trace(held_up_by_each_other(1000, 5000));
  Scenario slow = machine("pull");
  slow.processors.push_back({.nodes = false, .first = 1, .last = 1, .factor = 0.1});
  // (Three and more, so that parts of a pass that was given up are passes of several lanes.)
  const Results results =
      run_replay(*source, {machine("pull"), slow, slow, machine("pull"), slow}, {});
  for (const size_t i : {0u, 3u}) check(ends_of(results.scenarios[i]), {15268, 3120, 25406, 15258});
  for (const size_t i : {1u, 2u, 4u})
    check(ends_of(results.scenarios[i]), {29406, 19258, 19268, 7120});
}

TEST_CASE("lanes that agree on the first message stay together") {
  // Rank 2 is blocked by rank 3, which is not here yet; rank 1's message goes on in both lanes,
  // at 1110 and, with the latency doubled, 1210: see the case before the last.
  const auto source = parse_text_trace(held_up_by_each_other(1000, 5000));
  Scenario far = machine("pull");
  // T = 200 + n, L = 200. Rank 1 starts at 1010, its request is there at 1210, and after the answer
  // the data takes T - 2 L = 2200 - 400 = 1800: arrival 1210 + 200 + 1800 = 3210. 8 bytes start at
  // 3220, are at rank 0 at 3428, which leaves at 3448 and computes until 13448. Rank 3's request
  // comes at 5210: arrival 13448 + 2000 = 15448; rank 0 ends at 15468. Rank 3's 8 bytes start at
  // 15458, there at 15666; rank 2 leaves at 15686, waits from 25686 on: 25706.
  far.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "200ns", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "pull" } ]
    send_overhead = "10ns"
    receive_overhead = "20ns"
  )",
                                "far");
  const Results results = run_replay(*source, {machine("pull"), far}, {});
  check(ends_of(results.scenarios[0]), {15268, 3120, 25406, 15258});
  check(ends_of(results.scenarios[1]), {15468, 3220, 25706, 15458});
}

TEST_CASE("a message without a receiver delays no rank") {
  // The first send is passed over by its length; the second one is fetched at 4990.
  const char* text = R"(
    0: 0..1 isend 1 3000B req 1
    0: 1..2 send 1 2000B
    0: 2..3 wait 1
    0: 3 end
    1: 0..0 irecv 0 2000B req 1
    1: 4990..4999 wait 1
    1: 4999 end
  )";
  // The out-port is busy until 10 + 3000; the request is there at 3110. Arrival 4990 + 2000. The
  // wait for the first send does not wait: a send without a receive is eager.
  check(ends(text, "pull"), {6990, 7010});
}

// Rank 0 has posted at 0 and is inside MPI for 5 of every 10. Rank 1, which will send, is 1000
// behind: stays that ended before are not needed any more. So at most 1024 of a million are kept
// between clean-ups, and 100 are left. The request comes at 9999492: the stay from 9999490 to
// 9999495 is the first one that lasts to then, and the data are there L + 300 later.
TEST_CASE("intervals inside MPI that no message can need any more are dropped") {
  const auto at = [](double time) { return Lanes<1>::Constant(time); };
  Presence<1> presence(2);
  presence.add_timelines({0, 1});
  presence.post(0, 0, 1, at(0), Protocol::kPull);
  presence.leave(0, at(5));
  size_t most = 0;
  for (int i = 1; i < 1000000; ++i) {
    presence.enter(0, at(10 * i));
    presence.leave(0, at(10 * i + 5));
    most = std::max(most, presence.stays(0));
    if (!presence.has_many_stays(0)) continue;
    presence.forget(0, [&](int rank) {
      CHECK(rank == 1);
      return at(10 * i + 5 - 1000);
    });
    CHECK(presence.stays(0) == 101);  // with the one that ended just then
  }
  CHECK(most == 1024);
  presence.match(0, {at(9999492), at(100), at(300), at(0)});
  REQUIRE(presence.arrivals().size() == 1);
  CHECK(presence.arrivals()[0].time[0] == 9999892);
  CHECK(presence.stays(0) == 0);  // not needed any more
}

// Rank 0 posts at 0, then makes 3000 calls, 100 apart when they were recorded: each takes o_s = 10,
// so number i, from 1, is entered at 110 i - 10 and left at 110 i. Rank 1 sends 150 ms after it
// began, when it was recorded, so the replay lets the others go first; but it computes 1000 times
// faster and sends at 150000. The request is there at 150110; the first call that lasts to then is
// number 1365, entered at 150140: arrival 152140. Rank 0 waits from 330000 + 100 on, and rank 2's
// last message, sent at 329990, is there at 330108.
TEST_CASE("a rank that is far ahead is queried about much earlier calls") {
  std::string text = "0: 0..0 irecv 1 2000B req 1 tag 5\n" + calls_of_rank_0() +
                     "0: 300100..300100 wait 1\n0: 300100 end\n2: 0 end\n";
  text += "1: 0..0 local MPI_Comm_rank\n" + calls_at_150_ms("1") +
          "1: 150000000..150000000 send 0 2000B tag 5\n1: 150000000 end\n";
  check(rubato::ends(text, with_fast_rank_1("pull")), {330120, 152140, 330128});
}

// The same with a sender that is a thread of rank 1, whose main thread has ended by then: rank 0
// first receives from it (8 bytes sent at 0 arrive at 118, + 20), and sends to the thread from 138
// to 148, which receives at 148 + 108 + 20 = 276. Call i of rank 0 is entered at 138 + 110 i. The
// thread sends 150000 later, at 150276: the request is there at 150386, call number 1366 is entered
// at 150398, arrival 152398. Then it sends to rank 3: + 10 + 108 + 20.
TEST_CASE("a rank is not over before its threads are") {
  std::string text =
      "0: 0..0 irecv 1 2000B req 1 tag 5\n0: 0..0 recv 1 8B tag 1\n0: 0..0 send 1 8B tag 2\n" +
      calls_of_rank_0() + "0: 300100..300100 wait 1\n0: 300100 end\n2: 0 end\n";
  text += "1: 0..0 send 0 8B tag 1\n1: 0 end\n1.1: 0..0 recv 0 8B tag 2\n" +
          calls_at_150_ms("1.1") +
          "1.1: 150000000..150000000 send 0 2000B tag 5\n"
          "1.1: 150000000..150000000 send 3 8B tag 9\n1.1: 150000000 end\n"
          "3: 0..0 recv 1 8B tag 9\n3: 0 end\n";
  CHECK(rubato::ends(text, with_fast_rank_1("pull"))[3] == Approx(152398 + 138));
}

TEST_CASE("scenarios that need ranks inside MPI are replayed with others") {
  const auto source = parse_text_trace(late_wait("local MPI_Comm_rank"));
  const Results results = run_replay(
      *source, {machine("pull"), machine("async"), machine("push"), machine("pull")}, {});
  for (const int pull : {0, 2, 3}) CHECK(results.scenarios[pull].ranks[0].end == Approx(7004e-9));
  CHECK(results.scenarios[1].ranks[0].end == Approx(2119e-9));
}

// Rank 1 expects 2008 bytes from two neighbours, a share of 1004 that would be pulled; rank 0 sends
// 8 of them eagerly. And 1408 bytes, a share of 704 that would be eager; rank 2 sends 1400 of them,
// which are agreed upon.
TEST_CASE("a message between neighbours uses the protocol of its sender's length") {
  const auto text = [](const std::string& sent, const std::string& received) {
    return "neighbours 0 0 from 1 to 1\nneighbours 0 1 from 0 2 to 0 2\n"
           "neighbours 0 2 from 1 to 1\n"
           "0: 500..510 neighbor_alltoallv 8B 8B\n0: 510 end\n"
           "1: 0..3000 neighbor_alltoallv 16B " +
           received +
           "\n1: 3000 end\n"
           "2: 500..510 neighbor_alltoallv " +
           sent + " 8B\n2: 510 end\n";
  };
  // The messages of rank 1 arrive long before 500: ranks 0 and 2 leave at 500 + o_s + o_r. The 8
  // bytes start at 510 and are there at 618. The request for the others is there at 610 and rank 1
  // inside: the data are there at 610 + n, but no sooner than n behind what came in before: 618 +
  // n, + o_r.
  for (const std::string kind : {"async", "pull", "push"}) {
    INFO(kind);
    check(ends(text("2000B", "2008B"), kind), {530, 2638, 530});
    check(ends(text("1400B", "1408B"), kind), {530, 2038, 530});
  }
}
