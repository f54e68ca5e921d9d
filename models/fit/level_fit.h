#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/cost/platform.h"
#include "models/fit/fit.h"
#include "models/fit/overheads.h"
#include "models/fit/protocol_fit.h"
#include "models/fit/timed_length.h"

namespace rubato {

/// Between which lengths sends begin to wait for their receive.
struct ProtocolProbe {
  std::optional<double> eager;    ///< the largest length of which a send did not wait
  std::optional<double> waiting;  ///< the least of which one did
};

/// All that the model of a level is fitted to.
struct LevelSamples {
  std::vector<TimedLength> transfer;       ///< one way: half a ping-pong
  std::vector<TimedLength> burst, single;  ///< half a round trip of k messages at once, and of one
  std::vector<TimedLength> exchange;       ///< of one in each direction at the same time
  /// One way again, measured in turn with these three; may be empty.
  std::vector<TimedLength> pingpong_beside;
  /// Copies within a rank, in its cache and past it, and how it combines two operands of a
  /// reduction; they stand beside one of the levels.
  std::vector<TimedLength> copies, cold_copies, combinations;
  OverheadSamples overheads;
  OverlapSamples overlap;  ///< beside overheads.receive
  ProtocolProbe probe;

  /// Where the times of a pattern belong, by its name in files of samples; nullptr for one that no
  /// curve is made of.
  std::vector<TimedLength>* series(const std::string& pattern);
};

/// The curves of a level; absent where there are too few samples.
struct LevelFit {
  std::optional<SegmentedFit> transfer;  ///< one way, with the overheads in it
  std::optional<SegmentedFit> gap;
  std::optional<SegmentedFit> burst_gap;       ///< absent, too, where bursts take what gaps say
  std::optional<SegmentedFit> crossing_delay;  ///< absent, too, where exchanges take no longer
  std::optional<SegmentedFit> copy, cold_copy, combination;
  OverheadFit overheads;
  /// The transfer time without them; where one of the two is not known, all of it is T.
  OneWayParts parts;
  std::vector<ProtocolSegment> protocols;  ///< above the eager limit; empty where nobody looked
  double repeatable_within = 0;            ///< repeatability() of the transfer times
};

/// Fits a level. Both `rubato calibrate` and `rubato fit` make their curves here; how is told in
/// level_fit.cc. The joints are those of the transfer times; gaps may always have steps.
LevelFit fit_level(const LevelSamples& samples, Joints joints = Joints::kFree);

/// The part of it that is about the memory of a rank, which is timed after the level.
void fit_memory(const LevelSamples& samples, LevelFit& fit);

/// Puts a level that was fitted into a platform, with what was timed beside it, and a note on its
/// repeatability among what was measured. Levels without a curve are left out.
void add_level(Platform& platform, Level level, const LevelFit& fit, const ProtocolProbe& probe);

/// Collectives are priced as the library does that platform.measured["mpi"] names.
void choose_preset(Platform& platform);

}  // namespace rubato
