#include "models/timed_length.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rubato {

double repeatability(const std::vector<TimedLength>& timings) {
  std::vector<double> differences;
  for (const TimedLength& timing : timings) {
    if (!(timing.half[0] > 0 && timing.half[1] > 0)) continue;
    differences.push_back(std::abs(timing.half[0] - timing.half[1]) / timing.seconds);
  }
  if (differences.empty()) return 0;
  const auto middle = differences.begin() + static_cast<ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

}  // namespace rubato
