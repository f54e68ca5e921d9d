#pragma once

#include <span>

#include "models/platform/platform.h"

// The curves of a level, one row each. Reading, writing, scaling and deviating a level are loops
// over these rows. A new curve is a member of LevelModel, a row in level_curves.cc, its term and
// use in message_cost.h and .cc; to be measured, its experiment in calibrate/measure/
// (characterise.cc, pair.cc), and its fit in models/fit/level_fit.cc (series(), fit_level(),
// add_level(), fitted_curves()).

namespace rubato {

/// The changes of a scenario that scale a curve (models/scenario/level_changes.h).
enum class ScaledBy {
  kBandwidth,  ///< what grows with the size
  kOverhead,   ///< the whole curve
};

struct LevelCurve {
  const char* key;      ///< in platform files
  const char* symbol;   ///< as in share/doc/glossary.md
  const char* help;     ///< in `rubato help platforms`
  const char* comment;  ///< above it in written files; printed once for adjacent equal ones
  ScaledBy scaled_by;
  /// The begin of the warning about a curve that falls with the size: "a message takes ". Null for
  /// curves that may fall or that count only in a sum (curve_falls.cc).
  const char* may_not_fall;
  /// Its uncertainty is at most that of T at the same size (deviated() in uncertainty.h).
  bool is_as_certain_as_transfer;
  /// Null where the level does not have it.
  const TransferCurve* (*find)(const LevelModel& level);
  /// The curve, made if need be.
  TransferCurve& (*make)(LevelModel& level);
};

/// In the order in which files are written, T first.
std::span<const LevelCurve> level_curves();

}  // namespace rubato
