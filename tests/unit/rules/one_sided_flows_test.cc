// One-sided operations that share a network with others, worked out by hand. One tick is one
// nanosecond. Two ranks are on node 0, the others on node 1; between nodes T(n) = 100 + n, no
// overheads, no gaps (contended.h). A lock is granted after a round trip, at 200.

#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/all_buses.h"
#include "tests/unit/contended.h"
#include "tests/unit/seeds.h"

using namespace rubato;

namespace {

const std::string kNodes = "nodes 0 0 1 1\nwindow 1\n";
const std::string kIdle = "2: 0..1 local MPI_Comm_rank\n3: 0..1 local MPI_Comm_rank\n";

/// Ranks 0 and 1 lock ranks 2 and 3, do `call` there, and then `end` it.
std::string under_locks(const std::string& call, const std::string& end) {
  std::string text = kNodes;
  for (const std::string rank : {"0", "1"}) {
    const std::string target = rank == "0" ? " 2" : " 3";
    text += rank + ": 0..0 win_lock" + target + "\n" + rank + ": 0..0 " +
            call.substr(0, call.find(' ')) + target + call.substr(call.find(' ')) + "\n" + rank +
            ": 0..0 " + end + (end[0] == 'w' && end[1] == 'i' ? target : " 1") + "\n";
  }
  return text + kIdle;
}

/// Ranks 0 and 1 put 1000 bytes each into ranks 2 and 3 between two fences.
const std::string kFences = [] {
  std::string text = kNodes;
  for (const std::string rank : {"0", "1", "2", "3"}) text += rank + ": 0..0 win_fence\n";
  text += "0: 0..0 put 2 1000B\n1: 0..0 put 3 1000B\n";
  for (const std::string rank : {"0", "1", "2", "3"}) text += rank + ": 0..0 win_fence\n";
  return text;
}();

}  // namespace

// A barrier of four takes two rounds of 100: all leave the first fence at 200, when both puts
// begin. Alone they land at 1300, and their origins are notified at 1400. With one link out of node
// 0 that of rank 1 waits until the data of the other is through, at 1200: there at 2300. By
// degradation both are live all the time: 100 + 1000 * 2, there at 2300.
TEST_CASE("two puts that share a bus, or a degraded link, end a fence later") {
  check(ends(kFences, contended("")), {1400, 1400, 1300, 1300});
  check(ends(kFences, buses("out = 2")), {1400, 1400, 1300, 1300});
  check(ends(kFences, buses("out = 1")), {1400, 2400, 1300, 2300});
  check(ends(kFences, buses("in = 1")), {1400, 2400, 1300, 2300});
  check(ends(kFences, degraded(1)), {2400, 2400, 2300, 2300});
}

// The same under locks: flush and unlock wait for the word that it is there. Alone 200 + 1100 +
// 100. What is accumulated moves as what is put.
TEST_CASE("flush and unlock come after a put that is late") {
  for (const std::string call : {"put 1000B", "accumulate 1000B"}) {
    for (const std::string end : {"win_flush", "win_unlock"}) {
      check(ends(under_locks(call, end), contended("")), {1400, 1400, 1, 1});
      check(ends(under_locks(call, end), buses("network = 1")), {1400, 2400, 1, 1});
      check(ends(under_locks(call, end), degraded(2)), {4400, 4400, 1, 1});
    }
  }
}

// A put has left when the port is free; without a gap, at once: at 200. That of rank 1 has to wait
// for its bus then, and so its buffer is free when it is there: at 1200 + 1100.
TEST_CASE("a delayed put has left its origin when it arrives") {
  const std::string wait = under_locks("rput 1000B req 1", "wait");
  check(ends(wait, contended("")), {200, 200, 1, 1});
  check(ends(wait, buses("network = 1")), {200, 2300, 1, 1});
  const std::string flush = under_locks("put 1000B", "win_flush_local");
  check(ends(flush, buses("network = 1")), {200, 2300, 1, 1});
  // With a gap of 1 ns a byte it should have left at 1200. By degradation the latency is over at
  // 300; at 1200 only 450 of its bytes have moved, not 900: it is there at 300 + 2000. At DR = 2
  // it is 225, where alone it would be 450: 300 + 4000. Without others it has left in time.
  const auto with_gap = [](Scenario scenario) {
    scenario.platform.level(Level::kNetwork)->gap.reset();
    return scenario;
  };
  check(ends(flush, with_gap(contended(""))), {1200, 1200, 1, 1});
  check(ends(flush, with_gap(degraded(1))), {2300, 2300, 1, 1});
  check(ends(flush, with_gap(degraded(2))), {4300, 4300, 1, 1});
  const std::string one = kNodes + "0: 0..0 win_lock 2\n0: 0..0 put 2 1000B\n" +
                          "0: 0..0 win_flush_local 2\n1: 0..1 local MPI_Comm_rank\n" + kIdle;
  for (const double ratio : {1.0, 1.01, 2.0, 0.5})
    check(ends(one, with_gap(degraded(ratio))), {1200, 1, 1, 1});
}

