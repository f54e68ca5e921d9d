// When the ranks of hand-made traces end.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

using Ends = std::vector<double>;

/// When each rank ends, in ns; there must be no deadlock.
inline Ends ends_of(const ScenarioResult& result) {
  INFO(result.deadlock);
  REQUIRE(result.deadlock.empty());
  Ends ns;
  for (const RankResult& rank : result.ranks) ns.push_back(rank.end * 1e9);
  return ns;
}

/// Approximately equal, because seconds are ticks divided by 1e9.
inline void check(const Ends& got, const Ends& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("rank " << i);
    CHECK(got[i] == Approx(expected[i]).margin(1e-3));
  }
}

inline void check_ends(const ScenarioResult& result, const Ends& expected) {
  check(ends_of(result), expected);
}

}  // namespace rubato
