// Categories of a rank's time besides compute and MPI: flushes of the tracer, time that was not
// recorded, lost cores, and the run before and after its own window. All rows add up to Elapsed, in
// every scenario.

#include <otf2/otf2.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/fixture/otf2_archive.h"
#include "tests/unit/directory.h"
#include "tests/unit/ends.h"
#include "tools/report/report_html.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "tools/words/note_words.h"
#include "tools/words/verdict_words.h"

using namespace rubato;

namespace {

const std::vector<std::string> kAll = {"measured", "undisturbed", "perfect", "measured:cpu*2",
                                       "bandela"};

std::vector<Scenario> scenarios(const std::vector<std::string>& names) {
  std::vector<Scenario> parsed;
  for (const std::string& name : names) parsed.push_back(parse_scenario(name));
  return parsed;
}

Results replay(const std::string& text, const std::vector<std::string>& names,
               const ReplayOptions& options = {}) {
  return run_replay(*parse_text_trace(text), scenarios(names), options);
}

double all_rows(const RankResult& rank) {
  return rank.compute + rank.mpi + rank.flushing + rank.not_recorded + rank.lost_core +
         rank.before + rank.after;
}

void check_rows_add_up(const Results& results) {
  for (const ScenarioResult& scenario : results.scenarios) {
    INFO(scenario.name);
    REQUIRE(scenario.deadlock.empty());
    for (size_t rank = 0; rank < scenario.ranks.size(); ++rank) {
      INFO("rank " << rank);
      const RankResult& row = scenario.ranks[rank];
      CHECK(row.threads >= 1);
      CHECK(all_rows(row) == Approx(row.threads * scenario.elapsed).margin(1e-15));
    }
  }
}

// Rank 0: from 10 to 300, including 50 switched off, 20 + 20 of flushes, 30 + 5 without a core. The
// call takes 100, including 20 + 30 of other time: 50 of MPI. Gaps: 40, 20, 10 - 5 and 50: 115.
// Rank 1: from 30 to 280, so 20 before and after; 10 of MPI, 240 of compute.
const char* const kEverything = R"(
  0: 0..10 init
  0: 50..100 off
  0: 120..140 flush
  0: 150..250 local MPI_Comm_rank flushed 20 lost 30 stolen 5
  0: 300 end
  1: 0..30 init
  1: 200..210 local MPI_Comm_rank
  1: 280 end
)";

}  // namespace

TEST_CASE("rows of a rank add up to Elapsed, whatever its time went into") {
  const Results results = replay(kEverything, kAll);
  check_rows_add_up(results);
  const ScenarioResult& measured = results.scenarios[0];
  CHECK(measured.elapsed == Approx(290e-9));
  const RankResult& first = measured.ranks[0];
  CHECK(first.compute == Approx(115e-9));
  CHECK(first.mpi == Approx(50e-9));
  CHECK(first.flushing == Approx(40e-9));
  CHECK(first.not_recorded == Approx(50e-9));
  CHECK(first.lost_core == Approx(35e-9));
  CHECK(first.before == 0);
  CHECK(first.after == 0);
  const RankResult& second = measured.ranks[1];
  CHECK(second.compute == Approx(240e-9));
  CHECK(second.mpi == Approx(10e-9));
  CHECK(second.before == Approx(20e-9));
  CHECK(second.after == Approx(20e-9));
}

TEST_CASE("flushes and lost cores are in measured alone, compensated or not") {
  ReplayOptions plain;
  plain.compensate = false;
  for (const ReplayOptions& options : {ReplayOptions{}, plain}) {
    const Results results = replay(kEverything, {"measured", "undisturbed", "perfect"}, options);
    check_rows_add_up(results);
    check_ends(results.scenarios[0], {300, 280});
    // 300 - 40 - 35.
    check_ends(results.scenarios[1], {225, 280});
    // In a model rank 0 leaves MPI_Init together with rank 1, 20 later.
    check_ends(results.scenarios[2], {245, 280});
    for (int i = 1; i < 3; ++i) {
      CHECK(results.scenarios[i].ranks[0].flushing == 0);
      CHECK(results.scenarios[i].ranks[0].lost_core == 0);
      CHECK(results.scenarios[i].ranks[0].not_recorded == Approx(50e-9));
      CHECK(results.scenarios[i].ranks[0].mpi == Approx(50e-9));
    }
  }
}

