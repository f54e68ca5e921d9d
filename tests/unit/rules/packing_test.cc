// Own work of messages of types with holes (packing), by the recording. Ticks are ns.

#include <catch2/catch.hpp>

#include "tests/unit/toy.h"

using namespace rubato;

TEST_CASE("packing takes as long on every machine") {
  // 1000 blocks. The send takes 500, the receive 1000 from the enter of the send on.
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 100..600 send 1 4000B block 4
    0: 600 end
    1: 50..1100 recv 0 4000B block 4
    1: 1100 end
  )";
  // No contiguous message: all of these times are kept.
  check(ends(text, on("perfect")), {600, 1100});
  // Compute and packing twice as fast: 50 + 250, and 50 + 500.
  check(ends(text, on("perfect:cpu*2")), {300, 550});
  check(ends(text, on("measured")), {600, 1100});
}

TEST_CASE("what contiguous data of that length take is no packing") {
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 100..150 send 1 4000B
    0: 1000..1500 send 1 4000B block 4
    0: 1500 end
    1: 100..500 recv 0 4000B
    1: 1000..2000 recv 0 4000B block 4
    1: 2000 end
  )";
  // Rank 0 enters its second send at 100 + (1000 - 150) = 950, and packs for 500. Rank 1 leaves its
  // first receive at 100, enters the second one at 100 + (1000 - 500) = 600, and unpacks for
  // 1000 - 400 from 950 on.
  check(ends(text, on("perfect")), {1450, 1550});
}

TEST_CASE("nonblocking messages are packed in the calls that start and complete them") {
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 100..200 isend 1 4000B block 4 req 1
    0: 500..800 wait 1
    0: 800 end
    1: 0..10 irecv 0 4000B block 4 req 1
    1: 300..900 wait 1
    1: 900 end
  )";
  // Rank 0: 100 in isend, 300 in wait. Rank 1: the message left before its wait, which takes 600.
  // Posting the receive packs nothing: 10 are lost.
  check(ends(text, on("perfect")), {800, 890});
}

TEST_CASE("few blocks keep little") {
  // Two blocks: at most 800 of the 5000 are packing, the rest may be the network.
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 100..100 send 1 4000B
    0: 100 end
    1: 100..5100 recv 0 4000B block 2000
    1: 5100 end
  )";
  check(ends(text, on("perfect")), {100, 900});
}

TEST_CASE("packing takes at least what the platform says") {
  // 4 ns for a block of 4 bytes: 800 for the 200 blocks, once at each end.
  Scenario scenario = toy();
  scenario.platform.packing = TransferCurve({{0, 2e-9, 0.5e-9, 0}});
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 100..200 isend 1 800B block 4 req 1
    0: 500..800 wait 1
    0: 800 end
    1: 300..900 recv 0 800B block 4
    1: 900 end
  )";
  // Sender: o_s = 10 and the packing until 910 (recorded: 100), 300 of compute, and the recorded
  // 300 of its wait, for an eager message, which the platform says was packed before. Receiver:
  // arrival at 110 + 100 + 800 = 1010, o_r = 20, and the unpacking (recorded: 600).
  check(ends(text, scenario), {1510, 1830});
}
