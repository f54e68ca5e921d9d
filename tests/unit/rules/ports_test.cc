// Messages that compete for the in-port of their receiver, by hand: on the machine of
// tests/unit/toy.h, and on links that are the ports.

#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/each_width.h"
#include "tests/unit/toy.h"

using namespace rubato;

namespace {

/// toy() between nodes, with one protocol from 1000 bytes on, on a crossbar if links have a
/// bandwidth.
Scenario toy_network(const std::string& link_bandwidth, const std::string& protocol = "async") {
  Scenario scenario;
  scenario.name = "toy network";
  scenario.platform =
      parse_platform(R"(
    format = 1
    [level.network]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    send_overhead = "10ns"
    receive_overhead = "20ns"
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = ")" +
                         protocol + "\" } ]\n" +
                         (link_bandwidth.empty() ? ""
                                                 : "[contention]\nmodel = \"crossbar\"\n"
                                                   "link_bandwidth = \"" +
                                                       link_bandwidth + "\"\n"),
                     "toy network");
  return scenario;
}

const std::string kFourSends = R"(
    1: 0..1 send 0 500B
    1: 1 end
    2: 0..1 send 0 500B
    2: 1 end
    3: 0..1 send 0 500B
    3: 1 end
    4: 0..1 send 0 500B
    4: 1 end
)";

}  // namespace

// Rank 1 sends twice 500 B: start 10 and 510, there at 610 and 1110. The port moves the first one
// from 110 to 610, the second one from 610 to 1110.
TEST_CASE("it does not matter in which order the receives of messages are posted, or waited for") {
  const std::string sends = R"(
    1: 0..1 isend 0 500B tag 0 req 1
    1: 1..2 isend 0 500B tag 1 req 2
    1: 2..9 wait 1 2
    1: 9 end
  )";
  const std::string in_order = R"(
    0: 0..0 irecv 1 500B tag 0 req 1
    0: 0..0 irecv 1 500B tag 1 req 2
  )";
  const std::string turned = R"(
    0: 0..0 irecv 1 500B tag 1 req 2
    0: 0..0 irecv 1 500B tag 0 req 1
  )";
  for (const std::string& posts : {in_order, turned}) {
    // 1110 + 20.
    check(ends(posts + "0: 0..9 wait 1 2\n0: 9 end\n" + sends, toy()), {1130, 20});
    check(ends(posts + "0: 0..9 wait 2 1\n0: 9 end\n" + sends, toy()), {1130, 20});
    // 630, then 1110 + 20; or 1130, and the other one takes 20 of the processor.
    check(ends(posts + "0: 0..8 wait 1\n0: 8..9 wait 2\n0: 9 end\n" + sends, toy()), {1130, 20});
    check(ends(posts + "0: 0..8 wait 2\n0: 8..9 wait 1\n0: 9 end\n" + sends, toy()), {1150, 20});
  }
}

// 900 B are sent at 10, and there at 1010: the port moves them from 110 on. 8 B are sent at 510,
// there at 618: the port moves them from 610 on.
TEST_CASE("a long message that is half received when a short one arrives does not restart") {
  const std::string others = R"(
    1: 0..1 send 0 900B
    1: 1 end
    2: 500..501 send 0 8B
    2: 501 end
    0: 0..0 irecv 1 900B req 1
    0: 0..0 irecv 2 8B req 2
  )";
  // Short first: 638. The long one has the port from 110 to 610 and from 618 to 1018.
  check(ends(others + "0: 0..8 wait 2\n0: 8..9 wait 1\n0: 9 end\n", toy()), {1038, 10, 510});
  // Long first: 1030, and 20 of the processor for the short one, which is there at 1018.
  check(ends(others + "0: 0..8 wait 1\n0: 8..9 wait 2\n0: 9 end\n", toy()), {1050, 10, 510});
  // Both at once: 1018 + 20.
  check(ends(others + "0: 0..9 wait 1 2\n0: 9 end\n", toy()), {1038, 10, 510});
  check(ends(others + "0: 0..9 wait 2 1\n0: 9 end\n", toy()), {1038, 10, 510});
}

