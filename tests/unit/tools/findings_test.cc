// Findings in small programs with one fault each. Costs are worked out by hand as in
// replay/judge/finding_rows.h; one tick is one nanosecond.

#include "replay/judge/findings.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "replay/judge/conclusion.h"
#include "replay/judge/diagnosis.h"
#include "replay/judge/implausible_cost.h"
#include "replay/judge/lost_cores.h"
#include "replay/sources/text_source.h"
#include "tools/words/verdict_words.h"

using namespace rubato;

namespace {

std::vector<Finding> found_in(const std::string& text, const ReplayOptions& options = {}) {
  const auto source = parse_text_trace(text);
  source->note_places();
  const JudgedRun run = judged_run(*source, options);
  return judge(run.results, run.diagnosis).findings;
}

}  // namespace

// The root computes 3000 before the broadcast, the others 3000 after it, so all compute alike.
// Perfect takes 6000, 3000 beyond compute. Of the waits on it, 2 x 3000 in the broadcast and 3000
// of rank 0 in the barrier, two thirds are for the root: 2000.
TEST_CASE("a late root is found with its function") {
  const std::vector<Finding> findings = found_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 100..2900 function read_input
    0: 3000..3000 bcast root 0 8B 8B
    0: 3000..6000 barrier
    0: 6000 end
    1: 0..0 local MPI_Comm_rank
    1: 0..3000 bcast root 0 0B 8B
    1: 6000..6000 barrier
    1: 6000 end
    2: 0..0 local MPI_Comm_rank
    2: 0..3000 bcast root 0 0B 8B
    2: 6000..6000 barrier
    2: 6000 end
  )");
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].kind == FindingKind::kLateRoot);
  CHECK(findings[0].seconds == Approx(2000e-9));
  CHECK(findings[1].kind == FindingKind::kSynchronisation);
  CHECK(findings[0].call == "MPI_Bcast");
  CHECK(findings[0].rank == 0);
  CHECK(findings[0].share == Approx(1));
  CHECK(findings[0].function == "read_input");
  CHECK(finding_text(findings[0]) ==
        "ranks wait for the root in MPI_Bcast, 100 % of it for rank 0, in read_input");
}

namespace {

/// Both ranks are in burn: rank 0 for 29,990 in read_parameters before the broadcast that it sends,
/// and for 59,960 in assemble; rank 1 for `rank_1` in assemble. They meet in a barrier.
std::vector<Finding> late_root_and_imbalance(int rank_1) {
  const std::string left = std::to_string(30040 + rank_1), met = std::to_string(30060 + rank_1);
  return found_in(R"(
    0: 0..10 init
    0: 10 enter read_parameters
    0: 10 enter burn
    0: 30000 leave burn
    0: 30010..30020 bcast root 0 64B 64B
    0: 30030 leave read_parameters
    0: 30040 enter assemble
    0: 30040 enter burn
    0: 90000 leave burn
    0: 90000 leave assemble
    0: 90010..)" + met +
                  " barrier\n0: " + met + " end\n" + R"(
    1: 0..10 init
    1: 20 enter read_parameters
    1: 20..30020 bcast root 0 64B 64B
    1: 30030 leave read_parameters
    1: 30040 enter assemble
    1: 30040 enter burn
    1: )" + left +
                  " leave burn\n1: " + left + " leave assemble\n1: " + met + ".." + met +
                  " barrier\n1: " + met + " end\n");
}

}  // namespace

// Ranks compute in turn: rank 0 in f before a barrier and before a send, rank 1 in g before two
// operations of all with all, 100,000 each. T = 400,000, the mean compute is 200,000: 200,000 are
// waits, half of them rooted in f, in two calls, and half in g. In half the time f saves 100,000.
TEST_CASE("waits with one cause in several calls are one row, and their costs add up") {
  const std::vector<Finding> findings = found_in(R"(
    0: 0 enter f
    0: 100000 leave f
    0: 100000..100000 barrier
    1: 0..100000 barrier
    0: 100000 enter f
    0: 200000 leave f
    0: 200000..200000 send 1 8B
    1: 100000..200000 recv 0 8B
    1: 200000 enter g
    1: 300000 leave g
    0: 200000..300000 allreduce 8B 8B
    1: 300000..300000 allreduce 8B 8B
    1: 300000 enter g
    1: 400000 leave g
    0: 300000..400000 allreduce 8B 8B
    1: 400000..400000 allreduce 8B 8B
    0: 400000 end
    1: 400000 end
  )");
  REQUIRE(findings.size() == 2);
  for (const Finding& finding : findings) {
    CHECK(finding.seconds == Approx(100000e-9).epsilon(1e-3));
    CHECK(finding.call == (finding.function == "f" ? "MPI_Barrier and MPI_Recv" : "MPI_Allreduce"));
    CHECK(finding.rank == (finding.function == "f" ? 0 : 1));
  }
}

