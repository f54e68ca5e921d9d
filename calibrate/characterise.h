#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/pair.h"
#include "calibrate/sweep.h"
#include "models/fit.h"
#include "models/platform.h"

namespace rubato {

/// What the user asked for, and how a run is told to stop.
struct Effort {
  bool quick = false;
  size_t max_bytes = 4 << 20;
  unsigned seed = 1;
  std::function<bool()> stop;
  std::function<void(const std::string&)> progress;
};

/// One pattern of messages over its lengths.
struct Series {
  std::string pattern;  ///< "pingpong", "sendrecv", "burst", "single"
  Timings timings;
};

/// A level as it was measured: the samples, and the model fitted to them.
struct LevelResult {
  Level level = Level::kNode;
  int partner = 0;  ///< the rank that rank 0 talked to
  std::vector<Series> series;
  std::optional<SegmentedFit> transfer;  ///< absent when interrupted before there was enough
  std::optional<SegmentedFit> gap;
  /// The largest length that a send does not wait for; absent when even 0 bytes wait.
  std::optional<size_t> eager_limit;
  bool all_eager = false;  ///< up to the largest length that was tried
  bool protocol_known = false;

  /// Of the transfer times; see sweep.h.
  double repeatable_within() const { return series.empty() ? 0 : repeatability(series[0].timings); }
  LevelModel model() const;
};

/// Measures and fits one level; called on rank 0 while the partner serves. Errors: InputError when
/// a payload arrives damaged.
LevelResult characterise(Pair& pair, Level level, int partner, const Effort& effort);

}  // namespace rubato
