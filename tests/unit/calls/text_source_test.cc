// Errors in hand-written traces are reported with their line; and the calls without records that
// count as kept.

#include "replay/sources/text_source.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "models/base/error.h"
#include "replay/study/run_replay.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

std::string refusal(const std::string& text) {
  try {
    parse_text_trace(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no refusal";
}

Results replay(const std::string& text) {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  return run_replay(*source, {parse_scenario("measured"), parse_scenario("perfect")}, options);
}

}  // namespace

// Times, then what happens, then what else is to be said of it.
TEST_CASE("a function after other words is refused") {
  CHECK(refusal("0: 0..0 init\n0: 1..2 tag 7 function solve\n0: 3 end\n").find("right after") !=
        std::string::npos);
}

TEST_CASE("texts without calls, and numbers that cannot be, are refused") {
  for (const char* text :
       {"", "# nothing\n", "nodes 0 1\n", "2147483647: 0..1 init\n", "-1: 0..1 init\n",
        "nan: 0..1 init\n", "nodes 0 -1\n0: 0..1 init\n", "0.1e9: 0..1 init\n"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_text_trace(text, "file"), InputError);
  }
}

TEST_CASE("a definition names a rank or a communicator that is not there") {
  const std::string calls = "\n0: 0..1 local MPI_Comm_rank\n1: 0..1 local MPI_Comm_rank\n";
  CHECK(refusal("comm 1 0 7" + calls) == "trace:1: there is no rank 7");
  CHECK(refusal("comm 1 -1 0" + calls) == "trace:1: there is no rank -1");
  CHECK(refusal("comm 1 0 0" + calls) == "trace:1: rank 0 occurs twice");
  CHECK(refusal("comm 1 0\ncomm 1 1" + calls) == "trace:2: communicator 1 is defined already");
  CHECK(refusal("comm 0 0" + calls) == "trace:1: communicator 0 is defined already");
  CHECK(refusal("neighbours 0 0 from 9 to 9" + calls) == "trace:1: there is no rank 9");
  CHECK(refusal("neighbours 0 2 from 1 to 1" + calls) == "trace:1: there is no rank 2");
  CHECK(refusal("neighbours 1 0 from 1 to 1" + calls) == "trace:1: communicator 1 is not defined");
  CHECK(refusal("window 1 comm 4" + calls) == "trace:1: communicator 4 is not defined");
  CHECK(refusal("0.-1: 0..1 barrier" + calls) == "trace:1: ranks and threads count from 0");
  CHECK(refusal("-1: 0..1 barrier" + calls) == "trace:1: ranks and threads count from 0");
}

TEST_CASE("a rooted collective needs an existing root") {
  const std::string other = "\n1: 0..1 local MPI_Comm_rank\n";
  CHECK(refusal("0: 0..1 bcast 64B 64B" + other) == "trace:1: write root RANK");
  CHECK(refusal("0: 0..1 gather root 2 64B 64B" + other) ==
        "trace:1: communicator 0 has no rank 2");
  CHECK(refusal("0: 0..1 reduce root -7 64B 64B" + other) ==
        "trace:1: communicator 0 has no rank -7");
  CHECK(refusal("0: 0..1 allreduce 64B 64B" + other) == "no refusal");
}

TEST_CASE("an unknown request is reported") {
  const std::string other = "\n1: 0..1 local MPI_Comm_rank\n";
  CHECK(refusal("0: 0..1 wait 7" + other) == "trace:1: request 7 was not made, or is complete");
  CHECK(refusal("0: 0..1 isend 1 8B req 7\n0: 2..3 wait 7\n0: 4..5 wait 7" + other) ==
        "trace:3: request 7 was not made, or is complete");
  CHECK(refusal("0: 0..1 start 7" + other) == "trace:1: request 7 was not prepared");
  CHECK(refusal("0: 0..1 isend 1 8B req 7\n0: 2..3 pready 7" + other) ==
        "trace:2: request 7 is no started partitioned message");
  CHECK(refusal("0: 0..1 wait cancelled 7" + other) ==
        "trace:1: request 7 is no message in progress");
  CHECK(refusal("0: 0..1 test not 99" + other) ==
        "trace:1: request 99 was not made, or is complete");
  CHECK(refusal("0: 0..1 irecv 1 8B req 7\n0: 2..3 wait 7\n0: 4..5 test not 7" + other) ==
        "trace:3: request 7 was not made, or is complete");
  for (const char* call : {"isend 1 8B req 7", "irecv 1 8B req 7", "isend 1 8B req 7 partitioned",
                           "ibarrier req 7", "rput 1 8B req 7", "ineighbor_alltoall 8B 8B req 7"}) {
    INFO(call);
    CHECK(refusal("window 1\n0: 0..1 " + std::string(call) + "\n0: 2..3 test not 7" + other) ==
          "no refusal");
  }
}

// Ranks 0 and 1 are in communicator 5, ranks 0 and 2 in communicator 3. Were the numbers places in
// a list, the barrier would be of ranks 0 and 2, and rank 1 in none that is there.
TEST_CASE("communicators have the numbers of the trace") {
  const char* text = R"(
    comm 5 0 1
    comm 3 0 2
    0: 0..100 barrier comm 5
    1: 100..100 barrier comm 5
    2: 0..0 local MPI_Comm_rank
  )";
  const Results results = replay(text);
  CHECK(results.scenarios[1].ranks[0].end == Approx(100e-9));
  CHECK(refusal("comm 5 0 1\n0: 0..1 barrier comm 1\n1: 0..1 barrier comm 1\n") ==
        "trace:2: communicator 1 is not defined");
}