TEST_CASE("--keep-stolen leaves in what ranks waited for a core") {
  ReplayOptions options;
  options.keep_stolen = true;
  const Results results = replay(kEverything, kAll, options);
  check_rows_add_up(results);
  for (int i = 0; i < 3; ++i) {
    // 300, less the flushes of 40 in all but measured; in the model rank 0 begins 20 later.
    check_ends(results.scenarios[i], {i == 0 ? 300. : i == 1 ? 260. : 280., 280});
    CHECK(results.scenarios[i].ranks[0].lost_core == Approx(i < 2 ? 35e-9 : 5e-9));
  }
}

TEST_CASE("what a call lost while it waited is no part of what its cause delays") {
  // The first receive does not wait: 24 from the send to its end. The second one ends 50 after its
  // send, 10 of them without a core: 40 are left.
  const char* text = R"(
    0: 40..44 recv 1 8B
    0: 150..250 recv 1 8B lost 10
    0: 250 end
    1: 0 local MPI_Comm_rank
    1: 20..22 send 0 8B
    1: 200..201 send 0 8B
    1: 201 end
  )";
  const Results results = replay(text, {"measured", "undisturbed"});
  check_rows_add_up(results);
  check_ends(results.scenarios[0], {250, 201});
  check_ends(results.scenarios[1], {240, 201});
  CHECK(results.scenarios[0].ranks[0].lost_core == Approx(10e-9));
  CHECK(results.scenarios[0].ranks[0].mpi == Approx(94e-9));
}

TEST_CASE("a wait for a message shrinks by the time that its sender lost in the send") {
  // The first receive does not wait: 24 from the send to its end, which is the least. The second
  // one ends 50 after its send, in which the sender had no core for 20: 30 are left, or 24 of 50
  // - 40.
  for (const auto& [lost, end] : {std::pair{20., 230.}, std::pair{40., 224.}}) {
    const std::string text = R"(
      0: 40..44 recv 1 8B
      0: 150..250 recv 1 8B
      0: 250 end
      1: 0 local MPI_Comm_rank
      1: 20..22 send 0 8B
      1: 200..245 send 0 8B lost )" +
                             std::to_string(lost) + "\n 1: 246 end\n";
    const Results results = replay(text, {"measured", "undisturbed", "undisturbed:local"});
    check_ends(results.scenarios[0], {250, 246});
    check_ends(results.scenarios[1], {end, 246 - lost});
    // Each for itself: the wait stays.
    check_ends(results.scenarios[2], {250, 246 - lost});
  }
}

// The message was sent at 200 and arrives at 250, because its sender cannot progress it: for 20 of
// the time since its Isend it has no core, in the next call or in the gap before. Or for 40 in a
// gap of 80, 49 of which are before 250: 40 * 49 / 80 = 24.5.
TEST_CASE("a wait for a message shrinks by the time that its sender lost after the send") {
  for (const auto& [next, lost, end] :
       {std::tuple{"205..240 local MPI_Comm_rank lost 20", 20., 230.},
        std::tuple{"241..242 local MPI_Comm_rank stolen 20", 20., 230.},
        std::tuple{"281..282 local MPI_Comm_rank stolen 40", 40., 225.5},
        std::tuple{"150..151 local MPI_Comm_rank stolen 30", 30., 250.}}) {
    INFO(next);
    const bool is_behind = std::string(next) > "200";
    const std::string local = std::string("\n 1: ") + next;
    const std::string text = "0: 40..44 recv 1 8B\n 0: 150..250 recv 1 8B\n 0: 250 end\n" +
                             std::string("1: 0 local MPI_Comm_rank\n 1: 20..22 send 0 8B") +
                             (is_behind ? "" : local) + "\n 1: 200..201 send 0 8B" +
                             (is_behind ? local : "") + "\n 1: 290 end\n";
    const Results results = replay(text, {"measured", "undisturbed"});
    check_ends(results.scenarios[0], {250, 290});
    // Before the send it delays that by itself: from 200 to 170, and the end from 250 to 220.
    check_ends(results.scenarios[1], {is_behind ? end : end - lost, 290 - lost});
  }
}

