#include "models/curve_ranges.h"

#include <cmath>

#include "models/units.h"

namespace rubato {
namespace {

std::string seconds(double value) {
  return format_seconds(brief(value));
}
std::string bytes(double value) {
  return format_bytes(std::round(value));
}
std::string bandwidth(double per_byte) {
  return per_byte > 0 ? format_bandwidth(brief(1 / per_byte)) : "inf";
}

/// "310ns to 320ns", or the one number that both are.
template <typename Show>
std::string range(double low, double high, Show show) {
  const std::string from = show(low), to = show(high);
  return from == to ? from : from + " to " + to;
}

std::string lines_of(const char* name, const SegmentedFit& fit) {
  std::string lines;
  for (size_t k = 0; k < fit.segments.size(); ++k) {
    const SegmentIntervals& within = fit.intervals[k];
    lines += std::string("#   ") + name + " from ";
    lines += k == 0 ? bytes(fit.segments[k].from) : range(within.from.low, within.from.high, bytes);
    lines += ": " + range(within.intercept.low, within.intercept.high, seconds);
    // A bandwidth is largest where its slope is least. That of few samples may be anything.
    if (std::isfinite(within.per_byte.high) && fit.segments[k].per_byte > 0)
      lines += ", " + range(within.per_byte.high, within.per_byte.low, bandwidth);
    lines += "\n";
  }
  return lines;
}

}  // namespace

std::string curve_ranges(const LevelFit& fit) {
  if (!fit.transfer) return "";
  std::string lines =
      "# Latency and bandwidth, and where segments begin, with 95 % confidence; one way holds the\n"
      "# overheads.\n" +
      lines_of("one way", *fit.transfer);
  if (fit.gap) lines += lines_of("gap", *fit.gap);
  if (fit.burst_gap) lines += lines_of("burst gap", *fit.burst_gap);
  return lines;
}

}  // namespace rubato
