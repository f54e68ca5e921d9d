#include "tools/calibration/simgrid_platform.h"

#include <catch2/catch.hpp>
#include <regex>
#include <sstream>

#include "models/base/error.h"
#include "models/platform/platform_file.h"

using namespace rubato;

namespace {

/// The value of a setting.
std::string setting(const std::string& xml, const std::string& key) {
  std::smatch match;
  REQUIRE(std::regex_search(xml, match, std::regex(key + "\"[ \n]+value=\"([^\"]*)\"")));
  return match[1];
}

double attribute(const std::string& xml, const std::string& key) {
  std::smatch match;
  REQUIRE(std::regex_search(xml, match, std::regex(key + "=\"([0-9.e+-]+)")));
  return std::stod(match[1]);
}

/// "0:1;16400:5.78" at a size: the last piece that begins below it.
double factor(const std::string& factors, double size) {
  std::istringstream in(factors);
  double value = 0;
  for (std::string piece; std::getline(in, piece, ';');) {
    const size_t colon = piece.find(':');
    if (std::stod(piece.substr(0, colon)) < size) value = std::stod(piece.substr(colon + 1));
  }
  return value;
}

/// SimGrid's time of a message, by its documentation of the network model SMPI, with the 16 bytes
/// that it adds.
double simgrid_time(const std::string& xml, double bytes) {
  const double wire = bytes + 16;
  return factor(setting(xml, "smpi/lat-factor"), wire) * 2 * attribute(xml, " lat") +
         wire / (factor(setting(xml, "smpi/bw-factor"), wire) * attribute(xml, " bw"));
}

}  // namespace

TEST_CASE("a curve in SimGrid's factors gives the same times") {
  // The third segment has a negative intercept: 3 us + n / 4 GB/s meets n / 2 GB/s - 13.384 us at
  // 65536 B (19.384 us).
  const Platform platform = parse_platform(R"(
    format = 1
    name = "a -- b"
    [level.network]
    transfer = [
      { from = "0B", latency = "1us", bandwidth = "1GB/s" },
      { from = "1000B", latency = "3us", bandwidth = "4GB/s" },
      { from = "64KiB", latency = "-13.384us", bandwidth = "2GB/s" },
    ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "pull" } ]
    send_overhead = "50ns"
    receive_overhead = [
      { from = "0B", latency = "60ns", bandwidth = "inf" },
      { from = "8KiB", latency = "10ns", bandwidth = "10GB/s" },
    ]
    [level.node]
    transfer = [ { from = "0B", latency = "200ns", bandwidth = "8GB/s" } ]
  )",
                                           "p");
  const std::string xml = simgrid_platform(platform, 4);
  // SimGrid adds the overheads itself where the sender does not wait: 110 ns beyond, and from 8 KiB
  // on 60 ns + n / 10 GB/s.
  const auto expected = [&](double n) {
    return platform.level(Level::kNetwork)->transfer(n) + (n < 1000   ? 0
                                                           : n < 8192 ? 110e-9
                                                                      : 60e-9 + n / 10e9);
  };
  for (const double n : {0.0, 1.0, 8.0, 999.0, 1000.0, 4096.0, 65535.0})
    CHECK(simgrid_time(xml, n) == Approx(expected(n)).epsilon(1e-6));
  // In pieces of half a percent.
  for (const double n : {65536.0, 70000.0, 1e5, 3e5, 1e6, 1e7, 1e9})
    CHECK(simgrid_time(xml, n) == Approx(expected(n)).epsilon(0.006));
  CHECK(setting(xml, "smpi/send-is-detached-thresh") == "1000");
  CHECK(setting(xml, "smpi/async-small-thresh") == "1000");
  CHECK(setting(xml, "smpi/os") == "0:5e-08:0");
  CHECK(setting(xml, "smpi/or") == "0:6e-08:0;8192:1e-08:1e-10");
  CHECK(xml.find("radical=\"0-3\"") != std::string::npos);
  CHECK(xml.find("a - - b") != std::string::npos);  // a comment must not hold "--"
  // 200 ns - 16 B / 8 GB/s, for the envelope.
  CHECK(attribute(xml, "loopback_lat") == Approx(198e-9));
  CHECK(attribute(xml, "loopback_bw") == Approx(8e9));
}

TEST_CASE("machines without latency, and those without a network") {
  const std::string xml = simgrid_platform(
      parse_platform("format = 1\n[level.network]\ntransfer = [ { from = \"0B\", latency = \"0s\", "
                     "bandwidth = \"1GB/s\" } ]\n",
                     "p"),
      2);
  for (const double n : {1e4, 1e6}) CHECK(simgrid_time(xml, n) == Approx(n / 1e9).epsilon(0.01));
  CHECK(setting(xml, "smpi/async-small-thresh") == "1073741824");  // all eager
  const std::string constant =
      simgrid_platform(parse_platform("format = 1\n[level.network]\ntransfer = \"2us\"\n", "p"), 2);
  CHECK(simgrid_time(constant, 1e6) == Approx(2e-6).epsilon(0.001));
  CHECK_THROWS_WITH(
      simgrid_platform(parse_platform("format = 1\n[level.node]\ntransfer = \"2us\"\n", "p"), 2),
      Catch::Contains("no [level.network]"));
}

TEST_CASE("messages within a node are those of level node, else of socket, else of the network") {
  const auto loopback = [](bool node, bool socket) {
    std::string text = "format = 1\n[level.network]\ntransfer = \"9us\"\n";
    if (node) text += "[level.node]\ntransfer = \"2us\"\n";
    if (socket) text += "[level.socket]\ntransfer = \"1us\"\n";
    return attribute(simgrid_platform(parse_platform(text, "p"), 2), "loopback_lat");
  };
  CHECK(loopback(true, true) == Approx(2e-6));
  CHECK(loopback(true, false) == Approx(2e-6));
  CHECK(loopback(false, true) == Approx(1e-6));
  CHECK(loopback(false, false) == Approx(9e-6));
}
