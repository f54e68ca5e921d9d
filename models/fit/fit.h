#pragma once

#include <optional>
#include <vector>

#include "models/platform/transfer_curve.h"
#include "models/statistics/statistics.h"

namespace rubato {

/// The maximum number of segments of a curve.
inline constexpr int kMostSegments = 20;
/// The default maximum for each curve of a calibrated file; without noise, in a simulator, as many
/// as the samples support.
inline constexpr int kSegmentsOfLevel = 4;

/// One measured point of a curve.
struct FitSample {
  double bytes = 0;
  double seconds = 0;  ///< greater than 0
  double weight = 1;   ///< relative; 2 counts like two equal samples
};

struct FitOptions {
  /// Samples of a segment: two lie on any line, the third one is evidence. 0 bytes may be a segment
  /// alone.
  int min_samples = 3;
  int max_segments = kMostSegments;
  /// Bytes at which segments behind the first may begin; unset: at any sample.
  std::optional<std::vector<double>> borders;
  /// Relative standard error of a sample, if known; 0 = the residuals are considered noise.
  double noise = 0;
  /// Relative misfit that never justifies another segment, whatever the noise.
  double noise_floor = 0.003;
};

/// 95 % ranges of a segment's numbers, from the samples.
struct SegmentIntervals {
  Interval from;       ///< bytes; of the first segment: 0
  Interval intercept;  ///< seconds
  Interval per_byte;   ///< seconds per byte
};

/// A curve in straight segments and the quality of its fit.
struct SegmentedFit {
  std::vector<Segment> segments;  ///< `uncertainty` is the relative rms residual of the segment
  std::vector<SegmentIntervals> intervals;  ///< of each segment
  double rms_error = 0;                     ///< relative, over all samples
  double max_error = 0;                     ///< relative, the worst sample
  std::vector<FitSample> samples;           ///< that it was fitted to, in ascending order

  /// Seconds for a message of `bytes`.
  double operator()(double bytes) const;
};

/// Fits segments `intercept + n * per_byte` to samples in any order; fit.cc explains the method.
/// per_byte >= 0, and the curve is nowhere negative. Errors: InputError for fewer than two sizes or
/// a time that is not greater than 0.
SegmentedFit fit_segments(std::vector<FitSample> samples, const FitOptions& options = {});

}  // namespace rubato
