#include "models/base/error.h"

#include <catch2/catch.hpp>

TEST_CASE("nearest corrects a typo and suggests nothing for other words") {
  const std::vector<std::string> keys = {"latency", "bandwidth", "cpu"};
  // "latncy" is one insertion away from "latency".
  CHECK(rubato::nearest("latncy", keys) == "latency");
  CHECK(rubato::did_you_mean("bandwith", keys) == " (did you mean 'bandwidth'?)");
  // Three other letters, but the same name.
  CHECK(rubato::nearest("infiniband-HDR", {"infiniband-edr", "infiniband-hdr"}) ==
        "infiniband-hdr");
  // Every candidate is more than max(2, length/3) edits away.
  CHECK(rubato::nearest("topology", keys).empty());
}

TEST_CASE("the beginning of a longer name suggests all that begin so") {
  // "-hdr" is four letters more, one beyond max(2, 10 / 3).
  const std::vector<std::string> names = {"bandela", "infiniband-edr", "infiniband-hdr"};
  CHECK(rubato::did_you_mean("infiniband", names) ==
        " (did you mean one of 'infiniband-edr', 'infiniband-hdr'?)");
  // A command and a topic may share a name.
  CHECK(rubato::did_you_mean("platform", {"platforms", "units", "platforms"}) ==
        " (did you mean 'platforms'?)");
  CHECK(rubato::did_you_mean("ban", names) == " (did you mean 'bandela'?)");
  CHECK(rubato::did_you_mean("ba", names).empty());
  // "--raw" is two letters off, "--launches" begins so.
  CHECK(rubato::did_you_mean("--lau", {"--raw", "--launches"}) == " (did you mean '--launches'?)");
  CHECK(rubato::did_you_mean("", names).empty());
}
