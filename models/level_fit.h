#pragma once

#include <optional>
#include <vector>

#include "models/fit.h"
#include "models/platform.h"

namespace rubato {

/// What a length of one pattern was measured to take.
struct TimedLength {
  double bytes = 0;
  int messages = 1;    ///< at once; more than 1 in a burst
  double seconds = 0;  ///< the minimum of averages
  /// Of two halves of the measurements, each what a repetition would give; 0 = not known.
  double half[2] = {0, 0};
  int launches = 1;  ///< that the time comes from: it counts so many times
};

/// Between which lengths sends begin to wait for their receive.
struct ProtocolProbe {
  std::optional<double> eager;    ///< the largest length of which a send did not wait
  std::optional<double> waiting;  ///< the least of which one did
};

/// All that the model of a level is fitted to.
struct LevelSamples {
  std::vector<TimedLength> transfer;       ///< one way: half a ping-pong
  std::vector<TimedLength> burst, single;  ///< half a round trip of k messages at once, and of one
  ProtocolProbe probe;
};

/// The curves of a level; absent where there are too few samples.
struct LevelFit {
  std::optional<SegmentedFit> transfer;
  std::optional<SegmentedFit> gap;
  double repeatable_within = 0;  ///< repeatability() of the transfer times
};

/// How far two independent minima of one length lie apart, relative, median over the lengths; an
/// upper bound for the minimum of all. 0 where nothing is known.
double repeatability(const std::vector<TimedLength>& timings);

/// Fits a level. Both `rubato calibrate` and `rubato fit` make their curves here; how is told in
/// level_fit.cc. The joints are those of the transfer times; gaps may always have steps.
LevelFit fit_level(const LevelSamples& samples, Joints joints = Joints::kFree);

/// Puts a level that was fitted into a platform, with a note on its repeatability among what was
/// measured. Levels without a curve are left out.
void add_level(Platform& platform, Level level, const LevelFit& fit, const ProtocolProbe& probe);

/// Collectives are priced as the library does that platform.measured["mpi"] names.
void choose_preset(Platform& platform);

}  // namespace rubato
