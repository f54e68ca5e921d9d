#include "models/fit/timed_length.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "models/base/error.h"

namespace rubato {
namespace {

/// The upper median; 0 of nothing.
double middle_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

const char* name_of(OfLoops of_loops) {
  return of_loops == OfLoops::kMedian ? "median" : "min";
}

OfLoops of_loops_named(const std::string& name) {
  for (const OfLoops one : {OfLoops::kLeast, OfLoops::kMedian}) {
    if (name == name_of(one)) return one;
  }
  throw UsageError("--time: '" + name + "' is neither min nor median");
}

double repeatability(const std::vector<TimedLength>& timings) {
  std::vector<double> differences;
  for (const TimedLength& timing : timings) {
    if (!(timing.half[0] > 0 && timing.half[1] > 0)) continue;
    differences.push_back(std::abs(timing.half[0] - timing.half[1]) / timing.seconds);
  }
  return middle_of(std::move(differences));
}

bool are_exact(const std::vector<TimedLength>& timings) {
  const auto exact = std::count_if(timings.begin(), timings.end(), [](const TimedLength& timing) {
    return timing.half[0] > 0 && timing.half[1] > 0 &&
           std::abs(timing.half[0] - timing.half[1]) <= kExact * timing.seconds;
  });
  return !timings.empty() && 20 * exact >= 19 * static_cast<ptrdiff_t>(timings.size());
}

double error_of_halves(const TimedLength& timing) {
  constexpr double kOfMedian = 1.4826;
  if (!(timing.half[0] > 0 && timing.half[1] > 0)) return 0;
  return kOfMedian * std::abs(timing.half[0] - timing.half[1]) / 2 / timing.seconds;
}

double relative_error(const TimedLength& timing) {
  return timing.launches > 1 ? timing.launch_error : error_of_halves(timing);
}

double reproducibility(const std::vector<TimedLength>& timings, double low, double high) {
  std::vector<double> errors;
  for (const TimedLength& timing : timings) {
    if (timing.bytes < low || timing.bytes >= high) continue;
    if (timing.launches > 1) {
      errors.push_back(relative_error(timing));
    } else if (timing.half[0] > 0 && timing.half[1] > 0) {
      // In a simulator launches do not differ either.
      const bool exact = std::abs(timing.half[0] - timing.half[1]) <= kExact * timing.seconds;
      errors.push_back(exact ? 0 : std::hypot(relative_error(timing), kLaunchSpread));
    }
  }
  return middle_of(std::move(errors));
}

void add_reproducibility(SegmentedFit& fit, const std::vector<TimedLength>& timings) {
  for (size_t i = 0; i < fit.segments.size(); ++i) {
    Segment& segment = fit.segments[i];
    const bool last = i + 1 == fit.segments.size();
    const double end = last ? HUGE_VAL : fit.segments[i + 1].from;
    segment.uncertainty =
        std::hypot(segment.uncertainty, reproducibility(timings, segment.from, end));
  }
}

}  // namespace rubato
