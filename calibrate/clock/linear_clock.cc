#include "calibrate/clock/linear_clock.h"

#include <cassert>

namespace rubato {

LinearClock fit_clock(const std::vector<ClockPoint>& points) {
  assert(!points.empty());
  const double count = static_cast<double>(points.size());
  LinearClock line;
  for (const ClockPoint& point : points) {
    line.middle += point.own / count;
    line.offset += point.offset / count;
  }
  double spread = 0, product = 0;
  for (const ClockPoint& point : points) {
    const double distance = point.own - line.middle;
    spread += distance * distance;
    product += distance * (point.offset - line.offset);
  }
  if (spread > 0) line.drift = product / spread;
  return line;
}

LinearClock over_parent(const LinearClock& own_over_parent, const LinearClock& parent) {
  // d reference / d own is the product of both slopes; the offset that of both together at
  // `middle`.
  const double middle = own_over_parent.middle;
  const double drift = (1 + own_over_parent.drift) * (1 + parent.drift) - 1;
  return {middle, parent.reference(own_over_parent.reference(middle)) - middle, drift};
}

}  // namespace rubato
