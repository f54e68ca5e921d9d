// Message pictures of pages, worked out by hand. One tick is one nanosecond.

#include "replay/analyse/traffic_picture.h"
#include "replay/study/run_replay.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/toy.h"

using namespace rubato;

namespace {

// Rank 0 sends twice 8 B to rank 1, rank 2 sends 1 KiB to rank 3.
const char* const kTwoPairs = R"(
  0: 0..0 init
  1: 0..0 init
  2: 0..0 init
  3: 0..0 init
  0: 10..20 send 1 8B
  0: 20..30 send 1 8B
  1: 5..30 recv 0 8B
  1: 30..40 recv 0 8B
  2: 50..60 send 3 1024B
  3: 55..90 recv 2 1024B
  0: 100 end
  1: 100 end
  2: 100 end
  3: 100 end
)";

struct Drawn {
  TrafficPicture traffic;
  std::vector<DrawnMessage> messages;
};

Drawn draw(int most_rows, size_t most_messages, double begin = 0) {
  const auto source = parse_text_trace(kTwoPairs);
  const TraceDefinitions& trace = source->definitions();
  CallProfile seen(trace, {.overhead = {}, .flushes = true, .stolen = true});
  LongestMessages messages(trace, most_messages);
  ReplayOptions options;
  options.observers = {&seen, &messages};
  options.wait_states = true;
  const Results results = run_replay(*source, {parse_scenario("measured")}, options);
  const Placement placement(trace.node_of_rank, trace.socket_of_rank);
  return {traffic_picture(profile_of(results, seen, trace, placement, true), most_rows),
          messages.take(begin, most_messages)};
}

void check(const TrafficCell& cell, int row, int column, uint64_t messages, uint64_t bytes,
           double ns) {
  CHECK(cell.row == row);
  CHECK(cell.column == column);
  CHECK(cell.sent.count == messages);
  CHECK(cell.sent.bytes == bytes);
  CHECK(cell.seconds * 1e9 == Approx(ns).margin(1e-6));
}

}  // namespace

// A rank's row holds what it sends, and its time in calls that receive: 25 + 10 of rank 1 with rank
// 0, 35 of rank 3 with rank 2.
TEST_CASE("a cell for each pair of ranks that talks") {
  const TrafficPicture traffic = draw(4, 10).traffic;
  CHECK(traffic.rows == 4);
  CHECK(traffic.ranks_per_row == 1);
  REQUIRE(traffic.cells.size() == 4);
  check(traffic.cells[0], 0, 1, 2, 16, 0);
  check(traffic.cells[1], 1, 0, 0, 0, 35);
  check(traffic.cells[2], 2, 3, 1, 1024, 0);
  check(traffic.cells[3], 3, 2, 0, 0, 35);
  // Classes of 8 to 15 and of 1024 to 2047 bytes.
  CHECK(traffic.sizes.size() == 12);
  CHECK(traffic.sizes[4].count == 2);
  CHECK(traffic.sizes[4].bytes == 16);
  CHECK(traffic.sizes[11].count == 1);
  CHECK(traffic.sizes.total().count == 3);
}

// Three rows at most for four ranks: two ranks each, as rows are alike. Both pairs lie on the
// diagonal.
TEST_CASE("ranks share a row where there are more of them") {
  const TrafficPicture traffic = draw(3, 10).traffic;
  CHECK(traffic.rows == 2);
  CHECK(traffic.ranks_per_row == 2);
  REQUIRE(traffic.cells.size() == 2);
  check(traffic.cells[0], 0, 0, 2, 16, 35);
  check(traffic.cells[1], 1, 1, 1, 1024, 35);
}

TEST_CASE("messages are drawn from the enter of their send to the leave of their receive") {
  const std::vector<DrawnMessage> messages = draw(4, 3, 5e-9).messages;
  REQUIRE(messages.size() == 3);
  const auto ns = [&](size_t at) {
    return std::pair(std::llround(messages[at].sent * 1e9),
                     std::llround(messages[at].received * 1e9));
  };
  CHECK(messages[0].sender == 0);
  CHECK(messages[0].receiver == 1);
  CHECK(ns(0) == std::pair(5LL, 25LL));
  CHECK(ns(1) == std::pair(15LL, 35LL));
  CHECK(messages[2].sender == 2);
  CHECK(messages[2].receiver == 3);
  CHECK(ns(2) == std::pair(45LL, 85LL));
}

// They take 30 - 10 = 20, 40 - 20 = 20 and 90 - 50 = 40.
TEST_CASE("if there are too many messages, the longest are drawn") {
  const std::vector<DrawnMessage> messages = draw(4, 1).messages;
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].sender == 2);
  CHECK(draw(4, 0).messages.empty());
}
