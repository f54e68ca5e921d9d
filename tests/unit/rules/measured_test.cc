// `measured` against recordings whose truth is known: identity and transplant.

#include <catch2/catch.hpp>

#include "replay/compare/identity.h"
#include "replay/study/run_replay.h"
#include "tests/unit/transplant.h"

using namespace rubato;

namespace {

/// Replaces each {name} of a text by a number of ticks.
std::string with(std::string text, const std::vector<std::pair<std::string, int>>& values) {
  for (const auto& [name, value] : values) {
    const std::string key = "{" + name + "}";
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key)) {
      text.replace(at, key.size(), std::to_string(value));
    }
  }
  return text;
}

}  // namespace

// Closed form: o_r = 20 (the least a receive takes), a message needs 100 from the send's enter to
// the end of its receive: leave = max(enter + 20, send + 100). Sends take 10.
//
// Rank 0 sends three messages; before the second it computes 7777 (+ d). Rank 1 waits for the first
// (posts at 0, message at 100), comes late for the second by any d below 2000, and again for the
// third.
//
//   send 1: 1000..1010     recv 1: 500..1100                     (waited: 1000 + 100)
//   send 2: 8787 + d       recv 2: 12000..12020                  (did not wait while 8887 + d <=
//   12020) send 3: 8797 + d + 5000 = 13797 + d
//                          recv 3: 12120..13897 + d              (waited)
//   rank 0 ends at 13807 + d, rank 1 at leave + 100.
TEST_CASE("transplant: point to point, waiting and not waiting") {
  const char* text = R"(
    0: 0..0 init
    0: 1000..1010 send 1 8B
    0: {s2}..{e2} send 1 8B
    0: {s3}..{e3} send 1 8B
    1: 0..0 init
    1: 500..1100 recv 0 8B
    1: 12000..{r2} recv 0 8B
    1: {p3}..{r3} recv 0 8B
    1: {end} end
  )";
  const auto recorded = [&](int d) {
    const int s2 = 8787 + d;
    const int r2 = std::max(12020, s2 + 100);
    const int s3 = s2 + 10 + 5000;
    const int p3 = r2 + 100;
    const int r3 = std::max(p3 + 20, s3 + 100);
    return with(text, {{"s2", s2},
                       {"e2", s2 + 10},
                       {"s3", s3},
                       {"e3", s3 + 10},
                       {"r2", r2},
                       {"p3", p3},
                       {"r3", r3},
                       {"end", r3 + 100}});
  };
  const auto truth = [&](int d) { return transplant(recorded(d), 0); };
  // 4000 makes the second receive wait too: 8787 + 4000 + 100 = 12887 > 12020.
  for (const int d : {0, 1, 500, 2000, 4000, -600}) {
    INFO("delta " << d);
    CHECK(transplant(recorded(0), d) == truth(d));
  }
}

// Barrier of three: leave = last enter + 30 for all. The marked rank is not the last one at first;
// once d exceeds its slack of 1000 it holds everybody up.
TEST_CASE("transplant: collectives absorb a delay up to the slack") {
  const char* text = R"(
    0: 0..0 init
    0: {e0}..{l0} barrier
    0: {e1}..{l1} barrier
    0: {l1} end
    1: 0..0 init
    1: 8777..{l0} barrier
    1: {m1}..{l1} barrier
    1: {l1} end
    2: 0..0 init
    2: 3000..{l0} barrier
    2: {m1}..{l1} barrier
    2: {l1} end
  )";
  const auto recorded = [&](int d) {
    const int e0 = 7777 + d;
    const int l0 = std::max(e0, 8777) + 30;
    const int e1 = l0 + 10;
    const int m1 = l0 + 400;
    return with(text, {{"e0", e0}, {"l0", l0}, {"e1", e1}, {"m1", m1}, {"l1", m1 + 30}});
  };
  for (const int d : {0, 400, 1000, 1001, 5000, -3000}) {
    INFO("delta " << d);
    CHECK(transplant(recorded(0), d) == transplant(recorded(d), 0));
  }
}

