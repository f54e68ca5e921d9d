// A replay that is divided among processes gives the same bytes as one process. Here threads take
// their part (memory_transport.h).

#include <catch2/catch.hpp>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "models/platform/platform_file.h"
#include "replay/cluster/division.h"
#include "replay/cluster/memory_transport.h"
#include "replay/cluster/one_process.h"
#include "replay/cluster/team.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/reference_simulation.h"
#include "tests/unit/seeds.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"

using namespace rubato;
using namespace rubato::property;

namespace {

/// The results of one run, or the reason why it could not be divided.
struct Found {
  std::string json, csv;
  std::optional<OneProcess> refused;
  uint64_t batches = 0;
};

Found found(const Results& results) {
  return {report_json(results), report_csv(results), {}, 0};
}

Found replay_divided(const std::string& text, const std::vector<Scenario>& scenarios,
                     const ReplayOptions& common, int processes, int told_directly = 8) {
  MemoryNetwork network(processes);
  std::vector<std::optional<Found>> found_by(processes);
  std::vector<std::exception_ptr> errors(processes);
  {
    std::vector<std::jthread> threads;
    for (int self = 0; self < processes; ++self) {
      threads.emplace_back([&, self] {
        try {
          const auto source = parse_text_trace(text);
          const auto transport = network.transport(self);
          Team team(*transport);
          team.notify_directly(told_directly);
          ReplayOptions options = common;
          options.team = &team;
          try {
            found_by[self] = found(run_replay(*source, scenarios, options));
          } catch (const NeedsOneProcess& needs) {
            found_by[self].emplace().refused = needs.why;
          }
          found_by[self]->batches = team.batches_sent();
        } catch (...) {
          errors[self] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  for (const auto& other : found_by) CHECK(other->refused == found_by[0]->refused);
  return *found_by[0];
}

/// Replays by one, two, three and seven; how many of them divided it. Two and seven pass on what
/// they know of collectives (relay.h).
int check_divided(const std::string& text, const std::vector<Scenario>& scenarios,
                  const ReplayOptions& options) {
  const auto source = parse_text_trace(text);
  const Found alone = found(run_replay(*source, scenarios, options));
  int divided = 0;
  for (const auto& [processes, told_directly] : {std::pair(1, 8), {2, 1}, {3, 8}, {7, 1}}) {
    INFO(processes << " processes");
    const Found together = replay_divided(text, scenarios, options, processes, told_directly);
    if (together.refused) continue;
    ++divided;
    CHECK(together.json == alone.json);
    CHECK(together.csv == alone.csv);
  }
  return divided;
}

Scenario platform(const char* protocol) {
  Scenario scenario;
  scenario.name = "platform";
  std::string text = "format = 1\n";
  for (const std::string level : {"self", "node", "network"}) {
    text += "[level." + level +
            "]\n"
            "transfer = [{ from = \"0B\", latency = \"" +
            (level == "network" ? "1.7us" : "0.3us") +
            "\", bandwidth = \"3GB/s\" }]\n"
            "gap = [{ from = \"0B\", latency = \"0s\", bandwidth = \"7GB/s\" }]\n"
            "send_overhead = \"17ns\"\nreceive_overhead = \"23ns\"\ncrossing_delay = \"130ns\"\n"
            "synchronous_overhead = \"70ns\"\nfollowing_overhead = \"11ns\"\n"
            "burst_gap = [{ from = \"0B\", latency = \"0s\", bandwidth = \"4GB/s\" }]\n"
            "second_burst_gap = [{ from = \"0B\", latency = \"0s\", bandwidth = \"5GB/s\" }]\n"
            "protocol = [{ from = \"0B\", kind = \"eager\" }, { from = \"1000B\", kind = \"" +
            protocol + "\" }]\n";
  }
  scenario.platform = parse_platform(text, "platform");
  return scenario;
}

const unsigned kSeeds = seeds(80, 225);  // of five kinds, one with half as many: 360, or 1,012

}  // namespace

TEST_CASE("ranks are divided by what they have to do") {
  // 1 + 1 records each, and 1 more for every rank that is run: 11 each of 6 ranks, 66 in all.
  const Division even({10, 10, 10, 10, 10, 10}, 3);
  CHECK(even.first(1) == 2);
  CHECK(even.first(2) == 4);
  CHECK(even.end(2) == 6);
  CHECK(even.owner(3) == 1);
  // 101 and 3 times 11: half of 134 is nearer to 101 than to 0.
  const Division uneven({100, 10, 10, 10}, 2);
  CHECK(uneven.end(0) == 1);
  // More processes than ranks: all ranks are somewhere, in order.
  const Division few({1, 1}, 5);
  CHECK(few.owner(0) <= few.owner(1));
  CHECK(few.end(4) == 2);
  // Blocks that end within 64 ranks, and processes without any.
  std::vector<uint64_t> sizes(1000, 1);
  sizes[70] = 5000;
  const Division many(sizes, 9);
  for (int process = 0; process < 9; ++process) {
    for (int rank = many.first(process); rank < many.end(process); ++rank)
      REQUIRE(many.owner(rank) == process);
  }
}

TEST_CASE("a divided replay of random programs, eager") {
  int divided = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Program program = Generator(seed, false).make();
    const std::vector<double> ends = Reference(program, recorder()).run(&program);
    const std::string text = as_text(program, ends);
    INFO("seed " << seed << "\n" << text);
    ReplayOptions options;
    options.wait_states = seed % 3 != 0;
    divided += check_divided(text,
                             {parse_scenario("measured"), parse_scenario("perfect"),
                              parse_scenario("bandela:latency=2us,bandwidth=1GB/s"),
                              parse_scenario("bandela:latency=70us,bandwidth=3GB/s")},
                             options);
  }
  CHECK(divided > static_cast<int>(3 * kSeeds));
}

TEST_CASE("a divided replay of random programs, rendezvous") {
  Machine slow_recorder = recorder();
  slow_recorder.rendezvous = 1000;
  int divided = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Program program = Generator(seed, true).make();
    const std::vector<double> ends = Reference(program, slow_recorder).run(&program);
    const std::string text = as_text(program, ends);
    INFO("seed " << seed << "\n" << text);
    ReplayOptions options;
    options.wait_states = true;
    options.eager_limit = 999;
    divided += check_divided(
        text, {parse_scenario("measured"), parse_scenario("perfect"), platform("async")}, options);
  }
  CHECK(divided > static_cast<int>(3 * kSeeds));
}

// Rank 0 was in its send long before the receive was posted, and lost its core there or not: with
// the latter processes learn an eager limit, each from receives of its own (recorded_minima.h).
TEST_CASE("processes learn the same eager limit") {
  ReplayOptions options;
  options.wait_states = true;
  for (const std::string lost : {"", " lost 20000"}) {
    const std::string text = "nodes 0 1\none_clock\n0: 0..30000 send 1 8000B" + lost +
                             "\n1: 25000..30000 recv 0 8000B\n0: 200000 end\n1: 200000 end\n";
    CHECK(check_divided(text, {parse_scenario("measured")}, options) == 4);
    const std::string isend =
        "nodes 0 1\none_clock\n0: 0..500 isend 1 8000B req 1\n0: 1000..30000 wait 1" + lost +
        "\n1: 25000..30000 recv 0 8000B\n0: 200000 end\n1: 200000 end\n";
    CHECK(check_divided(isend, {parse_scenario("measured")}, options) == 4);
  }
}

// Rank 0 left its send before the receive was posted, in another process.
TEST_CASE("processes correct an eager limit together") {
  ReplayOptions options;
  options.wait_states = true;
  options.eager_limit = 999;
  const char* const text =
      "nodes 0 1\none_clock\n0: 0..10 send 1 2000B\n0: 1000 end\n"
      "1: 500..600 recv 0 2000B\n1: 1000 end\n";
  CHECK(check_divided(text, {parse_scenario("measured"), parse_scenario("perfect")}, options) == 4);
}

// The time that rank 1 lost after its send, or after its receive, is known only in its process.
TEST_CASE("time lost at the other side of a message is subtracted by one process") {
  for (const auto& [mine, its] :
       {std::pair{"recv 1 8B", "send 0 8B"}, {"ssend 1 8B", "recv 0 8B"}}) {
    const std::string text = std::string("nodes 0 1\none_clock\n0: 0..30000 ") + mine +
                             "\n0: 30000 end\n1: 0..100 " + its +
                             "\n1: 200..40000 local MPI_Comm_rank lost 20000\n1: 40000 end\n";
    CHECK(check_divided(text, {parse_scenario("undisturbed")}, {}) == 1);
    CHECK(check_divided(text, {parse_scenario("measured")}, {}) == 4);
  }
}

TEST_CASE("a divided replay of random programs with one scenario") {
  for (unsigned seed = 0; seed < kSeeds / 2; ++seed) {
    Program program = Generator(seed, true).make();
    const std::vector<double> ends = Reference(program, recorder()).run(&program);
    const std::string text = as_text(program, ends);
    INFO("seed " << seed << "\n" << text);
    ReplayOptions options;
    check_divided(text, {platform("async")}, options);
    check_divided(text, {parse_scenario("measured")}, options);
  }
}

TEST_CASE("a divided replay of random programs by pull and push") {
  const char* const protocol = GENERATE("pull", "push");
  int divided = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Program program = Generator(seed, true).make();
    const std::vector<double> ends = Reference(program, recorder()).run(&program);
    const std::string text = as_text(program, ends);
    INFO("seed " << seed << "\n" << text);
    ReplayOptions options;
    options.wait_states = true;
    Scenario slow = platform(protocol);
    slow.name = "slow";
    slow.cpu = 0.3;
    Scenario fast = platform(protocol);
    fast.name = "fast";
    fast.cpu = 7;
    divided += check_divided(text, {platform(protocol)}, options);
    divided += check_divided(text, {platform(protocol), slow, fast}, options);
  }
  CHECK(divided > static_cast<int>(6 * kSeeds));
}

TEST_CASE("a divided replay of random programs of ranks with two threads") {
  int divided = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Program program = threaded(seed);
    const std::vector<double> ends = Reference(program, recorder()).run(&program);
    const std::string text = as_text(program, ends, 2);
    INFO("seed " << seed << "\n" << text);
    ReplayOptions options;
    options.wait_states = true;
    const char* const protocol = seed % 2 == 0 ? "pull" : "push";
    divided += check_divided(
        text, {parse_scenario("measured"), parse_scenario("perfect"), platform(protocol)}, options);
  }
  CHECK(divided > static_cast<int>(2 * kSeeds));
}

namespace {

/// Collectives that nine ranks enter at random times, of a kind each program has.
std::string collectives(const std::string& kind, unsigned seed) {
  constexpr int kRanks = 9, kSteps = 60;
  std::mt19937 random(seed);
  const auto below = [&](int limit) { return static_cast<int>(random() % limit); };
  std::string text = "nodes 0 1 2 3 4 5 6 7 8\none_clock\ncomm 1 0 2 4 6 8\n";
  for (int step = 0; step < kSteps; ++step) {
    const int root = below(kRanks);
    const char* const mixed[] = {"bcast", "reduce", "allreduce", "scan", "gather", "barrier"};
    const std::string any = mixed[below(6)];
    for (int rank = 0; rank < kRanks; ++rank) {
      const int enter = 1000 * step + below(400), leave = 1000 * step + 900;
      const auto call = [&](int from, int to, const std::string& what) {
        text += std::to_string(rank) + ": " + std::to_string(from) + ".." + std::to_string(to) +
                " " + what + "\n";
      };
      const std::string at_root = " root " + std::to_string(root);
      if (kind == "to some") {
        // To the next rank alone, or, half of them, to all but one.
        std::string parts;
        const bool few = step % 2 == 0 || below(2) == 0;
        for (int to = 0; to < kRanks; ++to)
          parts += ((to == (rank + 1) % kRanks) == few) ? " 8B" : " 0B";
        call(enter, leave, "alltoallv 8B 8B parts" + parts);
      } else if (kind == "nothing to the root") {
        const bool none = rank != root && below(2) == 0;
        call(enter, leave, "gatherv" + at_root + (none ? " 0B 0B" : " 8B 8B"));
      } else if (kind == "started") {
        call(enter, enter + 5, "iallreduce 8B 8B req 1");
        if (rank % 2 == 0) call(enter + 10, enter + 14, "ibarrier comm 1 req 2");
        call(enter + 40, leave, rank % 2 == 0 ? "wait 1 2" : "wait 1");
      } else {
        const bool rooted = any == "bcast" || any == "reduce" || any == "gather";
        call(enter, leave, any + (rooted ? at_root : "") + (any == "barrier" ? "" : " 8B 8B"));
      }
    }
  }
  for (int rank = 0; rank < kRanks; ++rank)
    text += std::to_string(rank) + ": " + std::to_string(1000 * kSteps) + " end\n";
  return text;
}

}  // namespace

TEST_CASE("a divided replay of collectives whose members send to some or none of the others") {
  for (const char* const kind : {"to some", "nothing to the root", "started", "mixed"}) {
    for (unsigned seed = 0; seed < 3; ++seed) {
      const std::string text = collectives(kind, seed);
      const std::vector<Scenario> scenarios = {parse_scenario("measured"),
                                               parse_scenario("perfect"), platform("eager")};
      ReplayOptions options;
      options.wait_states = true;
      const auto source = parse_text_trace(text);
      const Found alone = found(run_replay(*source, scenarios, options));
      for (const int processes : {2, 5, 9}) {
        for (const int told_directly : {1, 8}) {
          INFO(kind << ", seed " << seed << ", " << processes << " processes, " << told_directly);
          const Found together = replay_divided(text, scenarios, options, processes, told_directly);
          REQUIRE_FALSE(together.refused);
          CHECK(together.json == alone.json);
          CHECK(together.csv == alone.csv);
        }
      }
    }
  }
}

TEST_CASE("replays that need one process") {
  // Rank 1 waits for a message that is never sent.
  const std::string hole =
      "0: 0..10 init\n1: 0..10 init\n1: 20..30 recv 0 8B tag=1\n0: 50..60 finalize\n1: "
      "50..60 finalize\n";
  ReplayOptions options;
  const Found found = replay_divided(hole, {parse_scenario("perfect")}, options, 2);
  REQUIRE(found.refused);
  CHECK(*found.refused == OneProcess::kHoles);
}

TEST_CASE("the arrival of a root is sent down a tree among many processes") {
  constexpr int kRanks = 16, kSteps = 40;
  std::string text = "one_clock\n";
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int step = 0; step < kSteps; ++step) {
      text += std::to_string(rank) + ": " + std::to_string(1000 * step + 10) + ".." +
              std::to_string(1000 * step + 500) + " bcast root 0 8B 8B\n";
    }
    text += std::to_string(rank) + ": " + std::to_string(1000 * kSteps) + " end\n";
  }
  // (On a model each process is notified of each member.)
  const std::vector<Scenario> scenarios = {parse_scenario("measured")};
  const auto source = parse_text_trace(text);
  const Found alone = found(run_replay(*source, scenarios, {}));
  const Found direct = replay_divided(text, scenarios, {}, kRanks, kRanks);
  const Found tree = replay_divided(text, scenarios, {}, kRanks, 8);
  CHECK(direct.json == alone.json);
  CHECK(tree.json == alone.json);
  // The root's process notifies 15 others, or the 4 of them at distances 1, 2, 4 and 8. Other
  // messages, of arrived members, wait until a batch is full or the process is idle.
  CHECK(direct.batches >= 15 * kSteps);
  CHECK(tree.batches < direct.batches / 2);
}
