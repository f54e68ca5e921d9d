// Probes: times worked out by hand. One tick is one nanosecond.

#include "replay/engine/probes.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "models/platform/platform_file.h"
#include "replay/observe/observer.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

using namespace rubato;

namespace {

Results replay(const std::string& text, const std::string& scenario) {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  const Results results = run_replay(*source, {parse_scenario(scenario)}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.scenarios[0].deadlock.empty());
  return results;
}

double end_of(const Results& results, int rank) {
  return results.scenarios[0].ranks[rank].end * 1e9;
}

}  // namespace

TEST_CASE("a probe waits for its message whatever calls lie before the receive") {
  // Rank 0 sends at 600 a message that rank 1 has probed for from 0 to 610. At twice the speed the
  // probe ends at 300, and 5 follow; or it keeps its 610.
  const auto outcome = [](const std::string& probe, const std::string& between,
                          const std::string& receive) {
    return replay(
        "0: 0..0 init\n0: 0..0 send 1 8B tag 2\n0: 600..600 send 1 8B tag 1\n0: 600 end\n"
        "1: 0..0 init\n1: 0..610 " +
            probe + "\n" + between + receive + "1: 620 end\n",
        "perfect:cpu*2");
  };
  const std::string at = "1: 620..620 ";
  const std::string receives[] = {
      at + "recv 0 8B tag 1\n", at + "irecv 0 8B tag 1 req 1\n" + at + "wait 1\n",
      at + "irecv 0 8B tag 1 req 1\n" + at + "testany\n" + at + "testany 1\n",
      at + "recv 0 8B tag 1 any_source any_tag\n"};
  const std::string other = at + "recv 0 8B tag 2\n";
  for (const std::string& receive : receives) {
    for (const char* probe : {"probe 0 tag 1", "mprobe 0 tag 1 any_source", "local MPI_Probe"}) {
      CAPTURE(receive, probe);
      const Results found = outcome(probe, at + "send 1 0B\n" + at + "recv 1 0B\n", receive);
      // Without a word on what it found, it is the next message received: that of rank 1 itself,
      // which was sent behind the probe. So the probe keeps its time.
      const bool is_known = probe[0] != 'l';
      CHECK(end_of(found, 1) == Approx(is_known ? 305 : 615));
      const Results direct = outcome(probe, "", receive);
      CHECK(end_of(direct, 1) == Approx(305));
      CHECK(direct.trace.kept.empty());
    }
    // The message of another tag was received first. (It was there at 0.)
    CHECK(end_of(outcome("probe 0 tag 1", other, receive), 1) == Approx(305));
    // (That is what the probe found: it ends at 0, and the receive at 300.)
    CHECK(end_of(outcome("probe 0 tag 2", other, receive), 1) == Approx(300));
  }
  // A call without records may have received what the probe found.
  const Results unknown = outcome("local MPI_Mprobe", at + "local MPI_Mrecv\n", receives[0]);
  CHECK(end_of(unknown, 1) == Approx(615));
  CHECK(unknown.trace.kept.size() == 2);
  // Nor is anything known without a receive, or with one that is cancelled.
  CHECK(end_of(outcome("local MPI_Probe", "", ""), 1) == Approx(615));
  CHECK(end_of(outcome("local MPI_Probe", "",
                       at + "irecv 0 8B tag 1 req 1\n" + at + "wait cancelled 1\n"),
               1) == Approx(615));
}

TEST_CASE("a probe finds the message behind those whose receives were posted before it") {
  // Three messages of one channel: two receives are posted; the probe finds the third one, sent at
  // 900 of 300 on a processor of three times the speed. It is probed twice.
  CHECK(end_of(replay(R"(
    0: 0..0 init
    0: 100..100 send 1 8B
    0: 500..500 send 1 16B
    0: 900..900 send 1 24B
    0: 900 end
    1: 0..0 init
    1: 0..0 irecv 0 8B req 1
    1: 0..0 irecv 0 16B req 2
    1: 0..910 probe 0
    1: 910..911 iprobe 0
    1: 911..911 irecv 0 24B req 3
    1: 911..911 waitall 1 2 3
    1: 911 end
  )",
                      "perfect:cpu*3"),
               1) == Approx(300));
}

TEST_CASE("a probe of a large message finds its request to send") {
  // o = 0, T = 1000, and the request takes half of that: 500. The receive is posted then, and has
  // the message after the remaining 500. (L is the transfer time of no bytes.)
  Scenario scenario;
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "500ns", bandwidth = "2GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "async" } ]
  )",
                                     "large");
  const auto source = parse_text_trace(R"(
    0: 0..0 init
    0: 0..900 send 1 1000B
    0: 900 end
    1: 0..0 init
    1: 0..100 probe 0
    1: 100..900 recv 0 1000B
    1: 900 end
  )");
  struct Leaves : Observer<1> {
    std::vector<double> found;
    void call(int timeline, const Call& call, const Block&, const Lanes<1>&, double,
              const Lanes<1>&, const Lanes<1>& leave) override {
      if (timeline == 1 && call.role == CallRole::kMpi) found.push_back(leave[0]);
    }
  } leaves;
  ReplayOptions options;
  options.observers = {&leaves};
  run_replay(*source, {scenario}, options);
  REQUIRE(leaves.found.size() == 2);
  CHECK(leaves.found[0] == Approx(500));
  CHECK(leaves.found[1] == Approx(1000));
}
