// A table of costs: what is known stays known while it is asked for, and references hold.

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
// 0 in the old half. It is there, at its place; what is asked for after that comes beside it.
TEST_CASE("a reference holds while a half of the table is filled") {
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

// Two halves later nobody has asked for key 0: it is worked out anew.
TEST_CASE("costs that nobody asks for go") {
  constexpr int kHalf = static_cast<int>(Table::kHalf);
  Table table;
  table.find(0);
  for (int key = 1; key <= 2 * kHalf; ++key) table.find(key);
  CHECK(table.find(0).second);
}

// Key 0 is asked for behind each of the others, so that it is among the recent ones all the time;
// it goes along from half to half.
TEST_CASE("a cost that is asked for all the time stays") {
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