// T = 400,000, of which 200,000 are waits: half of them for f, in MPI_Waitall and MPI_Wait.
TEST_CASE("a call whose name is the beginning of another one is named, too") {
  const std::vector<Finding> findings = found_in(R"(
    0: 0 enter f
    0: 120000 leave f
    0: 120000..120000 send 1 8B
    1: 0..0 irecv 0 8B req 1
    1: 0..120000 waitall 1
    0: 120000 enter f
    0: 200000 leave f
    0: 200000..200000 send 1 8B
    1: 120000..120000 irecv 0 8B req 1
    1: 120000..200000 wait 1
    1: 200000 enter g
    1: 400000 leave g
    0: 200000..400000 allreduce 8B 8B
    1: 400000..400000 allreduce 8B 8B
    0: 400000 end
    1: 400000 end
  )");
  const auto of_f = std::ranges::find(findings, "f", &Finding::function);
  REQUIRE(of_f != findings.end());
  CHECK(of_f->call == "MPI_Waitall and MPI_Wait");
  CHECK(of_f->seconds == Approx(100000e-9).epsilon(1e-3));
}

// Rank 1 is in assemble for 89,960, so both compute alike. Rank 0 is late at the broadcast because
// of read_parameters; that assemble calls burn for longer, afterwards, changes nothing.
TEST_CASE("a late root is blamed on the caller at that place, not on the frequent one") {
  const std::vector<Finding> findings = late_root_and_imbalance(89960);
  const auto late = std::ranges::find(findings, FindingKind::kLateRoot, &Finding::kind);
  REQUIRE(late != findings.end());
  CHECK(late->callers == std::vector<std::string>{"read_parameters"});
  CHECK(finding_text(*late) ==
        "ranks wait for the root in MPI_Bcast, in read_parameters, 100 % of it for rank 0, in "
        "burn, called by read_parameters");
}

// Rank 1 is in assemble for 119,960, rank 0 for 59,960. Balanced, both are for 89,960, and the
// barrier is met 30,000 earlier: the cost of the one cause of load imbalance and of the wait. The
// root is late by 29,990, of which read_parameters in half the time saves 14,995.
TEST_CASE("a cause has one row and costs what the replay with balanced work saves") {
  const std::vector<Finding> findings = late_root_and_imbalance(119960);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].kind == FindingKind::kLoadImbalance);
  CHECK(findings[0].seconds == Approx(30000e-9).epsilon(1e-3));
  CHECK(findings[0].is_replayed);
  CHECK(findings[0].scenarios == std::vector<std::string>{"measured:region=assemble=mean"});
  CHECK(finding_text(findings[0])
            .ends_with("in burn, called by assemble; others wait for it in MPI_Barrier"));
  CHECK(findings[1].kind == FindingKind::kLateRoot);
  CHECK(findings[1].seconds >= 14995e-9);
}

// Rank 0 is in f for 3000 while rank 1 waits, then both are in g for 5000. Equal compute makes g of
// rank 1 longer: 3000 x 0.8125 + 5000 x 1.3 = 8937.5. f in half the time saves 1500; the compute
// beyond the mean is 8000 - 6500.
TEST_CASE("where equal compute saves nothing, half the time of the function is to be tried") {
  const std::vector<Finding> findings = found_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 0..3000 function f
    0: 3000..3000 barrier
    0: 3000..8000 function g
    0: 8000 end
    1: 0..3000 barrier
    1: 3000..8000 function g
    1: 8000 end
  )");
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0].kind == FindingKind::kLoadImbalance);
  CHECK(findings[0].function == "f");
  CHECK(findings[0].seconds == Approx(1500e-9));
  CHECK_FALSE(findings[0].is_replayed);
  CHECK(findings[0].scenarios == std::vector<std::string>{"measured:region=f*0.5"});
}

