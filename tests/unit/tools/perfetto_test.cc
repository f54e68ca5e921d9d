// Timelines for viewers: the events of small runs, worked out by hand. One tick is one nanosecond,
// and times in the file are microseconds.

#include "replay/study/run_replay.h"
#include "tools/files/perfetto_file.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/toy.h"

using namespace rubato;
using nlohmann::json;

namespace {

std::string text_of(const std::string& text, const std::vector<Scenario>& scenarios,
                    const PerfettoWindow& window = {}, uint64_t most = kMostPerfettoCalls) {
  const auto source = parse_text_trace(text);
  source->note_places();
  const Results results = run_replay(*source, scenarios, {});
  std::string written;
  write_perfetto(
      *source, scenarios, results, {}, window, [&](const std::string& part) { written += part; },
      most);
  return written;
}

/// The events but for names of processes and threads, a line each, in the order of process and
/// time, the longer first: "process begin+duration name".
std::vector<std::string> slices(const json& file) {
  std::vector<std::tuple<int, int, int, std::string>> found;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] != "X") continue;
    found.emplace_back(event["pid"], std::lround(event["ts"].get<double>() * 1000),
                       -std::lround(event["dur"].get<double>() * 1000), event["name"]);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a)) <
           std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b));
  });
  std::vector<std::string> lines;
  for (const auto& [process, begin, length, name] : found) {
    lines.push_back(std::to_string(process) + " " + std::to_string(begin) + "+" +
                    std::to_string(-length) + " " + name);
  }
  return lines;
}

/// Rank 0 computes until 40 and sends until 50; rank 1 is there at 10 and receives until 60.
constexpr const char* kOneMessage = R"(
  0: 0..0 init
  1: 0..0 init
  0: 40..50 send 1 8B
  0: 80 end
  1: 10..60 recv 0 8B
  1: 100 end
)";

}  // namespace

TEST_CASE("a viewer gets calls, waits in them, and compute around them") {
  const json file = json::parse(text_of(kOneMessage, {on("measured"), on("perfect")}));
  // Ranks 0 and 1 of each scenario. The message is free on perfect: sender and receiver continue at
  // 40, their compute of 30 and 40 ends at 70 and 80.
  CHECK(slices(file) ==
        std::vector<std::string>{"1 0+40 compute", "1 0+0 MPI_Init", "1 40+10 MPI_Send",
                                 "1 50+30 compute", "2 0+10 compute", "2 0+0 MPI_Init",
                                 "2 10+50 MPI_Recv", "2 10+30 late sender", "2 60+40 compute",
                                 "3 0+40 compute", "3 0+0 MPI_Init", "3 40+30 compute",
                                 "3 40+0 MPI_Send", "4 0+10 compute", "4 0+0 MPI_Init",
                                 "4 10+30 MPI_Recv", "4 10+30 late sender", "4 40+40 compute"});
  std::vector<std::string> processes;
  for (const json& event : file["traceEvents"]) {
    if (event["name"] == "process_name") processes.push_back(event["args"]["name"]);
    if (event["name"] == "late sender") CHECK(event["args"]["caused by"] == "rank 0");
    if (event["name"] == "MPI_Send") CHECK(event["args"]["bytes sent"] == 8);
  }
  CHECK(processes == std::vector<std::string>{"measured · rank 0", "measured · rank 1",
                                              "perfect · rank 0", "perfect · rank 1"});
}

// main from 0 to 50, in it solve from 10 to 40, in which the send is; nothing from 50 on.
TEST_CASE("functions of call paths are open around compute and calls") {
  const json file = json::parse(text_of(R"(
    0: 0..0 init
    0: 0 enter main
    0: 10 enter solve
    0: 20..30 send 1 8B
    0: 40 leave solve
    0: 50 leave main
    0: 60..60 finalize
    1: 0..0 init
    1: 0..30 recv 0 8B
    1: 60..60 finalize
  )",
                                        {on("measured")}));
  std::vector<std::string> events;  // of rank 0, in the order of the file
  for (const json& event : file["traceEvents"]) {
    const std::string phase = event["ph"];
    if (event["pid"] != 1 || (phase != "B" && phase != "E" && phase != "X")) continue;
    events.push_back(phase + ' ' + std::to_string(std::lround(event["ts"].get<double>() * 1000)) +
                     ' ' + event.value("name", ""));
  }
  CHECK(events == std::vector<std::string>{"X 0 MPI_Init", "B 0 main", "B 10 solve",
                                           "X 20 MPI_Send", "E 40 ", "E 50 ", "X 50 compute",
                                           "X 60 MPI_Finalize"});
}

