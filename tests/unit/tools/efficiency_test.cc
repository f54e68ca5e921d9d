// POP's efficiencies of small programs, worked out by hand. One tick is one nanosecond.

#include "replay/judge/efficiency.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "replay/judge/diagnosis.h"
#include "replay/judge/findings.h"
#include "replay/judge/lost_cores.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "tools/words/verdict_words.h"

using namespace rubato;

namespace {

Results replayed(const std::string& text,
                 std::vector<std::string> scenarios = {"measured", "perfect"}) {
  std::vector<Scenario> parsed;
  for (const std::string& scenario : scenarios) parsed.push_back(parse_scenario(scenario));
  return run_replay(*parse_text_trace(text), parsed, {});
}

}  // namespace

// Both start at 0. Rank 1 computes 3000, rank 0 1000: mean 2000, load balance 2/3. Perfect ends
// when the last one is there, at 3000: serialisation 1. The recording ends at 3600: transfer 5/6.
// Parallel 2000 / 3600. Rank 1 computes 3000 / 2000 - 1 = 50 % more than the mean.
TEST_CASE("unequal work is named with its rank") {
  const Results results = replayed(R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    0: 1000..3600 barrier
    1: 3000..3600 barrier
    0: 3600 end
    1: 3600 end
  )");
  const auto e = efficiency(results, results.scenarios[0]);
  REQUIRE(e);
  CHECK(e->load_balance == Approx(2. / 3));
  CHECK(e->serialisation == Approx(1));
  CHECK(e->transfer == Approx(5. / 6));
  CHECK(e->parallel() == Approx(2000. / 3600));
  CHECK(e->busiest == 1);
  CHECK(efficiency_line(judge(results)) ==
        "Parallel efficiency 56 % = load balance 67 % × serialisation 100 % × transfer 83 %. Main "
        "cost: load imbalance, 1.000 µs: rank 1 computes 50 % longer than the mean rank.");
  // Perfect beside itself: nothing is lost in transfer.
  CHECK(efficiency(results, results.scenarios[1])->transfer == 1);
}

// Rank 1 computes 1000 behind the message that rank 0 sends after its own 1000. Both compute 1000,
// one after the other: perfect takes 2000, so serialisation is 1/2. The recording takes 2100.
TEST_CASE("work passed from rank to rank is serialised") {
  const auto source = parse_text_trace(R"(
    0: 0..0 local MPI_Comm_rank
    0: 1000..1000 send 1 8B
    0: 1000 end
    1: 0..1100 recv 0 8B
    1: 2100 end
  )");
  const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect")};
  Results results = run_replay(*source, scenarios, {});
  const auto e = efficiency(results, results.scenarios[0]);
  REQUIRE(e);
  CHECK(e->load_balance == Approx(1));
  CHECK(e->serialisation == Approx(0.5));
  CHECK(e->transfer == Approx(2000. / 2100));
  CHECK(needs_diagnosis(results));
  CHECK(efficiency_line(judge(results)) ==
        "Parallel efficiency 48 % = load balance 100 % × serialisation 50 % × transfer 95 %. Main "
        "cost: waits, 500.0 ns: ranks wait for each other; kinds and causes are known from 2 % "
        "on, without --times-only.");
  // Of the 1000 beyond the longest compute, rank 0 has ended for 1000, the mean rank for 500.
  // Rank 1 waits in its receive, only for rank 0. Messages take the other 100.
  const Judgement judgement = judge(results, diagnose(*source, results, scenarios, {}));
  REQUIRE(judgement.findings.size() == 3);
  CHECK(judgement.findings[0].kind == FindingKind::kLateSender);
  CHECK(judgement.findings[0].seconds == Approx(500e-9));
  CHECK(judgement.findings[0].share == Approx(1));
  CHECK(judgement.findings[1].kind == FindingKind::kApart);
  CHECK(judgement.findings[1].seconds == Approx(500e-9));
  CHECK(judgement.findings[2].seconds == Approx(100e-9));
  CHECK(efficiency_line(judgement).ends_with(
      "late sender, 500.0 ns: ranks wait in MPI_Recv, 100 % of it for rank 0."));
}

