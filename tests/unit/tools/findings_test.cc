// Findings in small programs with one fault each. Costs are worked out by hand as in
// replay/judge/lost_time.h; one tick is one nanosecond.

#include "replay/judge/findings.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "replay/judge/judged_run.h"
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