// The message has the bus from 0 to 1000; the put, ready at 200, from then on: 2100, heard of at
// 2200. Or the put has it from 200 to 1200 and the message, which is sent at 500, then: 2300.
TEST_CASE("a put and a message share the link") {
  const auto text = [](const std::string& sent) {
    return kNodes + "0: 0..0 local MPI_Comm_rank\n0: " + sent + ".." + sent +
           " send 2 1000B\n1: 0..0 win_lock 3\n1: 0..0 put 3 1000B\n1: 0..0 win_unlock 3\n" +
           "2: 0..10 recv 0 1000B\n3: 0..1 local MPI_Comm_rank\n";
  };
  check(ends(text("0"), contended("")), {0, 1400, 1100, 1});
  check(ends(text("0"), buses("network = 1")), {0, 2200, 1100, 1});
  check(ends(text("500"), contended("")), {500, 1400, 1600, 1});
  check(ends(text("500"), buses("network = 1")), {500, 1400, 2300, 1});
}

// The requests are latency: at the targets at 300. The data comes back from node 1: with one link
// out of it, that of rank 2 from 300 to 1300, there at 1400; that of rank 3 from 1300 on.
TEST_CASE("a get flows from its target to its origin") {
  for (const std::string end : {"win_flush", "win_flush_local", "win_unlock"}) {
    const std::string text = under_locks("get 1000B", end);
    check(ends(text, contended("")), {1400, 1400, 1, 1});
    check(ends(text, buses("out = 1")), {1400, 2400, 1, 1});
    check(ends(text, degraded(1)), {2400, 2400, 1, 1});
  }
}

// The message has the only bus until 1000. The request, at the target at 300, needs none; its
// result flows then, until 2000, and is there at 2100.
TEST_CASE("the request of a get waits for no bus") {
  const std::string text =
      kNodes + "0: 0..0 win_lock 2\n0: 0..0 get 2 1000B\n0: 0..0 win_flush 2\n" +
      "1: 0..0 send 3 1000B\n2: 0..1 local MPI_Comm_rank\n" + "3: 0..10 recv 1 1000B\n";
  check(ends(text, buses("network = 1")), {2100, 0, 1, 1100});
}

// One bus. Rank 0's 1000 bytes have it from 200 to 1200, rank 1's until 2200. Rank 0's 500, which
// come back, are ready at 1300: from 2200 to 2700, there at 2800. Rank 1's are ready at 2300: from
// 2700 on, 3300. Alone: 200 + 1100 + 600.
TEST_CASE("a fetching operation has flows in both directions") {
  const std::string text = under_locks("fetch_and_op 1000B 500B", "win_flush");
  check(ends(text, contended("")), {1900, 1900, 1, 1});
  check(ends(text, buses("network = 1")), {2800, 3300, 1, 1});
}

// A put behind a get: the flush waits for both. The request of the get is there
// at 300, its 8 bytes need a link out of node 1: back at 408. The put needs the link out of node 0,
// which a message of rank 1 has until 1000: there at 2100, heard of at 2200.
TEST_CASE("a flush waits for a late put after a result that has arrived") {
  const std::string text = kNodes +
                           "0: 0..0 win_lock 2\n0: 0..0 get 2 8B\n0: 0..0 put 2 1000B\n"
                           "0: 0..0 win_flush 2\n1: 0..0 send 3 1000B\n"
                           "2: 0..1 local MPI_Comm_rank\n3: 0..10 recv 1 1000B\n";
  check(ends(text, buses("out = 1")), {2200, 0, 1, 1100});
}

