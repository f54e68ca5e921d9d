#pragma once

#include <sstream>
#include <string>

#include "models/platform/platform_file.h"
#include "models/scenario/scenario.h"
#include "tests/unit/reference_simulation.h"

namespace rubato::property {

/// The machine of the reference simulation as a platform.
inline Scenario platform(const Machine& machine) {
  std::ostringstream text;
  text.precision(17);
  text << "format = 1\n";
  for (const char* level : {"self", "node", "network"}) {
    const double latency =
        std::string(level) == "network" ? machine.network_latency : machine.node_latency;
    text << "[level." << level << "]\ntransfer = [{ from = \"0B\", latency = \"" << latency
         << "ns\", bandwidth = \"" << 1 / machine.per_byte << "GB/s\" }]\n"
         << (machine.gap > 0 ? "gap = [{ from = \"0B\", latency = \"0s\", bandwidth = \"" +
                                   std::to_string(1 / machine.gap) + "GB/s\" }]\n"
                             : "gap = \"0s\"\n")
         << "send_overhead = \"" << machine.o_s << "ns\"\nreceive_overhead = \"" << machine.o_r
         << "ns\"\n";
    if (machine.burst_gap > 0)
      text << "burst_gap = [{ from = \"0B\", latency = \"0s\", bandwidth = \""
           << 1 / machine.burst_gap << "GB/s\" }]\n";
    if (machine.second_burst_gap > 0)
      text << "second_burst_gap = [{ from = \"0B\", latency = \"0s\", bandwidth = \""
           << 1 / machine.second_burst_gap << "GB/s\" }]\n";
    if (machine.following > 0) text << "following_overhead = \"" << machine.following << "ns\"\n";
    if (machine.synchronous > 0)
      text << "synchronous_overhead = \"" << machine.synchronous << "ns\"\n";
    if (machine.crossing > 0) text << "crossing_delay = \"" << machine.crossing << "ns\"\n";
    if (machine.rendezvous < kNever)
      text << "protocol = [{ from = \"0B\", kind = \"eager\" }, { from = \"" << machine.rendezvous
           << "B\", kind = \"" << kProtocolNames[static_cast<int>(machine.protocol)] << "\" }]\n";
  }
  Scenario scenario;
  scenario.name = "platform";
  scenario.platform = parse_platform(text.str(), "platform");
  scenario.platform.collectives = machine.collectives;
  return scenario;
}

}  // namespace rubato::property
