#include "models/fit/load_fit.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>

#include "models/base/number_text.h"

namespace rubato {
namespace {

/// Three digits, as ratios may be small: pairs that do not disturb each other have 1 / their
/// number.
std::string brief(double value) {
  return general_text(value, 3);
}

/// "0.712 +- 0.02".
std::string with_error(const FittedDegradation& fit, const char* between) {
  return brief(fit.ratio) + (fit.values > 1 ? between + brief(fit.error) : "");
}

std::string pairs_of(const FittedDegradation& fit) {
  return std::to_string(fit.least_live) + " to " + std::to_string(fit.most_live) + " pairs at once";
}

/// True if each communicating rank had a core of its own, or if the number of cores is unknown.
bool had_cores(Level level, const FittedDegradation& fit, const Provenance& measured) {
  const auto cores = measured.find("cores");
  const int on_a_node = level == Level::kNetwork ? fit.most_live : 2 * fit.most_live;
  return cores == measured.end() || on_a_node <= std::atoi(cores->second.c_str());
}

/// The levels of a [contention], as TOML.
std::string contended_levels(Level level, bool tells_sockets) {
  return level == Level::kNode && tells_sockets
             ? "[\"socket\", \"node\"]"
             : std::string("[\"") + kLevelNames[static_cast<int>(level)] + "\"]";
}

std::string contention_comment(Level level, const FittedDegradation& fit, bool tells_sockets) {
  std::string text =
      "\n# Messages that are under way at once slow each other down by so much (MPInside's LR x "
      "DR), as\n# measured with " +
      pairs_of(fit) +
      ". Without the leading # the replay reckons with it; it then goes\n# by the order of time, "
      "and takes longer (share/doc/platform-files.md).\n";
  if (fit.ratio < 1) {
    text +=
        "# As DR is below 1, it lets a message that is alone on its node move faster than "
        "measured.\n";
  }
  return text + "# [contention]\n# model = \"degradation\"\n# levels = " +
         contended_levels(level, tells_sockets) +
         "\n# degradation_ratio = " + with_error(fit, "  # +- ") + "\n";
}

}  // namespace

std::optional<FittedDegradation> fit_degradation(const std::vector<LoadedTime>& times,
                                                 double least_bytes) {
  std::map<double, double> alone;
  for (const LoadedTime& time : times) {
    if (time.live == 1) alone[time.bytes] = time.seconds;
  }
  if (alone.empty()) return std::nullopt;
  const double latency = alone.begin()->second;
  std::vector<double> ratios;
  FittedDegradation fit;
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

std::optional<int> pairs_at_once(const std::string& pattern) {
  const std::string name = "pairs_";
  if (!pattern.starts_with(name)) return std::nullopt;
  int pairs = 0;
  const char* const end = pattern.data() + pattern.size();
  const auto [rest, error] = std::from_chars(pattern.data() + name.size(), end, pairs);
  if (error != std::errc() || rest != end || pairs < 1) return std::nullopt;
  return pairs;
}

std::string note_load(Provenance& measured, const std::map<Level, std::vector<LoadedTime>>& times,
                      bool tells_sockets) {
  std::string comment;
  for (const auto& [level, loaded] : times) {  // the most distant one is the last
    const auto fit = fit_degradation(loaded);
    if (!fit) continue;
    measured[std::string(kLevelNames[static_cast<int>(level)]) + "_degradation"] =
        with_error(*fit, " +- ") + " (" + pairs_of(*fit) + ")";
    if (fit->ratio > 0 && had_cores(level, *fit, measured))
      comment = contention_comment(level, *fit, tells_sockets);
  }
  return comment;
}

}  // namespace rubato