// Rank 1's message has the link from 0 to 1000, so the put lands at 2100; the unlock, entered at
// 205, is notified at 2200. The lock is free at 2100: rank 3, on the node of rank 2, has it 10
// later.
TEST_CASE("a lock is released when puts under it have landed") {
  const std::string text = kNodes +
                           "0: 0..0 win_lock 2 exclusive\n0: 0..0 put 2 1000B\n"
                           "0: 5..6 win_unlock 2\n0: 6 end\n1: 0..0 send 3 1000B\n"
                           "2: 0..1 local MPI_Comm_rank\n"
                           "3: 0..20 win_lock 2 exclusive\n3: 20..21 win_unlock 2\n"
                           "3: 21..30 recv 1 1000B\n";
  const auto shared = ends(text, buses("out = 1"));
  check(shared, {2200, 0, 1, 2110});
}

// Rank 2 posts at 500; rank 0 is notified at 600, when its put begins. Rank 1's first message, of
// 400 bytes, flows from 100 to 500 as if there were no put; its second one, of 1000, from 550 to
// 1550. So the put is there at 1550 + 1100. It should have left at 600, but was delayed: the
// complete ends then, too. Alone 600, and 600 + 1100.
TEST_CASE("what is put in an epoch flows when its target is ready") {
  const std::string text = kNodes +
                           "0: 0..0 win_start 2\n0: 0..0 put 2 1000B\n0: 0..0 win_complete\n"
                           "1: 0..0 local MPI_Comm_rank\n1: 100..100 send 3 400B\n"
                           "1: 550..550 send 3 1000B\n"
                           "2: 0..0 local MPI_Comm_rank\n2: 500..500 win_post 0\n"
                           "2: 500..600 win_wait\n3: 0..10 recv 1 400B\n3: 10..20 recv 1 1000B\n";
  check(ends(text, contended("")), {600, 550, 1700, 1650});
  check(ends(text, buses("out = 1")), {2650, 550, 2650, 1650});
}

// Rank 2's records end before its post: rank 0 is released, with the recorded 10 of its complete,
// and its put is sent then. It has the link until 1000, so the message of 10 arrives at 2100.
TEST_CASE("an epoch without a post ends, and its puts are sent") {
  const std::string text = kNodes +
                           "0: 0..0 win_start 2\n0: 0..0 put 2 1000B\n0: 0..10 win_complete\n"
                           "0: 10..10 send 3 1000B\n1: 0..0 local MPI_Comm_rank\n"
                           "2: 0..0 local MPI_Comm_rank\n3: 0..20 recv 0 1000B\n";
  check(ends(text, contended("")), {10, 0, 0, 1110});
  check(ends(text, buses("out = 1")), {10, 0, 0, 2100});
}

namespace {

/// Between nodes T(n) = 100 + n and a port that takes 40 + n / 2, within one 10 + n; no overheads.
Scenario ported(const std::string& contention) {
  Scenario scenario;
  scenario.name = "ported " + contention;
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "10ns", bandwidth = "1GB/s" } ]
    gap = "0ns"
    [level.network]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    gap = [ { from = "0B", latency = "40ns", bandwidth = "2GB/s" } ]
  )" + (contention.empty() ? "" : "[contention]\n" + contention),
                                     "ported.toml");
  return scenario;
}

/// No contention: the ends are the same with and without time order.
void check_both(const std::string& text, const Ends& expected) {
  INFO(text);
  check(ends(text, ported("")), expected);
  check(ends(text, ported("model = \"buses\"\nnetwork = 100")), expected);
}

}  // namespace

// Rank 2 posts at 5000; rank 0 is notified at 5100, and its operations are sent one after the
// other. The first put takes the port for 40 + 2000, the second one for 44: it has left at 7184,
// and is there at 5100 + 2040 + 108, before the first one, at 5100 + 4100.
TEST_CASE("a put has left when the port has served all before it, of whatever number") {
  const std::string epoch =
      "0: 0..0 win_complete\n1: 0..0 local MPI_Comm_rank\n2: 0..0 local MPI_Comm_rank\n"
      "2: 5000..5000 win_post 0\n2: 5000..6000 win_wait\n3: 0..0 local MPI_Comm_rank\n";
  check_both(kNodes + "0: 0..0 win_start 2\n0: 0..0 put 2 4000B\n0: 0..0 rput 2 8B req 1\n" + epoch,
             {7184, 0, 9200, 0});
  // The requests of three gets take the port for 40 each: the put goes out at 5220 and is there at
  // 5328. The third result would be there at 5100 + 80 + 100 + 108, but the in-port takes 44 for
  // each, from 5308 on: 5396.
  check_both(kNodes +
                 "0: 0..0 win_start 2\n0: 0..0 get 2 8B\n0: 0..0 get 2 8B\n0: 0..0 get 2 8B\n"
                 "0: 0..0 rput 2 8B req 1\n" +
                 epoch,
             {5396, 0, 5328, 0});
}

