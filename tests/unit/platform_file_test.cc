#include "models/platform_file.h"

#include <catch2/catch.hpp>

#include "models/error.h"
#include "models/units.h"

using namespace rubato;

namespace {

/// The message with which `text` is refused, or "" when it is accepted.
std::string complaint(const std::string& text) {
  try {
    parse_platform(text, "cluster.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("units parse to base units and refuse what lacks one") {
  CHECK(parse_seconds("1.3us") == Approx(1.3e-6));
  CHECK(parse_seconds("-250 ns") == Approx(-250e-9));
  CHECK(parse_seconds("0") == 0);
  CHECK(parse_bytes("64KiB") == 65536);
  CHECK(parse_bytes("64kB") == 64000);
  CHECK(parse_bandwidth("100Gbit/s") == Approx(12.5e9));  // 100e9 / 8
  CHECK(1 / parse_bandwidth("inf") == 0);
  CHECK_THROWS_AS(parse_seconds("5"), InputError);
  CHECK_THROWS_AS(parse_seconds("5 parsecs"), InputError);
  CHECK_THROWS_AS(parse_bandwidth("-1GB/s"), InputError);
  CHECK(format_bytes(65536) == "64KiB");
  CHECK(format_bytes(65537) == "65537B");
  CHECK(format_seconds(1.3e-6) == "1.3us");
  CHECK(format_bandwidth(12.5e9) == "12.5GB/s");
}

TEST_CASE("a platform file in segments gives latency + n / bandwidth of the segment") {
  const Platform platform = parse_platform(R"(
    format = 1
    name = "toy"
    [level.node]
    transfer = [
      { from = "0B", latency = "1us", bandwidth = "1GB/s" },
      { from = "1000B", latency = "3us", bandwidth = "2GB/s" },
    ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "async" } ]
    receive_overhead = "50ns"
    unexpected_overhead = [ { from = "0B", latency = "70ns", bandwidth = "10GB/s" } ]
    crossing_delay = [ { from = "0B", latency = "20ns", bandwidth = "5GB/s" } ]
  )",
                                           "toy.toml");
  const LevelModel& node = *platform.level(Level::kNode);
  CHECK(node.transfer(0) == Approx(1e-6));
  CHECK(node.transfer(500) == Approx(1.5e-6));   // 1 us + 500 B / 1 GB/s
  CHECK(node.transfer(1000) == Approx(3.5e-6));  // 3 us + 1000 B / 2 GB/s
  CHECK(node.protocol_at(999) == Protocol::kEager);
  CHECK(node.protocol_at(1000) == Protocol::kAsync);
  CHECK(node.receive_overhead(12345) == Approx(50e-9));
  CHECK(node.send_overhead(1) == 0);
  CHECK_FALSE(platform.level(Level::kNetwork));

  const Platform again = parse_platform(format_platform(platform), "again");
  for (double n : {0.0, 1.0, 999.0, 1000.0, 1e6}) {
    CHECK(again.level(Level::kNode)->transfer(n) == Approx(node.transfer(n)).epsilon(1e-5));
    CHECK(again.level(Level::kNode)->protocol_at(n) == node.protocol_at(n));
    CHECK(again.level(Level::kNode)->receive_overhead(n) == Approx(50e-9));
    REQUIRE(again.level(Level::kNode)->unexpected_overhead);
    CHECK((*again.level(Level::kNode)->unexpected_overhead)(n) == Approx(70e-9 + n * 0.1e-9));
    CHECK(again.level(Level::kNode)->crossing_delay(n) == Approx(20e-9 + n * 0.2e-9));
  }
}

TEST_CASE("a platform file names who has to be inside MPI, and an unknown kind is refused") {
  const auto text = [](const std::string& kind) {
    return "format = 1\n[level.node]\ntransfer = \"1us\"\nprotocol = [\n"
           "  { from = \"0B\", kind = \"push\" },\n  { from = \"9B\", kind = \"" +
           kind + "\" },\n]\n";
  };
  const Platform platform = parse_platform(text("pull"), "p");
  CHECK(platform.level(Level::kNode)->protocol_at(8) == Protocol::kPush);
  CHECK(platform.level(Level::kNode)->protocol_at(9) == Protocol::kPull);
  const Platform again = parse_platform(format_platform(platform), "again");
  CHECK(again.level(Level::kNode)->protocol_at(8) == Protocol::kPush);
  CHECK(again.level(Level::kNode)->protocol_at(9) == Protocol::kPull);
  CHECK(complaint(text("pul")) ==
        "cluster.toml:6: protocol 'pul' is not known; use \"eager\", \"pull\", \"push\" or "
        "\"async\"");
}

TEST_CASE("points are joined by straight lines") {
  const Platform platform = parse_platform(R"(
    format = 1
    [level.network]
    points = [ { size = "100B", time = "2us" }, { size = "300B", time = "4us" } ]
  )",
                                           "points.toml");
  const TransferCurve& curve = platform.level(Level::kNetwork)->transfer;
  CHECK(curve(1) == Approx(2e-6));    // below the first point its time
  CHECK(curve(200) == Approx(3e-6));  // half way
  CHECK(curve(400) == Approx(5e-6));  // the last slope, 1 us per 100 B, goes on
}

TEST_CASE("a bad platform file is refused with file, line and the nearest key") {
  const std::string head = "format = 1\n[level.node]\n";
  CHECK(complaint(head + "transfr = []\n") ==
        "cluster.toml:3: [level.node] has no key 'transfr' (did you mean 'transfer'?)");
  CHECK(complaint(head +
                  "transfer = [ { from = \"0B\", latency = \"1 parsec\", bandwidth = \"1GB/s\" } ]")
            .find("cluster.toml:3: level.node.transfer 'latency': '1 parsec' is not a time") == 0);
  CHECK(complaint(head +
                  "transfer = [ { from = \"0B\", latency = \"-1us\", bandwidth = \"1GB/s\" } ]")
            .find("negative time") != std::string::npos);
  CHECK(complaint(head + "points = [ {size=\"1B\",time=\"2us\"}, {size=\"2B\",time=\"1us\"} ]")
            .find("a larger message cannot be faster") != std::string::npos);
  CHECK(complaint("format = 1\n[level.nodes]\n").find("(did you mean 'node'?)") !=
        std::string::npos);
  CHECK(complaint("format = 1\n[level.node\n").find("cluster.toml:2: ") == 0);
  CHECK(complaint("format = 2\n").find("cluster.toml:1: this version reads format 1") == 0);
  CHECK(complaint("").find("is this a platform file?") != std::string::npos);
}
