#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "models/platform/platform.h"
#include "tools/calibration/sample_fit.h"
#include "tools/files/sample_file.h"

namespace rubato {

/// A pattern of a calibration that no curve was fitted to, and what the platform predicts for it.
struct CheckedPattern {
  std::string name;
  double bytes = 0;
  double measured = 0;   ///< seconds of a step
  double predicted = 0;  ///< the same

  /// The logarithm of their ratio: for small errors the relative one.
  double error() const { return std::log(predicted / measured); }
};

/// Replays the measured checked_patterns() (models/fit/message_pattern.h) on the fitted platform.
/// Those of all ranks count where each node had one rank, or one node, without a level socket, had
/// all of them and a core for each; with 32 ranks at most. Left out is what the platform cannot
/// replay. Errors: as sampled_levels().
std::vector<CheckedPattern> check_patterns(const Platform& platform, const SampleFile& samples,
                                           const std::string& file, OfLoops of_loops);

/// The relative standard error of message costs due to the model: the root mean square of the
/// errors of the patterns, at least kModelErrorInSimulator. Of no patterns kModelError, or that of
/// a simulator if the samples are `exact`.
double model_error(const std::vector<CheckedPattern>& patterns, bool exact);

/// "The file predicts 45 measured patterns within 2.1 % (rms), at worst 7.0 % (ring of 64KiB)."
/// with a line feed; "" of nothing.
std::string describe(const std::vector<CheckedPattern>& patterns);

}  // namespace rubato
