#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/base/error.h"
#include "tests/fixture/made_up_results.h"
#include "tools/files/whole_file.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"
#include "tools/report/report_html.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "tools/tables/call_columns.h"
#include "tools/tables/cause_tables.h"
#include "tools/words/note_words.h"
#include "tools/words/verdict_words.h"

using namespace rubato;

namespace {

Results two_rank_results() {
  // Rank 0 computes 1 s and waits 1 s for rank 1, which computes 2 s.
  Results results;
  results.calls = {"MPI_Recv", "MPI_Send"};
  results.trace.path = "run.otf2dir";
  results.trace.creator = "Rubato 0.1.0";
  results.trace.unwatched = "none";
  results.trace.ranks = 2;
  results.trace.nodes = 1;
  ScenarioResult s;
  s.name = "measured";
  s.elapsed = 2;
  s.elapsed_with_init = 2.5;
  s.ranks = {{0, 2, 1, 1, {{1, 1, 0, 8}, {}}}, {0, 2, 2, 0, {{}, {0, 1, 8, 0}}}};
  s.traffic[static_cast<int>(Level::kNode)] = {1, 8};
  results.scenarios.push_back(s);
  return results;
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("seconds show four significant digits in the unit that reads best") {
  CHECK(show_seconds(0.93012) == "930.1 ms");
  CHECK(show_seconds(1.23449) == "1.234 s");
  CHECK(show_seconds(12.3456e-6) == "12.35 µs");
  CHECK(show_seconds(0.9999996) == "1.000 s");  // rounds up into the next unit
  CHECK(show_seconds(12345.6) == "12346 s");
  CHECK(show_seconds(3e-10) == "0.3000 ns");
  CHECK(show_seconds(0) == "0 s");
}

TEST_CASE("a column of times shares one unit") {
  const TimeUnit unit = common_unit({5.12344, 0.93, 0});
  // The largest reads well in seconds; 0.9300 needs four decimals for four digits.
  CHECK(std::string(unit.name) == "s");
  CHECK(unit.show(5.12344) == "5.1234");
  CHECK(unit.show(0.93) == "0.9300");
}

TEST_CASE("a column of quantities has one unit, in its heading") {
  Table table;
  // 86.45 us in ms needs four decimals for three digits. 4 B is the smallest: no KiB. 0.2 of 1 MB/s
  // would be no whole number: kB/s.
  const auto add = [&](const char* call, double seconds, int bytes, double rate, const char* why) {
    table.add({{"Call", call},
               {"Time", seconds, As::kSeconds},
               {"Bytes", bytes, As::kBytes},
               {"Bandwidth", rate, As::kRate},
               {"Waits for", why}});
  };
  add("MPI_Send", 0.4942506, 4096, 1.2e7, "late sender");
  add("MPI_Bcast", 86.45e-6, 4, 2e5, "-");
  CHECK(table.text(100) ==
        "Call       Time (ms)  Bytes  Bandwidth (kB/s)  Waits for\n"
        "MPI_Send    494.2506  4,096            12,000  late sender\n"
        "MPI_Bcast     0.0864      4               200  -\n");
  // A name that leaves no place for the rest is shortened: 2 + 30 for it, 8 for the number.
  Table names;
  names.add({{"Function", std::string(60, 'a') + "(b.c:12)"}, {"Time", 1.5, As::kSeconds}});
  std::istringstream lines(names.text(40));
  for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= 40);
}

TEST_CASE("a table as text, CSV and JSON") {
  Table table;
  CHECK(table.section("calls", 100).empty());
  CHECK(table.csv().empty());
  CHECK(table.json().dump() == "[]");
  table.set_columns({{"Call", ""}, {"time", 0.0, "Time", As::kTime}});
  CHECK(table.text(100) == "Call  Time\n");
  CHECK(table.csv() == "time_s\n");

  Table calls;
  calls.add({{"call", "MPI_Send", "Call"},
             {"calls", 1250, "Calls", As::kCount},
             {"time", 0.0625, "Time", As::kTime},
             {"limit", nullptr, "Limit"},
             {"share", 0.25, "", As::kShare},
             {"sizes", {8, 16}, As::kJson},
             {"size", 16, As::kCsv}});
  calls.add({{"call", "a,b", "Call"},
             {"calls", nullptr, "Calls", As::kCount},
             {"time", 2.0, "Time", As::kTime},
             {"limit", nullptr, "Limit"},
             {"share", 1e-9, "", As::kShare},
             {"sizes", Json::array(), As::kJson},
             {"size", 0, As::kCsv}});
  // A column without a value is not shown; a value that is not known is a dash.
  CHECK(calls.section("calls", 100) ==
        "\n"
        "calls\n"
        "Call      Calls      Time\n"
        "MPI_Send  1,250  62.50 ms\n"
        "a,b           -   2.000 s\n");
  CHECK(calls.csv() ==
        "call,calls,time_s,limit,share,size\n"
        "MPI_Send,1250,0.0625,,0.25,16\n"
        "\"a,b\",,2,,1e-09,0\n");
  CHECK(
      calls.json().dump() ==
      R"([{"call":"MPI_Send","calls":1250,"time":0.0625,"limit":null,"share":0.25,"sizes":[8,16]},)"
      R"({"call":"a,b","calls":null,"time":2.0,"limit":null,"share":1e-09,"sizes":[]}])");
}

TEST_CASE("zero has no sign") {
  CHECK(signed_percent(-1e-9, 1) == "0.0 %");
  CHECK(signed_percent(1e-9, 1) == "0.0 %");
  CHECK(signed_percent(-0.04, 1) == "-4.0 %");
  CHECK(signed_percent(0.04, 1) == "+4.0 %");
  CHECK(percent_of(-1e-9, 1) == "0.0 %");
  CHECK(TimeUnit{1e3, "ms", 2}.show(-1e-9) == "0.00");
  CHECK(TimeUnit{1e3, "ms", 2}.show(-1e-3) == "-1.00");
}

TEST_CASE("counts, bytes and shares read well") {
  CHECK(show_count(999) == "999");
  CHECK(show_count(1234567) == "1,234,567");
  CHECK(show_bytes(512) == "512 B");
  CHECK(show_bytes(1536) == "1.50 KiB");
  CHECK(show_bytes(4096) == "4 KiB");
  CHECK(show_rate(11.75e9) == "11.75 GB/s");
  CHECK(show_share(1, 8) == "12.5 %");
  CHECK(show_share(0, 0) == "0 %");
  CHECK(show_share(1e-9, 1) == "<0.1 %");
}

TEST_CASE("tables continue in blocks of columns where the page ends") {
  Table table;
  table.add({{"Rank", 0}, {"aaaa", 1}, {"bbbb", 2}, {"µµ", 3}});
  // 4 + 2 + 4 = 10 columns fit, the next would need 16.
  CHECK(table.text(10) ==
        "Rank  aaaa\n"
        "0        1\n"
        "\n"
        "Rank  bbbb\n"
        "0        2\n"
        "\n"
        "Rank  µµ\n"
        "0      3\n");
}

TEST_CASE("the text report has the waits") {
  // The mean rank computes (1 + 2) / 2 of 2 s, and receives for 1 / 2 s.
  const std::string brief =
      "Scenario  Elapsed (s)  vs measured  Compute     MPI\n"
      "measured        2.000       1.000×   75.0 %  25.0 %\n"
      "\n"
      "Messages by distance: node 1, 8 B.\n"
      "\n"
      "Mean rank (ms)  MPI_Recv  MPI_Send\n"
      "measured           500.0       0.0\n"
      "\n"
      "run.otf2dir: 2 ranks on 1 node, recorded by Rubato 0.1.0\n"
      "Every MPI call that communicates is replayed.\n";
  CHECK(report_text(two_rank_results()) == brief);
  TextReportOptions options;
  options.all = true;
  CHECK(report_text(two_rank_results(), options) ==
        brief +
            "\n"
            "measured: compute and time per MPI call, in s\n"
            "\n"
            "Rank  Compute  All MPI  MPI_Recv  MPI_Send\n"
            "0      1.0000   1.0000    1.0000    0.0000\n"
            "1      2.0000   0.0000    0.0000    0.0000\n");
}

// MPI_Recv takes 500 ms of the mean rank, MPI_Send (0 + 60) / 2 ns.
TEST_CASE("a time far below the others of its table has its own unit") {
  Results results = two_rank_results();
  results.scenarios[0].ranks[1].calls[1].time = 60e-9;
  CHECK(report_text(results).find("\nMean rank (ms)  MPI_Recv  MPI_Send\n"
                                  "measured           500.0  30.00 ns\n") != std::string::npos);
}

TEST_CASE("one is counted as one") {
  CHECK(counted(1, "call", "calls") == "1 call");
  CHECK(counted(1234, "call", "calls") == "1,234 calls");
  CHECK(counted(0, "call", "calls") == "0 calls");
  CauseSummary causes;
  causes.elapsed = 1;
  causes.compute = {0.5};
  causes.crossings = {{"MPI_Recv", 0.5}};
  causes.hops = 1;
  CHECK(path_line(causes) ==
        "Critical path: compute 50.0 % (rank 0 50.0 %); 1 message or collective, including "
        "transfer, received in MPI_Recv 50.0 %.");
  causes.hops = 2;
  CHECK(path_line(causes).ends_with(
      "; 2 messages and collectives, including transfer, received in MPI_Recv 50.0 %."));
}

TEST_CASE("reports contain causes of waits, if known") {
  Results results = two_rank_results();
  const auto waits_of_rank_0 = [&] {
    return nlohmann::json::parse(report_json(results))["scenarios"][0]["ranks"][0]["waits"];
  };
  CHECK(waits_of_rank_0().is_null());
  CHECK(report_csv(results).find("late_sender") == std::string::npos);
  results.scenarios[0].has_waits = true;
  CHECK(report_text(results).find("\nNo rank waits for another one inside MPI.\n") !=
        std::string::npos);
  // Of 1 s in MPI.
  results.scenarios[0].ranks[0].waits = {0.5, 0, 0.25, 0};
  CHECK(report_text(results).find("\n\n"
                                  "Time in MPI  Late sender  Collective wait  Communication\n"
                                  "measured          50.0 %           25.0 %         25.0 %\n"
                                  "\n") != std::string::npos);
  CHECK(waits_of_rank_0() == nlohmann::json{{"late_sender", 0.5},
                                            {"late_receiver", 0.0},
                                            {"collective_wait", 0.25},
                                            {"one_sided_wait", 0.0}});
  CHECK(report_csv(results).find("measured,0,compute,compute,,1,,\n"
                                 "measured,0,wait,late_sender,,0.5,,\n"
                                 "measured,0,wait,late_receiver,,0,,\n"
                                 "measured,0,wait,collective_wait,,0.25,,\n"
                                 "measured,0,wait,one_sided_wait,,0,,\n"
                                 "measured,0,mpi,MPI_Recv,1,1,0,8\n") != std::string::npos);
}

TEST_CASE("MPI_Init and MPI_Finalize come last, with a note that they do not count") {
  Results results = two_rank_results();
  results.calls.insert(results.calls.begin(), "MPI_Init");
  for (RankResult& rank : results.scenarios[0].ranks) {
    rank.calls.insert(rank.calls.begin(), CallTotals{5, 1, 0, 0});
  }
  TextReportOptions options;
  options.all = true;
  const std::string text = report_text(results, options);
  CHECK(text.find("Rank  Compute  All MPI  MPI_Recv  MPI_Send  MPI_Init\n"
                  "0      1.0000   1.0000    1.0000    0.0000    5.0000\n") != std::string::npos);
  CHECK(text.find("\nMPI_Init and MPI_Finalize are not part of Elapsed") != std::string::npos);
}

TEST_CASE("the algorithms of collectives are shown on request") {
  const Results results = made_up_results(4, false);
  CHECK(report_text(results).find("rabenseifner") == std::string::npos);
  TextReportOptions options;
  options.all = true;
  const std::string text = report_text(results, options);
  INFO(text);
  CHECK(text.find("algorithms of collectives, by bytes per member") != std::string::npos);
  CHECK(text.find("allreduce        4         8      4,096  recursive_doubling") !=
        std::string::npos);
  CHECK(text.find("allreduce        4    65,536  1,048,576  rabenseifner") != std::string::npos);
}

TEST_CASE("no line of a report is wider than the page, and ranks are listed on request only") {
  for (const int width : {60, 100, 140}) {
    TextReportOptions options;
    options.width = width;
    const std::string text = report_text(made_up_results(1024, true), options);
    std::istringstream lines(text);
    std::string line;
    int count = 0;
    while (std::getline(lines, line)) {
      CHECK(display_width(line) <= width);
      ++count;
    }
    CHECK(count < 200);
  }
}

TEST_CASE("small calls share a column, the same in each scenario") {
  Results results = two_rank_results();
  results.calls = {"MPI_Recv", "MPI_Send", "MPI_Comm_rank", "MPI_Wtime"};
  // All ranks together take 4 s, so a column of its own starts at 4 ms. MPI_Send reaches that in
  // one scenario and not in the other.
  RankResult& rank = results.scenarios[0].ranks[0];
  rank.calls = {{1, 1, 0, 0}, {0.0001, 1, 0, 0}, {0.0002, 1, 0, 0}, {0.0003, 1, 0, 0}};
  results.scenarios.push_back(results.scenarios[0]);
  results.scenarios[1].ranks[0].calls[1].time = 0.004;

  const std::vector<CallColumn> columns = choose_call_columns(results, 12);
  REQUIRE(columns.size() == 3);
  CHECK(columns[0].name == "MPI_Recv");
  CHECK(columns[1].name == "MPI_Send");
  CHECK(columns[2].name == "2 others");
  CHECK(columns[2].time(results.scenarios[0].ranks[0]) == Approx(0.0005));
  CHECK(choose_call_columns(results, SIZE_MAX).size() == 4);
}

TEST_CASE("a deadlock and all caveats are reported") {
  const Results results = made_up_results(4, true);
  TextReportOptions wide;
  wide.width = 1000;
  const std::string text = report_text(results, wide);
  CHECK(text.find("MPI_Accumulate (12 calls, 1.600 ms, first at rank 3, event 112)") !=
        std::string::npos);
  // 0.4 ms + 0.02 ms of 300 ms for each rank.
  CHECK(text.find("0.1 % of MPI time is kept as recorded") != std::string::npos);
  CHECK(text.find("1 send without a receive") != std::string::npos);
  CHECK(text.find("3 receives without a send") != std::string::npos);
  CHECK(text.find("42 calls end before their cause") != std::string::npos);
  CHECK(text.find(
            "huge-rendezvous.toml: the program deadlocks on this machine: rank 0 in MPI_Send") !=
        std::string::npos);
}

TEST_CASE("strict refuses an archive with kept calls in one line that names them") {
  TraceSummary trace = made_up_results(4, true).trace;
  REQUIRE(trace.kept.size() == 2);
  CHECK_THROWS_WITH(refuse_kept_calls(trace),
                    Catch::StartsWith(trace.path + ": --strict: ") &&
                        Catch::Contains(trace.kept[0].call + " (") &&
                        Catch::Contains("; " + trace.kept[1].call + " (") &&
                        !Catch::Contains("\n"));
  trace.kept.clear();
  CHECK_NOTHROW(refuse_kept_calls(trace));
  trace.unwatched = "libplug.so";
  CHECK_THROWS_WITH(refuse_kept_calls(trace), Catch::Contains("libplug.so"));
}

TEST_CASE(
    "the report says that every call is replayed only if the tracer could record every call") {
  TraceSummary trace;
  CHECK(kept_calls_line(trace) == "Every recorded MPI call that communicates is replayed.");
  trace.unwatched = "none";
  CHECK(kept_calls_line(trace) == "Every MPI call that communicates is replayed.");
  trace.unwatched = "libplug.so";
  CHECK(kept_calls_line(trace) ==
        "Every recorded MPI call that communicates is replayed. Calls by libplug.so may be "
        "missing: they bypass the tracer.");
}

TEST_CASE("info summarises an archive") {
  TraceSummary trace = made_up_results(4, true).trace;
  trace.notes.clear();
  trace.kept.resize(1);
  trace.unmatched_sends = trace.unmatched_receives = 0;
  CHECK(describe_trace(trace, 100) ==
        "Archive         run.otf2dir\n"
        "Recorded by     Rubato 0.1.0\n"
        "Command         lmp -in melt.in -log none\n"
        "MPI             Open MPI v4.1.4\n"
        "Elapsed         1.020 s\n"
        "Ranks           4 on 1 node, 4 locations\n"
        "Records         156,000\n"
        "MPI calls       39,200, 1.200 s in all ranks together\n"
        "Messages        9,600\n"
        "Collectives     310\n"
        "Communicators   3\n"
        "\n"
        "0.1 % of MPI time is kept as recorded because it cannot be replayed: MPI_Accumulate (12 "
        "calls, 1.600\n"
        "  ms, first at rank 3, event 112).\n"
        "Note: 42 calls end before their cause, by the clocks of the archive (40 messages, 2 "
        "collectives).\n"
        "  The clock repair moved calls of 3 ranks later, by up to 71.30 µs: afterwards 1 still "
        "does, "
        "the\n"
        "  first at rank 2, event 90 (MPI_Wait).\n");
  trace.clock_repair->after = {};
  CHECK(caveats(trace)[0].find("by up to 71.30 µs: afterwards none does.") != std::string::npos);
  trace.clock_repair.reset();
  CHECK(caveats(trace)[0] ==
        "42 calls end before their cause, by the clocks of the archive: the clocks are not "
        "synchronised.");
}

TEST_CASE("the headline compares perfect with measured") {
  Results results = two_rank_results();
  CHECK(headline(conclude(results)).empty());
  results.scenarios.push_back(results.scenarios[0]);
  results.scenarios[1].name = "perfect";
  results.scenarios[1].elapsed = 1.5;
  CHECK(headline(conclude(results)) ==
        "On a perfect interconnect this run would take 1.500 s instead of 2.000 s (25 % less).");
  results.scenarios.push_back(results.scenarios[0]);
  results.scenarios[2].name = "undisturbed";
  results.scenarios[2].elapsed = 1.9;
  CHECK(headline(conclude(results)) ==
        "On a perfect interconnect this run would take 1.500 s instead of 2.000 s (25 % less). "
        "Tracing overhead accounts for 100.0 ms of the difference.");
  results.scenarios[1].elapsed = 2;
  CHECK(headline(conclude(results)).find("Even a perfect interconnect would not") == 0);
}

TEST_CASE("JSON conforms to its description") {
  const nlohmann::json json = nlohmann::json::parse(report_json(two_rank_results()));
  CHECK(json["format"] == 1);
  CHECK(json["scenarios"][0]["elapsed"] == 2.0);
  CHECK(json["scenarios"][0]["deadlock"].is_null());
  CHECK(json["scenarios"][0]["traffic"]["node"]["bytes"] == 8);
  CHECK(json["scenarios"][0]["ranks"][0]["calls"]["MPI_Recv"]["bytes_received"] == 8);
  // A call that a rank never made is not among its calls.
  CHECK_FALSE(json["scenarios"][0]["ranks"][0]["calls"].contains("MPI_Send"));

  const nlohmann::json made_up = nlohmann::json::parse(report_json(made_up_results(3, false)));
  const nlohmann::json expected = {{"operation", "allreduce"},    {"members", 3},
                                   {"algorithm", "rabenseifner"}, {"guessed", false},
                                   {"smallest", 65536.0},         {"largest", 1048576.0}};
  CHECK(made_up["scenarios"][2]["collectives"][1] == expected);
  const nlohmann::json stuck = nlohmann::json::parse(report_json(made_up_results(2, true)));
  CHECK(stuck["scenarios"][4]["elapsed"].is_null());
  CHECK(stuck["scenarios"][4]["ranks"].empty());
  CHECK(stuck["trace"]["kept"][0]["count"] == 12);
}

TEST_CASE("JSON survives names that are not UTF-8") {
  Results results = two_rank_results();
  results.trace.creator = "bad \xff byte";
  CHECK_NOTHROW(nlohmann::json::parse(report_json(results)));
}

TEST_CASE("CSV has a row per scenario, rank and call") {
  Results results = two_rank_results();
  results.scenarios[0].name = "a.toml:cpu*2,latency*3";
  CHECK(report_csv(results) ==
        "scenario,rank,kind,name,calls,time_s,bytes_sent,bytes_received\n"
        "\"a.toml:cpu*2,latency*3\",0,compute,compute,,1,,\n"
        "\"a.toml:cpu*2,latency*3\",0,mpi,MPI_Recv,1,1,0,8\n"
        "\"a.toml:cpu*2,latency*3\",1,compute,compute,,2,,\n"
        "\"a.toml:cpu*2,latency*3\",1,mpi,MPI_Send,1,0,8,0\n");
}

TEST_CASE("a file appears complete or not at all") {
  const std::filesystem::path dir =
      std::filesystem::temp_directory_path() / ("rubato-whole-" + std::to_string(getpid()));
  std::filesystem::create_directory(dir);
  const std::string path = dir / "out.json";
  {
    WholeFile abandoned(path);
    abandoned.write("half");
  }
  CHECK(std::filesystem::is_empty(dir));

  for (const std::string text : {"first", "second"}) {
    WholeFile file(path);
    file.write(text);
    file.commit();
    CHECK(content(path) == text);
  }
  // A link is followed, not replaced.
  std::filesystem::create_symlink("out.json", dir / "link");
  WholeFile linked(dir / "link");
  linked.write("third");
  linked.commit();
  CHECK(std::filesystem::is_symlink(dir / "link"));
  CHECK(content(path) == "third");

  CHECK_THROWS_WITH(WholeFile(dir), Catch::Contains("Is a directory"));
  CHECK_THROWS_WITH(WholeFile(dir / "missing/out"), Catch::Contains("No such file or directory"));
  if (std::filesystem::exists("/dev/full")) {
    WholeFile full("/dev/full");
    CHECK_THROWS_WITH(full.write("x"), "/dev/full: cannot be written: No space left on device");
  }
  std::filesystem::remove_all(dir);
}

TEST_CASE("files are written completely although the reader of standard output is gone") {
  const std::filesystem::path dir =
      std::filesystem::temp_directory_path() / ("rubato-unread-" + std::to_string(getpid()));
  std::filesystem::create_directory(dir);
  const pid_t child = fork();
  if (child == 0) {
    int ends[2];
    if (pipe(ends) != 0) _exit(10);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    WholeFile file(dir / "out.csv");
    print_to_stdout("read");
    if (nobody_reads_stdout()) _exit(11);
    close(ends[0]);
    print_to_stdout("not read");
    print_to_stdout("nor this");
    file.write("all of it");
    file.commit();
    _exit(nobody_reads_stdout() ? 0 : 12);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);  // by no signal either
  CHECK(content(dir / "out.csv") == "all of it");
  CHECK(std::distance(std::filesystem::directory_iterator(dir), {}) == 1);
  std::filesystem::remove_all(dir);
}

TEST_CASE("the HTML report is self-contained and loads nothing") {
  Results results = made_up_results(2, true);
  results.trace.path = "</script><script>alert(1)</script>";
  const std::string html = report_html(results, {made_up_platform()});
  for (const char* mark : {"@TITLE@", "@CSS@", "@JS@", "@CHART@", "@DATA@"}) {
    CHECK(html.find(mark) == std::string::npos);
  }
  CHECK(html.find("alert(1)</script>") == std::string::npos);
  CHECK(html.find("default-src 'none'") != std::string::npos);
  // No element fetches anything: no src attribute, no link element.
  CHECK(html.find("<link") == std::string::npos);
  CHECK(html.find(" src=") == std::string::npos);

  const std::string open = "id=\"rubato-data\">";
  const size_t start = html.find(open) + open.size();
  const nlohmann::json data =
      nlohmann::json::parse(html.substr(start, html.find("</script>", start) - start));
  CHECK(data["trace"]["path"] == results.trace.path);
  CHECK(data["scenarios"].size() == 5);
  CHECK(data["scenarios"][0]["calls"][0]["time"].size() == 2);
  CHECK(data["platforms"][0]["levels"][0]["samples"].size() == 48);
}
