// Subtraction of tracing overhead, worked out by hand (tests/unit/toy.h).

#include <catch2/catch.hpp>

#include "tests/unit/toy.h"

using namespace rubato;

namespace {

/// Calls of a function of no length on rank `rank`: two records each.
std::string functions(int rank, int calls) {
  std::string text;
  for (int i = 0; i < calls; ++i) text += std::to_string(rank) + ": 1..1 function\n";
  return text;
}

/// Rank 0 sends at 1000 what rank 1 waits for from 300 on, until 1100: W = 700 until the send. The
/// second message does not wait and takes 10. Each rank calls functions before.
std::string two_messages(int calls_of_sender, int calls_of_receiver) {
  return "0: 0..0 init\n" + functions(0, calls_of_sender) + R"(
    0: 1000..1010 send 1 8B
    0: 1010..1020 send 1 8B
    0: 1100 end
    1: 0..0 init
  )" + functions(1, calls_of_receiver) +
         R"(
    1: 300..1100 recv 0 8B
    1: 2000..2010 recv 0 8B
    1: 2100 end
  )";
}

/// 10 for each record of a function: a call of one delays its rank by 20.
ReplayOptions ten_a_record() {
  ReplayOptions options;
  options.overhead = RecordingOverhead{};
  options.overhead->function = 10e-9;
  return options;
}

}  // namespace

TEST_CASE("overhead outside of calls is subtracted from compute") {
  ReplayOptions options;
  options.overhead = RecordingOverhead{5e-9, 0, 0, 0};
  // kLateSenderTrace on perfect: rank 0 computes 50 - 5 before its send, then 40 (no call ends that
  // stretch):
  // 85. The receive leaves at the send's enter, 45; + 10 = 55.
  check(ends(kLateSenderTrace, on("perfect"), options), {85, 55});
  // `measured` does not change.
  check(ends(kLateSenderTrace, on("measured"), options), {100, 100});
  options.compensate = false;
  check(ends(kLateSenderTrace, on("perfect"), options), {90, 60});
}

TEST_CASE("overhead of function records is subtracted from the enclosing compute") {
  // 2 of outside per stretch before a call, 3 per enter or leave. Before MPI_Test: 100 - 2 - 4 * 3
  // = 86; it keeps its 50. Before the end: 80 - 2 * 3 = 74, and no call ends that stretch.
  const char* text = R"(
    0: 0..0 init
    0: 20..30 function
    0: 40..90 function
    0: 100..150 local MPI_Test
    0: 170..180 function
    0: 230 end
  )";
  ReplayOptions options;
  options.overhead = RecordingOverhead{};
  options.overhead->outside = 2e-9;
  options.overhead->function = 3e-9;
  for (const char* scenario : {"perfect", "undisturbed"}) {
    check(ends(text, on(scenario), options), {86 + 50 + 74});
  }
  check(ends(text, on("measured"), options), {230});
  // Functions of no length: 4 * 3 is more than the 10 there are, and compute is never negative.
  const char* short_text = R"(
    0: 0..0 init
    0: 5..5 function
    0: 5..5 function
    0: 10..20 finalize
  )";
  for (const char* scenario : {"perfect", "undisturbed"}) {
    check(ends(short_text, on(scenario), options), {0});
  }
}

TEST_CASE("calls that keep their time lose what recording added inside them") {
  const char* text = R"(
    0: 0..0 init
    0: 100..150 local MPI_Test
    0: 250..260 finalize
  )";
  ReplayOptions options;
  options.overhead = RecordingOverhead{5e-9, 3e-9, 4e-9, 0};
  // Init to the end: 100 - 5 of compute, 50 - 3 - 4 of MPI_Test, 100 - 5 of compute: 233. The same
  // on `undisturbed`, so that no network is slower than it.
  check(ends(text, on("perfect"), options), {233});
  check(ends(text, on("undisturbed"), options), {233});
}

// Malony and Shende, 2005: a receive that waited W waits W' = max(0, W - (delay of the sender - own
// delay)). What follows rank 1's first receive takes 1000 (2100 - 1100), with nothing to take out.

