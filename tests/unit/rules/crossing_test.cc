// Messages that cross, worked out by hand (tests/unit/toy.h).

#include <catch2/catch.hpp>

#include "tests/unit/toy.h"

using namespace rubato;

TEST_CASE("messages that cross take longer, for as long as both are under way") {
  // 500 B: P = o_s 10 + T 600 + o_r 20 = 630, g = 500. Both send at 10; x = 200.
  const char* together = R"(
    0: 0..0 irecv 1 500B req 1
    0: 0..1 isend 1 500B req 2
    0: 1..2 wait 1 2
    0: 2 end
    1: 0..0 irecv 0 500B req 1
    1: 0..1 isend 0 500B req 2
    1: 1..2 wait 1 2
    1: 2 end
  )";
  Scenario scenario = toy();
  check(ends(together, scenario), {630, 630});
  scenario.platform.level(Level::kNode)->crossing_delay = TransferCurve({{0, 200e-9, 0, 0}});
  // Arrival 10 + 600 = 610; d = min(200, out-port 510 - 500 + 630 - 10) = 200; + 20.
  check(ends(together, scenario), {830, 830});

  // Rank 1 begins 500 later and sends at 510, when the other message would last 10 + 630 - 510 =
  // 130 more: there at 1110 + 130, + 20. The other one: 610 + 200 + 20.
  const char* later = R"(
    0: 0..0 irecv 1 500B req 1
    0: 0..1 isend 1 500B req 2
    0: 1..2 wait 1 2
    0: 2 end
    1: 0..0 local MPI_Comm_rank
    1: 500..500 irecv 0 500B req 1
    1: 500..501 isend 0 500B req 2
    1: 501..502 wait 1 2
    1: 502 end
  )";
  check(ends(later, scenario), {1260, 830});

  // Above the eager limit, 2000 B by push: P = 10 + 2100 + 20. Both compute for 5000 between their
  // posts and waits, so that the requests (there at 110) are answered at 5010 and the data leaves
  // at 5110: 2100 - 2 L later it is there, at 7010. It started at 4910, both ways: + 200, + 20.
  const char* overlap = R"(
    0: 0..0 irecv 1 2000B req 1
    0: 0..1 isend 1 2000B req 2
    0: 5001..5002 wait 1 2
    0: 5002 end
    1: 0..0 irecv 0 2000B req 1
    1: 0..1 isend 0 2000B req 2
    1: 5001..5002 wait 1 2
    1: 5002 end
  )";
  scenario.platform.level(Level::kNode)->protocols[1].protocol = Protocol::kPush;
  check(ends(overlap, scenario), {7230, 7230});

  // An answer does not cross what it answers: rank 1 has it at 630, sends at 640; there at 1240.
  const char* answer = R"(
    0: 0..1 send 1 500B
    0: 1..2 recv 1 500B
    0: 2 end
    1: 0..1 recv 0 500B
    1: 1..2 send 0 500B
    1: 2 end
  )";
  check(ends(answer, scenario), {1260, 640});
}

TEST_CASE("of messages of different lengths that cross, what comes in is priced") {
  // x = 100 + n / 5: 200 for 500 B, 120 for 100 B. Rank 0 sends 500 B at 10, which alone last until
  // 10 + 630 = 640; rank 1 sends its 100 B at 530 + 10, there at 740: 100 of them go by beside the
  // other ones. Rank 0 has them at 740 + 100, + 20.
  // The 500 B are there at 610. Were the message of rank 1 one of 500 B, its port would be free at
  // the same time, 640, so it would have started at 640 - 500 = 140 and lasted until 770: longer
  // than x from 10 on. Rank 1 has them at 610 + 200, + 20.
  const char* text = R"(
    0: 0..0 irecv 1 100B req 1
    0: 0..1 isend 1 500B req 2
    0: 1..2 wait 1 2
    0: 2 end
    1: 0..0 local MPI_Comm_rank
    1: 530..530 irecv 0 500B req 1
    1: 530..531 isend 0 100B req 2
    1: 531..532 wait 1 2
    1: 532 end
  )";
  Scenario scenario = toy();
  scenario.platform.level(Level::kNode)->crossing_delay = TransferCurve({{0, 100e-9, 0.2e-9, 0}});
  check(ends(text, scenario), {860, 830});
}

TEST_CASE("a message crosses what its receiver sends, whomever to") {
  // Three ranks in a line: 0 sends 500 B to 1, and 1 to 2, both at 10. Rank 1
  // sends and receives, so what it gets at 610 comes 200 later; rank 2 sends nothing.
  const char* text = R"(
    0: 0..1 send 1 500B
    0: 1 end
    1: 0..0 irecv 0 500B req 1
    1: 0..1 isend 2 500B req 2
    1: 1..2 wait 1 2
    1: 2 end
    2: 0..1 recv 1 500B
    2: 1 end
  )";
  Scenario scenario = toy();
  scenario.platform.level(Level::kNode)->crossing_delay = TransferCurve({{0, 200e-9, 0, 0}});
  check(ends(text, scenario), {10, 830, 630});
}
