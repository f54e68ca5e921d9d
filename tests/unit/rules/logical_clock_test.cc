// The logical clock on small recordings whose clocks disagree, worked out by hand. floor is the
// least that a call of the same name takes in the text.

#include "replay/rules/recorded/logical_clock.h"

#include <catch2/catch.hpp>

#include "replay/engine/replay.h"
#include "replay/rules/recorded/clock_repair.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/recorded_minima.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

using Times = std::vector<std::pair<double, double>>;

struct Read {
  std::vector<Times> calls;  ///< enter and leave, by rank; the first is where its clock starts
  std::vector<std::vector<double>> records;
  ClockViolations violations;

  explicit Read(EventSource& source) : calls(source.definitions().ranks()), records(calls.size()) {
    source.keep_records(true);
    source.rewind();
    for (int rank = 0; rank < source.definitions().ranks(); ++rank) {
      for (Block block; source.read(rank, block);) {
        for (const Call& call : block.calls) calls[rank].push_back({call.enter, call.leave});
        for (const Record& record : block.records) records[rank].push_back(record.time);
      }
    }
  }
};

struct Repaired {
  Read before, after;
  double largest;
};

/// Reads a text before and after repair. Whatever it holds: nothing comes before its cause
/// afterwards, no call moves to an earlier time, and compute keeps its length to the tick.
Repaired repaired(const std::string& text) {
  const auto source = parse_text_trace(text);
  const Placement placement(source->definitions().node_of_rank);
  const EagerLimits limits;
  ReplayOutcome before;
  const RecordedMinima minima = minima_of(*source, placement, limits, nullptr, &before);
  ClockShifts shifts(source->definitions().timelines());
  LogicalClockRules rules(minima, placement, limits, false);
  replay_calls(*source, rules, {.observers = {&shifts}});
  ShiftedSource shifted(*source, shifts);
  ReplayOutcome after;
  minima_of(shifted, placement, limits, nullptr, &after);
  Repaired result{Read(*source), Read(shifted), shifts.largest()};
  result.before.violations = before.clock_violations;
  result.after.violations = after.clock_violations;
  CHECK(result.after.violations.total() == 0);
  for (size_t rank = 0; rank < result.before.calls.size(); ++rank) {
    const Times& was = result.before.calls[rank];
    const Times& is = result.after.calls[rank];
    REQUIRE(is.size() == was.size());
    for (size_t i = 0; i < is.size(); ++i) {
      INFO("rank " << rank << ", call " << i);
      CHECK(is[i].first >= was[i].first);
      CHECK(is[i].second >= was[i].second);
      if (i > 0) CHECK(is[i].first - is[i - 1].second == was[i].first - was[i - 1].second);
    }
  }
  ReplayOptions options;
  options.verify = true;
  const Results results =
      run_replay(*source, {parse_scenario("measured"), parse_scenario("perfect")}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.clock_violations.total() == result.before.violations.total());
  CHECK(results.trace.clock_repair.has_value() == (result.before.violations.total() > 0));
  CHECK(results.scenarios[1].elapsed <= results.scenarios[0].elapsed);
  return result;
}

}  // namespace

TEST_CASE("logical clock: no violations, no shifts") {
  const Repaired result = repaired(R"(
    0: 100..110 send 1 8B
    0: 300..400 barrier
    1: 50..100 recv 0 8B      # to the tick: no violation
    1: 300..400 barrier
  )");
  CHECK(result.before.violations.total() == 0);
  CHECK(result.after.calls == result.before.calls);
  CHECK(result.after.records == result.before.records);
  CHECK(result.largest == 0);
}

// The receive ends 300 before its send begins. It ends at 1000, and what comes after it, 200 of
// compute, 50 of a local call and 150 of compute, follows.
TEST_CASE("logical clock: a message from a clock that is ahead") {
  const Repaired result = repaired(R"(
    0: 1000..1010 send 1 8B
    0: 2000 end
    1: 500..700 recv 0 8B
    1: 900..950 local MPI_Comm_rank
    1: 1100 end
  )");
  CHECK(result.before.violations.messages == 1);
  CHECK(result.before.violations.collectives == 0);
  CHECK(result.before.violations.first == "rank 1, event 1 (MPI_Recv)");
  CHECK(result.after.calls[0] == result.before.calls[0]);
  CHECK(result.after.calls[1] == Times{{500, 500}, {500, 1000}, {1200, 1250}, {1400, 1400}});
  // Enter; receive and leave; enter and leave; the end.
  CHECK(result.after.records[1] == std::vector<double>{500, 1000, 1000, 1200, 1250, 1400});
  CHECK(result.largest == 300);
}

// Rank 2's receive is in order as recorded (sent at 800, there at 900), but its sender moves: rank
// 1 from 700 to 1000, so its send from 800 to 1100.
TEST_CASE("logical clock: a shift propagates from rank to rank") {
  const Repaired result = repaired(R"(
    0: 1000..1010 send 1 8B
    1: 500..700 recv 0 8B
    1: 800..810 send 2 8B
    2: 600..900 recv 1 8B
    2: 950 end
  )");
  CHECK(result.before.violations.messages == 1);
  CHECK(result.after.calls[1] == Times{{500, 500}, {500, 1000}, {1100, 1110}, {1110, 1110}});
  CHECK(result.after.calls[2] == Times{{600, 600}, {600, 1100}, {1150, 1150}});
}

