// The processor's part of a message.
//
// Half a ping-pong round trip is o_s + T + o_r; the replay adds the three up again, so measured
// overheads are subtracted from T. The overheads come from other experiments than the ping-pong,
// with other states of the caches and their own noise. So their sum may exceed the whole, above all
// for messages inside a node, which consist of copying at the two ends. Then the ping-pong has
// precedence, since programs experience its time.
#include "models/fit/overheads.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace rubato {
namespace {

constexpr size_t kFewestLengths = 3;
constexpr double kLeastSpread = 0.02;
constexpr double kMostSpread = 0.1;
constexpr double kLeastOverhead = 1e-9;  // seconds; the resolution of the clock

using Timings = std::vector<TimedLength>;

SegmentedFit constant(double from, double seconds, double uncertainty) {
  SegmentedFit fit;
  fit.segments = {{from, seconds, 0, uncertainty}};
  fit.intervals = {{{from, from}, {seconds, seconds}, {0, 0}}};
  return fit;
}

/// The curve through the lengths from `low` up to `high`, exclusive.
std::optional<SegmentedFit> fit_piece(const Timings& timings, double low, double high,
                                      const OverheadLimits& limits) {
  std::vector<FitSample> samples;
  Timings own;  // beyond the limit the times have another meaning and other errors
  for (const TimedLength& timing : timings) {
    if (timing.bytes < low || timing.bytes >= high) continue;
    own.push_back(timing);
    samples.push_back({timing.bytes, std::max(timing.seconds, kLeastOverhead),
                       static_cast<double>(timing.launches)});
  }
  FitOptions options;
  options.noise = std::clamp(repeatability(own), kLeastSpread, kMostSpread);
  options.noise_floor = kLeastSpread;
  options.max_segments = limits.max_segments;
  options.borders = limits.borders;
  if (samples.size() < kFewestLengths) return std::nullopt;
  SegmentedFit fit = fit_segments(std::move(samples), options);
  add_reproducibility(fit, own);
  fit.segments.front().from = low;
  fit.intervals.front().from = {low, low};
  return fit;
}

void append(SegmentedFit& fit, const SegmentedFit& more) {
  fit.segments.insert(fit.segments.end(), more.segments.begin(), more.segments.end());
  fit.intervals.insert(fit.intervals.end(), more.intervals.begin(), more.intervals.end());
  fit.samples.insert(fit.samples.end(), more.samples.begin(), more.samples.end());
  fit.rms_error = std::max(fit.rms_error, more.rms_error);
  fit.max_error = std::max(fit.max_error, more.max_error);
}

const Segment& segment_at(const SegmentedFit& fit, double bytes) {
  auto after = std::upper_bound(fit.segments.begin() + 1, fit.segments.end(), bytes,
                                [](double n, const Segment& segment) { return n < segment.from; });
  return *(after - 1);
}

/// A straight piece by its value at the start.
struct Piece {
  double start = 0;  ///< seconds at `from`
  double slope = 0;  ///< seconds per byte
  double error = 0;  ///< seconds at `from`, standard error

  Piece(const SegmentedFit& fit, double from) {
    const Segment& segment = segment_at(fit, from);
    start = std::max(0.0, segment.intercept + from * segment.per_byte);
    slope = segment.per_byte;
    error = segment.uncertainty * start;
  }
  double reduce(double Piece::*part, double excess) {
    const double taken = std::clamp(excess, 0.0, this->*part);
    this->*part -= taken;
    return excess - taken;
  }
  Segment segment(double from) const {
    const double relative = start > 0 ? std::min(1.0, error / start) : 0;
    return {from, start - from * slope, slope, relative};
  }
};

/// Appends a piece, unless it continues the one before.
void append(std::vector<Segment>& segments, const Segment& segment) {
  if (!segments.empty()) {
    const Segment& before = segments.back();
    const double at = before.intercept + segment.from * before.per_byte;
    const double now = segment.intercept + segment.from * segment.per_byte;
    const bool same_slope =
        std::abs(segment.per_byte - before.per_byte) <= 1e-9 * std::abs(before.per_byte);
    if (same_slope && std::abs(at - now) <= 1e-9 * std::abs(now) + 1e-18) return;
  }
  segments.push_back(segment);
}

}  // namespace

OverheadFit fit_overheads(const OverheadSamples& samples, std::optional<double> waiting,
                          const OverheadLimits& limits) {
  constexpr double kAll = HUGE_VAL;
  const double eager_end = waiting.value_or(kAll);
  OverheadFit fit;
  // An interrupted run may lack lengths in any series.
  if (samples.receive.size() < samples.send.size()) return fit;
  fit.send = fit_piece(samples.send, 0, eager_end, limits);
  fit.receive = fit_piece(samples.receive, 0, eager_end, limits);
  fit.unexpected = fit_piece(samples.unexpected, 0, eager_end, limits);
  if (!waiting) return fit;
  const auto beyond = fit_piece(samples.send, eager_end, kAll, limits);
  if (!fit.send)
    fit.send = beyond;  // nothing is eager
  else if (beyond)
    append(*fit.send, *beyond);
  if (fit.receive) {
    const double empty = (*fit.receive)(0);
    append(*fit.receive, constant(eager_end, empty, fit.receive->segments.front().uncertainty));
  }
  return fit;
}

OneWayParts take_apart(const SegmentedFit& one_way, const SegmentedFit& send,
                       const SegmentedFit& receive) {
  std::set<double> borders;
  for (const SegmentedFit* fit : {&one_way, &send, &receive}) {
    for (const Segment& segment : fit->segments) borders.insert(segment.from);
  }
  OneWayParts parts;
  for (const double from : borders) {
    Piece whole(one_way, from), sent(send, from), received(receive, from);
    double excess = sent.slope + received.slope - whole.slope;
    excess = sent.reduce(&Piece::slope, excess);
    received.reduce(&Piece::slope, excess);
    excess = sent.start + received.start - whole.start;
    excess = sent.reduce(&Piece::start, excess);
    received.reduce(&Piece::start, excess);
    Piece rest = whole;
    rest.start = whole.start - sent.start - received.start;
    if (rest.start < 1e-9 * whole.start) rest.start = 0;  // rounding error
    rest.slope = whole.slope - sent.slope - received.slope;
    if (rest.slope < 1e-6 * whole.slope) rest.slope = 0;
    rest.error = std::hypot(whole.error, sent.error, received.error);
    append(parts.send, sent.segment(from));
    append(parts.transfer, rest.segment(from));
    append(parts.receive, received.segment(from));
  }
  return parts;
}

}  // namespace rubato
