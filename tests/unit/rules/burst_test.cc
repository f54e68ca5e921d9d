// Bursts: messages that follow ones which are not complete, worked out by hand (tests/unit/toy.h).

#include <catch2/catch.hpp>

#include "replay/calls/call_builder.h"
#include "tests/unit/toy.h"

using namespace rubato;

namespace {

/// The toy, where a message that follows an open one takes the port 200 later: g_b = 200 + n.
Scenario bursty() {
  Scenario scenario = toy();
  scenario.name = "bursty";
  scenario.platform.level(Level::kNode)->burst_gap = TransferCurve({{0, 200e-9, 1e-9, 0}});
  return scenario;
}

/// Unlimited buses: no contention, but a replay in time order.
Scenario in_order(Scenario scenario) {
  scenario.platform.contention.model = network_model("buses");
  scenario.platform.contention.levels.fill(true);
  return scenario;
}

/// Rank 1 receives `messages` of so many bytes, all posted at 0, in one wait.
std::string receiver(int messages, int bytes) {
  std::string posts, numbers;
  for (int i = 1; i <= messages; ++i) {
    const std::string number = std::to_string(i);
    posts += "1: 0..0 irecv 0 " + std::to_string(bytes) + "B req " + number + "\n";
    numbers += " " + number;
  }
  return posts + "1: 0..9 wait" + numbers + "\n1: 9 end\n";
}

}  // namespace

TEST_CASE("each message of a burst after the first takes the burst gap") {
  // 500 B: T = 600, g = 500, g_b = 700. The first starts at o_s = 10.
  const std::string text = R"(
    0: 0..1 isend 1 500B req 1
    0: 1..2 isend 1 500B req 2
    0: 2..3 isend 1 500B req 3
    0: 3..4 wait 1 2 3
    0: 4 end
  )" + receiver(3, 500);
  // Starts 10, 510, 1010: the last one is there at 1610, + 20.
  check(ends(text, toy()), {30, 1630});
  // The port is free at 510, the second message starts 200 after that, the third at 710 + 500 + 200
  // = 1410: there at 2010, + 20.
  check(ends(text, bursty()), {30, 2030});
  check(ends(text, in_order(bursty())), {30, 2030});
  // A burst gap that is below the gap counts for nothing.
  Scenario scenario = toy();
  scenario.platform.level(Level::kNode)->burst_gap = TransferCurve({{0, 400e-9, 0, 0}});
  check(ends(text, scenario), {30, 1630});
  // Side by side, as lanes of one pass: each as alone.
  const Results lanes = replay(text, {toy(), bursty(), toy(), scenario, bursty()});
  const double end_of_rank_1[] = {1630, 2030, 1630, 1630, 2030};
  for (size_t i = 0; i < lanes.scenarios.size(); ++i)
    check(ends_of(lanes.scenarios[i]), {30, end_of_rank_1[i]});
}

TEST_CASE("the second message of a burst takes a gap of its own") {
  // As above, and g_2 = 50 + n: the second message starts 50 after 510.
  Scenario scenario = bursty();
  scenario.platform.level(Level::kNode)->second_burst_gap = TransferCurve({{0, 50e-9, 1e-9, 0}});
  const auto sends = [](int messages) {
    std::string text, numbers;
    for (int i = 1; i <= messages; ++i) {
      const std::string number = std::to_string(i);
      text += "0: 0..0 isend 1 500B req " + number + "\n";
      numbers += " " + number;
    }
    return text + "0: 0..0 wait" + numbers + "\n0: 0 end\n" + receiver(messages, 500);
  };
  // 10, 560, 560 + 700, 1260 + 700: the last one is there 600 later, + 20.
  const double last[] = {630, 1180, 1880, 2580};
  for (int messages = 1; messages <= 4; ++messages) {
    const double o_s = 10 * messages;
    check(ends(sends(messages), scenario), {o_s, last[messages - 1]});
    check(ends(sends(messages), in_order(scenario)), {o_s, last[messages - 1]});
  }
  // A g_2 without g_b, and one that is below the gap: 10, 560, 1060; 10, 510, 1210.
  Scenario alone = scenario, none = scenario;
  alone.platform.level(Level::kNode)->burst_gap.reset();
  none.platform.level(Level::kNode)->second_burst_gap = TransferCurve({{0, 400e-9, 0, 0}});
  check(ends(sends(3), alone), {30, 1680});
  check(ends(sends(3), none), {30, 1830});
  // As lanes of one pass: without both 1630, without g_2 2030, as above.
  const Results lanes = replay(sends(3), {scenario, toy(), alone, bursty(), none, scenario});
  const double end_of_rank_1[] = {1880, 1630, 1680, 2030, 1830, 1880};
  for (size_t i = 0; i < lanes.scenarios.size(); ++i)
    check(ends_of(lanes.scenarios[i]), {30, end_of_rank_1[i]});
}