// The same with a factor of the processor for the sender of the short message, in lanes: it sends
// at 500 / cpu + 10, and the long one has to wait for it unless that is behind it.
TEST_CASE("each lane has an order of its own at the port") {
  const std::string text = R"(
    1: 0..1 send 0 900B
    1: 1 end
    2: 0..0 local MPI_Comm_rank
    2: 500..501 send 0 8B
    2: 501 end
    0: 0..0 irecv 1 900B req 1
    0: 0..0 irecv 2 8B req 2
    0: 0..9 wait 2 1
    0: 9 end
  )";
  std::vector<Scenario> scenarios;
  // There at 500 / cpu + 118: 218, 618, 1118, 5118. The port is free for it, and is done with the
  // long one at 1018, 1018, 1010, 1010.
  const std::vector<double> cpu = {5, 1, 0.5, 0.1}, expected = {1038, 1038, 1138, 5138};
  for (const double factor : cpu) {
    scenarios.push_back(toy());
    scenarios.back().cpu = factor;
  }
  for (const Results& results :
       with_each_width([&] { return replay(text, scenarios, ReplayOptions()); })) {
    for (size_t i = 0; i < cpu.size(); ++i)
      CHECK(ends_of(results.scenarios[i])[0] == Approx(expected[i]));
  }
}

// Four times 500 B to one rank, each sent at 10: with the link, or the port, for itself there at
// 610, and on its way into it from 110 on.
TEST_CASE("a link into a node and the port after it overlap") {
  const std::string text = R"(
    nodes 0 1 2 3 4
    0: 0..0 irecv 1 500B req 1
    0: 0..0 irecv 2 500B req 2
    0: 0..0 irecv 3 500B req 3
    0: 0..0 irecv 4 500B req 4
    0: 0..9 wait 1 2 3 4
    0: 9 end
  )" + kFourSends;
  // The port alone, 110 + 4 x 500, + 20; a link of the same bandwidth; a faster one, where the
  // port decides; one of half the bandwidth, 110 + 4 x 1000, + 20.
  check(ends(text, toy_network("")), {2130, 10, 10, 10, 10});
  check(ends(text, toy_network("1GB/s")), {2130, 10, 10, 10, 10});
  check(ends(text, toy_network("2GB/s")), {2130, 10, 10, 10, 10});
  check(ends(text, toy_network("0.5GB/s")), {4130, 10, 10, 10, 10});
}

// The same, received at 2200, when all have been there since 2110: 4 x 20 of the processor.
TEST_CASE("a message delayed on its way is not delayed again when it is received") {
  const std::string text = R"(
    nodes 0 1 2 3 4
    0: 0..0 local MPI_Comm_rank
    0: 2200..2200 irecv 1 500B any_source req 1
    0: 2200..2200 irecv 2 500B any_source req 2
    0: 2200..2200 irecv 3 500B any_source req 3
    0: 2200..2200 irecv 4 500B any_source req 4
    0: 2200..2209 wait 1 2 3 4
    0: 2209 end
  )" + kFourSends;
  for (const bool by_arrival : {false, true}) {
    INFO(by_arrival);
    ReplayOptions options;
    options.wildcards_by_arrival = by_arrival;
    const Results results = replay(text, {toy_network("1GB/s")}, options);
    check(ends_of(results.scenarios[0]), {2280, 10, 10, 10, 10});
  }
}

// The request to send is at the receiver at 10 + 100. T - L = 2000 later the data are there, at
// 2110: no more than 2000 B take on a link, so the answer has no time of its own.
TEST_CASE("a handshake on a network takes no more than T where T has less than two latencies") {
  const char* text = R"(
    nodes 0 1
    0: 0..9 send 1 2000B
    0: 9 end
    1: 0..0 irecv 0 2000B req 1
    1: 0..9 wait 1
    1: 9 end
  )";
  for (const std::string protocol : {"async", "pull", "push"}) {
    INFO(protocol);
    check(ends(text, toy_network("", protocol)), {2110, 2130});
    check(ends(text, toy_network("1GB/s", protocol)), {2110, 2130});
  }
}