// Rank 1 is 300 late after its first receive. Its second one took 100; the minimum of a receive is
// 20 (the first one of rank 2), so it absorbs 80, and 220 are left. The barrier took 1000; the
// minimum is 40 (rank 0's), so it absorbs the rest.
TEST_CASE("logical clock: waiting takes a shift up") {
  const Repaired result = repaired(R"(
    0: 1000..1010 send 1 8B
    0: 2000..2010 send 1 8B
    0: 2100..2110 send 2 8B
    0: 5960..6000 barrier
    1: 500..700 recv 0 8B
    1: 3000..3100 recv 0 8B
    1: 5000..6000 barrier
    1: 6500 end
    2: 4000..4020 recv 0 8B
    2: 5000..6000 barrier
  )");
  CHECK(result.after.calls[1] ==
        Times{{500, 500}, {500, 1000}, {3300, 3320}, {5220, 6000}, {6500, 6500}});
  CHECK(result.after.calls[0] == result.before.calls[0]);
  CHECK(result.after.calls[2] == result.before.calls[2]);
  CHECK(result.largest == 300);
}

// Each by its own rule: a barrier waits for the last, a broadcast for the root, a reduction's root
// for the last, a scan's rank for those before it.
TEST_CASE("logical clock: collectives") {
  const Repaired result = repaired(R"(
    0: 100..200 barrier                  # left before rank 2 came: 300
    0: 1000..1010 bcast root 1 8B 8B     # left before the root came: 1200
    0: 2000..2010 reduce root 0 8B 8B    # left before rank 2 came: 2600
    0: 3000..3010 scan 8B 8B
    1: 150..310 barrier
    1: 1200..1210 bcast root 1 8B 8B
    1: 2000..2010 reduce root 0 8B 8B
    1: 3700..3710 scan 8B 8B
    2: 300..310 barrier
    2: 1000..1300 bcast root 1 8B 8B
    2: 2600..2610 reduce root 0 8B 8B
    2: 3400..3450 scan 8B 8B             # left before rank 1 came: 3700
  )");
  CHECK(result.before.violations.messages == 0);
  CHECK(result.before.violations.collectives == 4);
  // Rank 0 is 100 late after the barrier, 190 after the broadcast, 590 after the reduction; the
  // first rank of a scan does not wait.
  CHECK(result.after.calls[0] ==
        Times{{100, 100}, {100, 300}, {1100, 1200}, {2190, 2600}, {3590, 3600}, {3600, 3600}});
  CHECK(result.after.calls[1] == result.before.calls[1]);
  CHECK(result.after.calls[2] ==
        Times{{300, 300}, {300, 310}, {1000, 1300}, {2600, 2610}, {3400, 3700}, {3700, 3700}});
}

// A synchronous send waits for the post, at 500. The plain send may have been eager.
TEST_CASE("logical clock: sends") {
  const Repaired result = repaired(R"(
    0: 100..200 ssend 1 8B
    0: 210..220 send 1 8B
    1: 500..510 recv 0 8B
    1: 600..610 recv 0 8B
  )");
  CHECK(result.before.violations.messages == 1);
  CHECK(result.after.calls[0] == Times{{100, 100}, {100, 500}, {510, 520}, {520, 520}});
}

// Both clocks were right, one second apart: what crosses them is moved by a second, in one
// direction.
TEST_CASE("logical clock: unsynchronised clocks are reported") {
  const auto source = parse_text_trace(R"(
    0: 1000000000..1000000010 send 1 8B
    0: 1000000100..1000000300 recv 1 8B
    1: 0..200 recv 0 8B
    1: 210..220 send 0 8B
  )");
  const Results results = run_replay(*source, {}, {});
  CHECK(results.trace.clock_violations.messages == 1);
  REQUIRE(results.trace.clock_repair);
  CHECK(results.trace.clock_repair->after.total() == 0);
  CHECK(results.trace.clock_repair->ranks == 1);
  // The receive ends at 1e9 instead of at 200.
  CHECK(results.trace.clock_repair->largest_shift == Approx((1e9 - 200) * 1e-9).epsilon(1e-15));
  REQUIRE(warnings_about(results.trace).size() == 1);
  CHECK(warnings_about(results.trace)[0].find("not synchronised") != std::string::npos);

  ReplayOptions as_read;
  as_read.repair = false;
  const Results raw = run_replay(*source, {}, as_read);
  CHECK(raw.trace.clock_violations.messages == 1);
  CHECK_FALSE(raw.trace.clock_repair);
  CHECK(warnings_about(raw.trace).empty());
}

// A location beside the main thread, which moves by nothing up to 500, by 300 from 700 on and
// evenly more in between.
TEST_CASE("logical clock: side locations move with their rank") {
  class Side : public EventSource {
   public:
    const TraceDefinitions& definitions() const override { return trace_; }
    bool read(int, Block&) override { return false; }
    void rewind() override {}
    void keep_records(bool) override {}
    std::vector<double> side_records(const SideLocation&) override {
      return {400, 500, 600, 700, 800};
    }
    Counts counts() const override { return {}; }

   private:
    TraceDefinitions trace_;
  } source;
  ClockShifts shifts(1);
  Call call;
  call.enter = 500;
  call.leave = 700;
  const auto at = [](double time) { return Lanes<1>(time); };
  shifts.call(0, call, {}, at(0), 0, at(500), at(1000));
  ShiftedSource shifted(source, shifts);
  CHECK(shifted.side_records({}) == std::vector<double>{400, 500, 750, 1000, 1100});
}