// burn takes 1000 and 3000 before a barrier, solve 2000 and 1000: burn equally long saves 1000. By
// samples, its sum has an interval of ± 400: a rank has 400 / sqrt(2). Compute has 1.96 %.
TEST_CASE("a saving is as uncertain as the samples of its function") {
  const auto source = parse_text_trace(R"(
    0: 0..0 local MPI_Comm_rank
    0: 0..1000 function burn
    0: 1000..3000 barrier
    0: 3000..5000 function solve
    0: 5000..5000 barrier
    0: 5000 end
    1: 0..0 local MPI_Comm_rank
    1: 0..3000 function burn
    1: 3000..3000 barrier
    1: 3000..4000 function solve
    1: 4000..5000 barrier
    1: 5000 end
  )");
  JudgedRun run = judged_run(*source, {});
  for (FunctionResult& function : run.results.functions)
    function.error = function.name == "burn" ? 400e-9 : 0;
  const Judgement found = judge(run.results, run.diagnosis, "", run.intervals);
  const auto imbalance =
      std::ranges::find(found.findings, FindingKind::kLoadImbalance, &Finding::kind);
  REQUIRE(imbalance != found.findings.end());
  CHECK(imbalance->scenarios == std::vector<std::string>{"measured:region=burn=mean"});
  CHECK(imbalance->seconds == Approx(1000e-9));
  CHECK(imbalance->half.value() == Approx(std::hypot(400e-9 / std::sqrt(2), 19.6e-9)));
}

namespace {

/// Two ranks that compute 1 ms and exchange 8 B, 20 times, in this many ns; once in `least` ns.
JudgedRun exchanges(int ns, int least) {
  std::string text;
  for (const std::string rank : {"0", "1"}) {
    const std::string partner = rank == "0" ? "1" : "0";
    int now = 0;
    text += rank + ": 0..0 local MPI_Comm_rank\n";
    for (int i = 0; i < 20; ++i) {
      const int enter = now + 1000000;
      now = enter + (i == 7 ? least : ns);
      text += rank + ": " + std::to_string(enter) + ".." + std::to_string(now) + " sendrecv " +
              partner + " 8B " + partner + " 8B\n";
    }
    text += rank + ": " + std::to_string(now) + " end\n";
  }
  const auto source = parse_text_trace(text);
  return judged_run(*source, {});
}

}  // namespace

// On the slowest built-in network a message of 8 B takes 25 µs: 20 take 0.5 ms, and 1 ms is
// plausible. 20 x 40 µs are 0.8 ms. 19 x 1 ms + 0.1 ms are not plausible. Perfect takes 20 ms, and
// 20 times the least time 2 ms more.
TEST_CASE("no conclusion is drawn about messages slower than on any network") {
  const JudgedRun plausible = exchanges(40000, 40000);
  CHECK_FALSE(implausible_cost(plausible.results));
  CHECK(judge(plausible.results, plausible.diagnosis).findings.size() == 1);
  const JudgedRun run = exchanges(1000000, 100000);
  const auto cost = implausible_cost(run.results);
  REQUIRE(cost);
  CHECK(cost->seconds == Approx(19.1e-3));
  CHECK(cost->plausible == Approx(0.5e-3).epsilon(0.01));
  CHECK(lacks_cores(run.results));
  CHECK(conclude(run.results).kind == ConclusionKind::kLacksCores);
  CHECK(headline(conclude(run.results))
            .starts_with("No conclusion about the network: communication took the mean rank 19.10 "
                         "ms, on the slowest built-in network it would take 501.4 µs at most."));
  const Judgement judgement = judge(run.results, run.diagnosis);
  CHECK(judgement.findings.empty());
  CHECK(judgement.least_elapsed == Approx(22e-3));
}

// Four ranks of a node share its link: 4 x 1 MiB at 118 MB/s take 35.54 ms, with 74 µs of latency
// 35.62 ms. Twice that is 71.2 ms: an exchange of 70 ms is plausible, one of 73 ms is not.
TEST_CASE("ranks of a node share the link of the slowest network") {
  const auto exchange = [](int ns) {
    std::string text = "nodes 0 0 0 0 1 1 1 1\n";
    for (int rank = 0; rank < 8; ++rank) {
      const std::string r = std::to_string(rank), partner = std::to_string(rank ^ 4);
      text += r + ": 1000.." + std::to_string(1000 + ns) + " sendrecv " + partner + " 1MiB " +
              partner + " 1MiB\n";
    }
    const auto source = parse_text_trace(text);
    return implausible_cost(judged_run(*source, {}).results).has_value();
  };
  CHECK_FALSE(exchange(70000000));
  CHECK(exchange(73000000));
}