TEST_CASE("messages one after the other, each complete before the next, are no burst") {
  const std::string text = R"(
    0: 0..1 isend 1 500B req 1
    0: 1..2 wait 1
    0: 2..3 isend 1 500B req 1
    0: 3..4 wait 1
    0: 4..5 isend 1 500B req 1
    0: 5..6 wait 1
    0: 6 end
  )" + receiver(3, 500);
  check(ends(text, bursty()), {30, 1630});

  // The second one follows none, the third one the second: 10, 510, 1010 + 200. There at 1810.
  const std::string last = R"(
    0: 0..1 isend 1 500B req 1
    0: 1..2 wait 1
    0: 2..3 isend 1 500B req 1
    0: 3..4 isend 1 500B req 2
    0: 4..5 wait 1 2
    0: 5 end
  )" + receiver(3, 500);
  check(ends(last, bursty()), {30, 1830});
}

TEST_CASE("a blocking send follows an open one, and is not followed") {
  // 10, 510 + 200, and 1210 without: there at 1810.
  const std::string text = R"(
    0: 0..1 isend 1 500B req 1
    0: 1..2 send 1 500B
    0: 2..3 isend 1 500B req 2
    0: 3..4 wait 1 2
    0: 4 end
  )" + receiver(3, 500);
  check(ends(text, bursty()), {30, 1830});
  check(ends(text, in_order(bursty())), {30, 1830});
}

TEST_CASE("a burst whose messages wait for their receives takes the burst gap, too") {
  // 2000 B: T = 2100, g = 2000, g_b = 2200, async. The second starts at 2010 + 200, and is there
  // 2100 later, at 4310; its sender waits for that.
  const std::string text = R"(
    0: 0..1 isend 1 2000B req 1
    0: 1..2 isend 1 2000B req 2
    0: 2..3 wait 1 2
    0: 3 end
  )" + receiver(2, 2000);
  check(ends(text, toy()), {4110, 4130});
  check(ends(text, bursty()), {4310, 4330});
  // In the order of time the data of the first takes the port at 210, when the answer to its
  // request is back; that of the second at 2210 + 200 and is there 1900 later.
  check(ends(text, in_order(toy())), {4110, 4130});
  check(ends(text, in_order(bursty())), {4310, 4330});
  Scenario pulled = bursty();
  pulled.platform.level(Level::kNode)->protocols[1].protocol = Protocol::kPull;
  check(ends(text, pulled), {4310, 4330});
}

TEST_CASE("what a message has to wait for anyhow is not added to the burst gap") {
  // The second comes 600 after the first: the port is free at 510, it could start at 710. Its own
  // time, 10 + 600 + 10 = 620, is before that; 200 later (820) it is not.
  const auto text = [](int compute) {
    const std::string at = std::to_string(1 + compute), then = std::to_string(2 + compute);
    return "0: 0..1 isend 1 500B req 1\n0: " + at + ".." + then +
           " isend 1 500B req 2\n0: " + then + ".." + then + " wait 1 2\n0: " + then + " end\n" +
           receiver(2, 500);
  };
  check(ends(text(600), bursty()), {620, 1330});  // 710 + 600 + 20
  check(ends(text(800), bursty()), {820, 1440});  // 820 + 600 + 20
}