TEST_CASE("a wait for a receiver shrinks by the time that it lost in the receive") {
  // The first send ends 12 after its receive was posted, the least. The second one ends 60 after
  // it, and the receiver had no core for the last 35 of its call, from 266 on: 34 of them before
  // 300, so that 26 are left. That one did not wait: 61 - 35 after its enter.
  const char* text = R"(
    0: 100..102 ssend 1 8B
    0: 200..300 ssend 1 8B
    0: 300 end
    1: 90..103 recv 0 8B
    1: 240..301 recv 0 8B lost 35
    1: 301 end
  )";
  const Results results = replay(text, {"measured", "undisturbed"});
  check_ends(results.scenarios[0], {300, 301});
  check_ends(results.scenarios[1], {266, 266});
}

TEST_CASE("a call never loses more than it took, nor a gap") {
  const char* text = R"(
    0: 0 local MPI_Comm_rank
    0: 100..110 local MPI_Comm_rank flushed 4 lost 1000 stolen 5000000000
    0: 120 end
  )";
  const Results results = replay(text, {"measured", "undisturbed"});
  check_rows_add_up(results);
  // All of the gap of 100, and 4 + 6 of the call.
  CHECK(results.scenarios[0].ranks[0].lost_core == Approx(106e-9));
  CHECK(results.scenarios[0].ranks[0].flushing == Approx(4e-9));
  check_ends(results.scenarios[1], {10});
}

// Rank 1 enters a barrier at 100 and leaves at 1120 (or 620); for 500 of that it had no core, and
// rank 0, which enters at 600 (or 100), has to wait for its messages: it leaves 515 later. The loss
// was after rank 0's enter, where it fits, and not half of it, as if spread over 1020. Without it
// rank 0 leaves 515 - 500 = 15 later, and rank 1 520 - 500 = 20 behind the last enter. They compute
// for 385 and 380, meet 400 behind it, and leave 10 later, as recorded; 90 later it is over.
TEST_CASE("a wait for a member of a collective shrinks by the time that it lost there") {
  for (const int last : {100, 600}) {
    INFO(last);
    const auto at = [&](int behind) { return std::to_string(last + behind); };
    const std::string meet = at(900) + ".." + at(910) + " barrier\n";
    const std::string over = at(1000) + ".." + at(1000) + " finalize\n";
    const std::string text = "one_clock\n0: 0..0 init\n1: 0..0 init\n0: " + at(0) + ".." + at(515) +
                             " barrier\n1: 100.." + at(520) + " barrier lost 500\n" + "0: " + meet +
                             "1: " + meet + "0: " + over + "1: " + over;
    const auto source = parse_text_trace(text);
    const Results results =
        run_replay(*source, {parse_scenario("measured"), parse_scenario("undisturbed")}, {});
    CHECK(results.scenarios[0].elapsed * 1e9 == Approx(last + 1000));
    CHECK(results.scenarios[1].elapsed * 1e9 == Approx(last + 400 + 10 + 90));
    CHECK(results.scenarios[1].ranks[0].mpi * 1e9 == Approx(15 + 10));
    CHECK(results.scenarios[1].ranks[1].mpi * 1e9 == Approx(last - 100 + 20 + 10));
  }
}

// 50 of the 100 in the second call are without a core: it leaves at 170, and not 50 earlier for
// being the other side as well.
TEST_CASE("a message of a rank to itself subtracts lost time once") {
  for (const char* text : {"0: 0..5 sendrecv 0 8B 0 8B\n0: 120..220 sendrecv 0 8B 0 8B lost 50\n",
                           "0: 0..10 isend 0 8B req 1\n0: 20..25 recv 0 8B\n0: 30..31 wait 1\n"
                           "0: 100..110 isend 0 8B req 1\n0: 120..220 recv 0 8B lost 50\n"
                           "0: 230..231 wait 1\n"}) {
    const Results results =
        replay(std::string("one_clock\n") + text + "0: 300 end\n", {"measured", "undisturbed"});
    check_ends(results.scenarios[1], {250});
  }
}