// Of 32 ranks, each with its own node, all may be neighbours: twice 32 messages in turn of 25 µs
// are 1.6 ms. An allgather has twice 2 * 6 messages in turn, 0.6 ms.
TEST_CASE("an exchange with neighbours may take a message of each rank") {
  const auto calls = [](const std::string& call, int ns) {
    std::string text = "nodes";
    for (int rank = 0; rank < 32; ++rank) text += " " + std::to_string(rank);
    for (int rank = 0; rank < 32; ++rank) {
      const std::string before = std::to_string((rank + 31) % 32),
                        next = std::to_string((rank + 1) % 32);
      text += "\nneighbours 0 " + std::to_string(rank) + " from " + before + " to " + next;
    }
    for (int rank = 0; rank < 32; ++rank)
      text += "\n" + std::to_string(rank) + ": 1000.." + std::to_string(1000 + ns) + " " + call;
    const auto source = parse_text_trace(text + "\n");
    return implausible_cost(judged_run(*source, {}).results).has_value();
  };
  CHECK_FALSE(calls("neighbor_allgather 8B 8B", 1000000));
  CHECK(calls("neighbor_allgather 8B 8B", 2000000));
  CHECK(calls("allgather 8B 8B", 1000000));
  CHECK_FALSE(calls("alltoall 8B 8B", 1000000));
}

// Rank 0 computes 1000 before the first barrier, rank 1 1000 before the second. Each waits 1000 for
// the other. Compute is equal; perfect takes 2000, 1000 more than it.
TEST_CASE("synchronisation is found where ranks compute in turn before barriers") {
  const std::vector<Finding> findings = found_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 1000..1000 barrier
    0: 1000..2000 barrier
    0: 2000 end
    1: 0..0 local MPI_Comm_rank
    1: 0..1000 barrier
    1: 2000..2000 barrier
    1: 2000 end
  )");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::kSynchronisation);
  CHECK(findings[0].seconds == Approx(1000e-9));
  CHECK(findings[0].call == "MPI_Barrier");
  CHECK(findings[0].rank == -1);
}

// The same, with both barriers in one function. Then each has half of the waits, one outside of it.
TEST_CASE("synchronisation is found with the function whose calls wait") {
  const auto text_of = [](const std::string& between) {
    const std::vector<Finding> findings = found_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 1000 enter exchange
    0: 1000..1000 barrier
    )" + between + R"(
    0: 1000..2000 barrier
    0: 2000 end
    1: 0..0 local MPI_Comm_rank
    1: 0 enter exchange
    1: 0..1000 barrier
    1: 2000..2000 barrier
    1: 2000 end
  )");
    REQUIRE(findings.size() == 1);
    return finding_text(findings[0]);
  };
  CHECK(text_of("") == "ranks wait for each other in MPI_Barrier, in exchange");
  CHECK(text_of("0: 1000 leave exchange") == "ranks wait for each other in MPI_Barrier");
}

// Rank 0 waits in its send until 1900, when rank 1 has computed and receives, and computes 1900
// after it; rank 1 waits in a barrier then. Perfect takes 1900, as sends wait for nothing: of the
// other 2000 the mean rank waits 950 for a late receiver.
TEST_CASE("late receivers are found with the function that sends and that of the receiver") {
  ReplayOptions options;
  options.eager_limit = 1024;
  const std::vector<Finding> findings = found_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 0 enter exchange
    0: 0..2000 send 1 1MiB
    0: 2000 leave exchange
    0: 3900..3900 barrier
    0: 3900 end
    1: 0..0 local MPI_Comm_rank
    1: 100..1800 function assemble
    1: 1900..2000 recv 0 1MiB
    1: 2000..3900 barrier
    1: 3900 end
  )",
                                                 options);
  const auto late = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind == FindingKind::kLateReceiver;
  });
  REQUIRE(late != findings.end());
  CHECK(late->seconds == Approx(950e-9));
  CHECK(finding_text(*late) ==
        "sends wait for their receivers in MPI_Send, in exchange, 100 % of it for rank 1, in "
        "assemble");
}

