#include "models/base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "models/base/error.h"
#include "models/base/number_text.h"

namespace rubato {
namespace {

using Unit = std::pair<const char*, double>;

// Messages list the units up to "ps"; the others are spellings of microseconds (the micro sign and
// the Greek letter look alike).
constexpr std::array<Unit, 10> kSeconds = {{{"ns", 1e-9},
                                            {"us", 1e-6},
                                            {"ms", 1e-3},
                                            {"s", 1.0},
                                            {"ps", 1e-12},
                                            {"\u00b5s", 1e-6},
                                            {"\u03bcs", 1e-6},
                                            {"usec", 1e-6},
                                            {"msec", 1e-3},
                                            {"sec", 1.0}}};
constexpr size_t kListedSeconds = 5;
// Limits beyond any machine, so that sums of many values stay finite.
constexpr double kMostSeconds = 1e6;
constexpr double kMostBytes = 1152921504606846976.0;  // 1 EiB
constexpr double kLeastBandwidth = 1;
constexpr std::array<Unit, 10> kBytes = {{{"B", 1.0},
                                          {"KiB", 1024.0},
                                          {"MiB", 1048576.0},
                                          {"GiB", 1073741824.0},
                                          {"kB", 1e3},
                                          {"KB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TiB", 1099511627776.0},
                                          {"TB", 1e12}}};
// Messages list the units up to "Gbit/s"; the others are spellings of vendors, always bits.
constexpr std::array<Unit, 13> kBandwidths = {{{"B/s", 1.0},
                                               {"KiB/s", 1024.0},
                                               {"MiB/s", 1048576.0},
                                               {"GiB/s", 1073741824.0},
                                               {"kB/s", 1e3},
                                               {"MB/s", 1e6},
                                               {"GB/s", 1e9},
                                               {"Mbit/s", 1e6 / 8},
                                               {"Gbit/s", 1e9 / 8},
                                               {"kbit/s", 1e3 / 8},
                                               {"kbps", 1e3 / 8},
                                               {"Mbps", 1e6 / 8},
                                               {"Gbps", 1e9 / 8}}};
constexpr size_t kListedBandwidths = 9;

/// Number and unit of `text`; the unit must be one of `units` unless the number is 0.
/// Messages name the first `listed` units.
double parse_quantity(const std::string& text, std::span<const Unit> units, size_t listed,
                      const char* what, const char* example) {
  std::string_view rest = text;
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
  if (!rest.empty() && rest.front() == '+') rest.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const auto fail = [&]() -> double {
    std::string known;
    for (const Unit& unit : units.first(listed))
      known += (known.empty() ? "" : ", ") + std::string(unit.first);
    throw InputError("'" + text + "' is not a " + what + "; write a number and one of the units " +
                     known + ", for example " + example);
  };
  if (error != std::errc() || std::isnan(number)) return fail();  // "nan" is one for from_chars
  rest.remove_prefix(end - rest.data());
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (rest.empty() && (number == 0 || std::isinf(number))) return number;
  for (const Unit& unit : units) {
    if (rest == unit.first) return number * unit.second;
  }
  return fail();
}

/// `value` in the largest of `units` that keeps it at 1 or more, with `digits` significant digits.
std::string format_quantity(double value, std::span<const Unit> units, int digits) {
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    if (std::abs(value) >= unit.second * (1 - 1e-9)) best = &unit;
  }
  const double number = value / best->second;
  // For larger numbers %g would write an exponent: write 13620GB/s.
  constexpr double kReadable = 1e9;
  const double too_long = std::pow(10, digits);
  if (std::abs(number) >= too_long && std::abs(number) < kReadable) {
    const double last = std::pow(10, std::floor(std::log10(std::abs(number))) + 1 - digits);
    return fixed_text(std::round(number / last) * last, 0) + best->first;
  }
  return general_text(number, digits) + best->first;
}

}  // namespace

double parse_seconds(const std::string& text) {
  const double seconds = parse_quantity(text, kSeconds, kListedSeconds, "time", "\"1.3us\"");
  if (std::isinf(seconds)) throw InputError("'" + text + "' is not a time: it must be finite");
  if (std::abs(seconds) > kMostSeconds)
    throw InputError("'" + text + "' is longer than a million seconds, the longest time here");
  return seconds;
}

double parse_bytes(const std::string& text) {
  const double bytes = parse_quantity(text, kBytes, kBytes.size(), "size", "\"64KiB\"");
  if (!(bytes >= 0)) throw InputError("'" + text + "' is not a size: it must not be negative");
  if (std::isinf(bytes)) throw InputError("'" + text + "' is not a size: it must be finite");
  if (bytes > kMostBytes)
    throw InputError("'" + text + "' is more than 2^60 bytes, the largest size here");
  return bytes;
}

double parse_bandwidth(const std::string& text) {
  const double bandwidth =
      parse_quantity(text, kBandwidths, kListedBandwidths, "bandwidth", "\"12.5GB/s\"");
  if (!(bandwidth > 0)) {
    throw InputError("'" + text + "' is not a bandwidth: it must be greater than 0");
  }
  if (bandwidth < kLeastBandwidth)
    throw InputError("'" + text + "' is less than 1B/s, the least bandwidth here");
  return bandwidth;
}

double brief(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double digits = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
  return std::round(value / digits) * digits;
}

std::string brief_seconds(double seconds) {
  return std::abs(seconds) < 1e-12 ? "0s" : format_seconds(brief(seconds));
}

std::string brief_bytes(double bytes) {
  return format_bytes(std::round(bytes));
}

std::string brief_bandwidth(double bytes_per_second) {
  return format_bandwidth(brief(bytes_per_second));
}

std::string brief_bandwidth_of_slope(double per_byte) {
  return per_byte > 0 ? brief_bandwidth(1 / per_byte) : "inf";
}

std::string format_seconds(double seconds, int digits) {
  constexpr std::array<Unit, 4> units = {{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}}};
  if (seconds == 0) return "0s";
  return format_quantity(seconds, units, digits);
}

std::string format_bytes(double bytes) {
  constexpr std::array<Unit, 4> units = {
      {{"B", 1.0}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}}};
  // Only sizes that are whole in the larger unit use it: 64KiB, but 65537B.
  double shown = 1;
  for (const Unit& unit : units) {
    if (bytes >= unit.second && std::fmod(bytes, unit.second) == 0) shown = unit.second;
  }
  for (const Unit& unit : units) {
    if (unit.second == shown) return general_text(bytes / shown, 15) + unit.first;
  }
  return {};
}

std::string spaced_bytes(double bytes) {
  std::string text = format_bytes(bytes);
  return text.insert(text.find_first_of("BKMG"), 1, ' ');
}

std::string format_bandwidth(double bytes_per_second, int digits) {
  constexpr std::array<Unit, 4> units = {
      {{"B/s", 1.0}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}}};
  if (std::isinf(bytes_per_second)) return "inf";
  return format_quantity(bytes_per_second, units, digits);
}

}  // namespace rubato
