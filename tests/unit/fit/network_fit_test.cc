#include "models/fit/network_fit.h"

#include <catch2/catch.hpp>

#include "models/platform/platform_file.h"

using namespace rubato;

namespace {

/// Each step of a shift takes 100 us and its bytes at the rate that `rate` says.
template <typename Rate>
ShiftTimes times_of(int nodes, int ranks, Rate rate) {
  ShiftTimes times;
  for (const Shift& shift : shifts_to_measure(nodes, ranks)) {
    if (shift.form != Shift::Form::kShift) continue;
    for (const double bytes : {65536., 1048576.})
      times[shift][bytes] = 100e-6 + bytes / rate(shift);
  }
  return times;
}

}  // namespace

TEST_CASE("shifts grow in nodes, then in distance, then in ranks of a node") {
  using enum Shift::Form;
  const Shift behind{2, 1, 1, kOvertaking};
  CHECK(shifts_to_measure(1, 4).empty());
  CHECK(shifts_to_measure(2, 1) == std::vector<Shift>{{2, 1, 1}, behind});
  CHECK(shifts_to_measure(8, 1) == std::vector<Shift>{{2, 1, 1},
                                                      {4, 2, 1},
                                                      {8, 1, 1},
                                                      {8, 2, 1},
                                                      {8, 4, 1},
                                                      {8, 1, 1, kInOrder},
                                                      {8, 1, 1, kInTurn},
                                                      behind});
  CHECK(shifts_to_measure(3, 2) == std::vector<Shift>{{2, 1, 1},
                                                      {3, 1, 1},
                                                      {2, 1, 2},
                                                      {3, 1, 2},
                                                      {3, 1, 1, kInOrder},
                                                      {3, 1, 1, kInTurn},
                                                      behind});
  for (const Shift& shift : shifts_to_measure(24, 4)) CHECK(shift_named(shift.name()) == shift);
  for (const char* other :
       {"shift_0_of_4", "shift_4_of_4", "shift_-1_of_4", "pingpong", "shift_1", "shift_1_of_2x",
        "shift_1_of_4_by_", "all_in_order_of_2", "all_in_turn_of_4x"})
    CHECK_FALSE(shift_named(other));
}

TEST_CASE("a crossbar is its adapters") {
  const auto links = fit_shared_links(times_of(16, 1, [](const Shift&) { return 1e9; }), 1e9, true);
  REQUIRE(links);
  CHECK(links->kind == SharedLinks::Kind::kAdapters);
  CHECK(links->nodes == 16);
  CHECK(links->adapter == Approx(1e9));
}

TEST_CASE("a backbone is shared by all nodes, whatever their distance") {
  // 16 nodes of 1 GB/s behind 6 GB/s: up to four nodes go at their own rate, eight at 6 / 8 GB/s,
  // sixteen at 6 / 16.
  const auto links = fit_shared_links(
      times_of(16, 1, [](const Shift& shift) { return std::min(1e9, 6e9 / shift.nodes); }), 1e9,
      true);
  REQUIRE(links);
  CHECK(links->kind == SharedLinks::Kind::kBackbone);
  CHECK(links->backbone == Approx(6e9));
  CHECK(links->worst < 0.01);
  const std::string table = network_table(*links);
  CHECK(table.find("backbone_bandwidth = \"6GB/s\"") != std::string::npos);
}

TEST_CASE("ranks that something disturbs are no backbone") {
  // The slowest of N ranks: 7 % slower with 16 of them. In a simulator that would be something.
  const auto rate = [](const Shift& shift) { return 1e9 * (1 - 0.07 * (shift.nodes - 2) / 14); };
  CHECK(fit_shared_links(times_of(16, 1, rate), 1e9, false)->kind == SharedLinks::Kind::kAdapters);
  CHECK(fit_shared_links(times_of(16, 1, rate), 1e9, true)->kind != SharedLinks::Kind::kAdapters);
  // A backbone of 6 GB/s is more than that, and found where rates are 8 % off as well.
  const auto links = fit_shared_links(
      times_of(16, 1,
               [&](const Shift& shift) {
                 const double off = (shift.nodes + shift.shift) % 3 == 0 ? 0.92 : 1;
                 return off * std::min(1e9, 6e9 / shift.nodes);
               }),
      1e9, false);
  REQUIRE(links);
  CHECK(links->kind == SharedLinks::Kind::kBackbone);
  CHECK(links->backbone == Approx(6e9).epsilon(0.1));
}

