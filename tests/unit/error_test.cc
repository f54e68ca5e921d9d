#include "models/error.h"

#include <catch2/catch.hpp>

TEST_CASE("nearest suggests a typo's original and nothing for a stranger") {
  const std::vector<std::string> keys = {"latency", "bandwidth", "cpu"};
  // "latncy" is one insertion away from "latency".
  CHECK(rubato::nearest("latncy", keys) == "latency");
  CHECK(rubato::did_you_mean("bandwith", keys) == " (did you mean 'bandwidth'?)");
  // Every candidate is more than max(2, length/3) edits away.
  CHECK(rubato::nearest("topology", keys).empty());
}
