#include "tools/format/numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "models/base/grouped.h"

namespace rubato {
namespace {

constexpr std::array<Unit, 4> kUnits = {
    {{1, "s", 3}, {1e3, "ms", 3}, {1e6, "µs", 3}, {1e9, "ns", 3}}};

/// Decimals that give `value` four significant digits once rounded.
int decimals_for(double value) {
  if (value <= 0) return 3;
  const int digits_before_point = static_cast<int>(std::floor(std::log10(value * 1.00005))) + 1;
  return std::clamp(4 - digits_before_point, 0, 4);
}

constexpr Unit kByteUnits[] = {{0x1p-50, "PiB"}, {0x1p-40, "TiB"}, {0x1p-30, "GiB"},
                               {0x1p-20, "MiB"}, {0x1p-10, "KiB"}, {1, "B"}};
constexpr Unit kRateUnits[] = {{1e-9, "GB/s"}, {1e-6, "MB/s"}, {1e-3, "kB/s"}, {1, "B/s"}};

/// Values of one column have at most this many digits, unless they are whole numbers.
constexpr int kMostDigits = 7;

int digits_before_point(double value) {
  return value < 1 ? 1 : static_cast<int>(std::floor(std::log10(value))) + 1;
}

/// "-0.00" without its sign.
std::string no_minus_zero(std::string number) {
  return number.find_first_not_of("-+0. %") == std::string::npos && number[0] != '0'
             ? number.substr(1)
             : number;
}

/// The smallest and the largest of the values that are finite and not 0; 0 if there is none.
std::pair<double, double> range_of(const std::vector<double>& values) {
  double smallest = INFINITY, largest = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    smallest = std::min(smallest, std::abs(value));
    largest = std::max(largest, std::abs(value));
  }
  return {std::min(smallest, largest), largest};
}

/// The first of `units`, from large to small, in which `smallest` is at least 1; three digits.
Unit unit_of_smallest(double smallest, std::span<const Unit> units) {
  const auto found = std::find_if(units.begin(), units.end() - 1,
                                  [&](const Unit& unit) { return smallest * unit.scale >= 1; });
  Unit unit = *found;
  const double shown = smallest * unit.scale;
  unit.decimals = unit.scale == 1 || shown >= 100 ? 0 : shown >= 10 ? 1 : 2;
  return unit;
}

/// The unit that shows `seconds` as a number from 1 to 999; the largest unit is seconds.
TimeUnit unit_for(double seconds) {
  for (const TimeUnit& unit : kUnits) {
    if (std::abs(seconds) * unit.scale * 1.00005 >= 1) return unit;
  }
  return seconds == 0 ? kUnits.front() : kUnits.back();
}

}  // namespace

std::string Unit::show(double value) const {
  if (!std::isfinite(value)) return "-";
  std::string number = no_minus_zero(fmt::format("{:.{}f}", value * scale, decimals));
  if (std::string_view(name).find('B') != std::string_view::npos) {  // as show_count() does
    const size_t point = std::min(number.find('.'), number.size());
    for (size_t at = point; at > 3 && number[at - 4] != '-';) number.insert(at -= 3, ",");
  }
  return number;
}

std::string show_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds == 0) return "0 s";
  TimeUnit unit = unit_for(seconds);
  unit.decimals = decimals_for(std::abs(seconds) * unit.scale);
  return fmt::format("{} {}", unit.show(seconds), unit.name);
}

TimeUnit common_unit(const std::vector<double>& seconds) {
  const auto [smallest, largest] = range_of(seconds);
  if (largest == 0) return unit_for(0);
  const Unit* unit = kUnits.begin();
  while (unit->name != unit_for(largest).name) ++unit;
  while (smallest * unit->scale < 0.0095 && unit != &kUnits.back()) ++unit;
  TimeUnit chosen = *unit;
  chosen.decimals = std::min(decimals_for(smallest * unit->scale),
                             std::max(0, kMostDigits - digits_before_point(largest * unit->scale)));
  return chosen;
}

Unit common_bytes(const std::vector<double>& bytes) {
  return unit_of_smallest(range_of(bytes).first, kByteUnits);
}

Unit common_rate(const std::vector<double>& rates) {
  return unit_of_smallest(range_of(rates).first, kRateUnits);
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
  const bool is_whole = bytes == std::floor(bytes);
  const int decimals = is_whole || power == 0 || bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, decimals, kNames[power]);
}

std::string show_rate(double bytes_per_second) {
  if (!std::isfinite(bytes_per_second)) return "inf";
  Unit unit = unit_of_smallest(bytes_per_second, kRateUnits);
  unit.decimals = decimals_for(bytes_per_second * unit.scale);
  return fmt::format("{} {}", unit.show(bytes_per_second), unit.name);
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
  return no_minus_zero(fmt::format("{:.1f} %", percent));
}

std::string percent_of(double part, double whole) {
  return no_minus_zero(fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0.0));
}

std::string signed_percent(double part, double whole) {
  return no_minus_zero(fmt::format("{:+.1f} %", whole > 0 ? 100 * part / whole : 0.0));
}

}  // namespace rubato
