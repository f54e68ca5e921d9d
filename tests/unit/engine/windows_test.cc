#include "replay/matching/windows.h"

#include <catch2/catch.hpp>

using namespace rubato;

namespace windows_test {
namespace {

Action start_towards(int target) {
  Action action;
  action.kind = ActionKind::kEpoch;
  action.epoch.peer = target;
  action.epoch.step = EpochStep::kStart;
  return action;
}

/// An operation of rank 0 that leaves at `left`.
void begin(Windows<1>& windows, int target, uint32_t slot, double left) {
  OneSided<1>& operation = windows.operation(0, slot);
  operation.target = target;
  operation.left.time[0] = left;
  windows.begin(0, 0, target, slot);
}

}  // namespace

TEST_CASE("the end of an epoch starts the operations that were begun in it and are not complete") {
  Windows<1> windows;
  // Slot 1 is complete before the end, and then that of an operation towards another target. Slot 2
  // has operations before and after others, slot 3 ones before the epoch.
  begin(windows, 1, 3, 10);
  const Action start = start_towards(1);
  windows.start(start, 0, windows.arrive(start, 0));
  begin(windows, 1, 1, 10);
  begin(windows, 1, 2, 10);
  begin(windows, 1, 4, 10);
  begin(windows, 1, 2, 20);
  windows.forget(0, 0, 1);
  CHECK(windows.find(0, 1) == nullptr);
  begin(windows, 2, 1, 10);
  Dated<1> ready;
  ready.time[0] = 100;
  windows.end_epoch(windows.pair(0, 0, 1), 0, ready);
  CHECK(windows.find(0, 1)->left.time[0] == 10);
  CHECK(windows.find(0, 2)->left.time[0] == 100);
  CHECK(windows.find(0, 3)->left.time[0] == 10);
  CHECK(windows.find(0, 4)->left.time[0] == 100);
  // Nothing is left to start.
  ready.time[0] = 200;
  windows.end_epoch(windows.pair(0, 0, 1), 0, ready);
  CHECK(windows.find(0, 2)->left.time[0] == 100);
}

}  // namespace windows_test