TEST_CASE("tapered switches show where shifts leave them") {
  // Switches of 8 nodes with 4 GB/s upwards: a shift by s moves min(s, 8) messages out of each, so
  // that one by 8 gets half of 1 GB/s; 8 nodes alone are below one switch.
  const auto links = fit_shared_links(times_of(32, 1,
                                               [](const Shift& shift) {
                                                 const int out =
                                                     shift.nodes > 8 ? std::min(shift.shift, 8) : 0;
                                                 return out == 0 ? 1e9 : std::min(1e9, 4e9 / out);
                                               }),
                                      1e9, true);
  REQUIRE(links);
  CHECK(links->kind == SharedLinks::Kind::kTapered);
  CHECK(links->leaf == 8);
  CHECK(links->uplink == Approx(4e9));
  // 4 GB/s are four ports of 1 GB/s, so a fat tree is what a user would write.
  const std::string table = network_table(*links);
  CHECK(table.find("down = [8, 128]\nup = [1, 4]") != std::string::npos);
}

TEST_CASE("the latency of links is subtracted from that between distant nodes") {
  // Neighbours, two links apart, take 10 us, distant nodes 20: 5 us a link, and nothing beside the
  // four. Behind a handshake of three trips 60 us are links as well.
  SharedLinks links;
  links.kind = SharedLinks::Kind::kTapered;
  links.near = 10e-6;
  links.adapter = 1e9;
  LevelModel level;
  level.transfer = TransferCurve({{0, 20e-6, 1e-9}, {65536, 60e-6, 1e-9}});
  level.protocols = {{0, Protocol::kEager}, {65536, Protocol::kAsync}};
  tell_distances(level, links);
  CHECK(links.link_latency == Approx(5e-6));
  CHECK(level.transfer(0) == Approx(0).margin(1e-12));
  CHECK(level.transfer(1000) == Approx(1e-6));
  CHECK(level.transfer(100000) == Approx(100e-6));
  // A crossbar has one distance.
  links.kind = SharedLinks::Kind::kAdapters;
  level.transfer = TransferCurve({{0, 20e-6, 1e-9}});
  tell_distances(level, links);
  CHECK(level.transfer(0) == Approx(20e-6));
}

TEST_CASE("ranks of a node share its adapter") {
  // One rank gets 1 GB/s; four get 0.5 each: the adapter has 2 GB/s.
  const auto links = fit_shared_links(
      times_of(4, 4, [](const Shift& shift) { return shift.ranks == 4 ? 0.5e9 : 1e9; }), 1e9, true);
  REQUIRE(links);
  CHECK(links->kind == SharedLinks::Kind::kAdapters);
  CHECK(links->adapter == Approx(2e9));
  CHECK(network_table(*links).find("link_bandwidth = \"2GB/s\"") != std::string::npos);
}

TEST_CASE("unexplained times are reported") {
  // A torus: shifts by 1 and 4 are those of neighbours, one by 2 passes each link twice.
  const auto links = fit_shared_links(
      times_of(16, 1, [](const Shift& shift) { return shift.shift == 2 ? 0.5e9 : 1e9; }), 1e9,
      true);
  REQUIRE(links);
  CHECK(links->kind == SharedLinks::Kind::kNotExplained);
  CHECK(network_table(*links).find("name the") != std::string::npos);
}

// Two pairs at once that are twice as fast as one pair alone share nothing: the pair alone was
// disturbed. Half as fast, they share something.
TEST_CASE("messages that are faster at once than alone are no shared network") {
  const auto kind_of = [](double at_once) {
    const auto links =
        fit_shared_links(times_of(4, 1,
                                  [&](const Shift& shift) {
                                    return shift.nodes == 4 && shift.shift == 2 ? at_once : 1e9;
                                  }),
                         1e9, false);
    REQUIRE(links);
    CHECK(links->adapter == Approx(std::max(1e9, at_once)));
    return links->kind;
  };
  CHECK(kind_of(2e9) == SharedLinks::Kind::kAdapters);
  CHECK(kind_of(0.5e9) != SharedLinks::Kind::kAdapters);
}

