// Timelines in pieces, worked out by hand. One tick is one nanosecond.

#include "replay/analyse/timeline_pieces.h"
#include "replay/study/run_replay.h"

#include <catch2/catch.hpp>

#include "tests/unit/toy.h"
#include "tools/tables/packed_timeline.h"

using namespace rubato;

namespace {

/// "c40 s30 M20c40": pieces, each with its parts: activity (as in timeline_picture_test.cc), ticks;
/// a number of calls other than one is added: "M20*3".
std::string piece_letters(const TimelinePieces& pieces, int timeline) {
  std::string text;
  for (const TimelinePieces::Part& part : pieces.parts(timeline)) {
    const TimelinePieces::State& state = pieces.states()[part.state];
    if (part.first && !text.empty()) text += ' ';
    text += ".cmsrwoOMCW01234"[static_cast<size_t>(state.activity)];
    text += std::to_string(std::llround(part.ticks));
    if (part.calls > 1) text += '*' + std::to_string(part.calls);
  }
  return text;
}

TimelinePieces pieces_of(const EventSource& source, double elapsed, size_t parts,
                         const std::string& scenario = "measured") {
  return {source.definitions(), 0, elapsed, parts, kept_losses(parse_scenario(scenario), false)};
}

void replay_pieces(EventSource& source, TimelinePieces& pieces,
                   const std::string& scenario = "measured") {
  ReplayOptions options;
  options.wait_states = true;
  options.observers = {&pieces};
  run_replay(source, {parse_scenario(scenario)}, options);
  pieces.finish();
}

// Rank 0 computes 40, sends until 50, computes until 80. Rank 1 receives from 10 on, until 60: it
// waits 30 for the send at 40, 20 more are transfer.
const char* const kOneLateSender = R"(
  0: 0..0 init
  1: 0..0 init
  0: 40..50 send 1 8B
  0: 80 end
  1: 10..60 recv 0 8B
  1: 100 end
)";

}  // namespace

TEST_CASE("each span is a piece of its own while there is space") {
  const auto source = parse_text_trace(kOneLateSender);
  TimelinePieces pieces = pieces_of(*source, 100, 100);
  replay_pieces(*source, pieces);
  CHECK(pieces.grain() == 0);
  CHECK(piece_letters(pieces, 0) == "c40 M10 c30 .20");
  CHECK(piece_letters(pieces, 1) == "c10 s30 M20 c40");
}

// Rank 0 comes to the barrier at 20, rank 1 at 60; 20 of rank 0's 80 ticks in it are lost. Of its
// wait until 60 the part that is not lost counts: 40 × 60/80 = 30, as in `profile`. The loss is at
// the end of the call.
TEST_CASE("waits of pieces are those of the profile") {
  const auto source = parse_text_trace(R"(
    0: 0..0 init
    1: 0..0 init
    0: 20..100 barrier lost 20
    1: 60..80 barrier
    0: 100 end
    1: 100 end
  )");
  TimelinePieces pieces = pieces_of(*source, 100, 100);
  replay_pieces(*source, pieces);
  CHECK(piece_letters(pieces, 0) == "c20 w30 C30 O20");
}

// Rank 1 returns from MPI_Init at 30: its window begins there.
TEST_CASE("nothing before the return of MPI_Init and after the call of MPI_Finalize") {
  const auto source = parse_text_trace(R"(
    0: 0..0 init
    1: 0..10 local MPI_Initialized
    1: 20..30 init
    0: 40..100 finalize
    1: 100..100 finalize
  )");
  TimelinePieces pieces = pieces_of(*source, 100, 100);
  replay_pieces(*source, pieces);
  CHECK(piece_letters(pieces, 0) == "c40 .60");
  CHECK(piece_letters(pieces, 1) == ".30 c70");
}

// As in wait_states_test.cc: of the tests of 2 ticks at 400, 410, ... 60 end before the send at
// 1000.
TEST_CASE("polls wait until their message is sent") {
  std::string text =
      "0: 0..0 init\n0: 1000..1001 send 1 8B\n0: 1001 end\n1: 0..1 irecv 0 8B req 1\n";
  for (int time = 400; time <= 1000; time += 10)
    text += "1: " + std::to_string(time) + ".." + std::to_string(time + 2) + " test\n";
  const auto source = parse_text_trace(text + "1: 1010..1012 test 1\n1: 1012 end\n");
  for (const size_t most : {1000, 20}) {  // also if the loop was combined
    TimelinePieces pieces = pieces_of(*source, 1012, most);
    replay_pieces(*source, pieces);
    double waits = 0, all = 0;
    uint32_t calls = 0;
    for (const TimelinePieces::Part& part : pieces.parts(1)) {
      all += part.ticks;
      calls += part.calls;
      if (pieces.states()[part.state].activity == Activity::kLateSender) waits += part.ticks;
    }
    CHECK(waits == Approx(120));
    CHECK(all == Approx(1012));
    CHECK(calls == 1 + 61 + 1);  // MPI_Irecv, tests without and with the message
  }
}

