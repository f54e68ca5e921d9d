// Own work of calls: callbacks of the program, collectives of one member, the creation of
// communicators. Every scenario keeps it, divided by the processor factor.

#include <catch2/catch.hpp>

#include "tests/unit/toy.h"

using namespace rubato;

TEST_CASE("a user operation takes as long on every machine") {
  // The members enter at 100 and 40; each then runs the operation for 2000 of its call.
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 100..2150 allreduce 8B own 2000
    0: 2150 end
    1: 40..2150 allreduce 8B own 2000
    1: 2150 end
  )";
  // perfect: both have entered at 100, then the operation: 100 + 2000.
  check(ends(text, on("perfect")), {2100, 2100});
  // All computes twice as fast: 50 + 1000.
  check(ends(text, on("perfect:cpu*2")), {1050, 1050});
  // A faster rank 1 comes at 20 and works for 1000; rank 0 comes at 100 and works for 2000.
  check(ends(text, on("perfect:rank1.cpu*2")), {2100, 1100});
  // measured keeps all: the 50 beside the operation, too.
  check(ends(text, on("measured")), {2150, 2150});
  // measured:cpu*2: enters at 50 and 20, communication 50, operation 1000.
  check(ends(text, on("measured:cpu*2")), {1100, 1100});
}

TEST_CASE("own work longer than the time after the last cause") {
  // Rank 0 enters at 1000, when rank 1 has been in the operation since 0, and leaves 50 later.
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 1000..1050 allreduce 8B
    0: 1050 end
    1: 0..1050 allreduce 8B own 400
    1: 1050 end
  )";
  check(ends(text, on("measured")), {1050, 1050});
}

TEST_CASE("a call without messages keeps its own work") {
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    1: 10 end
    0: 100..600 local MPI_Comm_set_attr own 300
    0: 600 end
  )";
  // 100 of compute, 200 of MPI's own bookkeeping, and 300 of the callback.
  check(ends(text, on("perfect")), {600, 10});
  // Compute 50, bookkeeping as recorded, callback 150.
  check(ends(text, on("perfect:cpu*2")), {400, 5});
}

TEST_CASE("a collective of one member is own work") {
  const char* text = R"(
    comm 2 0
    0: 0..0 init
    1: 0..0 init
    1: 10 end
    0: 100..900 allreduce 8B comm 2
    0: 950 end
  )";
  check(ends(text, on("perfect")), {950, 10});
  // 50 + 400 + 25.
  check(ends(text, on("perfect:cpu*2")), {475, 5});
  check(ends(text, on("measured:cpu*2")), {475, 5});
}

TEST_CASE("a run of one rank is the same on any network") {
  const char* text = R"(
    0: 0..0 init
    0: 100..500 allreduce 8000000B
    0: 600..610 irecv 0 8B req 1
    0: 610..700 send 0 8B
    0: 700..730 wait 1
    0: 800 end
  )";
  for (const char* scenario : {"perfect", "bandela:latency=1ms,bandwidth=1MB/s", "measured"})
    check(ends(text, on(scenario)), {800});
  check(ends(text, on("perfect:cpu*2")), {400});
}

TEST_CASE("the creation of a communicator takes as long as recorded after its last member") {
  const char* text = R"(
    comm 1 0 1
    0: 0..0 init
    1: 0..0 init
    0: 300..930 comm_create
    0: 1000 end
    1: 400..930 comm_create
    1: 1000 end
  )";
  // Rank 1 enters at 400; then the recorded 530, and 70 of compute.
  check(ends(text, on("perfect")), {1000, 1000});
  // Twice as fast: 200 + 265 + 35.
  check(ends(text, on("perfect:cpu*2")), {500, 500});
  check(ends(text, on("measured:cpu*2")), {500, 500});
  // Rank 1 enters at 200, rank 0 at 300. Then rank 1 works until 565, rank 0 until 830.
  check(ends(text, on("measured:rank1.cpu*2")), {900, 600});
  // A synchronisation of two takes at least a message: 400 + 1000000, then 70.
  CHECK(ends(text, on("bandela:latency=1ms,bandwidth=1GB/s"))[0] >= 1000470);
}

TEST_CASE("own work counts once in a call that keeps its recorded time") {
  // The message is never sent: the receive takes its 100, of which 50 are own work.
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 100..200 recv 1 8B own 50
    0: 200 end
    1: 10 end
  )";
  check(ends(text, on("perfect")), {200, 10});
  // Enter at 50, 50 as recorded, and 25.
  check(ends(text, on("perfect:cpu*2")), {125, 5});
}
