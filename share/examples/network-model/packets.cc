// A user-defined model of the cost of a message, and a program that replays with it: messages
// travel in packets, and each packet takes further time on its way and in the ports of its ranks.
// Build it with the CMakeLists.txt in this directory; usage: packets TRACE BYTES_PER_PACKET
// TIME_PER_PACKET
//
// A cost that is a straight line in pieces over the size needs no model: it is a curve of a
// platform file (share/doc/platform-files.md).

#include <cmath>
#include <cstdio>
#include <exception>

#include "models/base/units.h"
#include "models/platform/message_cost.h"
#include "replay/rubato.h"

int main(int argc, char** argv) try {
  if (argc != 4)
    return std::fprintf(stderr, "usage: packets TRACE BYTES_PER_PACKET TIME_PER_PACKET\n"), 2;
  const double size = rubato::parse_bytes(argv[2]), time = rubato::parse_seconds(argv[3]);
  if (size < 1) throw rubato::InputError("a packet needs a byte or more");
  const auto whole = rubato::parse_scenario("bandela:latency=1us,bandwidth=1GB/s");
  auto packets = rubato::parse_scenario("bandela:latency=1us,bandwidth=1GB/s,name=packets");
  packets.platform.message_model = [=](rubato::Level level, double bytes,
                                       rubato::MessageCost& cost) {
    if (level == rubato::Level::kSelf) return;
    const double further = std::ceil(bytes / size) * time;
    cost.transfer += further;
    cost.gap += further;
  };
  const auto trace = rubato::open_trace(argv[1]);
  for (const auto& result : rubato::run_replay(*trace, {whole, packets}, {}).scenarios)
    std::printf("%s %.3f us\n", result.name.c_str(), result.elapsed * 1e6);
} catch (const std::exception& error) {
  std::fprintf(stderr, "packets: %s\n", error.what());
  return 1;
}