// The same, 900 of rank 0's 1000 in prepare.
TEST_CASE("the root cause of dependency chains is named with its function") {
  const auto source = parse_text_trace(R"(
    0: 0..0 local MPI_Comm_rank
    0: 50..950 function prepare
    0: 1000..1000 send 1 8B
    0: 1000 end
    1: 0..1100 recv 0 8B
    1: 2100 end
  )");
  source->note_places();
  const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect")};
  Results results = run_replay(*source, scenarios, {});
  CHECK(efficiency_line(judge(results, diagnose(*source, results, scenarios, {})))
            .ends_with("ranks wait in MPI_Recv, 100 % of it for rank 0, in prepare."));
}

// Both compute 1000, then a barrier takes 1000 more: perfect ends at 1000.
TEST_CASE("messages that take time lower the transfer efficiency") {
  const std::string text = R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    0: 1000..2000 barrier
    1: 1000..2000 barrier
    0: 2000 end
    1: 2000 end
  )";
  CHECK(efficiency_line(judge(replayed(text))) ==
        "Parallel efficiency 50 % = load balance 100 % × serialisation 100 % × transfer 50 %. "
        "Main cost: messages, 1.000 µs: most of it in MPI_Barrier (2 calls).");
  CHECK(efficiency_line(judge(replayed(text, {"undisturbed", "perfect"}))) ==
        "Parallel efficiency 50 % = load balance 100 % × serialisation 100 % × transfer 50 %. "
        "Main cost: messages, 1.000 µs: most of it in MPI_Barrier (2 calls).");
  // Other compute than on perfect has no factors, nor has anything without perfect.
  const Results faster = replayed(text, {"measured:cpu*2,name=faster", "perfect"});
  CHECK_FALSE(efficiency(faster, faster.scenarios[0]));
  const Results alone = replayed(text, {"measured"});
  CHECK_FALSE(efficiency(alone, alone.scenarios[0]));
  CHECK(efficiency_line(judge(alone)).empty());
}

// Recording takes 300 in front of each of three calls: 900 of both ranks' 2710, and of the
// messages'
// 10. Perfect ends at 1800. `undisturbed` says which it was: 1810.
TEST_CASE("what recording takes is not the network's") {
  const std::string text = R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    0: 900..910 send 1 8B
    1: 900..910 recv 0 8B
    0: 1810..1810 local MPI_Comm_rank
    1: 1810..1810 local MPI_Comm_rank
    0: 2710..2710 local MPI_Comm_rank
    1: 2710..2710 local MPI_Comm_rank
    0: 2710 end
    1: 2710 end
  )";
  ReplayOptions options;
  options.overhead = RecordingOverhead{.outside = 300e-9};
  Results results = run_replay(*parse_text_trace(text),
                               {parse_scenario("measured"), parse_scenario("perfect")}, options);
  results.trace.path = "run.txt";
  CHECK(efficiency_line(judge(results))
            .ends_with("Main cost: tracing, 900.0 ns: recording between calls."));
  REQUIRE(judge(results).findings.size() == 1);
  CHECK(next_command(judge(results).findings[0], results) ==
        "rubato replay run.txt --on undisturbed");
  results = run_replay(*parse_text_trace(text),
                       {parse_scenario("undisturbed"), parse_scenario("perfect")}, options);
  CHECK(efficiency_line(judge(results)).ends_with("Little can be gained."));
  CHECK(judge(results).efficiency);
  CHECK(judge(results).findings.empty());
}

// A single rank with a message to MPI_PROC_NULL: 2 x 300 of 2000 are tracing overhead.
TEST_CASE("without messages no network is recommended") {
  ReplayOptions options;
  options.overhead = RecordingOverhead{.outside = 300e-9};
  const Results results =
      run_replay(*parse_text_trace(R"(
    0: 0..10 init
    0: 1000..1000 local MPI_Comm_rank
    0: 2010..2020 finalize
  )"),
                 {parse_scenario("measured"), parse_scenario("perfect")}, options);
  CHECK(efficiency_line(judge(results))
            .ends_with(". Main cost: tracing, 600.0 ns: recording between calls."));
  REQUIRE(judge(results).findings.size() == 1);
  CHECK(next_command(judge(results).findings[0], results).ends_with(" --on undisturbed"));
}

// Both compute 100 and then spend 900 in a call with an unknown cause, which perfect keeps.
TEST_CASE("time that calls keep is no waiting") {
  const Results results = replayed(R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    0: 100..1000 local MPI_File_write_all
    1: 100..1000 local MPI_File_write_all
    0: 1000 end
    1: 1000 end
  )");
  CHECK(efficiency_line(judge(results)) ==
        "Parallel efficiency 10 % = load balance 100 % × serialisation 10 % × transfer 100 %. Main "
        "cost: kept calls, 900.0 ns: MPI_File_write_all (2 calls) keeps its recorded time.");
  CHECK_FALSE(needs_diagnosis(results));
  REQUIRE(judge(results).findings.size() == 1);
  CHECK(judge(results).findings[0].seconds == Approx(900e-9));
}

