#include "tools/calibration/calibration_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "tools/format/json_text.h"
#include "tools/report/report_html.h"
#include "tools/version.h"

namespace rubato {
namespace {

/// Six digits are enough for a chart.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double digits = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * digits) / digits;
}

/// Sizes at which a curve is drawn: eight per doubling, and both sides of each segment border.
std::set<double> drawing_sizes(double least, double largest, const std::vector<double>& borders) {
  std::set<double> sizes = {least, largest};
  for (double bytes = std::max(1.0, least); bytes < largest; bytes *= std::exp2(0.125))
    sizes.insert(bytes);
  for (const double border : borders) {
    if (border <= std::max(1.0, least) || border >= largest) continue;
    sizes.insert(border);
    sizes.insert(std::nextafter(border, 0.0));
  }
  return sizes;
}

/// Samples as [bytes, seconds, fitted seconds].
Json samples_of(const SegmentedFit& fit) {
  Json samples = Json::array();
  for (const FitSample& one : fit.samples)
    samples.push_back({one.bytes, rounded(one.seconds), rounded(fit(one.bytes))});
  return samples;
}

double largest_of(const SegmentedFit& fit) {
  return fit.samples.empty() ? 1 : std::max(1.0, fit.samples.back().bytes);
}

/// A segmented curve with the samples to which it was fitted.
Json curve_data(const std::string& title, const SegmentedFit& fit, double largest) {
  std::vector<double> borders;
  Json segments = Json::array();
  for (size_t i = 0; i < fit.segments.size(); ++i) {
    const Segment& segment = fit.segments[i];
    borders.push_back(segment.from);
    const Interval from = i < fit.intervals.size() ? fit.intervals[i].from : Interval{};
    segments.push_back({{"from", segment.from},
                        {"low", rounded(from.low)},
                        {"high", rounded(from.high)},
                        {"latency", rounded(segment.intercept)},
                        {"per_byte", rounded(segment.per_byte)},
                        {"error", rounded(segment.uncertainty)}});
  }
  Json curve = Json::array();
  for (const double bytes : drawing_sizes(0, largest, borders))
    curve.push_back({rounded(bytes), rounded(fit(bytes))});
  return {{"title", title},
          {"curve", std::move(curve)},
          {"samples", samples_of(fit)},
          {"segments", std::move(segments)},
          {"rms_error", rounded(fit.rms_error)}};
}

/// The piece of a formula that applies to a payload.
const FormulaPiece& piece_at(const std::vector<FormulaPiece>& pieces, double bytes) {
  const FormulaPiece* piece = &pieces.front();
  for (const FormulaPiece& one : pieces) {
    if (bytes >= one.from) piece = &one;
  }
  return *piece;
}

Json call_data(const FittedCall& call) {
  const CollectiveFit& fit = call.fit;
  std::set<double> processes;
  double least = fit.samples.front().bytes, largest = 1;
  Json samples = Json::array();
  for (const FormulaSample& s : fit.samples) {
    processes.insert(s.processes);
    least = std::min(least, s.bytes);
    largest = std::max(largest, s.bytes);
    const double fitted = piece_at(fit.pieces, s.bytes).fit(s.processes, s.bytes);
    samples.push_back(
        {s.processes, s.bytes, rounded(s.seconds), rounded(s.sigma), rounded(fitted)});
  }
  std::vector<double> borders;
  Json pieces = Json::array();
  for (const FormulaPiece& piece : fit.pieces) {
    borders.push_back(piece.from);
    pieces.push_back({{"from", piece.from},
                      {"formula", format_formula(piece.fit)},
                      {"q", rounded(piece.fit.goodness)},
                      {"error", rounded(piece.rms_error)}});
  }
  Json curves = Json::array();
  for (const double p : processes) {
    Json points = Json::array();
    for (const double bytes : drawing_sizes(least, largest, borders)) {
      points.push_back({rounded(bytes), rounded(piece_at(fit.pieces, bytes).fit(p, bytes)),
                        rounded(fit.whole(p, bytes))});
    }
    curves.push_back({{"processes", p}, {"points", std::move(points)}});
  }
  return {{"name", call.name},
          {"formula", format_formula(fit.whole)},
          {"q", rounded(fit.whole.goodness)},
          {"from_launches", fit.from_launches},
          {"pieces", std::move(pieces)},
          {"samples", std::move(samples)},
          {"curves", std::move(curves)}};
}

}  // namespace

std::string calibration_html(const FittedPlatform& fitted) {
  Json levels = Json::array();
  for (const FittedLevel& level : fitted.levels) {
    const std::string name = kLevelNames[static_cast<int>(level.level)];
    const double largest = largest_of(*level.fit.transfer);
    Json curves = Json::array();
    for (const FittedCurve& curve : fitted_curves()) {
      if (curve.of(level.fit))
        curves.push_back(curve_data(curve.title, *curve.of(level.fit), largest));
    }
    levels.push_back({{"level", name}, {"curves", std::move(curves)}});
  }
  Json calls = Json::array();
  for (const FittedCall& call : fitted.calls) calls.push_back(call_data(call));
  const Json data = {{"rubato", kVersion},
                     {"name", fitted.platform.name},
                     {"measured", fitted.platform.measured},
                     {"levels", std::move(levels)},
                     {"calls", std::move(calls)}};
  return fill_page("calibration.html", {"calibration.js"}, "Rubato: " + fitted.platform.name,
                   json_text::dump(data, -1));
}

}  // namespace rubato
