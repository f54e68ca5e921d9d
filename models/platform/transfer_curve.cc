#include "models/platform/transfer_curve.h"

#include <algorithm>
#include <cmath>

#include "models/base/error.h"
#include "models/base/units.h"

namespace rubato {

TransferCurve::TransferCurve(std::vector<Segment> segments) : segments_(std::move(segments)) {
  constexpr double kMost =
      1e12;  // the longest time that a file can give, times a scenario's factors
  if (segments_.empty()) return;
  if (segments_.front().from != 0) throw InputError("the first segment must start at 0B");
  for (size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    const std::string at = "the segment from " + format_bytes(segment.from);
    if (i > 0 && !(segment.from > segments_[i - 1].from)) {
      throw InputError(at + " does not start after the one before it");
    }
    if (std::abs(segment.intercept) > kMost || segment.per_byte > kMost)
      throw InputError(at + " takes more than 10^12 seconds, or as many for a byte");
    if (!(segment.per_byte >= 0) || !std::isfinite(segment.intercept)) {
      throw InputError(at + " falls with the size; a larger message cannot be faster");
    }
    // The slope is not negative, so the start is where the segment is lowest. A few printed digits
    // of latency and bandwidth may leave the sum a rounding error below 0.
    const double growth = segment.from * segment.per_byte;
    if (segment.intercept + growth < -1e-5 * growth - 1e-15) {
      throw InputError(at + " gives a negative time there");
    }
  }
}

TransferCurve TransferCurve::hockney(double latency, double bandwidth) {
  return TransferCurve({Segment{0, latency, 1 / bandwidth, 0}});
}

const Segment& TransferCurve::segment_at(double bytes) const {
  const auto after = std::upper_bound(segments_.begin() + 1, segments_.end(), bytes,
                                      [](double n, const Segment& s) { return n < s.from; });
  return *(after - 1);
}

double TransferCurve::operator()(double bytes) const {
  if (segments_.empty()) return 0;
  const Segment& segment = segment_at(bytes);
  return std::max(0.0, segment.intercept + bytes * segment.per_byte);
}

}  // namespace rubato