// Rank 0's complete is not recorded, because recording was off until 1. The lock takes a round
// trip, to 201; the put arrives at 201 + 1100 = 1301, acknowledged at 1401. It waits for no post.
TEST_CASE("operations under a lock wait for no post of an epoch before") {
  const std::string others =
      "1: 0..0 local MPI_Comm_rank\n2: 0..0 local MPI_Comm_rank\n3: 0..0 local MPI_Comm_rank\n";
  check_both(kNodes + "0: 0..0 win_start 2\n0: 0..1 off\n0: 1..1 win_lock 2\n" +
                 "0: 1..1 put 2 1000B\n0: 1..1 win_unlock 2\n" + others,
             {1401, 0, 0, 0});
  // The put of that epoch has left the link by then.
  check_both(kNodes + "0: 0..0 win_start 2\n0: 0..0 put 2 8B\n0: 0..1 off\n" +
                 "0: 1..1 win_lock_all\n0: 1..1 put 2 1000B\n0: 1..1 win_unlock_all\n" + others,
             {1401, 0, 0, 0});
  // Not even the lock is recorded: the put, at 1, arrives at 1101. Without flows only the complete
  // waits for a post; with flows the put begins with the unlock at the latest.
  check_both(kNodes + "0: 0..0 win_start 2\n0: 0..1 off\n0: 1..1 put 2 1000B\n" +
                 "0: 1..1 win_unlock 2\n" + others,
             {1201, 0, 0, 0});
}

// Rank 2 posts at 5000, rank 0 is notified at 5100. A put of 8 bytes has left 44 later, and the
// message of rank 0 is there 10 + 8 after that. The put is there at 5208, the word of the complete
// at 5244. What is got is there a round trip after 5100: 5100 + 100 + 108; the word of the complete
// 100 later. Two puts: see above.
TEST_CASE("a request in an epoch is over when its target has posted") {
  const std::string post =
      "2: 0..0 local MPI_Comm_rank\n2: 5000..5000 win_post 0\n2: 5000..6000 win_wait\n"
      "3: 0..0 local MPI_Comm_rank\n";
  check_both(kNodes + "0: 0..0 win_start 2\n0: 0..0 rput 2 8B req 1\n0: 0..0 wait 1\n" +
                 "0: 0..0 send 1 8B\n0: 0..0 win_complete\n1: 0..10 recv 0 8B\n" + post,
             {5144, 5162, 5244, 0});
  const std::string alone = "0: 0..0 wait 1\n0: 0..0 win_complete\n1: 0..0 local MPI_Comm_rank\n";
  check_both(kNodes + "0: 0..0 win_start 2\n0: 0..0 rget 2 8B req 1\n" + alone + post,
             {5308, 0, 5408, 0});
  check_both(
      kNodes + "0: 0..0 win_start 2\n0: 0..0 put 2 4000B\n0: 0..0 rput 2 8B req 1\n" + alone + post,
      {7184, 0, 9200, 0});
}

// The complete waits for the post alone, until 5100. The request is at the target at 5200, and what
// is got there at 5308, which the wait behind it waits for.
TEST_CASE("results of gets in an epoch are waited for at its end") {
  check_both(kNodes + "0: 0..0 win_start 2\n0: 0..0 rget 2 8B req 1\n0: 0..0 win_complete\n" +
                 "0: 0..0 wait 1\n1: 0..0 local MPI_Comm_rank\n2: 0..0 local MPI_Comm_rank\n" +
                 "2: 5000..5000 win_post 0\n2: 5000..6000 win_wait\n" +
                 "3: 0..0 local MPI_Comm_rank\n",
             {5308, 0, 5200, 0});
}

// A post that never comes: the wait keeps its 7, the complete its 10.
TEST_CASE("a request whose target will not post keeps its time") {
  check_both(kNodes + "0: 0..0 win_start 2\n0: 0..0 rput 2 1000B req 1\n0: 0..7 wait 1\n" +
                 "0: 7..17 win_complete\n1: 0..0 local MPI_Comm_rank\n" +
                 "2: 0..0 local MPI_Comm_rank\n3: 0..0 local MPI_Comm_rank\n",
             {17, 0, 0, 0});
  // In the recording, the wait did not wait for the post, which comes after the receive of a
  // message sent later: it keeps its 5. The message gets the port after the put, at 540, and
  // arrives at 648, when rank 2 posts. Rank 0 is notified at 748: its put has left at 1288, and
  // arrives at 1848.
  check_both(kNodes + "0: 0..0 win_start 2\n0: 0..0 rput 2 1000B req 1\n0: 0..5 wait 1\n" +
                 "0: 5..5 send 2 8B\n0: 5..200 win_complete\n1: 0..0 local MPI_Comm_rank\n" +
                 "2: 0..20 recv 0 8B\n2: 20..20 win_post 0\n2: 20..300 win_wait\n" +
                 "3: 0..0 local MPI_Comm_rank\n",
             {1288, 0, 1848, 0});
}

