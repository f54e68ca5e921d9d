#include "calibrate/clock/noise.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace rubato {

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

std::string noise_text(const std::vector<NoiseSummary>& noise) {
  NoiseSummary worst;
  for (const NoiseSummary& one : noise) {
    const double most = std::max(worst.most, one.most);
    if (one.lost >= worst.lost) worst = one;
    worst.most = most;
  }
  if (!(worst.least > 0)) return "";
  return fmt::format(
      "{:.2f}% of the time lost; work of {:.3f}ms took {:.3f}ms in the mean, {:.3f}ms at most",
      100 * worst.lost, 1e3 * worst.least, 1e3 * worst.mean, 1e3 * worst.most);
}

}  // namespace rubato
