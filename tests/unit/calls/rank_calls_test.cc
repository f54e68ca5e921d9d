// Which records of a rank's threads come first.

#include "replay/calls/rank_calls.h"

#include <catch2/catch.hpp>

#include "tests/unit/stored_calls.h"

using namespace rubato;

namespace {

/// The actions of one of three threads, which completes, at `completed`, a receive posted by
/// another one at `posted`. All of them have records at 1, 2, ..., 20.
ActionKind found_completion(int poster, double posted, int completer, double completed) {
  TraceDefinitions trace = four_ranks_with({});
  trace.make_timelines(
      {{.id = 10, .rank = 0, .thread = true}, {.id = 11, .rank = 0, .thread = true}});
  RankCalls calls(trace, trace.timelines_of(0));
  REQUIRE(calls.threads() == 3);
  const uint64_t request = 7;
  for (int thread = 0; thread < 3; ++thread) {
    uint64_t event = 0;
    for (double time = 1; time <= 20; ++time) {
      calls.record(thread, ++event, time, &CallBuilder::other);
      if (thread == poster && time == posted)
        calls.record(thread, ++event, time, &CallBuilder::irecv_request, request, uint8_t{0});
      if (thread == completer && time == completed)
        calls.record(thread, ++event, time, &CallBuilder::irecv, 0u, 1, 5u, uint64_t{8}, request);
    }
    CHECK(calls.missing() == (thread < 2 ? thread + 1 : -1));
    calls.end(thread);
  }
  for (Block block; calls.take(completer, block);) {
    if (!block.actions.empty()) return block.actions[0].kind;
  }
  return ActionKind::kNone;
}

}  // namespace

TEST_CASE("records of threads come in the order of time, at the same time by thread") {
  // A completion whose post came before it waits for that; else it is a receive of its own.
  for (int poster = 0; poster < 3; ++poster) {
    for (int completer = 0; completer < 3; ++completer) {
      if (poster == completer) continue;
      CAPTURE(poster, completer);
      CHECK(found_completion(poster, 10, completer, 11) == ActionKind::kWaitReceive);
      CHECK(found_completion(poster, 11, completer, 10) == ActionKind::kPost);
      CHECK(found_completion(poster, 10, completer, 10) ==
            (poster < completer ? ActionKind::kWaitReceive : ActionKind::kPost));
    }
  }
}