namespace {

/// The late receivers found where messages above 1 KiB wait for their receivers.
std::string late_receiver_in(const std::string& text) {
  ReplayOptions options;
  options.eager_limit = 1024;
  for (const Finding& finding : found_in(text, options)) {
    if (finding.kind == FindingKind::kLateReceiver) return finding_text(finding);
  }
  return "none";
}

}  // namespace

// The synchronous send waits 3000 for its receiver on a perfect interconnect, too; the long message
// waits 1500 only as recorded, 750 in the mean rank. The other finding of this kind has 3000 of
// MPI_Ssend.
TEST_CASE("late receivers are those of calls that do not wait on a perfect interconnect") {
  ReplayOptions options;
  options.eager_limit = 1024;
  std::vector<std::string> calls;
  for (const Finding& finding : found_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 0..3000 ssend 1 8B
    0: 3000..4500 send 1 1MiB
    0: 7000..7000 barrier
    0: 7000 end
    1: 0..0 local MPI_Comm_rank
    1: 3000..3000 recv 0 8B
    1: 4500..4500 recv 0 1MiB
    1: 4500..7000 barrier
    1: 7000 end
  )",
                                         options)) {
    if (finding.kind != FindingKind::kLateReceiver) continue;
    calls.push_back(finding.call);
    if (finding.call == "MPI_Send") CHECK(finding.seconds == Approx(750e-9));
  }
  CHECK(std::count(calls.begin(), calls.end(), "MPI_Send") == 1);
  CHECK(std::count(calls.begin(), calls.end(), "MPI_Ssend") == 1);
}

// MPI_Send waits 1000, MPI_Wait 900 and MPI_Waitall 800: none has most of 2700.
TEST_CASE("no call of late receivers is named if none has most of their waits") {
  CHECK(late_receiver_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 0..1000 send 1 1MiB
    0: 1000..1000 isend 1 1MiB req 1
    0: 1000..1900 wait 1
    0: 1900..1900 isend 1 1MiB req 2
    0: 1900..2700 waitall 2
    0: 5400..5400 barrier
    0: 5400 end
    1: 0..0 local MPI_Comm_rank
    1: 1000..1000 recv 0 1MiB
    1: 1900..1900 recv 0 1MiB
    1: 2700..2700 recv 0 1MiB
    1: 2700..5400 barrier
    1: 5400 end
  )") == "sends wait for their receivers");
}

// Rank 0 lets rank 1 wait for 980, of which it is in solve for 970, and rank 1 lets rank 2 wait for
// 1980: 980 for rank 0, and 1000 in assemble. Rank 0 sends and blocks in one call, so its own
// compute is known only by the time at which it entered this call.
TEST_CASE("the root cause has its function also if its own call waits") {
  const std::vector<Finding> findings = found_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 0 enter setup
    0: 10..20 barrier
    0: 30 leave setup
    0: 30 enter solve
    0: 1000 leave solve
    0: 1000..3000 sendrecv 1 8B 2 8B
    0: 3000 end
    1: 0..0 local MPI_Comm_rank
    1: 10..20 barrier
    1: 20..1000 recv 0 8B
    1: 1000 enter assemble
    1: 2000 leave assemble
    1: 2000..2000 send 2 8B
    1: 2000 end
    2: 0..0 local MPI_Comm_rank
    2: 10..20 barrier
    2: 20..2000 recv 1 8B
    2: 2000 enter burn
    2: 3000 leave burn
    2: 3000..3000 send 0 8B
    2: 3000 end
  )");
  const auto waits = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.call == "MPI_Recv";
  });
  REQUIRE(waits != findings.end());
  CHECK(waits->rank == 0);
  CHECK(waits->share == Approx(1960.0 / 2960).epsilon(0.02));
  CHECK(waits->function == "solve");
}

