#include "models/platform/uncertainty.h"

#include <algorithm>

namespace rubato {
namespace {

constexpr double kLeastFactor = 0.1;  ///< whatever the errors are, times stay above 0

double factor_of(double uncertainty, double errors) {
  return std::max(kLeastFactor, 1 + errors * uncertainty);
}

TransferCurve deviated(const TransferCurve& curve, double errors, const TransferCurve& bound) {
  if (curve.empty()) return curve;
  std::vector<Segment> segments = curve.segments();
  for (Segment& segment : segments) {
    double uncertainty = segment.uncertainty;
    if (!bound.empty())
      uncertainty = std::min(uncertainty, bound.segment_at(segment.from).uncertainty);
    const double factor = factor_of(uncertainty, errors);
    segment.intercept *= factor;
    segment.per_byte *= factor;
  }
  return TransferCurve(std::move(segments));
}

LevelModel deviated(const LevelModel& level, double errors) {
  LevelModel changed = level;
  const TransferCurve& one_way = level.transfer;
  changed.transfer = deviated(one_way, errors, {});
  changed.send_overhead = deviated(level.send_overhead, errors, one_way);
  changed.receive_overhead = deviated(level.receive_overhead, errors, one_way);
  if (level.unexpected_overhead)
    changed.unexpected_overhead = deviated(*level.unexpected_overhead, errors, one_way);
  if (level.following_overhead)
    changed.following_overhead = deviated(*level.following_overhead, errors, one_way);
  if (level.gap) changed.gap = deviated(*level.gap, errors, {});
  if (level.burst_gap) changed.burst_gap = deviated(*level.burst_gap, errors, {});
  if (level.second_burst_gap)
    changed.second_burst_gap = deviated(*level.second_burst_gap, errors, {});
  changed.crossing_delay = deviated(level.crossing_delay, errors, {});
  changed.synchronous_overhead = deviated(level.synchronous_overhead, errors, {});
  return changed;
}

bool is_known(const LevelModel& level) {
  const auto& segments = level.transfer.segments();
  return segments.empty() ||
         std::any_of(segments.begin(), segments.end(),
                     [](const Segment& segment) { return segment.uncertainty > 0; });
}

}  // namespace

bool states_uncertainty(const Platform& platform) {
  if (platform.model_error) return true;
  for (int i = 0; i < kLevels; ++i) {
    const auto& level = platform.levels[i];
    if (static_cast<Level>(i) != Level::kSelf && level && !is_known(*level)) return false;
  }
  return true;
}

Platform deviated(const Platform& platform, double errors) {
  Platform changed = platform;
  for (auto& level : changed.levels) {
    if (level) level = deviated(*level, errors);
  }
  // Links are as slow as the longest messages that were measured on them.
  if (const auto& network = platform.level(Level::kNetwork);
      network && !network->transfer.empty()) {
    const double factor = factor_of(network->transfer.segments().back().uncertainty, errors);
    const auto latency = changed.contention.numbers.find("link_latency");
    if (latency != changed.contention.numbers.end())
      latency->second *= factor_of(network->transfer.segments().front().uncertainty, errors);
    for (const char* key :
         {"link_bandwidth", "backbone_bandwidth", "injection_bandwidth", "ejection_bandwidth"}) {
      const auto found = changed.contention.numbers.find(key);
      if (found != changed.contention.numbers.end()) found->second /= factor;
    }
  }
  for (OperationModel& operation : changed.collectives.operations) {
    for (CollectiveFormula& formula : operation.formula) {
      const double factor = factor_of(formula.uncertainty, errors);
      for (double* term : {&formula.constant, &formula.log_p, &formula.p, &formula.p2, &formula.d,
                           &formula.d_log_p, &formula.d_p, &formula.d_p2})
        *term *= factor;
    }
  }
  return changed;
}

}  // namespace rubato
