// The bounds of share/doc/calibrating.md, "Memory".
#include "calibrate/clock/message_memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace rubato;

namespace {

constexpr size_t kMiB = 1 << 20;

}  // namespace

TEST_CASE("concurrent messages share the memory of the longest, or 16 MiB") {
  CHECK(message_buffer(1024 * kMiB, 16) == 1024 * kMiB);
  CHECK(message_buffer(4 * kMiB, 4) == 16 * kMiB);
  CHECK(message_buffer(4 * kMiB, 16) == kForSeveral);
  CHECK(message_buffer(1000, 4) == 4096);  // lines of 64 bytes: 1024 each
  CHECK(message_buffer(0, 1) == 64);
  CHECK(message_buffer(4 * kMiB, 4, 256 * kMiB) == 256 * kMiB);

  CHECK(longest_at_once(1024 * kMiB, 1024 * kMiB, 1) == 1024 * kMiB);
  CHECK(longest_at_once(1024 * kMiB, 1024 * kMiB, 4) == 256 * kMiB);
  CHECK(longest_at_once(16 * kMiB, 4 * kMiB, 4) == 4 * kMiB);
  CHECK(longest_at_once(16 * kMiB, 12 * kMiB, 2) == 8 * kMiB);
  CHECK(longest_at_once(4096, 1000, 4) == 1000);
  // Whatever the length: that many messages, each aligned to a cache line, fit into the memory.
  for (const size_t most : {size_t{1}, size_t{65}, 3 * kMiB + 1, 17 * kMiB + 3, 100 * kMiB}) {
    for (const int at_once : {1, 2, 4, 16}) {
      const size_t buffer = message_buffer(most, at_once);
      const size_t longest = longest_at_once(buffer, most, at_once);
      CHECK((longest + 63) / 64 * 64 * static_cast<size_t>(at_once) <= buffer);
      CHECK(longest > 0);
    }
  }
}

TEST_CASE("a rank has memory for the largest of what it does") {
  // Two buffers of 16 MiB, of the longest message or of what cold patterns walk through; two arrays
  // to copy between; or those of a collective.
  CHECK(memory_of_rank({4 * kMiB}) == 32 * kMiB);
  CHECK(memory_of_rank({1024 * kMiB}) == 2048 * kMiB);
  CHECK(memory_of_rank({kMiB}) == 16 * kMiB);  // eight of them, twice
  CHECK(memory_of_rank({4 * kMiB, 64 * kMiB}) == 128 * kMiB);
  CHECK(memory_of_rank({4 * kMiB, 0, 48 * kMiB}) == 96 * kMiB);
  CHECK(memory_of_rank({4 * kMiB, 0, 0, 64 * kMiB}) == 64 * kMiB);
  CHECK(memory_of_rank({4 * kMiB, 0, 0, 20 * kMiB}) == 32 * kMiB);
}

TEST_CASE("what does not fit is one line with the node and the numbers") {
  constexpr unsigned long long kGiB = 1ull << 30;
  CHECK(NodeMemory{4, 2 * kGiB, 8 * kGiB, 8 * kGiB}.is_enough());
  CHECK(!NodeMemory{4, 2 * kGiB, 8 * kGiB, 8 * kGiB - 1}.is_enough());
  CHECK(complain_of_memory({4, 2 * kGiB, 8 * kGiB, 25 * kGiB / 4}, kGiB, "anna") ==
        "messages of 1GiB need 8GiB on anna (4 ranks, up to 2GiB each), where 6.25GiB are left; "
        "choose a smaller max_size (--plan), or fewer ranks");
}

TEST_CASE("a cold walk continues from loop to loop and reaches all of the memory") {
  // 64 KiB, in loops of 5 steps of some length: none of them alone gets through. A step of 8 bytes
  // takes a line of 64; one of three messages of 192 bytes takes 576; those of 10000 do not divide
  // the whole, so up to one of them is left over at the end.
  constexpr size_t kWhole = 65536;
  for (const size_t used : {size_t{0}, size_t{8}, size_t{3 * 192}, size_t{10000}}) {
    CAPTURE(used);
    const size_t lines = used ? (used + 63) / 64 : 1;
    const size_t steps = kWhole / 64 / lines;  // that one pass has
    MemoryWalk walk(kWhole);
    std::vector<size_t> last(kWhole / 64, 0);  // the step, from 1, in which a line was used
    size_t step = 0;
    size_t too_early = 0;
    for (size_t loop = 0; loop * 5 < 3 * steps; ++loop) {
      for (int i = 0; i < 5; ++i) {
        ++step;
        const size_t place = walk.next(used);
        REQUIRE(place % 64 == 0);
        REQUIRE(place + lines * 64 <= kWhole);
        for (size_t line = place / 64; line < place / 64 + lines; ++line) {
          // Never before, or a whole pass ago.
          if (last[line] != 0 && step - last[line] != steps) ++too_early;
          last[line] = step;
        }
      }
    }
    CHECK(too_early == 0);
    const auto missed = std::count(last.begin(), last.end(), size_t{0});
    CHECK(static_cast<size_t>(missed) < lines);
  }
}

TEST_CASE("a cold walk of changing lengths never leaves its memory, nor returns too early") {
  // Lengths in random order, as a sweep has them. Between two uses of a line lies all of the memory
  // but what is left over at the end and a part of the two steps, each less than the longest one.
  constexpr size_t kWhole = kMiB, kLongest = 65536;
  MemoryWalk walk(kWhole);
  std::mt19937 random(3);
  std::vector<size_t> last(kWhole / 64, 0);  // bytes passed when a line was used
  size_t passed = 64;
  size_t least = kWhole;
  for (int i = 0; i < 5000; ++i) {
    const size_t used = random() % (kLongest + 1);
    const size_t place = walk.next(used);
    REQUIRE(place + used <= kWhole);
    for (size_t line = place / 64; line * 64 < place + used; ++line) {
      if (last[line]) least = std::min(least, passed - last[line]);
      last[line] = passed;
    }
    passed += whole_lines(used);
  }
  CHECK(least >= kWhole - 3 * kLongest);
  // No step need end with the last line.
  CHECK(std::count(last.begin(), last.end(), size_t{0}) * 64 < static_cast<long>(kLongest));
}

TEST_CASE("cold buffers are as large as the cache, if there is memory for both") {
  CHECK(cold_buffer(320 * kMiB, 24576ull * kMiB) == 320 * kMiB);
  CHECK(cold_buffer(320 * kMiB, 1280ull * kMiB) == 320 * kMiB);
  CHECK(cold_buffer(320 * kMiB, 1000ull * kMiB) == 250 * kMiB);  // both take half
  CHECK(cold_buffer(4 * kMiB, 1000) == 192);                     // 250 bytes are three lines
  CHECK(cold_buffer(4 * kMiB, 0) == 64);
}