// Without debug information a place is the name of a function, in C++ with colons.
TEST_CASE("a name with colons is no line") {
  Finding finding;
  finding.kind = FindingKind::kSynchronisation;
  finding.call = "MPI_Barrier";
  finding.path = {"ns::solve"};
  CHECK(finding_text(finding) == "ranks wait for each other in MPI_Barrier, in ns::solve");
  finding.path = {"app.c:12"};
  CHECK(finding_text(finding) == "ranks wait for each other in MPI_Barrier, at app.c:12");
  finding.path = {"main (app.c:40)", "solve (app.c:12)"};
  CHECK(finding_text(finding) == "ranks wait for each other in MPI_Barrier, in solve (app.c:12)");
}

// The last finding on messages counts, not the placement between.
TEST_CASE("the messages of a finding above are not repeated") {
  std::vector<Finding> found(3);
  found[0].kind = FindingKind::kBandwidth;
  found[0].messages = 2;
  found[0].bytes = 8;
  found[0].call = "MPI_Recv";
  found[0].calls = 2;
  found[1].kind = FindingKind::kPlacement;
  found[1].scenarios = {"x:placement=block:2"};
  found[2] = found[0];
  found[2].kind = FindingKind::kOverhead;
  CHECK(finding_text(found[2], {found.data(), 2}) == "processor time: the same messages");
  CHECK(finding_text(found[2]) ==
        "processor time: 2 messages of 8 B on average, most of it in MPI_Recv (2 calls)");
  found[2].calls = 3;
  CHECK(finding_text(found[2], {found.data(), 2}) == finding_text(found[2]));
  // Tracing has no messages, so nothing is the same.
  found = {Finding(), Finding()};
  found[1].kind = FindingKind::kMessages;
  CHECK(finding_text(found[1], {found.data(), 1}) == "no call has most of it");
}

// As above, and rank 0 also computes 2000 more before the first barrier: 3000 beside 1000. Load
// imbalance costs 3000 - 2000 = 1000. Perfect takes 4000: 1000 are left for synchronisation.
TEST_CASE("load imbalance and synchronisation add up") {
  const std::vector<Finding> findings = found_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 3000..3000 barrier
    0: 3000..4000 barrier
    0: 4000 end
    1: 0..0 local MPI_Comm_rank
    1: 0..3000 barrier
    1: 4000..4000 barrier
    1: 4000 end
  )");
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].kind == FindingKind::kLoadImbalance);
  CHECK(findings[0].seconds == Approx(1000e-9));
  CHECK(findings[1].kind == FindingKind::kSynchronisation);
  CHECK(findings[1].seconds == Approx(1000e-9));
}

// Nine ranks compute 1000 each, one after the other. Perfect takes 9000, 8000 beyond compute. Rank
// r waits r * 1000; of all 36000, 8000 (22 %) are for rank 0: less than the 25 % that name a rank.
TEST_CASE("a pipeline is a dependency chain") {
  std::string text;
  for (int rank = 0; rank < 9; ++rank) {
    const std::string r = std::to_string(rank) + ": ";
    const std::string begin = std::to_string(1000 * rank), end = std::to_string(1000 * (rank + 1));
    text += r + "0..0 local MPI_Comm_rank\n";
    if (rank > 0) text += r + "0.." + begin + " recv " + std::to_string(rank - 1) + " 8B\n";
    if (rank < 8) text += r + end + ".." + end + " send " + std::to_string(rank + 1) + " 8B\n";
    text += r + end + " end\n";
  }
  const std::vector<Finding> findings = found_in(text);
  // (Ranks end at different times: the mean rank 4000 before the last. The other 4000 are waits.)
  REQUIRE(findings.size() == 2);
  for (const Finding& finding : findings) {
    CHECK(finding.seconds == Approx(4000e-9));
    if (finding.kind == FindingKind::kApart) continue;
    CHECK(finding.kind == FindingKind::kChains);
    CHECK(finding.call == "MPI_Recv");
    CHECK(finding.rank == -1);
  }
}

// Two exchanges of 8 B that take 250 each; both ranks compute 250 + 750. T = 1500, perfect 1000.
TEST_CASE("small messages are found with their number and size") {
  const std::vector<Finding> findings = found_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 0..250 sendrecv 1 8B 1 8B
    0: 500..750 sendrecv 1 8B 1 8B
    0: 1500 end
    1: 0..0 local MPI_Comm_rank
    1: 0..250 sendrecv 0 8B 0 8B
    1: 500..750 sendrecv 0 8B 0 8B
    1: 1500 end
  )");
  // T = 1500; compute 250 + 750 = 1000 on both.
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::kSmallMessages);
  CHECK(findings[0].seconds == Approx(500e-9));
  CHECK(findings[0].messages == 4);
  CHECK(findings[0].bytes == 8);
  CHECK(finding_text(findings[0]) ==
        "4 messages of 8 B on average, most of it in MPI_Sendrecv (4 calls)");
}

