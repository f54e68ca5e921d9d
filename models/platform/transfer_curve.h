#pragma once

#include <string>
#include <vector>

namespace rubato {

/// One straight piece of a curve: seconds(n) = intercept + n * per_byte for n >= from (bytes), up
/// to where the next segment starts.
struct Segment {
  double from = 0;       ///< bytes
  double intercept = 0;  ///< seconds; may be negative as long as the curve is not
  double per_byte = 0;   ///< seconds per byte, >= 0 (1 / bandwidth)
  double uncertainty =
      0;  ///< relative standard error of the fitted value inside this segment; 0 = not known
};

/// Time over message size in straight segments (Hockney's latency + n/bandwidth with
/// bandwidth(size) by segments, the form of MPInside paper section 4.3). The empty curve is 0
/// everywhere.
class TransferCurve {
 public:
  TransferCurve() = default;
  /// Segments in increasing `from`; the first starts at 0. Errors: InputError otherwise, or if the
  /// curve is negative somewhere.
  explicit TransferCurve(std::vector<Segment> segments);

  /// One segment: latency + n / bandwidth.
  static TransferCurve hockney(double latency, double bandwidth);

  /// Seconds for a message of `bytes`.
  double operator()(double bytes) const;

  bool empty() const { return segments_.empty(); }
  const std::vector<Segment>& segments() const { return segments_; }
  /// The segment that holds `bytes`. The curve must not be empty.
  const Segment& segment_at(double bytes) const;

 private:
  std::vector<Segment> segments_;
};

}  // namespace rubato