TEST_CASE("calls of one name that follow in one place and not in another") {
  // Each turn sends two at once (500 + 700 until the port is free) and two one by one (500 + 500):
  // 2200. The last of 100 turns starts at 10 + 220000 - 500, is there 600 later, + 20.
  std::string text;
  for (int turn = 0; turn < 100; ++turn) {
    for (const char* call : {"isend 1 500B req 1", "isend 1 500B req 2", "wait 1 2",
                             "isend 1 500B req 1", "wait 1", "isend 1 500B req 1", "wait 1"})
      text += std::string("0: 0..0 ") + call + "\n";
    for (int i = 0; i < 4; ++i) text += "1: 0..0 recv 0 500B\n";
  }
  const double last = 10 + 220000 - 500 + 600 + 20;
  check(ends(text, bursty()), {4000, last});
  check(ends(text, in_order(bursty())), {4000, last});
}

TEST_CASE("only messages to other ranks, and of the same thread, make a burst") {
  // To itself between the two: 10, o_s 10 and no port (its g is 0 here), 510 + 200; there at 1310.
  Scenario scenario = bursty();
  scenario.platform.level(Level::kSelf) = scenario.platform.level(Level::kNode);
  scenario.platform.level(Level::kSelf)->gap = TransferCurve();
  const std::string self = R"(
    0: 0..1 isend 1 500B req 1
    0: 1..2 irecv 0 500B req 4
    0: 1..2 isend 0 500B req 2
    0: 2..3 isend 1 500B req 3
    0: 3..4 wait 1 2 3
    0: 4 end
  )" + receiver(2, 500);
  CHECK(ends(self, scenario)[1] == Approx(1330));

  // Two threads: the message of the second leaves by another port. Its own at 10 and 510.
  const std::string threads = R"(
    0: 0..1 isend 1 500B tag 1 req 1
    0.1: 1..2 isend 1 500B tag 2 req 2
    0.1: 2..3 wait 1
    0: 4..5 isend 1 500B tag 1 req 3
    0: 5..6 wait 2 3
    1: 0..0 irecv 0 500B tag 1 req 1
    1: 0..0 irecv 0 500B tag 1 req 2
    1: 0..0 irecv 0 500B tag 2 req 3
    1: 0..9 wait 1 2 3
  )";
  // Completed by the other thread: 510 + 600; rank 1 has 500 B of three messages drained one by
  // one: 610, 1110, 1610 + 20. Were it open, it would be there at 1310: 1310, 1810.
  CHECK(ends(threads, bursty())[1] == Approx(1630));
}

TEST_CASE("collectives among neighbours send bursts") {
  // Rank 1 has two neighbours: 500 B to rank 0 at 10, to rank 2 at 510 + 200, which has it at 1310.
  const std::string text = R"(
    neighbours 0 0 from 1 to 1
    neighbours 0 1 from 0 2 to 0 2
    neighbours 0 2 from 1 to 1
    0: 0..9 neighbor_alltoall 500B 500B
    0: 9 end
    1: 0..9 neighbor_alltoall 1000B 1000B
    1: 9 end
    2: 0..9 neighbor_alltoall 500B 500B
    2: 9 end
  )";
  CHECK(ends(text, toy())[2] == Approx(1130));
  CHECK(ends(text, bursty())[2] == Approx(1330));
}

namespace {

/// A rank that sends to rank 1, and returns for each message whether it follows an open one.
class Sender {
 public:
  enum Call { kSend, kIsend, kStartall, kWait, kPready };

  Sender() {
    for (const char* name : {"MPI_Send", "MPI_Isend", "MPI_Startall", "MPI_Wait", "MPI_Pready"})
      trace_.calls.push_back(mpi_call_info(name));
    trace_.location_of_rank = {0, 1};
  }

  void enter(Call call) { builder_.enter(++event_, now(), call); }
  void leave() { builder_.leave(++event_, now(), kSend); }
  bool send(int32_t to = 1) {
    builder_.send(++event_, now(), 0, to, 0, 8);
    return follows();
  }
  bool isend(uint64_t request, int32_t to = 1, uint8_t flags = 0) {
    builder_.isend(++event_, now(), 0, to, 0, 8, request, flags);
    return follows();
  }
  void complete(uint64_t request) { builder_.isend_complete(++event_, now(), request); }
  void cancelled(uint64_t request) { builder_.cancelled(++event_, now(), request); }
  void ready(uint64_t request) { builder_.partition_ready(++event_, now(), request); }
  /// For the n-th action from the last.
  bool follows(size_t behind = 0) {
    const auto& actions = builder_.pending().actions;
    return (actions[actions.size() - 1 - behind].flags & kInBurst) != 0;
  }
  /// True if the last action is the second message of its burst.
  bool is_second() { return (builder_.pending().actions.back().flags & kSecondOfBurst) != 0; }