// Rank 0 computes from 0 to 1000, rank 1 from 9000 to 10000: each is 9000 outside of its window.
TEST_CASE("ranks that begin at different times do not wait") {
  const Results results = replayed(R"(
    0: 0..0 local MPI_Comm_rank
    0: 1000 end
    1: 9000..9000 local MPI_Comm_rank
    1: 10000 end
  )");
  CHECK(efficiency_line(judge(results)) ==
        "Parallel efficiency 10 % = load balance 100 % × serialisation 10 % × transfer 100 %. Main "
        "cost: different windows, 9.000 µs: ranks begin or end at different times.");
  CHECK_FALSE(needs_diagnosis(results));
  REQUIRE(judge(results).findings.size() == 1);
  CHECK(judge(results).findings[0].kind == FindingKind::kApart);
}

// The numbers of "unequal work": 2/3, 1 and 5/6.
TEST_CASE("JSON has the factors, but not if ranks shared cores") {
  Results results = replayed(R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    0: 1000..3600 barrier
    1: 3000..3600 barrier
    0: 3600 end
    1: 3600 end
  )");
  const auto json = nlohmann::json::parse(report_json(results))["scenarios"][0]["efficiency"];
  CHECK(json["load_balance"].get<double>() == Approx(2. / 3));
  CHECK(json["serialisation"].get<double>() == Approx(1));
  CHECK(json["transfer"].get<double>() == Approx(5. / 6));
  CHECK(json["parallel"].get<double>() == Approx(5. / 9));
  CHECK(json["busiest"] == 1);
  results.trace.shared_cores = true;
  CHECK(nlohmann::json::parse(report_json(results))["scenarios"][0]["efficiency"].is_null());
}

