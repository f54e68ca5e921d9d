// Time lost by threads between two times: replay/rules/recorded/recorded_losses.h.

#include "replay/rules/recorded/recorded_losses.h"

#include <catch2/catch.hpp>

using namespace rubato;

TEST_CASE("the loss of a call is at its end, and counts once") {
  RecordedLosses losses;
  CHECK(losses.empty());
  losses.add_call(1, 600, {20, 80});  // from 500 to 600: a fifth of it a flush
  CHECK_FALSE(losses.empty());
  CHECK(losses.between(1, 0, 500).stolen == 0);
  CHECK(losses.between(1, 0, 550).stolen == Approx(40));
  CHECK(losses.between(1, 550, 1000).stolen == Approx(40));
  CHECK(losses.between(1, 550, 1000).flushing == Approx(10));
  for (const int other : {0, 2}) CHECK(losses.between(other, 0, 1000).stolen == 0);
}

TEST_CASE("the loss of a gap is spread over it, up to the next call") {
  RecordedLosses losses;
  losses.add_gap(0, 100, 140);
  losses.next_call(0, 180);  // 40 of 80
  losses.next_call(0, 1000);
  losses.add_call(0, 1010, {0, 10});
  CHECK(losses.between(0, 100, 150).stolen == Approx(25));
  CHECK(losses.between(0, 180, 1000).stolen == 0);
  CHECK(losses.between(0, 160, 1005).stolen == Approx(10 + 5));
  // A gap of no length hides nothing behind it.
  losses.add_gap(1, 50, 50);
  losses.add_call(1, 100, {0, 10});
  CHECK(losses.between(1, 0, 200).stolen == Approx(10));
}
