// Vector collectives with empty parts, worked out by hand. One tick is one nanosecond.

#include <catch2/catch.hpp>

#include "replay/matching/collective_instances.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/ends.h"

using namespace rubato;

namespace {

/// When each rank ends on `scenario`, in ns; `measured` has to give the recording back.
Ends ends(const std::string& text, const std::string& scenario = "perfect") {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  const Results results =
      run_replay(*source, {parse_scenario("measured"), parse_scenario(scenario)}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.kept.empty());
  CHECK(results.trace.clock_violations.total() == 0);
  return ends_of(results.scenarios[1]);
}

/// Ranks 0 to 3 come at 10, 20, 30 and 400, each with these parts.
std::string alltoallv(const std::array<std::string, 4>& parts, const std::string& call) {
  // Recorded so that no rank left before the ranks for which it waits.
  std::string text;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string enter = std::to_string(rank == 3 ? 400 : 10 * (rank + 1));
    text += std::to_string(rank) + ": 0 local MPI_Comm_rank\n";
    text += std::to_string(rank) + ": " + enter + "..450 " + call +
            (parts[rank].empty() ? "" : " parts " + parts[rank]) + "\n";
    text += std::to_string(rank) + ": 460 end\n";
  }
  return text;
}

}  // namespace

TEST_CASE("in an Alltoallv a member waits for the members that send to it") {
  // A ring downwards: rank 0 gets from 1, 1 from 2, 2 from 3, 3 from 0. Rank 0 leaves at 20, rank 1
  // at 30, rank 2 at 400; rank 3 has all at its own enter, 400. Each computes 10 behind it.
  const std::array<std::string, 4> ring = {"0B 0B 0B 8B", "8B 0B 0B 0B", "0B 8B 0B 0B",
                                           "0B 0B 8B 0B"};
  check(ends(alltoallv(ring, "alltoallv 8B 8B")), {30, 40, 410, 410});
  check(ends(alltoallv(ring, "alltoallw 8B 8B")), {30, 40, 410, 410});
}

TEST_CASE("members that send to everybody are waited for by all") {
  // Only rank 3 omits a rank: rank 1, which waits for the others until 30.
  check(ends(alltoallv({"", "8B 8B 8B 8B", "", "8B 0B 8B 8B"}, "alltoallv 32B 24B")),
        {410, 40, 410, 410});
  // And when it sends nothing at all.
  check(ends(alltoallv({"", "", "", "0B 0B 0B 0B"}, "alltoallv 32B 24B")), {40, 40, 40, 410});
  // Without its parts everybody waits for everybody.
  check(ends(alltoallv({"", "", "", ""}, "alltoallv 32B 24B")), {410, 410, 410, 410});
}

TEST_CASE("a member that receives nothing does not wait") {
  // Rank 0 gets nothing from anybody, and sends nothing either.
  check(ends(alltoallv({"0B 0B 0B 0B", "0B 8B 8B 8B", "0B 8B 8B 8B", "0B 8B 8B 8B"},
                       "alltoallv 24B 24B")),
        {20, 410, 410, 410});
}

TEST_CASE("measured: a call waits for those alone that send to it") {
  // Rank 0 left before rank 1 came, which sends it nothing. With its parts that is no clock
  // violation (ends() looks), and on `perfect` it leaves at its own enter, 10, and computes 5.
  check(ends("0: 0 local MPI_Comm_rank\n0: 10..15 alltoallv 8B 0B parts 0B 8B\n0: 20 end\n"
             "1: 0 local MPI_Comm_rank\n1: 100..105 alltoallv 0B 8B parts 0B 0B\n1: 110 end\n"),
        {15, 105});
}

TEST_CASE("measured: delaying a member that sends nothing delays no other") {
  // With rank 1 twice as slow (200 instead of 100 of compute) rank 0 would come as before. The
  // factor is for all ranks, so rank 0 comes at 20; it took 5, and does not wait. Then 10 more.
  const std::string text =
      "0: 0 local MPI_Comm_rank\n0: 10..15 alltoallv 8B 0B parts 0B 8B\n0: 20 end\n"
      "1: 0 local MPI_Comm_rank\n1: 100..105 alltoallv 0B 8B parts 0B 0B\n1: 110 end\n";
  check(ends(text, "measured:cpu/2"), {35, 215});
}