// The second Waitall ends 40 after the send of rank 2. Rank 1 sent long before: what it loses then
// is no part of that. Where both were there before, it is: 80 of 128 from 202 to 330, so 80 * 90 /
// 128 = 56.25 of the 90 from 240 to 330, and 100 - 56.25 are left.
TEST_CASE("a call with several causes shrinks by the losses of all of them") {
  for (const auto& [second_send, end] :
       {std::pair{"300..302", 400.}, std::pair{"210..212", 343.75}}) {
    const std::string text =
        std::string("one_clock\n0: 0..1 irecv 1 8B req 1\n0: 2..3 irecv 2 8B req 2\n") +
        "1: 0..2 send 0 8B\n2: 100..102 send 0 8B\n0: 105..110 waitall 1 2\n" +
        "0: 200..201 irecv 1 8B req 1\n0: 202..203 irecv 2 8B req 2\n1: 200..202 send 0 8B\n" +
        "1: 330..340 local MPI_Comm_rank stolen 80\n2: " + second_send +
        " send 0 8B\n0: 240..340 waitall 1 2\n0: 400 end\n1: 400 end\n2: 400 end\n";
    const Results results = replay(text, {"measured", "undisturbed"});
    check_ends(results.scenarios[1], {end, 320, 400});
  }
}

// Rank 1 has no core for the last 600 of its join, from 400 to 1000, and rank 0, which waits for
// its message from 200 on, leaves 10 later: 1010 - 600.
TEST_CASE("a wait for a message shrinks by the time that its sender lost in a join") {
  const char* text = R"(
    one_clock
    0: 0..4 recv 1 8B
    1: 0..2 send 0 8B
    1: 200..201 send 0 8B
    1: 205..1000 join 7 lost 600
    0: 150..1010 recv 1 8B
    0: 1100 end
    1: 1100 end
  )";
  const Results results = replay(text, {"measured", "undisturbed"});
  check_ends(results.scenarios[1], {500, 500});
}

TEST_CASE("cores are lost on both sides of a flush between two calls") {
  // 60 of the 100 before the flush, 15 of the 40 behind it.
  const char* text = R"(
    0: 0..0 init
    0: 100..110 flush stolen 60
    0: 150..160 local MPI_Comm_rank stolen 15
    0: 170 end
  )";
  const Results results = replay(text, {"measured", "undisturbed"});
  check_rows_add_up(results);
  const RankResult& row = results.scenarios[0].ranks[0];
  CHECK(row.lost_core == Approx(75e-9));
  CHECK(row.flushing == Approx(10e-9));
  CHECK(row.compute == Approx((170 - 75 - 10 - 10) * 1e-9));
  check_ends(results.scenarios[1], {170 - 75 - 10});
}

TEST_CASE("a loop of polls continues after a lost core") {
  // The message is there before the first test, which is entered 1 behind the call before: so on
  // `perfect` the wait is over there and then, and the end 2 later.
  const char* text = R"(
    0: 0..0 irecv 1 8B req 1
    0: 1..3 test
    0: 4..6 test lost 1
    0: 106..108 test stolen 99
    0: 109..111 test 1
    0: 113 end
    1: 0..0 send 0 8B
    1: 1 end
  )";
  const Results results = replay(text, {"measured", "perfect"});
  check_rows_add_up(results);
  check_ends(results.scenarios[0], {113, 1});
  check_ends(results.scenarios[1], {3, 1});
}

namespace {

class ArchiveDirectory : public TemporaryDirectory {
 public:
  std::string archive() const { return path() / "run"; }
};

OTF2_AttributeList* stolen(uint64_t nanoseconds) {
  OTF2_AttributeList* list = OTF2_AttributeList_New();
  OTF2_AttributeList_AddUint64(list, kStolen, nanoseconds);
  return list;
}

}  // namespace