TEST_CASE("a message flows from the send to the call that receives it") {
  // The first receive posted gets the second message sent, which has its tag: the flows cross.
  const json file = json::parse(text_of(R"(
    0: 0..0 init
    1: 0..0 init
    0: 10..20 send 1 8B tag 1
    0: 30..40 send 1 16B tag 2
    1: 12..14 irecv 0 16B tag 2 req 1
    1: 15..45 recv 0 8B tag 1
    1: 50..60 wait 1
  )",
                                        {on("measured")}));
  // By bytes: begin and end, a nanosecond within their calls. 8 B: MPI_Send from 10, MPI_Recv until
  // 45. 16 B: MPI_Send from 30, MPI_Wait until 60.
  std::map<int, int> bytes_of;  // by id
  std::map<int, std::vector<int>> ends;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] == "s") bytes_of[event["id"]] = event["args"]["bytes"];
  }
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] != "s" && event["ph"] != "f") continue;
    ends[bytes_of.at(event["id"])].push_back(
        static_cast<int>(std::lround(event["ts"].get<double>() * 1000)));
    CHECK(event["pid"] == (event["ph"] == "s" ? 1 : 2));
  }
  CHECK(ends == std::map<int, std::vector<int>>{{8, {11, 44}}, {16, {31, 59}}});
}

TEST_CASE("a window contains everything that overlaps it") {
  PerfettoWindow window = parse_perfetto_window("55ns..70ns");
  // For rank 0 the compute from 50 to 80; for rank 1 the receive until 60 and the compute after it.
  // The wait is over by 40; the message was sent before.
  const json file = json::parse(text_of(kOneMessage, {on("measured")}, window));
  CHECK(slices(file) ==
        std::vector<std::string>{"1 50+30 compute", "2 10+50 MPI_Recv", "2 60+40 compute"});
  for (const json& event : file["traceEvents"]) CHECK(event["ph"] != "s");
}

TEST_CASE("invalid windows are refused") {
  CHECK(parse_perfetto_window("..2s").to == 2);
  CHECK(parse_perfetto_window("2s..").from == 2);
  for (const char* text : {"", "..", "2s", "2s..1s", "1..2x", "a..b"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_perfetto_window(text), Catch::Contains("expected FROM..TO"));
  }
}

TEST_CASE("a run with more calls than the limit of a file is refused") {
  const Results results = replay(kOneMessage, {on("measured"), on("perfect")});
  // Two calls of MPI_Init, a send, a receive: four, in two scenarios.
  CHECK_NOTHROW(refuse_large_perfetto("a.json", results, {}, 8));
  CHECK_THROWS_WITH(refuse_large_perfetto("a.json", results, {}, 7),
                    Catch::Contains("a.json: 8 calls in 2 scenarios"));
  CHECK_NOTHROW(refuse_large_perfetto("a.json", results, parse_perfetto_window("..1s"), 7));
  // The window holds all of them.
  CHECK_THROWS_WITH(
      text_of(kOneMessage, {on("measured"), on("perfect")}, parse_perfetto_window("..1s"), 7),
      Catch::Contains("choose a shorter --perfetto-window"));
}

TEST_CASE("scenarios that deadlock are left out") {
  // Each sends 4096 bytes before it receives; the machine waits for receivers from 1000 on.
  const json file = json::parse(text_of(R"(
    0: 0..0 init
    1: 0..0 init
    0: 10..20 send 1 4096B
    0: 20..30 recv 1 4096B
    1: 10..20 send 0 4096B
    1: 20..30 recv 0 4096B
  )",
                                        {toy(), on("measured")}));
  for (const json& event : file["traceEvents"]) {
    if (event["name"] == "process_name")
      CHECK(event["args"]["name"].get<std::string>().starts_with("measured"));
  }
}
