#pragma once

#include <optional>
#include <vector>

#include "models/fit/fit.h"
#include "models/fit/timed_length.h"

namespace rubato {

/// Processor time of a message at its two ends, by length.
struct OverheadSamples {
  /// In MPI_Isend, while the receiver computes.
  std::vector<TimedLength> send;
  /// In MPI_Irecv before the message arrives, and in MPI_Wait long after it has arrived.
  std::vector<TimedLength> receive;
  /// In an MPI_Recv that is posted long after its message has arrived.
  std::vector<TimedLength> unexpected;
};

/// The overheads as curves; absent where there are too few samples.
struct OverheadFit {
  std::optional<SegmentedFit> send, receive, unexpected;
};

/// Constraints on the curves of the overheads.
struct OverheadLimits {
  int max_segments = 5;
  /// FitOptions::borders: the borders of the one-way time, so that T has no more segments than it.
  std::optional<std::vector<double>> borders;
};

/// Fits the overheads. `waiting` is the least length whose send waits for its receive, if any:
/// curves may jump there. From that length on the receiver's work is part of T, since the receiver
/// has to be present anyway; its overhead is that of an empty message, and no message is
/// unexpected.
OverheadFit fit_overheads(const OverheadSamples& samples, std::optional<double> waiting,
                          const OverheadLimits& limits = {});

/// The time of a message one way in three parts, each with segments as in a platform file.
struct OneWayParts {
  std::vector<Segment> send, transfer, receive;
};

/// T(n) = one_way(n) - o_s(n) - o_r(n), so nothing is counted twice. If the overheads exceed the
/// whole, o_s is reduced, then o_r: no part is negative or falls within a segment, and the three
/// add up to one_way(n) at every n.
OneWayParts take_apart(const SegmentedFit& one_way, const SegmentedFit& send,
                       const SegmentedFit& receive);

}  // namespace rubato