TEST_CASE("archives record lost cores and flushes inside calls") {
  Otf2Archive what = Otf2Archive::of_ranks(1);
  what.events = [](OTF2_EvtWriter* events, const MadeLocation&) {
    OTF2_EvtWriter_Enter(events, nullptr, 0, kMpiInit);
    OTF2_EvtWriter_Leave(events, nullptr, 10, kMpiInit);
    for (uint64_t i = 0; i < 20; ++i) {
      const uint64_t at = 1000 * (i + 1);
      OTF2_AttributeList* flushed = stolen(300);
      OTF2_EvtWriter_BufferFlush(events, flushed, at - 200, at - 180);
      OTF2_AttributeList_Delete(flushed);
      OTF2_AttributeList* before = stolen(100 + i);
      OTF2_EvtWriter_Enter(events, before, at, kMpiIprobe);
      OTF2_EvtWriter_BufferFlush(events, nullptr, at + 10, at + 40);
      OTF2_AttributeList* inside = stolen(50 + i);
      OTF2_EvtWriter_Leave(events, inside, at + 200, kMpiIprobe);
      OTF2_AttributeList_Delete(before);
      OTF2_AttributeList_Delete(inside);
    }
    OTF2_EvtWriter_Enter(events, nullptr, 30010, kMpiFinalize);
    OTF2_EvtWriter_Leave(events, nullptr, 30020, kMpiFinalize);
  };
  const ArchiveDirectory directory;
  write_archive(what, directory.archive());
  ReplayOptions options;
  options.verify = true;
  const Results results = run_replay(directory.archive(), scenarios(kAll), options);
  REQUIRE(results.identity);
  CHECK(results.identity->differing == 0);
  check_rows_add_up(results);
  const RankResult& row = results.scenarios[0].ranks[0];
  // From 10 to 30010. Twenty calls of 200, including 30 + 50 + i that are no MPI time; before each
  // a flush of 20 with 300 in front of it and 100 + i behind it. The sum of i is 190.
  CHECK(results.scenarios[0].elapsed == Approx(30000e-9));
  CHECK(row.flushing == Approx(20 * (30 + 20) * 1e-9));
  CHECK(row.lost_core == Approx((20 * (300 + 150) + 2 * 190) * 1e-9));
  CHECK(row.mpi == Approx((20 * (200 - 30 - 50) - 190) * 1e-9));
}

TEST_CASE("rows add up where threads call MPI") {
  SmallProgram program;
  const ArchiveDirectory directory;
  write_archive(small_program(program), directory.archive());
  const Results results =
      run_replay(directory.archive(), scenarios({"measured", "undisturbed", "perfect"}), {});
  check_rows_add_up(results);
  int threads = 0;
  for (const RankResult& rank : results.scenarios[0].ranks) threads += rank.threads;
  CHECK(threads == SmallProgram::kRanks + 2);
}

// --- What reports make of it ---

