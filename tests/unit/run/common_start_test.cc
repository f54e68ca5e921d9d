// Ranks that left MPI_Init at different times begin together on another machine. One tick is one
// nanosecond.

#include <otf2/otf2.h>

#include <catch2/catch.hpp>

#include "replay/archive/archive.h"
#include "tests/fixture/otf2_archive.h"
#include "tests/unit/directory.h"
#include "tests/unit/toy.h"

using namespace rubato;

namespace {

/// Rank 0 leaves MPI_Init at 10, computes 10, sends; rank 1 leaves it at 40, computes 10, receives.
const char* const kApart = R"(
  0: 0..10 init
  0: 20..30 send 1 8B
  0: 30 end
  1: 0..40 init
  1: 50..60 recv 0 8B
  1: 60 end
)";

}  // namespace

// Both begin at 40 and are done at 50. The recording lasts from 10 to 60.
TEST_CASE(
    "ranks that left MPI_Init at different times begin together in a model, and as recorded "
    "on measured") {
  ReplayOptions options;
  options.verify = true;
  const Results results =
      replay(kApart, {on("measured"), on("perfect"), toy(), on("undisturbed")}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.scenarios[0].elapsed == Approx(50e-9));
  CHECK(results.scenarios[0].ranks[0].start == Approx(10e-9));
  CHECK(results.scenarios[1].elapsed == Approx(10e-9));
  for (const RankResult& rank : results.scenarios[1].ranks) {
    CHECK(rank.start == Approx(40e-9));
    CHECK(rank.end == Approx(50e-9));
  }
  // The send takes 10, the message 108, the receive 20.
  CHECK(results.scenarios[2].elapsed == Approx(10e-9 + 10e-9 + 108e-9 + 20e-9));
  CHECK(results.scenarios[3].ranks[0].start == Approx(10e-9));
}

// A scenario does not change compute before MPI_Init: both leave MPI_Init at 1040 and compute 10 /
// 2.
TEST_CASE("a faster processor begins them together, too") {
  const char* const text = R"(
    0: 0..0 local MPI_Comm_rank
    0: 1000..1010 init
    0: 1020..1030 send 1 8B
    0: 1030 end
    1: 900..900 local MPI_Comm_rank
    1: 1000..1040 init
    1: 1050..1060 recv 0 8B
    1: 1060 end
  )";
  const Results results = replay(text, {on("perfect:cpu*2")}, {});
  CHECK(results.scenarios[0].elapsed == Approx(5e-9));
  for (const RankResult& rank : results.scenarios[0].ranks) CHECK(rank.start == Approx(1040e-9));
}

// With contention the same engine takes the calls in the order of time.
TEST_CASE("they begin together in the order of time, too") {
  const Results results = replay(std::string("nodes 0 1\n") + kApart,
                                 {on("bandela:latency=100ns,bandwidth=1GB/s"),
                                  on("bandela:latency=100ns,bandwidth=1GB/s,contention=crossbar,"
                                     "contention.link_bandwidth=1GB/s")});
  CHECK(results.scenarios[0].elapsed == Approx(118e-9));
  CHECK(results.scenarios[1].elapsed == Approx(118e-9));
}

// Rank 0's thread sends 10 after its rank left MPI_Init: at 50.
TEST_CASE("threads begin as much later as their rank") {
  const Results results = replay(R"(
    0: 0..10 init
    0: 40..41 local MPI_Comm_rank
    0.1: 20..30 send 1 8B
    0.1: 30 end
    0: 41 end
    1: 0..40 init
    1: 50..60 recv 0 8B
    1: 60 end
  )",
                                 {on("perfect")});
  CHECK(results.scenarios[0].ranks[0].start == Approx(40e-9));
  CHECK(results.scenarios[0].ranks[1].end == Approx(50e-9));
}

// The same as kApart: 40 apart if MPI_Init is recorded as collective, else as recorded, from 10 to
// 50.
TEST_CASE("MPI_Init is collective only if the archive says so") {
  for (const bool says_so : {true, false}) {
    Otf2Archive what = Otf2Archive::of_ranks(2);
    what.events = [says_so](OTF2_EvtWriter* writer, const MadeLocation& location) {
      const uint64_t later = location.id == 0 ? 0 : 30;
      OTF2_EvtWriter_Enter(writer, nullptr, 0, kMpiInit);
      if (says_so) {
        OTF2_EvtWriter_MpiCollectiveBegin(writer, nullptr, 0);
        OTF2_EvtWriter_MpiCollectiveEnd(writer, nullptr, 10 + later,
                                        OTF2_COLLECTIVE_OP_CREATE_HANDLE, 0,
                                        OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
      }
      OTF2_EvtWriter_Leave(writer, nullptr, 10 + later, kMpiInit);
      const bool sends = location.id == 0;
      OTF2_EvtWriter_Enter(writer, nullptr, 20 + later, sends ? kMpiSend : kMpiRecv);
      if (sends)
        OTF2_EvtWriter_MpiSend(writer, nullptr, 21, 1, 0, 5, 8);
      else
        OTF2_EvtWriter_MpiRecv(writer, nullptr, 60, 0, 0, 5, 8);
      OTF2_EvtWriter_Leave(writer, nullptr, 30 + later, sends ? kMpiSend : kMpiRecv);
    };
    const TemporaryDirectory directory;
    write_archive(what, directory.path() / "run");
    const Results results =
        run_replay(directory.path() / "run", {on("measured"), on("perfect")}, {});
    CHECK(results.scenarios[0].elapsed == Approx(50e-9));
    CHECK(results.scenarios[1].elapsed == Approx(says_so ? 10e-9 : 40e-9));
  }
}