// Nonblocking allreduce of three: a wait leaves at max(enter + 20, last start + 100). Starts
// take 5. Rank 0 (marked) starts at 7777 + d and waits 50 later; rank 1 starts at 8777 and waits at
// once; rank 2 starts at 3000 and computes until 20000, by when all is long done, unless d is
// 15000.
TEST_CASE("transplant: a nonblocking collective delays its waits only if it is late") {
  const char* text = R"(
    0: 0..0 init
    0: {e0}..{s0} iallreduce 24B 24B req 1
    0: {w0}..{l0} wait 1
    0: {l0} end
    1: 0..0 init
    1: 8777..8782 iallreduce 24B 24B req 1
    1: 8782..{l1} wait 1
    1: {l1} end
    2: 0..0 init
    2: 3000..3005 iallreduce 24B 24B req 1
    2: 20000..{l2} wait 1
    2: {l2} end
  )";
  const auto recorded = [&](int d) {
    const int e0 = 7777 + d;
    const int done = std::max(e0, 8777) + 100;
    return with(text, {{"e0", e0},
                       {"s0", e0 + 5},
                       {"w0", e0 + 55},
                       {"l0", std::max(e0 + 75, done)},
                       {"l1", std::max(8802, done)},
                       {"l2", std::max(20020, done)}});
  };
  for (const int d : {0, 500, 1000, 1001, 5000, 15000, -3000}) {
    INFO("delta " << d);
    CHECK(transplant(recorded(0), d) == transplant(recorded(d), 0));
  }
}

// Waitall over two receives: leave = max(enter + 20, latest send + 100). Only the later message
// holds the call up; delaying the earlier one (marked) matters once it becomes the later.
TEST_CASE("transplant: a Waitall waits for its latest message only") {
  const char* text = R"(
    0: 0..0 init
    0: {s0}..{t0} send 2 8B
    0: 20000..20010 send 2 8B tag 9
    1: 0..0 init
    1: 9000..9010 send 2 8B
    2: 0..0 init
    2: 10..11 irecv 0 8B req 1
    2: 12..13 irecv 1 8B req 2
    2: 100..{w} waitall 1 2
    2: 19000..20100 recv 0 8B tag 9
    2: 21000 end
  )";
  const auto recorded = [&](int d) {
    const int s0 = 7777 + d;
    return with(text, {{"s0", s0}, {"t0", s0 + 10}, {"w", std::max(s0, 9000) + 100}});
  };
  // The later send of rank 0 keeps its distance: only the leaves up to the Waitall are compared.
  for (const int d : {0, 1000, 1223, 1224, 3000}) {
    INFO("delta " << d);
    CHECK(transplant(recorded(0), d)[2][4] == transplant(recorded(d), 0)[2][4]);
  }
}

// Ssend: leave = max(enter + 50, receive's post + 60); the receive: max(post + 20, send + 100).
TEST_CASE("transplant: a synchronous send waits for its receiver") {
  const char* text = R"(
    0: 0..0 init
    0: 100..{l} ssend 1 8B
    0: {e2}..{l2} ssend 1 8B
    0: {l2} end
    1: 0..0 init
    1: {p}..{q} recv 0 8B
    1: {p2}..{q2} recv 0 8B
    1: {q2} end
  )";
  const auto recorded = [&](int d) {
    const int p = 7777 + d;
    const int l = p + 60;
    const int q = p + 20;
    const int e2 = l + 9000;  // the second pair: the receiver is there first
    const int p2 = q + 10;
    return with(
        text,
        {{"l", l}, {"p", p}, {"q", q}, {"e2", e2}, {"l2", e2 + 50}, {"p2", p2}, {"q2", e2 + 100}});
  };
  for (const int d : {0, 10, 5000, -5000}) {
    INFO("delta " << d);
    CHECK(transplant(recorded(0), d) == transplant(recorded(d), 0));
  }
}