namespace {

/// One of two ranks; `measured` and `perfect` take so many seconds.
Results two_scenarios(double measured, double perfect) {
  Results results;
  results.trace.path = "run";
  results.trace.ranks = 2;
  results.trace.nodes = 1;
  for (const double elapsed : {measured, perfect}) {
    ScenarioResult scenario;
    scenario.name = results.scenarios.empty() ? "measured" : "perfect";
    scenario.elapsed = elapsed;
    scenario.ranks.resize(1);
    scenario.ranks[0].compute = elapsed;
    scenario.ranks[0].threads = 1;
    results.scenarios.push_back(scenario);
  }
  return results;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what was not recorded is neither compute nor MPI") {
  // 1.03 s off, 11 ms of messages reduced to 0.1 ms: 10.9 / 11 = 99 %. Of all 1.041 s the messages
  // are 1.1 %, and what was off 98.9 %.
  Results results = two_scenarios(1.041, 1.0301);
  for (ScenarioResult& scenario : results.scenarios) {
    RankResult& rank = scenario.ranks[0];
    rank.not_recorded = 1.03;
    rank.compute = 0;
    rank.mpi = scenario.elapsed - 1.03;
  }
  CHECK(headline(conclude(results)) ==
        "On a perfect interconnect the recorded 11.00 ms of this run would take 100.0 µs (99 % "
        "less).");
  const std::string text = report_text(results, {});
  CHECK(contains(text, "Not recorded"));
  CHECK(contains(text, "98.9 %"));
  CHECK_FALSE(contains(text, "Lost core"));  // 0 everywhere
  CHECK(contains(text, "1.030 s (98.9 %) of the mean rank was not recorded"));
  const auto json = nlohmann::json::parse(report_json(results));
  CHECK(json["scenarios"][0]["ranks"][0]["not_recorded"] == 1.03);
  CHECK(json["scenarios"][0]["ranks"][0]["lost_core"] == 0);
  CHECK(contains(report_csv(results), "measured,0,other,not_recorded,,1.03,,\n"));
  CHECK(contains(report_html(results, {}), "Not recorded"));
}

TEST_CASE("an unused network is reported") {
  Results results = two_scenarios(2, 1);
  results.trace.ranks = 2;
  for (const char* name : {"infiniband-hdr", "ethernet-1g"}) {
    results.scenarios.push_back(results.scenarios[1]);
    results.scenarios.back().name = name;
    results.scenarios.back().base = name;
    results.scenarios.back().network_unused = true;
    results.scenarios.back().traffic[static_cast<int>(Level::kNode)].messages = 16816;
  }
  const std::string line =
      "infiniband-hdr, ethernet-1g: 0 of 16,816 messages cross the network (all ranks on 1 node); "
      "to use it, try infiniband-hdr:ppn=1.";
  REQUIRE(caveats(results).size() == 1);
  CHECK(caveats(results)[0] == line);
  TextReportOptions options;
  options.width = 200;
  CHECK(contains(report_text(results, options), line));
  // A name of the user's is none of a platform, and 4 ranks on a node are what 1 replaces.
  results.scenarios[2].name = "new";
  results.scenarios[2].changes = {"latency*2", "ppn=4", "name=new"};
  CHECK(caveats(results)[0] ==
        "new, ethernet-1g: 0 of 16,816 messages cross the network (all ranks on 1 node); to use "
        "it, try "
        "infiniband-hdr:latency*2,ppn=1.");
}

TEST_CASE("a network is used where messages or collectives cross it") {
  const auto unused = [](const std::string& text) {
    Scenario scenario = parse_scenario("infiniband-hdr", RUBATO_PLATFORMS);
    const Results results = run_replay(*parse_text_trace(text), {scenario}, {});
    return results.scenarios[0].network_unused;
  };
  const std::string message = "0: 0..1 send 1 8B\n1: 0..1 recv 0 8B\n";
  const std::string barrier = "0: 0..1 barrier\n1: 0..1 barrier\n";
  CHECK(unused("nodes 0 0\n" + message));
  CHECK(unused("nodes 0 0\n" + barrier));
  CHECK_FALSE(unused("nodes 0 1\n" + message));
  CHECK_FALSE(unused("nodes 0 1\n" + barrier));
  CHECK_FALSE(unused("0: 0..1 local MPI_Comm_rank\n"));  // there is nothing to price
}

TEST_CASE("the model of the archive's own machine comes first") {
  Results results = two_scenarios(4, 3);
  results.scenarios.push_back(results.scenarios[0]);
  ScenarioResult& own = results.scenarios.back();
  own.name = "here.toml";
  own.own_machine = true;
  own.elapsed = 3.94;  // 1.5 % less
  CHECK(headline(conclude(results)) ==
        "For the machine of the recording, the model (here.toml) predicts 3.940 s; recorded were "
        "4.000 s (-1.5 %). On a perfect interconnect this run would take 3.000 s instead of 4.000 "
        "s (25 % less).");
  // Half of the run is not explained; of what the mean rank took, 4 + 1.6 s, 1.6 s are cores that
  // others had.
  own.elapsed = 2;
  results.scenarios[0].ranks[0].lost_core = 1.6;
  CHECK(headline(conclude(results)) ==
        "For the machine of the recording, the model (here.toml) predicts 2.000 s; recorded were "
        "4.000 s (-50.0 %). 2.000 s are unexplained; possible causes: lost cores 1.600 s (28.6 "
        "%): no conclusion about faster networks.");
}

// Elapsed 4 = compute 3 + 1 in MPI_Send; the model has 3.05 + 0.85 = 3.9. So -0.05 of compute and
// 0.15 of MPI_Send, together the 0.1 of the elapsed times; 0.15 of 4 is 3.75 %, which is named.
TEST_CASE("what the model of the recorded machine misses, by call") {
  Results results = two_scenarios(4, 3);
  results.calls = {"MPI_Send", "MPI_Init"};
  results.scenarios.push_back(results.scenarios[0]);
  ScenarioResult& own = results.scenarios.back();
  own.name = "here.toml";
  own.own_machine = true;
  own.elapsed = 3.9;
  const auto set = [](ScenarioResult& scenario, double compute, double send, double init) {
    scenario.ranks[0].compute = compute;
    scenario.ranks[0].mpi = send;
    scenario.ranks[0].calls.resize(2);
    scenario.ranks[0].calls[0].time = send;
    scenario.ranks[0].calls[1].time = init;  // outside of Elapsed
  };
  set(results.scenarios[0], 3, 1, 9);
  set(own, 3.05, 0.85, 7);
  const std::vector<ModelError> errors = model_errors(Roles(results));
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].part == "MPI_Send");
  CHECK(errors[0].difference() == Approx(0.15));
  CHECK(errors[1].part == "compute");
  CHECK(errors[0].difference() + errors[1].difference() == Approx(4 - 3.9));
  // Of 0.85 in MPI. Differences of two calls do not cancel: 0.15 and 0.25.
  const ScenarioResult& recorded = results.scenarios[0];
  CHECK(error_of_calls(results, &recorded, &own).value() == Approx(0.15 / 0.85));
  results.calls.push_back("MPI_Recv");
  results.scenarios[0].ranks[0].calls.resize(3);
  own.ranks[0].calls.resize(3);
  own.ranks[0].calls[2].time = 0.25;
  CHECK(error_of_calls(results, &recorded, &own).value() == Approx(0.4 / 0.85));
  CHECK(!error_of_calls(results, &recorded, nullptr));
  results.calls.pop_back();
  CHECK(
      contains(headline(conclude(results)),
               "The largest difference of the mean rank is in MPI_Send: 1.000 s recorded, 850.0 ms "
               "predicted."));
}

