#include "calibrate/plan/time_plan.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

constexpr double kQuick = 24;  // seconds

}  // namespace

double TimePlan::begin(double budget, double now) {
  const double left = limit_ - now - rest_;
  rest_ = std::max(0.0, rest_ - budget);
  budget_ = budget;
  begun_ = now;
  return budget + std::clamp(left, 0.0, budget);
}

double TimePlan::left(double now) const {
  return rest_ + std::max(0.0, budget_ - (now - begun_));
}

double time_limit(double planned, bool quick) {
  constexpr double kNormal = 290;
  return quick ? kQuick : std::max(kNormal, planned * 4 / 3);
}

double quick_scale(double planned) {
  return std::min(1.0, scale_for(kQuick, planned));
}

double scale_for(double seconds, double planned) {
  return planned > 0 ? seconds * 3 / 4 / planned : 1;
}

std::string progress_text(const std::string& what, double seconds_left) {
  if (seconds_left <= 0) return what;
  std::string left = "a few s";
  if (seconds_left >= 120) {
    left = "about " + std::to_string(std::lround(seconds_left / 60)) + " min";
  } else if (seconds_left >= 5) {
    left = "about " + std::to_string(std::lround(seconds_left / 5) * 5) + " s";
  }
  return what + "; " + left + " left";
}

}  // namespace rubato
