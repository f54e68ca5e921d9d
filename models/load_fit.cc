#include "models/load_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace rubato {

std::optional<Degradation> fit_degradation(const std::vector<LoadedTime>& times,
                                           double least_bytes) {
  std::map<double, double> alone;
  for (const LoadedTime& time : times) {
    if (time.live == 1) alone[time.bytes] = time.seconds;
  }
  if (alone.empty()) return std::nullopt;
  const double latency = alone.begin()->second;
  std::vector<double> ratios;
  Degradation fit;
  fit.most_live = 0;
  for (const LoadedTime& time : times) {
    const auto single = alone.find(time.bytes);
    if (time.live < 2 || time.bytes < least_bytes || single == alone.end()) continue;
    const double growth = single->second - latency;  // size / B(size)
    if (!(growth > 0)) continue;
    ratios.push_back(std::max(0.0, time.seconds - latency) / (growth * time.live));
    fit.least_live = fit.most_live == 0 ? time.live : std::min(fit.least_live, time.live);
    fit.most_live = std::max(fit.most_live, time.live);
  }
  if (ratios.empty()) return std::nullopt;
  fit.values = static_cast<int>(ratios.size());
  const auto count = static_cast<double>(ratios.size());
  fit.ratio = std::accumulate(ratios.begin(), ratios.end(), 0.0) / count;
  double squares = 0;
  for (const double ratio : ratios) squares += (ratio - fit.ratio) * (ratio - fit.ratio);
  if (ratios.size() > 1) fit.error = std::sqrt(squares / (count - 1) / count);
  return fit;
}

NoiseSummary summarise_noise(const std::vector<double>& quanta) {
  NoiseSummary noise;
  if (quanta.empty()) return noise;
  const auto [least, most] = std::minmax_element(quanta.begin(), quanta.end());
  noise.least = *least;
  noise.most = *most;
  noise.mean =
      std::accumulate(quanta.begin(), quanta.end(), 0.0) / static_cast<double>(quanta.size());
  noise.lost = noise.mean > 0 ? 1 - noise.least / noise.mean : 0;
  return noise;
}

}  // namespace rubato