TEST_CASE("ranks that shared cores allow no conclusion about the network") {
  Results results = two_scenarios(4, 2);
  CHECK(contains(headline(conclude(results)), "On a perfect interconnect"));
  results.trace.shared_cores = true;
  CHECK(headline(conclude(results)) ==
        "No conclusion about the network: ranks or their threads shared cores. Record again with a "
        "core for each rank.");
  results.trace.shared_cores = false;
  results.scenarios[0].ranks[0].lost_core = 0.2;  // 5 % of 4.2
  CHECK_FALSE(contains(headline(conclude(results)), "On a perfect interconnect"));
  results.scenarios[0].ranks[0].lost_core = 0.04;
  CHECK(headline(conclude(results)) ==
        "On a perfect interconnect this run would take 2.000 s instead of 4.000 s (50 % less). "
        "Lost cores account for 40.00 ms of the difference.");
}

TEST_CASE("a function loses its share of what the thread waited for a core") {
  // Rank 0 is in busy() for 60 of the 80 between its calls, and for 20 of the 80 it had no core: 45
  // of the other 60 belong to busy(), and half of them is 22.5. Elapsed 60 without the factor, 37.5
  // with it.
  const char* text = R"(
    0: 0..0 init
    0: 10..70 function busy
    0: 80..80 local MPI_Comm_rank stolen 20
    0: 80 end
  )";
  const Results results = replay(text, {"perfect", "perfect:region=busy*0.5"});
  CHECK(results.scenarios[0].elapsed == Approx(60e-9));
  CHECK(results.scenarios[1].elapsed == Approx(37.5e-9));
}
