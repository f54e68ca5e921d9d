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
  // 7 shapes (not partners, which need a file); of the overlap 1; of the butterfly 3 modes (not
  // persistent), warm and cold; of the other five 4 modes warm and 3 cold (not persistent) = 7
  // each; less the ping-pong that the curve is made of; and the ping-pong of ready sends: 1 + 6 + 5
  // * 7 - 1 + 1 = 42.
  const auto all = parse_patterns("all");
  CHECK(all.size() == 42);
  for (const MessagePattern& pattern : all) {
    CAPTURE(pattern.name());
    const auto again = parse_patterns(pattern.name());
    CHECK(std::find(again.begin(), again.end(), pattern) != again.end());
  }
}

TEST_CASE("patterns of listed partners are all of nonblocking or synchronous calls") {
  std::vector<std::string> names;
  for (const MessagePattern& pattern :
       parse_patterns("partners_synchronous_cold,partners_nonblocking,ring")) {
    names.push_back(pattern.name());
    CHECK(is_of_all_ranks(names.back()));
  }
  // Behind all others: they are not among the patterns without a file.
  CHECK(names ==
        std::vector<std::string>{"ring", "partners_nonblocking", "partners_synchronous_cold"});
  for (const char* name : {"partners", "partners_cold", "partners_persistent", "partners_ready"})
    CHECK_THROWS_AS(parse_patterns(name), UsageError);
}

TEST_CASE("a ring has any distance, which is in its name") {
  const auto patterns = parse_patterns("ring_16,ring_2_nonblocking,ring_4_cold,ring,ring_4,ring_4");
  std::vector<std::string> names;
  for (const MessagePattern& pattern : patterns) names.push_back(pattern.name());
  // By mode, cold ones behind warm ones, then by distance.
  CHECK(names ==
        std::vector<std::string>{"ring", "ring_4", "ring_16", "ring_4_cold", "ring_2_nonblocking"});
  CHECK(parse_patterns("ring_1") == parse_patterns("ring"));
  CHECK(is_of_all_ranks("ring_4_cold"));
  CHECK_FALSE(is_of_all_ranks("ring_4x"));
  // Of ten ranks, 4 further than rank 8 is rank 2, and rank 4 comes before it; a distance of 12 is
  // one of 2.
  const PatternNeighbours far = neighbours_of(PatternShape::kRing, 8, 10, 4);
  CHECK(far.count == 1);
  CHECK(far.to[0] == 2);
  CHECK(far.from[0] == 4);
  CHECK(neighbours_of(PatternShape::kRing, 8, 10, 12).to[0] == 0);
}

TEST_CASE("a butterfly pairs ranks whose numbers differ in one bit") {
  // Of six ranks: 0-1 2-3 4-5; 0-2 1-3, where 4 and 5 lack their partners 6 and 7; 0-4 1-5.
  const int partners[3][6] = {{1, 0, 3, 2, 5, 4}, {2, 3, 0, 1, -1, -1}, {4, 5, -1, -1, 0, 1}};
  for (int step = 0; step < 3; ++step) {
    for (int rank = 0; rank < 6; ++rank) {
      CAPTURE(step, rank);
      const PatternNeighbours pair = neighbours_of(PatternShape::kButterfly, rank, 6, 1 << step);
      CHECK(pair.count == (partners[step][rank] < 0 ? 0 : 1));
      if (pair.count == 0) continue;
      CHECK(pair.to[0] == partners[step][rank]);
      CHECK(pair.from[0] == partners[step][rank]);
    }
  }
}

TEST_CASE("patterns that do not exist are refused by name") {
  for (const char* list : {"rign", "pingpong", "halo_persistent_cold", "ring_ready",
                           "pingpong_ready_cold", "", "ring,,halo", "ring_0", "ring_-1", "ring_4x",
                           "ring_2_3", "ring_99999999999", "halo_2", "butterfly_persistent"}) {
    CAPTURE(list);
    CHECK_THROWS_AS(parse_patterns(list), UsageError);
  }
  CHECK_THROWS_WITH(parse_patterns("rign"), Catch::Contains("did you mean 'ring'"));
}
