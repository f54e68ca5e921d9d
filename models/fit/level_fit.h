#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/fit/fit.h"
#include "models/fit/overheads.h"
#include "models/fit/protocol_fit.h"
#include "models/fit/timed_length.h"
#include "models/platform/platform.h"

namespace rubato {

/// The samples that the model of a level is fitted to.
struct LevelSamples {
  std::vector<TimedLength> transfer;       ///< one way: half a ping-pong
  std::vector<TimedLength> burst, single;  ///< half a round trip of k messages at once, and of one
  std::vector<TimedLength> two;            ///< of two at once; files of older versions have none
  /// Many blocking sends in a row and an empty answer; not in files of older versions.
  std::vector<TimedLength> stream;
  std::vector<TimedLength> exchange;  ///< of one in each direction at the same time
  /// One way of synchronous sends, and of standard ones measured in turn with them; may be empty.
  std::vector<TimedLength> synchronous, synchronous_beside;
  /// One way again, measured in turn with bursts, single messages and exchanges; may be empty.
  std::vector<TimedLength> pingpong_beside;
  /// Copies within a rank, inside and outside of its cache, and combinations of two operands of a
  /// reduction; stored with one of the levels.
  std::vector<TimedLength> copies, cold_copies, combinations, packs;
  OverheadSamples overheads;
  OverlapSamples overlap;  ///< beside overheads.receive
  ProtocolProbe probe;

  /// The member for the times of a pattern, by its name in files of samples; nullptr if no curve
  /// uses the pattern.
  std::vector<TimedLength>* series(const std::string& pattern);
};

/// The curves of a level; absent where there are too few samples.
struct LevelFit {
  std::optional<SegmentedFit> transfer;  ///< one way, with the overheads in it
  std::optional<SegmentedFit> gap;
  std::optional<SegmentedFit> burst_gap;         ///< absent, too, if bursts agree with gap
  std::optional<SegmentedFit> second_burst_gap;  ///< absent, too, if it agrees with burst_gap
  std::optional<SegmentedFit> following;         ///< f(n); absent, too, if overheads explain it
  std::optional<SegmentedFit> crossing_delay;    ///< absent, too, if exchanges take no longer
  std::optional<SegmentedFit> synchronous;       ///< y(n); absent, too, if they take no longer
  std::optional<SegmentedFit> copy, cold_copy, combination, packing;
  OverheadFit overheads;
  /// The transfer time without overheads; if one overhead is unknown, the whole time is T.
  OneWayParts parts;
  std::vector<ProtocolSegment> protocols;  ///< above the eager limit; empty if not measured
  double repeatable_within = 0;            ///< repeatability() of the transfer times
};

/// A fitted curve, for reports.
struct FittedCurve {
  const char* title;  ///< "Receive overhead of unexpected messages"
  const char* brief;  ///< "unexpected"; null where platform files state no range of it
  const std::optional<SegmentedFit>& (*of)(const LevelFit& fit);
};
/// All of them, T first.
std::span<const FittedCurve> fitted_curves();

/// Fits a level, each curve with at most `max_segments` (at least 1); level_fit.cc explains how.
LevelFit fit_level(const LevelSamples& samples, int max_segments = kSegmentsOfLevel);

/// Adds a fitted level to a platform, with the memory timed beside it and a note on its
/// repeatability under [measured]. Levels without a curve are left out.
void add_level(Platform& platform, Level level, const LevelFit& fit, const ProtocolProbe& probe);

/// Prices collectives by the preset of the library that platform.measured["mpi"] names.
void choose_preset(Platform& platform);

}  // namespace rubato