// Rank 2 waits for a message that was never sent, and continues after its 4000: it posts at 5000,
// and rank 0 is notified at 5100. Its put has left at 5640, and arrives at 6200.
TEST_CASE("a hole elsewhere while a request waits for a post") {
  check_both(kNodes + "0: 0..0 win_start 2\n0: 0..0 rput 2 1000B req 1\n0: 0..5100 wait 1\n" +
                 "0: 5100..5200 win_complete\n1: 0..0 local MPI_Comm_rank\n" +
                 "2: 0..4000 recv 1 8B\n2: 5000..5000 win_post 0\n2: 5000..6000 win_wait\n" +
                 "3: 0..0 local MPI_Comm_rank\n",
             {5640, 0, 6200, 0});
}

TEST_CASE("a deadlock with a request that waits for a post") {
  const auto deadlock = [](const std::string& text, const Scenario& scenario) {
    ReplayOptions options;
    options.repair = false;
    return replay(kNodes + text, {scenario}, options).scenarios[0].deadlock;
  };
  for (const Scenario& handshakes : {contended(""), buses("network = 100")}) {
    // Ranks 1 and 2 send each other messages above the eager limit.
    const std::string elsewhere = deadlock(
        "0: 0..0 win_start 2\n0: 0..0 rput 2 1000B req 1\n0: 0..5100 wait 1\n"
        "0: 5100..5200 win_complete\n1: 0..10 send 2 9000B\n1: 10..20 recv 2 9000B\n"
        "2: 0..10 send 1 9000B\n2: 10..20 recv 1 9000B\n2: 5000..5000 win_post 0\n"
        "2: 5000..6000 win_wait\n3: 0..0 local MPI_Comm_rank\n",
        handshakes);
    CHECK(elsewhere.find("rank 2") != std::string::npos);
    CHECK(elsewhere.find("post") == std::string::npos);
    // Rank 2 posts behind a message that rank 0 sends behind its wait, and neither left first.
    const std::string of_it = deadlock(
        "0: 0..0 win_start 2\n0: 0..0 rput 2 1000B req 1\n0: 0..10 wait 1\n"
        "0: 10..20 send 2 8B\n0: 20..30 win_complete\n1: 0..0 local MPI_Comm_rank\n"
        "2: 0..10 recv 0 8B\n2: 20..20 win_post 0\n2: 20..40 win_wait\n"
        "3: 0..0 local MPI_Comm_rank\n",
        handshakes);
    CHECK(of_it.find("waits for the post of rank 2 on window 'window 1'") != std::string::npos);
  }
}

namespace {

/// Programs of four ranks on two nodes: fences, locks, epochs and requests, and messages between.
class Programs {
 public:
  explicit Programs(unsigned seed) : random_(seed) {}