TEST_CASE("the identity check notices one tick") {
  const auto source = parse_text_trace(R"(
    0: 0..0 init
    0: 7777..7787 send 1 8B
    0: 8000 end
    1: 10..8000 recv 0 8B
    1: 9000 end
  )");
  const Placement placement(source->definitions().node_of_rank);
  const EagerLimits limits;
  const RecordedMinima minima = minima_of(*source, placement, limits);
  source->keep_records(true);
  for (const double delta : {0.0, 1.0}) {
    IdentityCheck check(source->definitions());
    Delayed rules(minima, placement, limits, delta);
    replay_calls(*source, rules, {.observers = {&check}});
    const IdentityResult result = check.finish(*source);
    // Records: rank 0: enter, leave, enter, send, leave, end; rank 1: enter, recv, leave, end.
    CHECK(result.records == 10);
    // One tick more before the send moves its three records and the end, and the receive's last
    // three records and nothing before.
    CHECK(result.differing == (delta == 0 ? 0u : 4u + 3u));
    CHECK(result.worst_ticks == delta);
  }
}

TEST_CASE("a rank that was late at every cause arrives earlier with less compute") {
  // No call of rank 1 waits: 206 and 302 from the cause to the end are the delay of rank 1, not the
  // cost of the call, which is 6. At twice the speed: 100 + 6, 45 + 6, and 50 at the end. With a
  // third one for which rank 1 was there first, until 60 after the cause, a call of its kind needs
  // that at most: 100 + 6 is later than 0 + 60, 45 + 6 later than 10 + 60, and the third ends at
  // 1000 + 60.
  struct Kind {
    const char *cause, *waits;
  };
  const Kind kinds[] = {{"bcast root 0 8B 8B", "bcast root 0 8B 8B"},
                        {"send 1 8B", "recv 0 8B"},
                        {"recv 1 8B", "ssend 0 8B"},
                        {"win_post 1 win ", "win_start 0 win "}};
  for (const auto& [cause, waits] : kinds) {
    for (const bool waited : {false, true}) {
      std::string text =
          "window 1 comm 0\nwindow 2 comm 0\nwindow 3 comm 0\n1: 0 local MPI_Comm_rank\n";
      // `window`: each epoch has its own.
      const auto add = [&](const char* when, const std::string& what, int window = 0) {
        const bool is_epoch = what.starts_with("win");
        text += std::string(when) + ' ' + what + (is_epoch ? std::to_string(window) : "") + '\n';
      };
      // A receive that is posted at 0 ends with its message.
      const bool receives = std::string(cause).starts_with("recv");
      if (receives) {
        add("0: 0..0", "irecv 1 8B req 1"), add("0: 0..0", "irecv 1 8B req 2");
        if (waited) add("0: 1000..1000", "irecv 1 8B req 3");
        add("0: 1100..1105", waited ? "waitall 1 2 3" : "waitall 1 2");
      } else {
        add("0: 0..5", cause, 1), add("0: 5..10", cause, 2);
        if (waited) add("0: 1000..1005", cause, 3);
      }
      add("1: 200..206", waits, 1), add("1: 296..302", waits, 2);
      if (waited) add("1: 400..1060", waits, 3);
      text += waited ? "1: 1160 end\n" : "1: 402 end\n";
      INFO(text);
      const Results results =
          run_replay(*parse_text_trace(text), {parse_scenario("measured:rank1.cpu*2")}, {});
      CHECK(results.scenarios[0].ranks[1].end ==
            Approx((waited ? 1060 + 50 : 106 + 51 + 50) * 1e-9));
    }
  }
}

TEST_CASE("a message that may have been under way shows its least time") {
  // Each receive begins 40 after its send and ends 100 after it, as a message needs 100. With
  // receives that begin 20 after their sends, and later ones: 100 and 300 + 100, not 20 + 60.
  const auto source = parse_text_trace(R"(
    0: 0..5 send 1 8B
    0: 300..305 send 1 8B
    0: 305 end
    1: 0 local MPI_Comm_rank
    1: 40..100 recv 0 8B
    1: 340..400 recv 0 8B
    1: 400 end
  )");
  const Results results = run_replay(*source, {parse_scenario("measured:rank1.cpu*2")}, {});
  CHECK(results.scenarios[0].ranks[1].end == Approx(400e-9));
}

