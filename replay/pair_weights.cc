#include "replay/pair_weights.h"

#include <algorithm>
#include <map>
#include <utility>

namespace rubato {
namespace {

/// Seconds by which a message takes longer between nodes than within one.
double extra_between_nodes(const Platform& platform, std::optional<Level> fallback, double bytes) {
  const auto& node = platform.priced_by(Level::kNode, fallback);
  const auto& network = platform.priced_by(Level::kNetwork, fallback);
  if (!node || !network) return 0;
  const auto seconds = [bytes](const LevelModel& level) {
    return level.send_overhead(bytes) + level.transfer(bytes) + level.receive_overhead(bytes);
  };
  return std::max(0.0, seconds(*network) - seconds(*node));
}

}  // namespace

std::vector<PairWeight> pair_weights(CallProfile& seen, const TraceDefinitions& trace,
                                     const Scenario& scenario, std::optional<Level> fallback) {
  std::map<std::pair<int, int>, double> weights;
  for (int rank = 0; rank < trace.ranks(); ++rank) {
    for (const PeerTraffic& traffic : seen.take_peers(rank)) {
      if (traffic.peer == rank || traffic.peer < 0) continue;
      Requests all = traffic.sent;
      all += traffic.fetched;
      if (all.count == 0) continue;
      const auto count = static_cast<double>(all.count);
      weights[std::minmax(rank, static_cast<int>(traffic.peer))] +=
          count *
          extra_between_nodes(scenario.platform, fallback, static_cast<double>(all.bytes) / count);
    }
  }
  std::vector<PairWeight> pairs;
  for (const auto& [pair, weight] : weights) {
    if (weight > 0) pairs.push_back({pair.first, pair.second, weight});
  }
  return pairs;
}

}  // namespace rubato
