#include "calibrate/plan/collective_plan.h"

#include <catch2/catch.hpp>

using namespace rubato;

TEST_CASE("the measured numbers of processes distinguish log p from p") {
  CHECK(process_counts(1).empty());
  CHECK(process_counts(2) == std::vector<int>{2});
  CHECK(process_counts(3) == std::vector<int>{2, 3});
  CHECK(process_counts(4) == std::vector<int>{2, 3, 4});
  CHECK(process_counts(7) == std::vector<int>{2, 3, 4, 6, 7});
  CHECK(process_counts(16) == std::vector<int>{2, 3, 4, 6, 8, 12, 16});
}

TEST_CASE("payloads are whole doubles, and at most the requested size") {
  CHECK(collective_lengths(1 << 20, true) == std::vector<size_t>{8, 64, 512, 4096, 32768, 262144});
  CHECK(collective_lengths(1024, false) == std::vector<size_t>{8, 32, 128, 512});
  CHECK(collective_lengths(1 << 30, false).back() == 1 << 19);
}

TEST_CASE("small communicators reach across nodes") {
  CHECK(across_nodes({0, 0, 2, 2}) == std::vector<int>{0, 2, 1, 3});
  CHECK(across_nodes({0, 0, 0, 3}) == std::vector<int>{0, 3, 1, 2});
  CHECK(across_nodes({0, 0, 0}) == std::vector<int>{0, 1, 2});
}

TEST_CASE("the size from which members synchronise") {
  const auto from = [](size_t limit) { return [limit](size_t bytes) { return bytes >= limit; }; };
  CHECK(find_held_from(from(1000), 1, 1 << 20) == 1000u);
  CHECK(find_held_from(from(1024), 1, 1 << 20) == 1024u);
  CHECK(find_held_from(from(1025), 1, 1 << 20) == 1025u);
  CHECK(find_held_from(from(1000), 8, 1 << 20) == 1000u);
  CHECK(find_held_from(from(0), 1, 1 << 20) == 0u);
  CHECK(!find_held_from(from(2 << 20), 1, 1 << 20));
  // Held at 4 and 8 KiB, then by another algorithm not, then from 100000 on.
  const auto twice = [](size_t bytes) {
    return (bytes >= 4096 && bytes <= 8192) || bytes >= 100000;
  };
  CHECK(find_held_from(twice, 1, 1 << 20) == 100000u);
}
