#include "tools/studies/sweep_axes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "models/base/error.h"

namespace rubato {
namespace {

constexpr int kPointsOfCurve = 31, kPointsOfMap = 13;
constexpr int kMostPoints = 1000;  ///< of an axis
constexpr double kMostInAll = 10000;
constexpr double kMostFactor = 1e6;  ///< and one over it

const std::vector<std::string> kKeys = {"latency",          "bandwidth",        "cpu",
                                        "self.latency",     "self.bandwidth",   "socket.latency",
                                        "socket.bandwidth", "node.latency",     "node.bandwidth",
                                        "network.latency",  "network.bandwidth"};

[[noreturn]] void refuse(const std::string& word, const std::string& why) {
  throw UsageError("--sweep: '" + word + "': " + why);
}

/// All of `text` as a number; -1 if it is none.
double number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && std::isfinite(value) ? value : -1;
}

/// "latency=0.1..100/31"
SweepAxis parse_axis(const std::string& word) {
  SweepAxis axis;
  const size_t equals = word.find('=');
  const size_t dots = word.find("..");
  const size_t slash = std::min(word.find('/'), word.size());
  const std::string usage = "write KEY=LOW..HIGH with factors above 0, as in latency=0.1..100";
  if (equals == std::string::npos || dots == std::string::npos || dots < equals || slash < dots)
    refuse(word, usage);
  axis.key = word.substr(0, equals);
  if (std::find(kKeys.begin(), kKeys.end(), axis.key) == kKeys.end()) {
    refuse(word, "'" + axis.key + "' is no number to sweep" + did_you_mean(axis.key, kKeys));
  }
  axis.low = number(word.substr(equals + 1, dots - equals - 1));
  axis.high = number(word.substr(dots + 2, slash - dots - 2));
  if (!(axis.low > 0) || !(axis.high > 0)) refuse(word, usage);
  if (axis.low < 1 / kMostFactor || axis.high > kMostFactor)
    refuse(word, "factors are from a millionth to a million");
  if (!(axis.low < axis.high)) refuse(word, "the first factor must be the lower one");
  if (slash == word.size()) return axis;
  const double points = number(word.substr(slash + 1));
  if (points != std::floor(points) || points < 2 || points > kMostPoints)
    refuse(word, "write /N for N points, from 2 to " + std::to_string(kMostPoints));
  axis.points = static_cast<int>(points);
  return axis;
}

}  // namespace

std::vector<SweepAxis> parse_sweep(const std::string& text) {
  std::vector<SweepAxis> axes;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    axes.push_back(parse_axis(text.substr(start, end - start)));
    start = end + 1;
  }
  if (axes.size() > 2) refuse(text, "at most two numbers");
  if (axes.size() == 2 && axes[0].key == axes[1].key) refuse(text, "write two different numbers");
  double points = 1;
  for (SweepAxis& axis : axes) {
    if (axis.points == 0) axis.points = axes.size() == 1 ? kPointsOfCurve : kPointsOfMap;
    points *= axis.points;
  }
  if (points > kMostInAll) refuse(text, "at most 10000 points in all");
  return axes;
}

}  // namespace rubato
