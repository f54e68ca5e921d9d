// The function in which a rank computes longer than the mean, by inclusive time.

#include "replay/judge/blame.h"

#include <catch2/catch.hpp>

using namespace rubato;

namespace {

constexpr size_t kNone = CallPath::kNone;

/// Functions f0, f1, ... with these call paths (caller, function, seconds on ranks 0 and 1).
Results with_paths(const std::vector<CallPath>& paths) {
  Results results;
  for (const CallPath& path : paths) {
    while (results.functions.size() <= path.function) {
      const std::string name = "f" + std::to_string(results.functions.size());
      results.functions.push_back({name, name, {0, 0}, {0, 0}, 1});
    }
    FunctionResult& function = results.functions[path.function];
    for (size_t rank = 0; rank < 2; ++rank) {
      function.compute[rank] += path.inclusive[rank];
      function.inclusive[rank] += path.inclusive[rank];
      if (path.caller != kNone)
        results.functions[paths[path.caller].function].compute[rank] -= path.inclusive[rank];
    }
  }
  results.call_paths = paths;
  return results;
}

std::string blamed(const Results& results, double excess) {
  const auto found = blame(results, 1, excess);
  return found ? found->call_path() : "";
}

}  // namespace

// Rank 1 computes 100 more than rank 0 in f1 > f2, 50 more than the mean. f2 is called by f3 as
// well, for much longer, but equally long on both ranks.
TEST_CASE("the call path that differs is blamed, not the one that takes longest") {
  const Results results = with_paths({{kNone, 0, {520, 620}},
                                      {0, 1, {11, 111}},
                                      {1, 2, {1, 101}},
                                      {0, 3, {505, 505}},
                                      {3, 2, {500, 500}}});
  CHECK(blamed(results, 50) == "f0 > f1 > f2");
  CHECK(blame(results, 1, 50)->excess == 50);
  CHECK(blame(results, 1, 50)->callers.size() == 2);
  CHECK(blamed(results, 101) == "");  // most of it is elsewhere
  CHECK(blamed(results, 0) == "");
}

// f1 has 60 of the 100 itself, f2 and f3 have 20 each.
TEST_CASE("the deepest function with most of the excess is blamed") {
  const std::vector<CallPath> paths = {
      {kNone, 0, {10, 210}}, {0, 1, {10, 210}}, {1, 2, {5, 45}}, {1, 3, {5, 45}}};
  CHECK(blamed(with_paths(paths), 100) == "f0 > f1");
  // Of the 100, 90 in f2 and f3: still f1, which calls both.
  CHECK(blamed(with_paths(
                   {{kNone, 0, {10, 210}}, {0, 1, {10, 210}}, {1, 2, {5, 95}}, {1, 3, {5, 95}}}),
               100) == "f0 > f1");
}

// f3 has 45 of the 100 on each of two paths.
TEST_CASE("a function with most of the excess on several call paths is blamed") {
  const Results results = with_paths({{kNone, 0, {10, 210}},
                                      {0, 1, {5, 100}},
                                      {0, 2, {5, 100}},
                                      {1, 3, {1, 91}},
                                      {2, 3, {1, 91}}});
  CHECK(blamed(results, 100) == "... > f3");
  CHECK(blame(results, 1, 100)->excess == 90);
}

TEST_CASE("that the outermost function takes longer says nothing") {
  CHECK(
      blamed(with_paths({{kNone, 0, {10, 210}}, {0, 1, {5, 75}}, {0, 2, {5, 75}}, {0, 3, {0, 60}}}),
             100) == "");
  CHECK(blamed(with_paths({{kNone, 0, {10, 210}}}), 100) == "f0");  // it has no callees
}
