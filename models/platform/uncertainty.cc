#include "models/platform/uncertainty.h"

#include <algorithm>
#include <functional>

#include "models/platform/level_curves.h"

namespace rubato {
namespace {

constexpr double kLeastFactor = 0.1;  ///< keeps times above 0, whatever the errors

/// The factor of costs with this relative standard error.
using FactorOf = std::function<double(double)>;

TransferCurve longer(const TransferCurve& curve, const FactorOf& factor_of,
                     const TransferCurve& bound) {
  if (curve.empty()) return curve;
  std::vector<Segment> segments = curve.segments();
  for (Segment& segment : segments) {
    double uncertainty = segment.uncertainty;
    if (!bound.empty())
      uncertainty = std::min(uncertainty, bound.segment_at(segment.from).uncertainty);
    const double factor = factor_of(uncertainty);
    segment.intercept *= factor;
    segment.per_byte *= factor;
  }
  return TransferCurve(std::move(segments));
}

LevelModel longer(const LevelModel& level, const FactorOf& factor_of) {
  LevelModel changed = level;
  for (const LevelCurve& curve : level_curves()) {
    if (const TransferCurve* found = curve.find(level)) {
      const TransferCurve& bound =
          curve.is_as_certain_as_transfer ? level.transfer : TransferCurve();
      curve.make(changed) = longer(*found, factor_of, bound);
    }
  }
  return changed;
}

bool is_known(const LevelModel& level) {
  const auto& segments = level.transfer.segments();
  return segments.empty() ||
         std::any_of(segments.begin(), segments.end(),
                     [](const Segment& segment) { return segment.uncertainty > 0; });
}

Platform longer(const Platform& platform, const FactorOf& factor_of) {
  Platform changed = platform;
  for (auto& level : changed.levels) {
    if (level) level = longer(*level, factor_of);
  }
  // Links are as slow as the longest messages that were measured on them.
  if (const auto& network = platform.level(Level::kNetwork);
      network && !network->transfer.empty()) {
    const double factor = factor_of(network->transfer.segments().back().uncertainty);
    const auto latency = changed.contention.numbers.find("link_latency");
    if (latency != changed.contention.numbers.end())
      latency->second *= factor_of(network->transfer.segments().front().uncertainty);
    for (const char* key :
         {"link_bandwidth", "backbone_bandwidth", "injection_bandwidth", "ejection_bandwidth"}) {
      const auto found = changed.contention.numbers.find(key);
      if (found != changed.contention.numbers.end()) found->second /= factor;
    }
  }
  for (OperationModel& operation : changed.collectives.operations) {
    for (CollectiveFormula& formula : operation.formula) {
      const double factor = factor_of(formula.uncertainty);
      for (double* term : {&formula.constant, &formula.log_p, &formula.p, &formula.p2, &formula.d,
                           &formula.d_log_p, &formula.d_p, &formula.d_p2})
        *term *= factor;
    }
  }
  return changed;
}

}  // namespace

int calibrated_nodes(const Provenance& measured) {
  const auto hosts = measured.find("hosts");
  if (hosts == measured.end()) return 0;
  return 1 + static_cast<int>(std::count(hosts->second.begin(), hosts->second.end(), ','));
}

double model_error_of(const Platform& platform, int measured_nodes) {
  const double stated = platform.model_error.value_or(kModelError);
  return measured_nodes > 0 ? std::max(stated, kFewNodesError) : stated;
}

double largest_model_error(const Platform& platform) {
  const int nodes = calibrated_nodes(platform.measured);
  return model_error_of(platform, nodes > 1 && nodes < kNodesThatShare ? nodes : 0);
}

bool states_uncertainty(const Platform& platform) {
  if (platform.model_error) return true;
  for (int i = 0; i < kLevels; ++i) {
    const auto& level = platform.levels[i];
    if (static_cast<Level>(i) != Level::kSelf && level && !is_known(*level)) return false;
  }
  return true;
}

Platform deviated(const Platform& platform, double errors) {
  return longer(platform, [errors](double uncertainty) {
    return std::max(kLeastFactor, 1 + errors * uncertainty);
  });
}

Platform costlier(const Platform& platform, double factor) {
  const FactorOf factor_of = [factor](double /*uncertainty*/) { return factor; };
  Platform changed = longer(platform, factor_of);
  for (auto* curve : {&changed.copy, &changed.packing}) {
    if (*curve) *curve = longer(**curve, factor_of, {});
  }
  if (changed.reduction_bandwidth) *changed.reduction_bandwidth /= factor;
  return changed;
}

}  // namespace rubato