// 1000 rounds of 6 ns of compute and 4 ns of MPI_Comm_rank, then 10,000 ns of compute.
TEST_CASE("more spans than fit are combined, and lose nothing") {
  std::string text = "0: 0..0 init\n";
  for (int round = 0; round < 1000; ++round)
    text += "0: " + std::to_string(10 * round + 6) + ".." + std::to_string(10 * round + 10) +
            " local MPI_Comm_rank\n";
  const auto source = parse_text_trace(text + "0: 20000 end\n");
  TimelinePieces pieces = pieces_of(*source, 20000, 40);
  replay_pieces(*source, pieces);
  CHECK(pieces.grain() > 0);
  CHECK(pieces.parts(0).size() <= 40);
  double compute = 0, calls_time = 0, longest = 0;
  uint32_t calls = 0;
  for (const TimelinePieces::Part& part : pieces.parts(0)) {
    (pieces.states()[part.state].activity == Activity::kMpi ? calls_time : compute) += part.ticks;
    calls += part.calls;
    longest = std::max(longest, part.ticks);
  }
  CHECK(calls == 1000);
  CHECK(calls_time == Approx(4000));
  CHECK(compute == Approx(16000));
  // The compute of 10,000 ns at the end is longer than the grain: it stays exact.
  CHECK(pieces.grain() < 10000);
  CHECK(longest == Approx(10000));
  while (pieces.combine()) {
  }
  CHECK(piece_letters(pieces, 0) == "c16000m4000*1000");
}

// 1000 rounds: 3 ns in main, 3 ns in solve, called by main, and 4 ns in a call of solve.
TEST_CASE("combined compute keeps its call paths while intervals are short") {
  std::string text = "0: 0..0 init\n0: 0 enter main\n";
  for (int i = 0; i < 10000; i += 10)
    text += "0: " + std::to_string(i + 3) + " enter solve\n0: " + std::to_string(i + 6) + ".." +
            std::to_string(i + 10) + " local MPI_Comm_rank\n0: " + std::to_string(i + 10) +
            " leave solve\n";
  // Of 3000 parts 2200 have space with a grain of 20000 / 1024, 40 only with longer ones.
  for (const auto& [most, own] : {std::pair(5000, 3000), {2200, 3000}, {40, 0}}) {
    const auto source = parse_text_trace(text + "0: 10000 leave main\n0: 20000..20000 finalize\n");
    source->note_places();
    TimelinePieces pieces = pieces_of(*source, 20000, static_cast<size_t>(most));
    pieces.know_places(*source, {});
    replay_pieces(*source, pieces);
    CHECK((pieces.grain() > 0) == (most < 3000));
    const std::vector<CallTree::Node>& nodes = pieces.stacks()->tree().nodes();
    REQUIRE(nodes.size() == 3);  // outside, main, solve
    CHECK((nodes[2].function == 1 && nodes[2].parent == 1));
    double main = 0, solve = 0;
    for (const TimelinePieces::Part& part : pieces.parts(0)) {
      const TimelinePieces::State& state = pieces.states()[part.state];
      if (state.call != ActivitySpan::kNoCall) continue;
      if (state.stack == 1) main += part.ticks;
      if (state.stack == 2) solve += part.ticks;
    }
    CHECK(main == Approx(own));
    CHECK(solve == Approx(own));
    // Both functions with their callers, for the page.
    const auto packed = packed_pieces(pieces, *source, 100000);
    if (own > 0) CHECK(packed["stacks"] == nlohmann::ordered_json({{-1, "main"}, {0, "solve"}}));
  }
}

// Base 32, lowest digit first, 32 added to all but the last: 5 is F, 40 = 8 + 32 × 1 is oB,
// 1024 = 32² is ggB.
TEST_CASE("numbers are packed in digits of five bits") {
  std::string text;
  for (const uint64_t number : {0, 5, 31, 40, 1024}) pack(text, number);
  CHECK(text == "AFfoBggB");
}

// States by number of parts: compute (2), then in the order of appearance. Rank 0's compute of 40:
// 4 × 0 = A, 40 = oB; send 10: 4 × state. Lengths add up to 100 on each line.
TEST_CASE("packed lines have the lengths of their parts") {
  const auto source = parse_text_trace(kOneLateSender);
  TimelinePieces pieces = pieces_of(*source, 100, 100);
  replay_pieces(*source, pieces);
  const auto packed = packed_pieces(pieces, *source, 1000);
  CHECK(packed["unit"] == 1e-9);
  CHECK(packed["grain"] == 0.0);
  CHECK(packed["states"][0] == nlohmann::ordered_json({1, -1, "", -1}));
  CHECK(packed["lines"][0].get<std::string>().starts_with("AoB"));
  // In 12 bytes there is one piece per line at most, if at all.
  CHECK(packed_pieces(pieces, *source, 12).empty());
}

// From rank 0 at 10 to rank 1 at 30, 20 later one from 15 to 20: sender, receiver, sent after the
// one before, received after sent.
TEST_CASE("messages are packed by time of sending") {
  const std::vector<DrawnMessage> messages = {{0, 10e-9, 1, 30e-9}, {1, 15e-9, 0, 20e-9}};
  CHECK(packed_messages(messages, 1e-9) ==
        "ABKU"
        "BAFF");
}
