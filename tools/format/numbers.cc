#include "tools/format/numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/grouped.h"

namespace rubato {
namespace {

constexpr std::array<TimeUnit, 4> kUnits = {
    {{1, "s", 3}, {1e3, "ms", 3}, {1e6, "µs", 3}, {1e9, "ns", 3}}};

/// Decimals that give `value` four significant digits once rounded.
int decimals_for(double value) {
  if (value <= 0) return 3;
  const int digits_before_point = static_cast<int>(std::floor(std::log10(value * 1.00005))) + 1;
  return std::clamp(4 - digits_before_point, 0, 4);
}

/// The unit that shows `seconds` as a number from 1 to 999; the largest unit is seconds.
TimeUnit unit_for(double seconds) {
  for (const TimeUnit& unit : kUnits) {
    if (std::abs(seconds) * unit.scale * 1.00005 >= 1) return unit;
  }
  return seconds == 0 ? kUnits.front() : kUnits.back();
}

}  // namespace

std::string TimeUnit::show(double seconds) const {
  if (!std::isfinite(seconds)) return "-";
  return fmt::format("{:.{}f}", seconds * scale, decimals);
}

std::string show_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds == 0) return "0 s";
  TimeUnit unit = unit_for(seconds);
  unit.decimals = decimals_for(std::abs(seconds) * unit.scale);
  return fmt::format("{} {}", unit.show(seconds), unit.name);
}

TimeUnit common_unit(const std::vector<double>& seconds) {
  double largest = 0;
  double smallest = INFINITY;
  for (const double value : seconds) {
    if (!std::isfinite(value) || value == 0) continue;
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
  }
  TimeUnit unit = unit_for(largest);
  if (largest > 0) unit.decimals = decimals_for(smallest * unit.scale);
  return unit;
}

std::string rough_time(double seconds) {
  if (seconds >= 5400) return fmt::format("{:.1f} h", seconds / 3600);
  return seconds >= 90 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.0f} s", seconds);
}

std::string show_bytes(double bytes) {
  static constexpr std::array<const char*, 6> kNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t power = 0;
  while (bytes >= 1024 && power + 1 < kNames.size()) {
    bytes /= 1024;
    ++power;
  }
  const int decimals = power == 0 || bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, decimals, kNames[power]);
}

std::string show_count(uint64_t count) {
  return grouped(count);
}

std::string counted(uint64_t count, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", show_count(count), count == 1 ? one : many);
}

std::string show_share(double part, double whole) {
  if (!(whole > 0) || part == 0) return "0 %";
  const double percent = 100 * part / whole;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  return fmt::format("{:.1f} %", percent);
}

std::string percent_of(double part, double whole) {
  return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0.0);
}

}  // namespace rubato
