// Output of calibrate about the machine apart from single messages: degradation under load, noise,
// memory operations.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <map>

#include "calibrate/load.h"
#include "calibrate/output.h"
#include "models/units.h"

namespace rubato {
namespace {

/// Of the rank that lost most; the longest quantum of all.
NoiseSummary worst_of(const std::vector<NoiseSummary>& noise) {
  NoiseSummary worst;
  for (const NoiseSummary& one : noise) {
    const double most = std::max(worst.most, one.most);
    if (one.lost >= worst.lost) worst = one;
    worst.most = most;
  }
  return worst;
}

std::string bandwidth(size_t bytes, const Timing& timing) {
  return fmt::format("{:.1f}GB/s", static_cast<double>(bytes) / timing.min * 1e-9);
}

}  // namespace

std::string note_machine(Provenance& measured, const std::vector<LevelResult>& results,
                         const std::vector<NoiseSummary>& noise) {
  std::map<Level, std::vector<LoadedTime>> loaded;
  bool tells_sockets = false;
  for (const LevelResult& result : results) {
    loaded[result.level] = loaded_times(result.series, result.of_loops);
    tells_sockets |= result.level == Level::kSocket && result.fit.transfer;
  }
  const std::string contention = note_load(measured, loaded, tells_sockets);
  const NoiseSummary worst = worst_of(noise);
  if (worst.least > 0) {
    measured["noise"] = fmt::format(
        "{:.2f}% of the time lost; work of {:.3f}ms took {:.3f}ms in the mean, {:.3f}ms "
        "at most",
        100 * worst.lost, 1e3 * worst.least, 1e3 * worst.mean, 1e3 * worst.most);
  }
  return contention;
}

void print_machine(std::FILE* out, const Provenance& measured,
                   const std::vector<LevelResult>& results) {
  for (const LevelResult& result : results) {
    const Timings* warm = result.timings_of("copy");
    const Timings* cold = result.timings_of("copy_cold");
    const Timings* combined = result.timings_of("combine");
    if (!warm || !cold || !combined) continue;
    fmt::print(out, "memory of a rank\n  {:>8}  {:>13}  {:>14}  {:>13}\n", "size", "copy in cache",
               "copy in memory", "sum of doubles");
    for (const auto& [bytes, timing] : *warm) {
      if (std::countr_zero(bytes) % 2 != 0) continue;  // every other power of two
      const auto far = cold->find(bytes), sum = combined->find(bytes);
      if (far == cold->end() || sum == combined->end()) continue;
      fmt::print(out, "  {:>8}  {:>13}  {:>14}  {:>13}\n", format_bytes(static_cast<double>(bytes)),
                 bandwidth(bytes, timing), bandwidth(bytes, far->second),
                 bandwidth(bytes, sum->second));
    }
    fmt::print(out, "\n");
  }
  for (const auto& [key, value] : measured) {
    if (key == "noise") fmt::print(out, "noise: {}\n", value);
    if (key.ends_with("_degradation"))
      fmt::print(out, "degradation ratio of the {} level: {}\n", key.substr(0, key.find('_')),
                 value);
  }
}

}  // namespace rubato