 private:
  double now() const { return static_cast<double>(event_); }

  TraceDefinitions trace_;
  CallBuilder builder_{trace_, 0, std::make_shared<RequestBook>()};
  uint64_t event_ = 0;
};

}  // namespace

TEST_CASE("which sends follow an open one") {
  Sender rank;
  // Persistent ones, started together, complete later and are started again.
  for (int turn = 0; turn < 2; ++turn) {
    rank.enter(Sender::kStartall);
    CHECK_FALSE(rank.isend(7));
    CHECK(rank.isend(8));
    CHECK(rank.isend(9));
    rank.leave();
    rank.enter(Sender::kWait);
    for (const uint64_t request : {7, 8, 9}) rank.complete(request);
    rank.leave();
  }
  // The one before counts, whatever else is open.
  rank.enter(Sender::kIsend);
  CHECK_FALSE(rank.isend(1));
  rank.leave();
  CHECK(rank.isend(2));
  rank.complete(2);
  CHECK_FALSE(rank.isend(3));
  // To the rank itself: it does not follow, and the next one follows the one before it.
  CHECK_FALSE(rank.isend(4, 0));
  CHECK(rank.isend(5));
  // A blocking one.
  rank.enter(Sender::kSend);
  CHECK(rank.send());
  CHECK_FALSE(rank.send());
  rank.leave();
  // The completion time of a cancelled one is unknown.
  CHECK_FALSE(rank.isend(10));
  rank.cancelled(10);
  CHECK_FALSE(rank.isend(11));
  CHECK_FALSE(rank.isend(11));
  CHECK(rank.isend(12));
  // A nonblocking one without a recorded request.
  rank.enter(Sender::kIsend);
  CHECK(rank.send());
  rank.leave();
  CHECK_FALSE(rank.isend(13));
  // A request that is complete, and then that of a message to the rank itself, is not open again.
  rank.complete(13);
  CHECK_FALSE(rank.isend(13, 0));
  CHECK_FALSE(rank.isend(14));
}

TEST_CASE("which of them is the second message of its burst") {
  Sender rank;
  for (int turn = 0; turn < 2; ++turn) {
    rank.isend(1);
    CHECK_FALSE(rank.is_second());
    rank.isend(2);
    CHECK(rank.is_second());
    rank.isend(5, 0);  // to the rank itself: of no burst
    CHECK_FALSE(rank.is_second());
    rank.isend(3);
    CHECK((rank.follows() && !rank.is_second()));
    rank.send();
    CHECK((rank.follows() && !rank.is_second()));
    for (const uint64_t request : {1, 2, 3, 5}) rank.complete(request);
  }
  // A new burst begins where the latest message is complete, though others are open.
  rank.isend(1);
  rank.isend(2);
  rank.complete(2);
  rank.isend(3);
  CHECK_FALSE(rank.follows());
  rank.isend(4);
  CHECK(rank.is_second());
  rank.isend(4);  // its request again: it was complete
  CHECK_FALSE((rank.follows() || rank.is_second()));
}

TEST_CASE("a message in partitions neither follows an open one nor is followed") {
  Sender rank;
  CHECK_FALSE(rank.isend(1));
  rank.enter(Sender::kStartall);
  rank.isend(2, 1, kPartitioned);
  rank.leave();
  CHECK(rank.isend(3));  // the first one is open
  rank.complete(3);
  CHECK_FALSE(rank.isend(4));
  rank.complete(4);
  rank.enter(Sender::kPready);
  rank.ready(2);
  rank.complete(2);  // it has left in this call
  CHECK_FALSE(rank.follows(1));
  rank.leave();
}