  std::string make() {
    for (int phase = 0; phase < 6; ++phase) {
      switch (below(5)) {
        case 0:
          fences();
          break;
        case 1:
          locks();
          break;
        case 2:
          epochs();
          break;
        case 3:
          flushes();
          break;
        default:
          messages();
      }
    }
    return kNodes + text_;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void line(int rank, const std::string& call) {
    clock_[rank] += below(3) ? 0 : below(2000);
    const std::string begin = std::to_string(clock_[rank]);
    text_ += std::to_string(rank) + ": " + begin + ".." + std::to_string(++clock_[rank]) + " " +
             call + "\n";
  }
  std::string bytes() { return " " + std::to_string(below(2) ? 8 : below(9000)) + "B"; }
  /// Begins an operation with a request, and waits for it, perhaps only after another one.
  void request(int rank, int target, bool waits = true) {
    line(rank, (below(2) ? "rput " : "rget ") + std::to_string(target) + bytes() + " req 1");
    if (!waits) return;
    if (below(2)) operation(rank, target);
    line(rank, "wait 1");
  }
  /// Begins an operation of `rank` on `target`.
  void operation(int rank, int target) {
    const char* calls[] = {"put", "get", "accumulate", "fetch_and_op"};
    const std::string call = calls[below(4)];
    line(rank, call + " " + std::to_string(target) + bytes() +
                   (call[0] == 'f' ? bytes() : std::string()));
  }
  void fences() {
    for (int rank = 0; rank < 4; ++rank) {
      line(rank, "win_fence");
      for (int i = below(4); i > 0; --i) operation(rank, below(4));
      line(rank, "win_fence");
    }
  }
  void locks() {
    const int target = below(4);
    for (int& clock : clock_) clock = *std::max_element(clock_.begin(), clock_.end());
    for (int rank = 0; rank < 4; ++rank) {
      if (rank > 0) clock_[rank] = std::max(clock_[rank], clock_[rank - 1]);
      line(rank, "win_lock " + std::to_string(target) + (below(2) ? " exclusive" : ""));
      for (int i = below(4); i > 0; --i) operation(rank, target);
      line(rank, "win_unlock " + std::to_string(target));
    }
  }
  void epochs() {
    for (const int target : {1, 3}) {
      line(target, "win_post 0 2");
      line(target, "win_wait");
    }
    for (const int origin : {0, 2}) {
      line(origin, "win_start 1 3");
      for (int i = below(6); i > 0; --i) {
        const int target = below(2) * 2 + 1;
        if (below(3)) {
          operation(origin, target);
        } else {
          request(origin, target);
        }
      }
      const bool waits_behind = below(2);
      if (waits_behind) request(origin, 3, false);
      line(origin, "win_complete");
      if (waits_behind) line(origin, "wait 1");
    }
  }
  void flushes() {
    for (int rank = 0; rank < 4; ++rank) {
      line(rank, "win_lock_all");
      for (int i = below(6); i > 0; --i) {
        const std::string target = std::to_string(below(4));
        operation(rank, std::stoi(target));
        if (below(3) == 0) line(rank, "win_flush " + target);
        if (below(3) == 0) line(rank, "win_flush_local " + target);
        if (below(3) == 0) request(rank, std::stoi(target));
      }
      line(rank, "win_unlock_all");
    }
  }
  void messages() {
    for (int rank = 0; rank < 4; ++rank) {
      const std::string size = bytes();
      line(rank, "isend " + std::to_string((rank + 1) % 4) + size + " req 1");
      sizes_[(rank + 1) % 4] = size;
    }
    for (int rank = 0; rank < 4; ++rank) {
      line(rank, "recv " + std::to_string((rank + 3) % 4) + sizes_[rank]);
      line(rank, "wait 1");
    }
  }

  std::mt19937 random_;
  std::string text_;
  std::array<int, 4> clock_{};
  std::array<std::string, 4> sizes_;
};

}  // namespace

// Eager ones, as the port serves the data of a rendezvous otherwise in the order of time. Where
// ports and overheads are in the way they are so with and without flows.
TEST_CASE("random one-sided programs on free links take as long as without contention") {
  Scenario machine;
  machine.name = "alone";
  machine.platform = parse_platform(R"(
    format = 1
    [level.self]
    transfer = [ { from = "0B", latency = "2ns", bandwidth = "9GB/s" } ]
    [level.node]
    transfer = [ { from = "0B", latency = "30ns", bandwidth = "3GB/s" } ]
    send_overhead = "7ns"
    receive_overhead = "5ns"
    [level.network]
    transfer = [ { from = "0B", latency = "700ns", bandwidth = "1.7GB/s" } ]
    gap = [ { from = "0B", latency = "40ns", bandwidth = "2GB/s" } ]
    send_overhead = "13ns"
    receive_overhead = "17ns"
  )",
                                    "alone");
  unsigned later = 0;
  for (unsigned seed = 0; seed < seeds(500); ++seed) {
    const std::string text = Programs(seed).make();
    INFO("seed " << seed << "\n" << text);
    ReplayOptions options;
    options.repair = false;
    const Ends alone = ends(text, machine, options);
    check(ends(text, with_all_buses(machine), options), alone);
    options.wildcards_by_arrival = true;  // in the order of time, on a network that is not shared
    check(ends(text, machine, options), alone);
    Scenario one_bus = machine;
    one_bus.platform.contention.model = network_model("buses");
    one_bus.platform.contention.numbers["network"] = 1;
    const Ends shared = ends(text, one_bus, options);
    for (size_t rank = 0; rank < alone.size(); ++rank) later += shared[rank] > alone[rank] + 1;
  }
  CHECK(later > seeds(500));  // it matters
}