TEST_CASE("parallel compensation: a receive waits for less than the sender's delay is more") {
  // Delays 400 and 100: sent at 600, received from 200 on: W' = 700 - (400 - 100) = 400, and it
  // leaves 100 after the send, as recorded: at 700. Rank 1 ends at 1700, rank 0 at 1100 - 400.
  const std::string text = two_messages(20, 5);
  check(ends(text, on("undisturbed"), ten_a_record()), {700, 1700});
  // Local: rank 1 loses its own 100, and waits as long as before.
  check(ends(text, on("undisturbed:local"), ten_a_record()), {700, 2000});
}

TEST_CASE("parallel compensation: waits are never negative") {
  // Delays 900 and 100: sent at 100, received from 200 on: W' = max(0, 700 - 800) = 0. The message
  // would be there at 100 + 100; the receive takes its 10 and leaves at 210. Rank 1 ends at 1210.
  const std::string text = two_messages(45, 5);
  check(ends(text, on("undisturbed"), ten_a_record()), {200, 1210});
  check(ends(text, on("undisturbed:local"), ten_a_record()), {200, 2000});
}

TEST_CASE("parallel compensation: a receiver delayed more than the sender waits longer") {
  // Delays 0 and 240: sent at 1000, received from 60 on: W' = 700 + 240 = 940. Rank 1 leaves at
  // 1100 as recorded; locally it leaves 800 after 60, and ends at 860 + 1000.
  const std::string text = two_messages(0, 12);
  check(ends(text, on("undisturbed"), ten_a_record()), {1100, 2100});
  check(ends(text, on("undisturbed:local"), ten_a_record()), {1100, 1860});
}

TEST_CASE("parallel compensation of a collective follows the rank that is last without overhead") {
  // Rank 0 is there at 200. Rank 1 was last, at 1000 with a delay of 400; without, rank 2 is last:
  // at 950 - 100 = 850. The barrier leaves 20 after the last: at 870. All then compute 100. Locally
  // each loses its own delay.
  const std::string text = "0: 0..0 init\n0: 200..1020 barrier\n0: 1120 end\n1: 0..0 init\n" +
                           functions(1, 20) + "1: 1000..1020 barrier\n1: 1120 end\n2: 0..0 init\n" +
                           functions(2, 5) + "2: 950..1020 barrier\n2: 1120 end\n";
  check(ends(text, on("undisturbed"), ten_a_record()), {970, 970, 970});
  check(ends(text, on("undisturbed:local"), ten_a_record()), {1120, 720, 1020});
}

TEST_CASE("local compensation subtracts the part inside of calls, too") {
  // As in "undisturbed takes overhead out where it was": the receive waited, so the 3 before its
  // MPI call hid in the wait, and it loses 2: 90 + 1100 - 2 = 1188. The send did not wait.
  const char* text = R"(
    0: 0 local MPI_Comm_rank
    0: 1000..1040 send 1 8B
    0: 1050..1090 send 1 8B
    0: 1090 end
    1: 0 local MPI_Comm_rank
    1: 100..1200 recv 0 8B
    1: 1300..1340 recv 0 8B
    1: 1400 end
  )";
  ReplayOptions options;
  options.overhead = RecordingOverhead{10e-9, 3e-9, 2e-9, 0};
  // Rank 0: 990, 1025, 1025, 1060. Rank 1: 90, 1188, 1278, 1313, 1373.
  check(ends(text, on("undisturbed:local"), options), {1060, 1373});
}

TEST_CASE("overhead that exceeds the recorded time is clipped and counted") {
  // 80 of records in 30 of compute: 50 are left in. The call of 5 loses 5 of 9.
  const std::string text =
      "0: 0..0 init\n" + functions(0, 4) + "0: 30..35 local MPI_Test\n0: 135 end\n";
  ReplayOptions options = ten_a_record();
  options.overhead->inside_after = 9e-9;
  const Results results = replay(text, {on("undisturbed"), on("measured")}, options);
  check_ends(results.scenarios[0], {100});
  CHECK(results.scenarios[0].clipped_overheads == 2);
  CHECK(results.scenarios[0].clipped_time == Approx(50e-9 + 4e-9));
  CHECK(results.scenarios[1].clipped_overheads == 0);
}
