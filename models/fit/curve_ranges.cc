#include "models/fit/curve_ranges.h"

#include <algorithm>
#include <cmath>

#include "models/base/number_text.h"

namespace rubato {
namespace {

std::string lines_of(const char* name, const SegmentedFit& fit) {
  std::string lines;
  for (size_t k = 0; k < fit.segments.size(); ++k) {
    const SegmentIntervals& within = fit.intervals[k];
    lines += std::string("#   ") + name + " from ";
    lines += k == 0 ? brief_bytes(fit.segments[k].from) : brief_range(within.from, brief_bytes);
    // A line may meet 0 below its first length, which is no latency.
    const Interval latency{std::max(0.0, within.intercept.low), within.intercept.high};
    const bool is_latency = latency.high >= 0;
    if (is_latency) lines += ": " + brief_range(latency, brief_seconds);
    // With few samples the range may be infinite.
    if (std::isfinite(within.per_byte.high) && fit.segments[k].per_byte > 0)
      lines += (is_latency ? ", " : ": ") + brief_bandwidths(within.per_byte);
    if (k == 0 && !fit.samples.empty()) {
      lines += "; fit error " + fixed_text(100 * fit.rms_error, 1) + " % rms, " +
               fixed_text(100 * fit.max_error, 1) + " % at worst";
    }
    lines += "\n";
  }
  return lines;
}

}  // namespace

std::string curve_ranges(const LevelFit& fit) {
  if (!fit.transfer) return "";
  std::string lines =
      "# Latency and bandwidth, and where segments begin, with 95 % confidence; one way holds the\n"
      "# overheads, and they are as measured, also where all three would be more than one way.\n";
  for (const FittedCurve& curve : fitted_curves()) {
    if (curve.brief && curve.of(fit)) lines += lines_of(curve.brief, *curve.of(fit));
  }
  return lines;
}

std::string copy_ranges(const LevelFit& fit) {
  if (!fit.transfer || !fit.copy) return "";
  return "# Latency and bandwidth, and where segments begin, with 95 % confidence.\n" +
         lines_of("copy", *fit.copy);
}

}  // namespace rubato
