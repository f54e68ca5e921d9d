// What recording took is taken out of the recording, worked out by hand (tests/unit/toy.h).

#include <catch2/catch.hpp>

#include "tests/unit/toy.h"

using namespace rubato;

TEST_CASE("overhead outside of calls is taken out of compute") {
  ReplayOptions options;
  options.overhead = RecordingOverhead{5e-9, 0, 0, 0};
  // kLateSender on perfect: rank 0 computes 50 - 5 before its send, then 40 (no call ends that
  // stretch):
  // 85. The receive leaves at the send's enter, 45; + 10 = 55.
  check(ends(kLateSender, on("perfect"), options), {85, 55});
  // What is measured stays as it was.
  check(ends(kLateSender, on("measured"), options), {100, 100});
  options.compensate = false;
  check(ends(kLateSender, on("perfect"), options), {90, 60});
}

TEST_CASE("records of functions are taken out of the compute they are in") {
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
