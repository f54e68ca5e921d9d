#include "models/base/partial_array.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <memory>

using namespace rubato;

namespace {

/// Bytes of this process that are in memory.
size_t resident() {
  size_t all = 0, here = 0;
  std::ifstream("/proc/self/statm") >> all >> here;
  return here * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("elements of a partial array are created on access, and destroyed once") {
  const auto shared = std::make_shared<int>(7);
  {
    PartialArray<std::shared_ptr<int>> array(10);
    CHECK(array.size() == 10);
    CHECK(array.made().empty());
    array.make(3, 5);
    array.make(5, 6);  // goes on
    array.make(8, 9);
    array.make(9, 9);  // nothing
    REQUIRE(array.made().size() == 2);
    CHECK(array.made()[0].first == 3);
    CHECK(array.made()[0].end == 6);
    CHECK(array.made()[1].first == 8);
    CHECK(array.made()[1].end == 9);
    for (const int i : {3, 4, 5, 8}) {
      CHECK(array[i] == nullptr);
      array[i] = shared;
    }
    CHECK(shared.use_count() == 1 + 4);
  }
  CHECK(shared.use_count() == 1);
  CHECK(PartialArray<int>(0).size() == 0);
}

// 2^26 elements of 64 bytes are 4 GiB; 4096 elements are 256 KiB.
TEST_CASE("what was not made takes no memory") {
  struct Line {
    uint64_t words[8] = {1};
  };
  const size_t before = resident();
  PartialArray<Line> array(size_t{1} << 26);
  array.make(size_t{1} << 25, (size_t{1} << 25) + 4096);
  CHECK(array[(size_t{1} << 25) + 4095].words[0] == 1);
  CHECK(resident() >= before + 4096 * sizeof(Line));
  CHECK(resident() < before + 4096 * sizeof(Line) + (4 << 20));
}
