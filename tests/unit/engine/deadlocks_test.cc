// Machines on which a program cannot go on, and what is said then.

#include <catch2/catch.hpp>

#include "tests/unit/toy.h"

using namespace rubato;

TEST_CASE("head-to-head sends above the eager limit are a deadlock, reported with its cycle") {
  const char* text = R"(
    0: 0..1 send 1 2000B tag 7
    0: 1..2 recv 1 2000B tag 9 comm 1
    0: 2 end
    1: 0..1 send 0 2000B tag 9 comm 1
    1: 1..2 recv 0 2000B tag 7
    1: 2 end
    comm 1 0 1
  )";
  const Results results = replay(text, {toy(), on("perfect")});
  CHECK(
      results.scenarios[0].deadlock ==
      "rank 0, event 1 (MPI_Send) waits to send 2000 bytes to rank 1 with tag 7 on communicator "
      "'MPI_COMM_WORLD'; rank 1, event 1 (MPI_Send) waits to send 2000 bytes to rank 0 with tag 9 "
      "on communicator 'comm 1'");
  CHECK(results.scenarios[1].deadlock.empty());  // eager there: another group
}

TEST_CASE("a deadlock of three ranks names them all, but no rank that only waits for them") {
  const char* text = R"(
    0: 0..1 send 1 2000B tag 1
    0: 1..2 recv 2 2000B tag 3
    0: 2 end
    1: 0..1 send 2 2000B tag 2
    1: 1..2 recv 0 2000B tag 1
    1: 2 end
    2: 0..1 send 0 2000B tag 3
    2: 1..2 recv 1 2000B tag 2
    2: 2..3 send 3 8B
    2: 3 end
    3: 0..9 recv 2 8B
    3: 9 end
  )";
  const std::string world = " on communicator 'MPI_COMM_WORLD'";
  CHECK(replay(text, {toy()}).scenarios[0].deadlock ==
        "rank 0, event 1 (MPI_Send) waits to send 2000 bytes to rank 1 with tag 1" + world +
            "; rank 1, event 1 (MPI_Send) waits to send 2000 bytes to rank 2 with tag 2" + world +
            "; rank 2, event 1 (MPI_Send) waits to send 2000 bytes to rank 0 with tag 3" + world);
}
