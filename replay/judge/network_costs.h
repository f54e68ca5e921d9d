#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/judge/costly_function.h"
#include "replay/judge/roles.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// A property of a platform that makes messages and collectives take time.
enum class NetworkProperty : uint8_t {
  kLatency,     ///< of all levels but self
  kOverhead,    ///< processor time of senders and receivers
  kBandwidth,   ///< time that grows with the size of messages
  kContention,  ///< flows share links
  kProgress,    ///< data of rendezvous messages flows only while ranks are inside MPI
  kPlacement,   ///< ranks are on other nodes than in blocks, or in turn
};
inline constexpr int kNetworkProperties = 6;

/// What the network of Roles::platform costs the run: how much less time it takes with one property
/// at its best and all else unchanged; for bandwidth, without contention and with progress.
/// Properties interact, so costs do not add up.
struct NetworkCosts {
  struct Cost {
    NetworkProperty property = NetworkProperty::kLatency;
    double seconds = 0;          ///< of `elapsed`
    std::optional<double> half;  ///< half of the 95 % interval; none where the platform states none
    std::string change;          ///< of the scenario, for kPlacement: "placement=block:4"
  };
  double elapsed = 0;                      ///< seconds on the platform
  std::vector<Cost> costs;                 ///< of its properties
  std::optional<CostlyFunction> function;  ///< none if not recorded
};

/// True if the run takes at least 2 % longer on Roles::platform than on a perfect interconnect.
bool needs_network_costs(const Roles& roles);

/// Replays `platform`, the scenario of Roles::platform, whose result is `known`, once for each
/// property; once more if the archive tells where calls are made. Errors: as run_replay().
NetworkCosts network_costs(EventSource& source, const Scenario& platform,
                           const ScenarioResult& known, const ReplayOptions& options);

}  // namespace rubato
