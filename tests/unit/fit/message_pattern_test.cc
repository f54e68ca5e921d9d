#include "models/fit/message_pattern.h"

#include <catch2/catch.hpp>

#include "models/base/error.h"

using namespace rubato;

TEST_CASE("patterns are chosen by their names") {
  const auto patterns = parse_patterns("ring,pingpong_synchronous_cold,halo_nonblocking,ring");
  REQUIRE(patterns.size() == 3);  // each once, ping-pongs first
  CHECK(patterns[0] == MessagePattern{PatternShape::kPingPong, PatternMode::kSynchronous, true});
  CHECK(patterns[1] == MessagePattern{PatternShape::kRing, PatternMode::kBlocking, false});
  CHECK(patterns[2] == MessagePattern{PatternShape::kHalo, PatternMode::kNonblocking, false});
  CHECK(patterns[0].between_two());
  CHECK(!patterns[1].between_two());
  CHECK(parse_patterns("none").empty());
  CHECK(parse_patterns("default").size() == 11);
  // The overlap is compared with an exchange without computing.
  CHECK(parse_patterns("overlap").front().name() == "headtohead_nonblocking");
}

TEST_CASE("all patterns: shapes by modes by caches, without impossible ones") {
  // 6 shapes; of the overlap 1; of the other five 4 modes warm and 3 cold (not persistent) = 7
  // each; less the ping-pong that the curve is made of; and the ping-pong of ready sends:
  // 1 + 5 * 7 - 1 + 1 = 36.
  const auto all = parse_patterns("all");
  CHECK(all.size() == 36);
  for (const MessagePattern& pattern : all) {
    CAPTURE(pattern.name());
    const auto again = parse_patterns(pattern.name());
    CHECK(std::find(again.begin(), again.end(), pattern) != again.end());
  }
}

TEST_CASE("patterns that do not exist are refused by name") {
  for (const char* list : {"rign", "pingpong", "halo_persistent_cold", "ring_ready",
                           "pingpong_ready_cold", "", "ring,,halo"}) {
    CAPTURE(list);
    CHECK_THROWS_AS(parse_patterns(list), UsageError);
  }
  CHECK_THROWS_WITH(parse_patterns("rign"), Catch::Contains("did you mean 'ring'"));
}