// On each of them rank 0 and rank 1, which come by turns as 0 and 1, exchange a message and meet.
// On perfect a turn of 10 loses the 2 of the send and the 3 of the barrier: 3 + 2 = 5 are left.
TEST_CASE("communicators by the thousand") {
  constexpr int kComms = 3000;
  std::ostringstream text;
  for (int i = 1; i <= kComms; ++i) text << "comm " << i << (i % 2 ? " 1 0\n" : " 0 1\n");
  text << "0: 0..0 init\n1: 0..0 init\n";
  for (int i = 1; i <= kComms; ++i) {
    const int t = 10 * i;
    text << "0: " << t << ".." << t + 2 << " send 1 8B comm " << i << "\n0: " << t + 5 << ".."
         << t + 8 << " barrier comm " << i << "\n1: " << t << ".." << t + 3 << " recv 0 8B comm "
         << i << "\n1: " << t + 5 << ".." << t + 8 << " barrier comm " << i << '\n';
  }
  const Results results = replay(text.str());
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.messages == kComms);
  CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
  // The first turn begins at 10 and the last ends with its barrier.
  CHECK(results.scenarios[1].elapsed == Approx((10 + 5 * kComms - 2) * 1e-9));
}

TEST_CASE("times that run backwards are counted, with the first place") {
  // The third record of rank 0 is at 5, behind one at 10; the fourth is fine again.
  const Results results = replay(R"(
    0: 0..10 local MPI_Comm_rank
    0: 5..20 local MPI_Comm_rank
    0: 30 end
    1: -5..20 local MPI_Comm_rank
    1: 20 end
  )");
  REQUIRE(warnings_about(results.trace).size() == 1);
  CHECK(warnings_about(results.trace)[0].find("1 record is earlier than the record before, the "
                                              "first at rank 0, event 3:") == 0);
  REQUIRE(results.identity);
  CHECK(results.identity->backwards == 1);
}

TEST_CASE("a send without records is to MPI_PROC_NULL if other sends have some") {
  const std::string silent = "0: 0..10 local MPI_Send\n0: 20..30 local MPI_Send\n";
  const Results none = replay(silent + "1: 0..1 local MPI_Comm_rank\n");
  REQUIRE(none.trace.kept.size() == 1);
  CHECK(none.trace.kept[0].call == "MPI_Send");
  CHECK(none.trace.kept[0].count == 2);
  CHECK(none.trace.kept[0].first_at == "rank 0, event 1");
  CHECK(replay(silent + "0: 30..31 send 1 8B\n1: 0..31 recv 0 8B\n").trace.kept.empty());
  // For another, unknown call.
  const Results other = replay(
      "0: 0..10 local MPI_Isendrecv\n0: 30..31 send 1 8B\n"
      "1: 0..31 recv 0 8B\n");
  REQUIRE(other.trace.kept.size() == 1);
  CHECK(other.trace.kept[0].call == "MPI_Isendrecv");
}

TEST_CASE("a message without a partner is named with its time") {
  const Results results = replay(
      "0: 0..0 init\n0: 1250000000..1250000001 send 1 8B tag 3\n"
      "1: 0..1 local MPI_Comm_rank\n");
  CHECK(results.trace.unmatched_send ==
        "8 bytes from rank 0 to rank 1 with tag 3 on communicator 'MPI_COMM_WORLD', at 1.250000 s");
}