// Both ranks had no core for 300 of their 2000; the rest is compute.
TEST_CASE("lost cores are a finding of their own") {
  const std::vector<Finding> findings = found_in(R"(
    one_clock
    0: 0..0 local MPI_Comm_rank
    0: 2000..2000 barrier stolen 300
    0: 2000 end
    1: 0..0 local MPI_Comm_rank
    1: 2000..2000 barrier stolen 300
    1: 2000 end
  )");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::kLostCores);
  CHECK(findings[0].seconds == Approx(300e-9));
  CHECK(findings[0].share == Approx(0.15));
}

// Ten calls of 100 after compute of 900 each, of which rank 0 lost 600 once, 3 % of the mean rank.
// Recording takes 300 between calls, 3000 of the 10,000, which `undisturbed` is shorter. Lost cores
// cost at most 600 of that.
TEST_CASE("lost cores cost at most what was lost; the rest is tracing") {
  std::string text = "one_clock\n";
  for (const std::string rank : {"0", "1"}) {
    text += rank + ": 0..0 local MPI_Comm_rank\n";
    for (int i = 0; i < 10; ++i) {
      const std::string lost = rank == "0" && i == 4 ? " stolen 600" : "";
      const std::string enter = std::to_string(1000 * i + 900);
      text += rank + ": " + enter + ".." + std::to_string(1000 * i + 1000);
      text += " barrier" + lost + "\n";
    }
    text += rank + ": 10000 end\n";
  }
  ReplayOptions options;
  options.overhead = RecordingOverhead{.outside = 300e-9};
  const std::vector<Finding> findings = found_in(text, options);
  const auto lost = std::ranges::find(findings, FindingKind::kLostCores, &Finding::kind);
  REQUIRE(lost != findings.end());
  CHECK(lost->seconds == Approx(600e-9));
}

TEST_CASE("the headline says if lost cores cost more than its main cost") {
  Judgement judgement;
  judgement.efficiency.emplace();
  judgement.efficiency->factors.load_balance = 0.5;
  judgement.findings.resize(2);
  Finding& lost = judgement.findings[0];
  Finding& other = judgement.findings[1];
  lost.kind = FindingKind::kLostCores;
  lost.seconds = 2;
  other.kind = FindingKind::kApart;
  other.seconds = 1;
  const auto has = [&](const char* words) {
    return efficiency_line(judgement).find(words) != std::string::npos;
  };
  CHECK(has("Main cost beside lost cores: "));
  judgement.efficiency->factors.load_balance = 1;
  CHECK(has("Little can be gained beside lost cores."));
  judgement.efficiency->factors.load_balance = 0.5;
  lost.half = 2;  // they may be nothing
  CHECK(has("Main cost: "));
  lost.half = 0;
  std::swap(lost, other);
  CHECK(has("Main cost: "));
}

TEST_CASE("nothing is found in a run that only computes") {
  CHECK(found_in(R"(
    0: 0..0 local MPI_Comm_rank
    0: 1000..1000 barrier
    0: 1000 end
    1: 0..0 local MPI_Comm_rank
    1: 1000..1000 barrier
    1: 1000 end
  )")
            .empty());
}