TEST_CASE("a run that computes nearly all the time has little to gain") {
  CHECK(efficiency_line(judge(replayed(R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    0: 1000..1020 barrier
    1: 1000..1020 barrier
    0: 1020 end
    1: 1020 end
  )"))) ==
        "Parallel efficiency 98 % = load balance 100 % × serialisation 100 % × transfer 98 %. "
        "Little can be gained.");
}

// As in the first test: T = 3600, T_p = 3000, mean compute 2000, longest 3000. Load imbalance costs
// 3000 - 2000 = 1000, 27.8 % of 3600; messages 3600 - 3000 = 600; together T less the mean compute.
TEST_CASE("findings have a cost, the largest first, and a next command") {
  Results results = replayed(R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    0: 1000..3600 barrier
    1: 3000..3600 barrier
    0: 3600 end
    1: 3600 end
  )",
                             {"measured", "bandela:latency=1us,ppn=1", "perfect"});
  results.trace.path = "it's/traces.otf2";
  const std::vector<Finding> found = Report(results).judgement.findings;
  REQUIRE(found.size() == 2);
  CHECK(found[0].kind == FindingKind::kLoadImbalance);
  CHECK(found[0].seconds == Approx(1000e-9));
  CHECK(found[0].rank == 1);
  CHECK(found[0].share == Approx(0.5));
  // 1000 and 3000, both to be 2000.
  CHECK(next_command(found[0], results) ==
        "rubato replay 'it'\\''s' --on 'measured:rank0.cpu*0.5,rank1.cpu*1.5'");
  CHECK(found[1].kind == FindingKind::kMessages);
  CHECK(found[1].seconds == Approx(600e-9));
  CHECK(found[1].call == "MPI_Barrier");
  CHECK(found[1].calls == 2);
  CHECK(next_command(found[1], results) ==
        "rubato replay 'it'\\''s' --on bandela:latency=1us,ppn=1,latency/2");
  const std::string text = report_text(results);
  CHECK(text.starts_with("Parallel efficiency 56 %"));
  CHECK(text.find(
            "\nFindings, and what each costs of the 3.600 µs of measured (≤: at most):\n"
            " 1.  ≤ 1.000 µs  27.8 %  load imbalance: rank 1 computes 50 % longer than the mean "
            "rank\n") != std::string::npos);
  TextReportOptions terminal;
  terminal.verdict_last = true;
  CHECK(report_text(results, terminal).ends_with("\n\n" + text.substr(0, text.find("\n\n") + 1)));
  // Unknown without `perfect`.
  results.scenarios.pop_back();
  CHECK_FALSE(Report(results).judgement.efficiency);
}

// Rank 1 computes 3000, 2500 of it in solve and 100 in other; rank 0 1000, 800 of it in solve. The
// mean of solve is 1650: rank 1 has 850 more there, and 50 more in other.
TEST_CASE("unequal work is named with its function") {
  const auto source = parse_text_trace(R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    0: 100..900 function solve
    0: 1000..3000 barrier
    1: 200..2700 function solve
    1: 2700..2800 function other
    1: 3000..3000 barrier
    0: 3000 end
    1: 3000 end
  )");
  ReplayOptions options;
  options.total_functions = true;
  Results results =
      run_replay(*source, {parse_scenario("measured"), parse_scenario("perfect")}, options);
  REQUIRE(results.functions.size() == 2);
  CHECK(results.functions[0].name == "solve");
  CHECK(results.functions[0].compute[0] == Approx(800e-9));
  CHECK(results.functions[0].compute[1] == Approx(2500e-9));
  CHECK(results.functions[1].compute[1] == Approx(100e-9));
  results.functions[0].place = "solve (app.c:41)";
  CHECK(efficiency_line(judge(results))
            .ends_with("rank 1 computes 50 % longer than the mean rank, in solve (app.c:41)."));
  // Of the 1000 more, more than half are in `other`, which has more of them than `solve`.
  results.functions[1].compute[1] = 1900e-9;  // 950 more than the mean there, of 1800 in all
  results.call_paths[0].inclusive[1] = 800e-9;
  results.call_paths[1].inclusive[1] = 1900e-9;
  CHECK(efficiency_line(judge(results)).ends_with("than the mean rank, in other."));
  results.functions.clear();
  CHECK(efficiency_line(judge(results)).ends_with("than the mean rank."));
}

// Rank 1 computes 3000, rank 0 1000: 1000 more than the mean. In tiny they are for 102 and 100: 1
// of the 1000.
TEST_CASE("a function on record is not blamed for work outside of it") {
  const auto source = parse_text_trace(R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    0: 100..200 function tiny
    0: 1000..3000 barrier
    1: 200..302 function tiny
    1: 3000..3000 barrier
    0: 3000 end
    1: 3000 end
  )");
  ReplayOptions options;
  options.total_functions = true;
  const Results results =
      run_replay(*source, {parse_scenario("measured"), parse_scenario("perfect")}, options);
  REQUIRE(results.functions.size() == 1);
  CHECK(
      efficiency_line(judge(results)).ends_with("rank 1 computes 50 % longer than the mean rank."));
}

// Rank 1 computes 3000 in solve; setup lies before the end of MPI_Init, dump behind MPI_Finalize.
TEST_CASE("functions count between MPI_Init and MPI_Finalize") {
  const auto source = parse_text_trace(R"(
    0: 0..9000 init
    0: 10000..12600 barrier
    0: 12600..12600 finalize
    0: 40000 end
    1: 0..5000 function setup
    1: 8000..9000 init
    1: 9000..12000 function solve
    1: 12000..12600 barrier
    1: 12600..12600 finalize
    1: 12600..40000 function dump
    1: 40000 end
  )");
  ReplayOptions options;
  options.total_functions = true;
  const Results results = run_replay(*source, {parse_scenario("measured")}, options);
  REQUIRE(results.functions.size() == 1);
  CHECK(results.functions[0].name == "solve");
  CHECK(results.functions[0].compute[1] == Approx(3000e-9));
}

// Three times 0.1 s: their sum, 0.30000000000000004, is more than three times each.
TEST_CASE("no factor is above 1") {
  const Results results = replayed(R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    2: 0..0 local MPI_Comm_rank
    0: 100000000..100000100 barrier
    1: 100000000..100000100 barrier
    2: 100000000..100000100 barrier
    0: 100000100 end
    1: 100000100 end
    2: 100000100 end
  )");
  const auto e = efficiency(results, results.scenarios[0]);
  REQUIRE(e);
  CHECK(e->load_balance == 1);
  CHECK(e->serialisation <= 1);
  CHECK(e->transfer <= 1);
}

// Rank 0 computes 1000, rank 1 3000, and rank 1 had no core for 2000 of its 5000: perfect takes
// 3000. Load balance 2000 / 3000.
TEST_CASE("without enough cores, perfect still shows which rank computes longest") {
  Results results = replayed(R"(
    0: 0..0 local MPI_Comm_rank
    1: 0..0 local MPI_Comm_rank
    0: 1000..6000 barrier
    1: 5000..6000 barrier stolen 2000
    0: 6000 end
    1: 6000 end
  )");
  CHECK_FALSE(efficiency(results, results.scenarios[0]));
  const std::vector<std::string> lines = Report(results).verdict;
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].starts_with("No conclusion about the network: ranks waited for cores"));
  CHECK(lines[1] ==
        "Without that time, on a perfect interconnect: load balance 67 % × serialisation 100 %. "
        "Main cost: load imbalance, 1.000 µs: rank 1 computes 50 % longer than the mean rank.");
}

