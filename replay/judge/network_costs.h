#pragma once

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
  kLatency,     ///< of all levels but self, and of links that a scenario can change
  kOverhead,    ///< processor time of senders and receivers
  kBandwidth,   ///< time that grows with the size of messages
  kContention,  ///< flows share links
  kLinks,       ///< latency and bandwidth of links that a scenario cannot change
  kProgress,    ///< data of rendezvous messages flows only while ranks are inside MPI
  kPlacement,   ///< ranks are on other nodes than in blocks, or in turn
  kFormulas,    ///< measured times of collectives
};

/// What the network of a platform costs the run: how much less time it takes with one property
/// at its best and all else unchanged. Contention, links, progress and bandwidth are removed one
/// after the other, so these add up; the other costs overlap.
struct NetworkCosts {
  struct Cost {
    NetworkProperty property = NetworkProperty::kLatency;
    double seconds = 0;          ///< of `elapsed`
    std::optional<double> half;  ///< half of the 95 % interval; none: not known, or not counts()
    std::string call;            ///< in which more than half of it is; "": none
    /// Of the scenario, to be tried: "latency/2"; "placement=block:4", "sockets=2". Empty: there
    /// are none.
    std::vector<std::string> changes;
  };
  std::string scenario;                    ///< name of the platform's scenario
  double elapsed = 0;                      ///< seconds on it
  std::vector<Cost> costs;                 ///< of its properties
  std::optional<CostlyFunction> function;  ///< none if not recorded
};

/// True for a cost of at least 1 % of the `elapsed` time.
bool counts(const NetworkCosts::Cost& cost, double elapsed);

/// The platform whose network is worth a finding: Roles::platform, else the first other one, on
/// which the run takes at least 2 % longer than on a perfect interconnect with its processors;
/// without dr=fit. Null: there is none.
const ScenarioResult* costly_network(const Roles& roles);

/// Replays `platform`, the scenario of `known`, once for each property, those whose cost counts()
/// again for intervals; once more if the archive tells which functions make calls. Errors: as
/// run_replay().
NetworkCosts network_costs(EventSource& source, const Scenario& platform,
                           const ScenarioResult& known, const std::vector<std::string>& calls,
                           const ReplayOptions& options);

}  // namespace rubato