TEST_CASE("parts of a nonblocking Alltoallv stand where it is started") {
  // Rank 0 gets nothing from rank 1, which starts at 400: its wait, entered at 50, leaves at once.
  // Rank 1 gets something from rank 0, which was there.
  const char* text = R"(
    0: 0 local MPI_Comm_rank
    0: 10..12 ialltoallv 16B 8B req 1 parts 8B 8B
    0: 50..55 wait 1
    0: 60 end
    1: 0 local MPI_Comm_rank
    1: 400..402 ialltoallv 8B 16B req 1 parts 0B 8B
    1: 410..411 wait 1
    1: 411 end
  )";
  // Rank 0: starts at 10, no time in it; 38 of compute; the wait at 48; 5 of compute. Rank 1: 400,
  // 8 of compute.
  check(ends(text), {53, 408});
}

TEST_CASE("parts of a persistent Alltoallv stand where it is prepared") {
  // As above, twice; then the request is created again, with parts for all.
  const char* text = R"(
    0: 0 local MPI_Comm_rank
    0: 0..0 alltoallv_init req 1 parts 8B 8B
    0: 10..12 ialltoallv 16B 8B req 1
    0: 50..55 wait 1
    0: 60..62 ialltoallv 16B 8B req 1
    0: 70..75 wait 1
    0: 80..80 alltoallv_init req 1 parts 8B 8B
    0: 90..92 ialltoallv 16B 16B req 1
    0: 100..700 wait 1
    0: 700 end
    1: 0 local MPI_Comm_rank
    1: 0..0 alltoallv_init req 1 parts 0B 8B
    1: 400..402 ialltoallv 8B 16B req 1
    1: 410..411 wait 1
    1: 500..502 ialltoallv 8B 16B req 1
    1: 510..511 wait 1
    1: 511..511 alltoallv_init req 1 parts 8B 8B
    1: 600..602 ialltoallv 16B 16B req 1
    1: 710..711 wait 1
    1: 711 end
  )";
  // Rank 1: starts at 400, + 8 = 408 wait, + 89 = 497 start, + 8 = 505 wait, + 0, + 89 = 594 start,
  // + 108 = 702 wait. Rank 0's last wait lasts until 594.
  check(ends(text), {594, 702});
}

TEST_CASE("between groups peers are those of the other group") {
  // Ranks 0 and 1 are one group, 2 and 3 the other. Rank 3 comes last and sends to rank 1 alone;
  // rank 2 to both. Rank 0 waits for rank 2 until 30, rank 1 for rank 3 until 400. Rank 1 sends
  // nothing to rank 2, and rank 0 nothing to anybody: rank 2 leaves at its own enter, rank 3, too.
  const char* text = R"(
    comm 1 0 1 | 2 3
    0: 0 local MPI_Comm_rank
    0: 10..450 alltoallv 0B 8B comm 1 parts 0B 0B
    0: 460 end
    1: 0 local MPI_Comm_rank
    1: 20..450 alltoallv 8B 16B comm 1 parts 0B 8B
    1: 460 end
    2: 0 local MPI_Comm_rank
    2: 30..450 alltoallv 16B 0B comm 1 parts 8B 8B
    2: 460 end
    3: 0 local MPI_Comm_rank
    3: 400..450 alltoallv 8B 8B comm 1 parts 0B 8B
    3: 460 end
  )";
  check(ends(text), {40, 410, 40, 410});
}

TEST_CASE("the latest arrival for each member is that of the members that send to it") {
  // Against the plain sum over senders: every member to a range of others, sizes around powers of
  // two.
  for (const int members : {1, 2, 3, 5, 8, 13, 16, 31}) {
    PartArrivals<1> parts;
    std::vector<double> expected(members, -1);
    for (int sender = 0; sender < members; ++sender) {
      const int first = sender * 7 % members;
      const int end = first + sender * 5 % (members - first + 1);
      const double time = sender * 37 % 101;
      parts.add(members, first, end, time, Lanes<1>(2 * time), sender);
      for (int i = first; i < end; ++i) expected[i] = std::max(expected[i], time);
    }
    for (int i = 0; i < members; ++i) {
      double recorded = -1;
      Lanes<1> replayed(-2);
      parts.latest(i, recorded, replayed);
      INFO(members << " members, member " << i);
      CHECK(recorded == expected[i]);
      CHECK(replayed[0] == 2 * expected[i]);
      const auto [time, sender] = parts.latest_in_first_lane(i);
      if (sender < 0) {
        CHECK(expected[i] == -1);
      } else {
        CHECK(time == replayed[0]);
        CHECK(sender * 37 % 101 == expected[i]);
      }
    }
  }
}