TEST_CASE("a cost that may be zero is not the main cost") {
  Judgement judgement;
  judgement.efficiency.emplace();
  judgement.efficiency->factors = {0.5, 1, 1, 1, 0};
  Finding finding;
  finding.kind = FindingKind::kLoadImbalance;
  finding.seconds = 1;
  finding.half = 0.9;
  judgement.findings = {finding};
  CHECK(efficiency_line(judgement).find("Main cost: load imbalance, 1.000 s") != std::string::npos);
  judgement.findings[0].half = 1;
  CHECK(efficiency_line(judgement).ends_with("transfer 100 %. No cost exceeds its uncertainty."));
  // A smaller one that is certain.
  finding.seconds = 0.4;
  finding.half = 0.1;
  judgement.findings.push_back(finding);
  CHECK(efficiency_line(judgement).find("Largest certain cost: load imbalance, 400.0 ms") !=
        std::string::npos);
}

// 2000 us, 400 of them in two transposes without waits. Both ranks have no core for LOST of the
// rest: 60 (3 %) are subtracted, and perfect takes 2000 - 60 - 400 = 1540, 20.6 % less than 1940.
// For 240 (12 %) the waits that they caused are unknown.
TEST_CASE("what lost cores took is not blamed on the network, nor the network's time on them") {
  const auto verdict_of = [](const std::string& lost) {
    std::string text = "nodes 0 1\none_clock\n";
    for (const std::string rank : {"0: ", "1: "}) {
      text += rank + "0..0 init\n" + rank + "600000..800000 alltoall 1MiB 1MiB\n" + rank +
              "1400000..1600000 alltoall 1MiB 1MiB\n" + rank + "2000000..2000000 barrier stolen " +
              lost + "\n" + rank + "2000000..2000000 finalize\n";
    }
    const auto source = parse_text_trace(text);
    Results results =
        run_replay(*source, {parse_scenario("measured"), parse_scenario("perfect")}, {});
    find_undisturbed(*source, results, {});
    return Report(results).verdict;
  };
  const std::vector<std::string> little = verdict_of("60000");
  REQUIRE(little.size() == 2);
  CHECK(
      little[0].starts_with("Parallel efficiency 79 % = load balance 100 % × serialisation 100 % "
                            "× transfer 79 %. Main cost: messages, 400.0 µs"));
  CHECK(little[1] ==
        "On a perfect interconnect this run without lost cores would take 1.540 ms instead of "
        "1.940 ms (21 % less). Ranks were descheduled for 3.0 % of their time.");
  CHECK(
      verdict_of("240000")[0].starts_with("No conclusion about the network: ranks waited for "
                                          "cores for 12.0 % of their time."));
}

TEST_CASE("a scenario that deadlocks has no role, but others are compared with it") {
  Results results;
  results.scenarios.resize(4);
  const char* const names[] = {"measured", "far.toml", "own.toml", "perfect"};
  for (size_t i = 0; i < 4; ++i) results.scenarios[i].name = results.scenarios[i].base = names[i];
  results.scenarios[0].deadlock = "rank 0 waits for rank 0";
  CHECK(Roles(results).measured == nullptr);
  CHECK(Roles(results).judged == nullptr);
  CHECK(Roles(results).reference == &results.scenarios[0]);
  CHECK(Roles(results).perfect == &results.scenarios[3]);
  CHECK(Roles(results).platform == &results.scenarios[1]);
  results.scenarios[2].own_machine = true;
  CHECK(Roles(results).own_machine == &results.scenarios[2]);
  CHECK(Roles(results).platform == &results.scenarios[2]);
  results.scenarios.emplace_back();
  results.scenarios[4].name = "undisturbed";
  CHECK(Roles(results).judged == &results.scenarios[4]);
}
