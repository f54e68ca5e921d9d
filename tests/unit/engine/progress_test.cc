#include <catch2/catch.hpp>

#include "tools/cli/replay_notices.h"
#include "tools/format/numbers.h"

using namespace rubato;

TEST_CASE("progress has a rate and the time left once they are known") {
  CHECK(progress_text("replaying", 0.126, 0.9) == "replaying:  12 %");
  CHECK(progress_text("replaying", 0.005, 60) == "replaying:   0 %");
  // 20 % in 8 s: 2.5 % a second, and 80 % more take 32 s.
  CHECK(progress_text("replaying", 0.2, 8) == "replaying:  20 %, 2.5 %/s, about 32 s left");
  // 25 % in 100 s: 75 % more take 300 s.
  CHECK(progress_text("trying", 0.25, 100) == "trying:  25 %, 0.25 %/s, about 5 min left");
}

TEST_CASE("rough times") {
  CHECK(rough_time(89) == "89 s");
  CHECK(rough_time(120) == "2 min");
  CHECK(rough_time(9000) == "2.5 h");
}