// 1 s of 4 s is 25 %; a cost of 1 ± 1 s is not certain, then 0.48 s of 4 s, 12 %, is the first.
TEST_CASE("the short answer names the costliest finding above its uncertainty") {
  Judgement judgement;
  judgement.efficiency.emplace();
  judgement.efficiency->factors.load_balance = 0.5;
  judgement.efficiency->factors.transfer = 0.5;
  CHECK(short_answer(judgement, {}) == "Parallel efficiency: 25 %");
  judgement.findings.resize(2);
  judgement.findings[0].kind = FindingKind::kSmallMessages;
  judgement.findings[0].seconds = 1;
  judgement.findings[0].of_elapsed = 0.25;
  judgement.findings[1].kind = FindingKind::kLoadImbalance;
  judgement.findings[1].seconds = 0.48;
  judgement.findings[1].of_elapsed = 0.12;
  CHECK(short_answer(judgement, {}) == "Small messages: at most 25 % of 4.000 s");
  judgement.findings[0].is_saved = true;
  CHECK(short_answer(judgement, {}) == "Small messages: 25 % of 4.000 s");
  judgement.findings[0].half = 1;
  CHECK(short_answer(judgement, {}) == "Load imbalance: at most 12 % of 4.000 s");
  // 0.96 x 0.96 is 92 %; from 95 % on, little can be gained, but of lost cores.
  judgement.efficiency->factors.load_balance = 0.96;
  judgement.efficiency->factors.transfer = 0.96;
  CHECK(short_answer(judgement, {}) == "Load imbalance: at most 12 % of 4.000 s");
  CHECK(efficiency_line(judgement).find("Largest certain cost: load imbalance") !=
        std::string::npos);
  judgement.efficiency->factors.transfer = 1;
  CHECK(short_answer(judgement, {}) == "Parallel efficiency: 96 %");
  judgement.findings[1].kind = FindingKind::kLostCores;
  CHECK(short_answer(judgement, {}) == "Lost cores: at most 12 % of 4.000 s");
}

TEST_CASE("without findings the short answer is the conclusion") {
  Conclusion conclusion;
  conclusion.elapsed = 4;
  conclusion.on_perfect = 1;
  const auto answer = [&](ConclusionKind kind) {
    conclusion.kind = kind;
    return short_answer({}, conclusion);
  };
  CHECK(answer(ConclusionKind::kNone).empty());
  CHECK(answer(ConclusionKind::kGain) == "Perfect interconnect: 75 % less");
  CHECK(answer(ConclusionKind::kNoGain) == "Perfect interconnect: 75 % less");
  CHECK(answer(ConclusionKind::kClocks) == "No conclusion: the clocks were not synchronised");
  CHECK(answer(ConclusionKind::kLacksCores) == "No conclusion: ranks lacked cores");
  // 2.5 s recorded, 2 s predicted.
  ScenarioResult own;
  own.elapsed = 2;
  conclusion.own_machine = &own;
  conclusion.recorded = 2.5;
  CHECK(answer(ConclusionKind::kUnexplained) == "No conclusion: 500.0 ms are unexplained");
}

// "Main cost: small messages, 1.000 s: 8,287 messages of 8 B on average, in exchange (app.c:12),
// called by step (app.c:30), most of it in MPI_Sendrecv (8,287 calls)" has 27 words.
TEST_CASE("a headline of more than 25 words leaves out the callers") {
  Judgement judgement;
  judgement.efficiency.emplace();
  judgement.efficiency->factors.load_balance = 0.5;
  Finding& finding = judgement.findings.emplace_back();
  finding.kind = FindingKind::kSmallMessages;
  finding.seconds = 1;
  finding.messages = 8287;
  finding.bytes = 8;
  finding.function = "exchange (app.c:12)";
  finding.callers = {"step (app.c:30)"};
  finding.call = "MPI_Sendrecv";
  finding.calls = 8287;
  CHECK(efficiency_line(judgement).ends_with(
      "Main cost: small messages, 1.000 s: 8,287 messages of 8 B on average, in exchange "
      "(app.c:12), most of it in MPI_Sendrecv (8,287 calls)."));
  finding.messages = 0;
  CHECK(
      efficiency_line(judgement).ends_with("Main cost: small messages, 1.000 s: in exchange "
                                           "(app.c:12), called by step (app.c:30), most of it in "
                                           "MPI_Sendrecv (8,287 calls)."));

  // 27 words with "called by step (app.c:30)", 23 without.
  Finding& waits = judgement.findings.front();
  waits = {};
  waits.kind = FindingKind::kLateSender;
  waits.seconds = 1;
  waits.call = "MPI_Recv";
  waits.path = {"step (app.c:40)", "exchange (app.c:12)"};
  waits.rank = 3;
  waits.share = 0.62;
  waits.function = "solve (app.c:20)";
  waits.callers = {"step (app.c:30)"};
  CHECK(efficiency_line(judgement).ends_with(
      "Main cost: late sender, 1.000 s: ranks wait in MPI_Recv, in exchange (app.c:12), 62 % of it "
      "for rank 3, in solve (app.c:20)."));
}
