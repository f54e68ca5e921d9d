#include "replay/study/pair_weights.h"

#include <algorithm>
#include <map>
#include <utility>

namespace rubato {
namespace {

/// Seconds of a message at a level; 0 if it has no costs.
double seconds_at(const Platform& platform, Level level, double bytes) {
  const auto& model = platform.priced_by(level);
  if (!model) return 0;
  return model->send_overhead(bytes) + model->transfer(bytes) + model->receive_overhead(bytes);
}

}  // namespace

PairTraffic pair_traffic(CallProfile& seen, const TraceDefinitions& trace,
                         const Scenario& scenario) {
  std::map<std::pair<int, int>, std::pair<double, double>> sums;
  for (int rank = 0; rank < trace.ranks(); ++rank) {
    for (const PeerTraffic& traffic : seen.take_peers(rank)) {
      if (traffic.peer == rank || traffic.peer < 0) continue;
      Requests all = traffic.sent;
      all += traffic.fetched;
      if (all.count == 0) continue;
      const auto count = static_cast<double>(all.count);
      const double bytes = static_cast<double>(all.bytes) / count;
      const double between = seconds_at(scenario.platform, Level::kNetwork, bytes);
      const double inside = seconds_at(scenario.platform, Level::kNode, bytes);
      auto& [extra, whole] = sums[std::minmax(rank, static_cast<int>(traffic.peer))];
      extra += count * std::max(0.0, between - inside);
      whole += count * between;
    }
  }
  PairTraffic pairs;
  for (const auto& [pair, sum] : sums) {
    if (sum.first > 0) pairs.extra.push_back({pair.first, pair.second, sum.first});
    if (sum.second > 0) pairs.whole.push_back({pair.first, pair.second, sum.second});
  }
  return pairs;
}

}  // namespace rubato
