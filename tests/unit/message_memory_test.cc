// The bounds of share/doc/calibrating.md, "Memory".
#include "calibrate/message_memory.h"

#include <catch2/catch.hpp>

using namespace rubato;

namespace {

constexpr size_t kMiB = 1 << 20;

}  // namespace

TEST_CASE("messages that go at once share the room of the longest, or 16 MiB") {
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
  // Whatever the length: as many as that, each at the begin of a line, are not more than the room.
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
        "choose a smaller --max-size, or fewer ranks");
}