TEST_CASE("what a call waits for last does not count for its other messages") {
  // Of two messages that rank 2 waits for from 200 on, that of rank 1 was sent at 0, that of rank 0
  // at 5000, 100 before the end. So the other one needs at most 100 once it is there. With rank 0
  // fifty times as fast, its message is there at 100 + 100, and the call ends at 200 + 100, its own
  // time.
  const auto source = parse_text_trace(R"(
    0: 0 local MPI_Comm_rank
    0: 5000..5005 send 2 8B
    1: 0..5 send 2 16B
    2: 0..0 irecv 0 8B req 1
    2: 0..0 irecv 1 16B req 2
    2: 200..5100 waitall 1 2
    2: 5100 end
  )");
  const Results results = run_replay(*source, {parse_scenario("measured:rank0.cpu*50")}, {});
  CHECK(results.scenarios[0].ranks[2].end == Approx(300e-9));
}

TEST_CASE("a polling loop waits from its first poll on") {
  // Rank 1 polls from 0 on; the last poll begins at 1090, 90 after the send, and ends at 1100. So a
  // message needs 100, not 10. The second receive is late for its message, which was sent at 1400;
  // at a hundredth of the compute it begins before it is there: 1400 + 100.
  const auto source = parse_text_trace(R"(
    0: 0 local MPI_Comm_rank
    0: 1000..1005 send 1 8B
    0: 1400..1405 send 1 8B
    1: 0..0 irecv 0 8B req 1
    1: 10..20 test not 1
    1: 20..1070 test not 1
    1: 1070..1080 test not 1
    1: 1090..1100 test 1
    1: 3100..3110 recv 0 8B
    1: 3110 end
  )");
  const Results results = run_replay(*source, {parse_scenario("measured:rank1.cpu*100")}, {});
  CHECK(results.scenarios[0].ranks[1].end == Approx(1500e-9));
}

TEST_CASE("undisturbed takes overhead out where it was, and waiting hides it") {
  // Rank 0 computes 1000 and sends; rank 1 is there long before. Overheads: outside 10, before 3,
  // after 2, no further records. Closed form without tracing: the send is entered at 1000 - 10 =
  // 990. The receive was entered at 100 - 10 = 90 and waited; it ended at W' + b with b = 1200 -
  // 1000 less 3 (the message left its sender that much earlier) and 2 (own, after the call): 990 +
  // 195 = 1185. Then 100 of compute without a call behind it.
  const auto source = parse_text_trace(R"(
    0: 0 local MPI_Comm_rank
    0: 1000..1040 send 1 8B
    0: 1040 end
    1: 0 local MPI_Comm_rank
    1: 100..1200 recv 0 8B
    1: 1300 end
  )");
  ReplayOptions options;
  options.overhead = RecordingOverhead{10e-9, 3e-9, 2e-9, 0};
  const Results results = run_replay(*source, {parse_scenario("undisturbed")}, options);
  CHECK(results.scenarios[0].ranks[1].end == Approx(1285e-9));
  // The send did not wait: 40 - 3 - 2 = 35 after 990.
  CHECK(results.scenarios[0].ranks[0].end == Approx(1025e-9));
}

TEST_CASE("undisturbed subtracts the overhead of each kind of record") {
  // No rank waits here, so each call of rank 0 gets shorter by the cost of its own record: the send
  // 40 - 4, the isend 50 - 6, its wait 40 - 7 and the barrier, which rank 1 reached long before, 30
  // - 9. With the 100 + 60 + 50 + 60 + 20 of compute around them: 290 + 36 + 44 + 33 + 21 = 424.
  const auto source = parse_text_trace(R"(
    0: 0 local MPI_Comm_rank
    0: 100..140 send 1 8B tag 1
    0: 200..250 isend 1 8B tag 2 req 1
    0: 300..340 wait 1
    0: 400..430 barrier
    0: 450 end
    1: 0 local MPI_Comm_rank
    1: 10..430 barrier
    1: 500..510 recv 0 8B tag 1
    1: 520..530 recv 0 8B tag 2
    1: 540 end
  )");
  ReplayOptions options;
  options.overhead = RecordingOverhead{};
  options.overhead->message = 4e-9;
  options.overhead->request = 6e-9;
  options.overhead->completion = 7e-9;
  options.overhead->collective = 9e-9;
  const Results results = run_replay(*source, {parse_scenario("undisturbed")}, options);
  CHECK(results.scenarios[0].ranks[0].end == Approx(424e-9));
}
