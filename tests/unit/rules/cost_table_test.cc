// A table of costs: costs in use are kept, and references stay valid.

#include "replay/rules/cost_table.h"

#include <catch2/catch.hpp>

using rubato::CostTable;

using Table = CostTable<int, int>;

TEST_CASE("a cost is worked out once") {
  Table table;
  const auto [cost, is_new] = table.find(7);
  CHECK(is_new);
  *cost = 70;
  const auto [again, is_new_again] = table.find(7);
  CHECK(again == cost);
  CHECK_FALSE(is_new_again);
}

// Key 0, then kHalf - 1 others: the young half is full. The next kHalf fill it once more, with key
// 0 in the old half. It is still at its place; costs used later are added.
TEST_CASE("a reference is valid while half of the table is filled") {
  constexpr int kHalf = static_cast<int>(Table::kHalf);
  Table table;
  int* const first = table.find(0).first;
  *first = 42;
  for (int key = 1; key < 2 * kHalf; ++key) *table.find(key).first = key;
  CHECK(*first == 42);
  const auto [found, is_new] = table.find(0);
  CHECK(found == first);
  CHECK_FALSE(is_new);
}

// Key 0 was not used for two halves: it is computed again.
TEST_CASE("unused costs are dropped") {
  constexpr int kHalf = static_cast<int>(Table::kHalf);
  Table table;
  table.find(0);
  for (int key = 1; key <= 2 * kHalf; ++key) table.find(key);
  CHECK(table.find(0).second);
}

// Key 0 is used after each of the others, so that it is always recent; it is carried from half to
// half.
TEST_CASE("a cost in constant use is kept") {
  constexpr int kHalf = static_cast<int>(Table::kHalf);
  Table table;
  int* const first = table.find(0).first;
  *first = 42;
  for (int key = 1; key <= 4 * kHalf; ++key) {
    *table.find(key).first = key;
    const auto [found, is_new] = table.find(0);
    REQUIRE_FALSE(is_new);
    REQUIRE(found == first);
    REQUIRE(*found == 42);
  }
}
