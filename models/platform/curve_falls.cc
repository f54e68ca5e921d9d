#include "models/platform/curve_falls.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "models/base/units.h"
#include "models/platform/level_curves.h"

namespace rubato {
namespace {

// Relative falls that do not count.
constexpr double kUnstated = 0.05;  // if the file states no errors
constexpr double kMeasured = 0.5;   // on a measured platform: lengths were measured at other times

struct ValueWithError {
  double seconds = 0;
  double error = 0;  ///< seconds; 0: not stated
};

/// The sum of the curves at `n`, by the segments that hold `at`.
ValueWithError sum_at(const std::vector<const TransferCurve*>& curves, double n, double at) {
  ValueWithError sum;
  for (const TransferCurve* curve : curves) {
    if (curve->empty()) continue;
    const Segment& segment = curve->segment_at(at);
    const double seconds = std::max(0.0, segment.intercept + n * segment.per_byte);
    sum.seconds += seconds;
    sum.error = std::hypot(sum.error, segment.uncertainty * seconds);
  }
  return sum;
}

/// The deepest fall of the sum of these curves, relative to the value before it. `one_way`: the
/// curves of the times of which a measured curve is a difference.
std::optional<CurveFall> deepest_fall(const std::vector<const TransferCurve*>& curves,
                                      const std::vector<const TransferCurve*>& one_way,
                                      bool measured) {
  std::set<double> borders;
  for (const TransferCurve* curve : curves) {
    for (const Segment& segment : curve->segments()) borders.insert(segment.from);
  }
  borders.erase(0);
  std::optional<CurveFall> deepest;
  int falls = 0;
  for (const double bytes : borders) {
    const ValueWithError before = sum_at(curves, bytes, std::nextafter(bytes, 0));
    const ValueWithError after = sum_at(curves, bytes, bytes);
    const double stated = before.error + after.error;
    double allowed = stated > 0 ? stated : kUnstated * before.seconds;
    if (measured) {
      const double whole = sum_at(one_way, bytes, std::nextafter(bytes, 0)).seconds;
      allowed = std::max(allowed, kMeasured * std::max(before.seconds, whole));
    }
    if (before.seconds - after.seconds <= allowed) continue;
    ++falls;
    if (!deepest || after.seconds / before.seconds < deepest->after / deepest->before) {
      deepest.emplace();
      deepest->bytes = bytes;
      deepest->before = before.seconds;
      deepest->after = after.seconds;
    }
  }
  if (deepest) deepest->others = falls - 1;
  return deepest;
}

}  // namespace

std::string CurveFall::text() const {
  const std::string level_name = std::string("level.") + kLevelNames[static_cast<int>(level)];
  const std::string name = curve == "transfer" ? level_name : level_name + "." + curve;
  std::string text = name + ": " + what + brief_seconds(before) + " below " + format_bytes(bytes) +
                     ", and " + brief_seconds(after) + " from there on";
  if (others > 0) {
    text += ", and falls so at " + std::to_string(others) +
            (others == 1 ? " other size" : " other sizes");
  }
  return text;
}

std::vector<CurveFall> curve_falls(const Platform& platform) {
  std::vector<CurveFall> falls;
  const auto look = [&](int level, const char* key, const char* what,
                        const std::vector<const TransferCurve*>& curves) {
    const LevelModel& of = *platform.levels[level];
    std::optional<CurveFall> fall =
        deepest_fall(curves, {&of.send_overhead, &of.transfer, &of.receive_overhead},
                     !platform.measured.empty());
    if (!fall) return;
    fall->level = static_cast<Level>(level);
    fall->curve = key;
    fall->what = what;
    falls.push_back(*fall);
  };
  for (int i = 0; i < kLevels; ++i) {
    const std::optional<LevelModel>& level = platform.levels[i];
    if (!level) continue;
    look(i, "transfer", "a message takes ",
         {&level->send_overhead, &level->transfer, &level->receive_overhead});
    for (const LevelCurve& curve : level_curves()) {
      const TransferCurve* found = curve.may_not_fall ? curve.find(*level) : nullptr;
      if (found) look(i, curve.key, curve.may_not_fall, {found});
    }
  }
  return falls;
}

}  // namespace rubato