TEST_CASE("how messages share ports decides whether they are flows") {
  // 16 nodes of 1 GB/s with messages of 1 MB to all others, in turn 15 ms. In order, each message
  // is received behind all others by its last node, at 2 * 16 - 3 = 29 ms, or shares its ports.
  using enum Shift::Form;
  const auto fitted = [](double in_order, double overtaking, double eager = 65536) {
    ShiftTimes times = times_of(16, 1, [](const Shift&) { return 1e9; });
    times[{16, 1, 1, kInTurn}] = {{8, 10e-6}, {1e6, 15e-3}};
    times[{16, 1, 1, kInOrder}] = {{8, 10e-6}, {1e6, in_order}};
    times[{2, 1, 1, kOvertaking}] = {{8, 20e-6}, {4e6, overtaking}};
    return *fit_shared_links(times, 1e9, false, 1, eager);
  };
  // With 3 % of noise, an eighth of 4 MB takes 1 ms beside them and 4.5 ms behind them.
  const SharedLinks fair = fitted(15.5e-3, 1.03e-3), ordered = fitted(28e-3, 4.4e-3);
  CHECK(fair.as_flows);
  CHECK(fair.pairs_at_once);
  CHECK_FALSE(ordered.as_flows);
  CHECK_FALSE(ordered.pairs_at_once);
  const SharedLinks mixed = fitted(15.2e-3, 4.6e-3);  // as in TCP
  CHECK(mixed.as_flows);
  CHECK_FALSE(mixed.pairs_at_once);
  // Of 4 MB and 0.5 MB only the short one is eager: it overtakes the handshake of the long one.
  CHECK_FALSE(fitted(15.5e-3, 1.03e-3, 1e6).pairs_at_once);
  CHECK(fitted(15.5e-3, 1.03e-3, 4e6).pairs_at_once);
  // Messages that take a latency, whatever their order, do not tell: 1 ms and 0.1 ms in the port.
  ShiftTimes short_ones;
  short_ones[{4, 1, 1, kInTurn}] = {{8, 1e-3}, {1e4, 1.1e-3}};
  short_ones[{4, 1, 1, kInOrder}] = {{8, 1e-3}, {1e4, 1.17e-3}};
  CHECK_FALSE(ports_are_fair(short_ones));
  short_ones[{4, 1, 1, kInTurn}][1e5] = 2e-3;     // 3 x 1/3 ms
  short_ones[{4, 1, 1, kInOrder}][1e5] = 2.7e-3;  // 5 x 1/3 ms
  CHECK(ports_are_fair(short_ones) == false);
}

TEST_CASE("two nodes that send to each other do not determine shared links") {
  // An MPI library that moves one direction after the other: half of 1 GB/s each.
  const auto rate = [](const Shift&) { return 0.5e9; };
  const auto two = fit_shared_links(times_of(2, 1, rate), 1e9, false);
  REQUIRE(two);
  CHECK(two->kind == SharedLinks::Kind::kUnknown);
  CHECK(network_table(*two).find("[network]") == std::string::npos);
  // With eight of them it is still the library: a message that is alone gets 1 GB/s.
  const auto eight = fit_shared_links(times_of(8, 1, rate), 1e9, false);
  REQUIRE(eight);
  CHECK(eight->kind == SharedLinks::Kind::kAdapters);
  CHECK(eight->adapter == Approx(1e9));
  // Each rank has an adapter: its port. A simulator's messages share it as flows.
  CHECK(network_table(*eight).find("[network]") == std::string::npos);
  const auto simulated = fit_shared_links(times_of(8, 1, rate), 1e9, true);
  CHECK(network_table(*simulated).find("topology = \"crossbar\"\npairs = \"at-once\"") !=
        std::string::npos);
}

TEST_CASE("nothing can be fitted without two lengths") {
  ShiftTimes times;
  times[{2, 1, 1}][65536] = 1e-4;
  CHECK_FALSE(fit_shared_links(times, 1e9, true));
  CHECK_FALSE(fit_shared_links({}, 1e9, true));
}
