#include "models/scenario/level_changes.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "models/platform/level_curves.h"

namespace rubato {
namespace {

/// The segments of T, cut where the protocol changes, so that each has one number of trips.
std::vector<Segment> cut_at_protocols(const LevelModel& level) {
  std::vector<Segment> segments = level.transfer.segments();
  for (const ProtocolSegment& protocol : level.protocols) {
    if (protocol.from == 0) continue;
    Segment piece = level.transfer.segment_at(protocol.from);
    if (piece.from == protocol.from) continue;
    piece.from = protocol.from;
    segments.push_back(piece);
  }
  std::sort(segments.begin(), segments.end(),
            [](const Segment& a, const Segment& b) { return a.from < b.from; });
  return segments;
}

/// Raises a segment that a change made negative to zero at its start.
void keep_positive(Segment& segment) {
  segment.intercept = std::max(segment.intercept, -segment.from * segment.per_byte);
}

/// Replaces the slope of every segment by change(slope). A segment whose intercept lies below the
/// curve's latency grows from the latency on: only what exceeds the latency is scaled.
TransferCurve with_slopes(const TransferCurve& curve, const std::function<double(double)>& change) {
  if (curve.empty()) return curve;
  const double latency = curve(0);
  std::vector<Segment> segments = curve.segments();
  for (Segment& segment : segments) {
    const double slope = change(segment.per_byte);
    if (segment.intercept < latency && segment.per_byte > 0) {
      segment.intercept = latency - (latency - segment.intercept) * (slope / segment.per_byte);
    }
    segment.per_byte = slope;
    keep_positive(segment);
  }
  return TransferCurve(std::move(segments));
}

void scale(TransferCurve& curve, double factor) {
  if (curve.empty()) return;
  std::vector<Segment> segments = curve.segments();
  for (Segment& segment : segments) {
    segment.intercept *= factor;
    segment.per_byte *= factor;
  }
  curve = TransferCurve(std::move(segments));
}

/// Call it before bandwidth or overheads change.
void keep_as_given(LevelModel& level) {
  if (level.following_overhead && !level.as_given)
    level.as_given = std::make_shared<const LevelModel>(level);
}

}  // namespace

void add_latency(LevelModel& level, double seconds_per_trip) {
  std::vector<Segment> segments = cut_at_protocols(level);
  for (Segment& segment : segments) {
    segment.intercept += seconds_per_trip * level.trips(segment.from);
    keep_positive(segment);
  }
  level.transfer = TransferCurve(std::move(segments));
}

void change_slopes(LevelModel& level, const std::function<double(double)>& change) {
  keep_as_given(level);
  if (level.transfer.empty()) level.transfer = TransferCurve({Segment{}});
  for (const LevelCurve& curve : level_curves()) {
    if (curve.scaled_by == ScaledBy::kBandwidth && curve.find(level))
      curve.make(level) = with_slopes(curve.make(level), change);
  }
}

void scale_overheads(LevelModel& level, double factor) {
  keep_as_given(level);
  for (const LevelCurve& curve : level_curves()) {
    if (curve.scaled_by == ScaledBy::kOverhead && curve.find(level))
      scale(curve.make(level), factor);
  }
}

}  // namespace rubato
