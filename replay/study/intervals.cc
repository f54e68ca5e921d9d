#include "replay/study/intervals.h"
#include "replay/analyse/other_rows.h"

#include <strings.h>

#include <algorithm>
#include <cmath>

#include "models/platform/uncertainty.h"
#include "replay/study/study.h"

namespace rubato {
namespace {

/// True for `measured` without changes, which is no prediction.
bool is_recording(const Scenario& scenario) {
  return scenario.basis == Basis::kMeasured && scenario.cpu == 1 && scenario.processors.empty() &&
         scenario.functions.empty();
}

/// True when messages take no time.
bool is_free(const Platform& platform) {
  return std::all_of(platform.levels.begin(), platform.levels.end(), [](const auto& level) {
    return !level || (level->transfer.empty() && level->send_overhead.empty() &&
                      level->receive_overhead.empty());
  });
}

/// The most that recording added to the calls of a rank, in seconds.
double most_overhead(const ScenarioResult& result, const RecordingOverhead& overhead) {
  const double per_call = overhead.outside + overhead.inside_before + overhead.inside_after;
  double most = 0;
  for (const RankResult& rank : result.ranks) {
    double calls = 0;
    for (const CallTotals& totals : rank.calls) calls += static_cast<double>(totals.calls);
    most = std::max(most, calls * per_call);
  }
  return most;
}

/// The mean rank's lost time, in the scenario that keeps it.
double mean_lost(const Results& results) {
  double most = 0;
  for (const ScenarioResult& result : results.scenarios)
    most = std::max(most, mean(result.ranks, &RankResult::lost_core));
  return most;
}

/// The mean rank's seconds in collectives whose algorithm is a guess.
double mean_guessed(const ScenarioResult& result, const std::vector<std::string>& calls) {
  double sum = 0;
  for (size_t call = 0; call < calls.size(); ++call) {
    const bool is_guessed =
        std::any_of(result.collectives.begin(), result.collectives.end(), [&](const auto& use) {
          return use.guessed &&
                 strcasecmp(calls[call].c_str(), ("MPI_" + use.operation).c_str()) == 0;
        });
    if (!is_guessed) continue;
    for (const RankResult& rank : result.ranks) sum += rank.calls[call].time;
  }
  return result.ranks.empty() ? 0 : sum / static_cast<double>(result.ranks.size());
}

}  // namespace

IntervalPlan::IntervalPlan(const std::vector<Scenario>& asked, bool compares)
    : scenarios_(asked), variants_(asked.size()) {
  for (size_t i = 0; i < asked.size(); ++i) {
    const Scenario& scenario = asked[i];
    Variants& variants = variants_[i];
    const bool models = scenario.basis == Basis::kModel;
    if ((is_recording(scenario) && !compares) || (models && !states_uncertainty(scenario.platform)))
      continue;
    variants.has_interval = true;
    variants.compensated = scenario.basis != Basis::kMeasured;
    variants.models = models && !is_free(scenario.platform);
    if (variants.models) {
      variants.network = scenarios_.size();
      scenarios_.push_back(scenario);
      scenarios_.back().platform = deviated(scenario.platform, kErrors);
    }
    variants.compute = scenarios_.size();
    scenarios_.push_back(scenario);
    scenarios_.back().cpu /= 1 + kErrors * kComputeError;
    if (scenario.basis != Basis::kUndisturbed) continue;
    variants.recording = scenarios_.size();
    scenarios_.push_back(scenario);
    scenarios_.back().overhead *= 1 - kErrors * kOverheadError;
  }
}

std::optional<IntervalPlan::Errors> IntervalPlan::errors_of(
    size_t number, const Results& results, const RecordingOverhead& overhead) const {
  const Variants& variants = variants_[number];
  const Scenario& scenario = scenarios_[number];
  const ScenarioResult& result = results.scenarios[number];
  if (!variants.has_interval || !result.deadlock.empty()) return {};
  const auto longer_by = [&](size_t variant) {
    const ScenarioResult& other = results.scenarios[variant];
    return variant == 0 || !other.deadlock.empty() ? 0 : other.elapsed - result.elapsed;
  };
  double recording = longer_by(variants.recording);
  if (variants.compensated && variants.recording == 0)
    recording = kErrors * kOverheadError * most_overhead(result, overhead);
  const bool recorded = scenario.basis != Basis::kModel;
  const double losses = kErrors * (recorded ? kLossErrorRecorded : kLossErrorModel) *
                        (mean_lost(results) - mean(result.ranks, &RankResult::lost_core));
  const double of_mpi = scenario.platform.model_error.value_or(kModelError);
  double model = 0, guesses = 0;
  if (variants.models) {
    model = kErrors * of_mpi * mean(result.ranks, &RankResult::mpi);
    guesses = kErrors * kGuessedAlgorithmError * mean_guessed(result, results.calls);
  }
  return Errors{
      longer_by(variants.network), longer_by(variants.compute), recording, losses, model, guesses};
}

double IntervalPlan::half_width(const Errors& errors) {
  double sum = 0;
  for (const double error : errors) sum += error * error;
  return std::sqrt(sum);
}

Intervals IntervalPlan::settle(Results& results, const RecordingOverhead& overhead) const {
  Intervals intervals(variants_.size());
  for (size_t i = 0; i < variants_.size(); ++i) {
    const std::optional<Errors> errors = errors_of(i, results, overhead);
    if (!errors) continue;
    const auto& [network, compute, recording, losses, model, guesses] = *errors;
    const double elapsed = results.scenarios[i].elapsed, half = half_width(*errors);
    intervals[i] = {std::max(0.0, elapsed - half),
                    elapsed + half,
                    scenarios_[i].platform_file,
                    std::hypot(network, model, guesses),
                    compute,
                    recording,
                    losses};
  }
  results.scenarios.resize(variants_.size());
  return intervals;
}

std::vector<std::optional<double>> IntervalPlan::saving_errors(
    const Results& results, const RecordingOverhead& overhead) const {
  const std::optional<Errors> base = errors_of(0, results, overhead);
  std::vector<std::optional<double>> halves;
  for (size_t i = 0; i < variants_.size(); ++i) {
    std::optional<Errors> errors = errors_of(i, results, overhead);
    if (base && errors) {
      for (size_t k = 0; k < errors->size(); ++k) (*errors)[k] -= (*base)[k];
      halves.emplace_back(half_width(*errors));
    } else {
      halves.emplace_back();
    }
  }
  return halves;
}

std::vector<double> elapsed_with_intervals(Study& study, const std::vector<Scenario>& variants,
                                           const RecordingOverhead& overhead,
                                           Intervals& intervals) {
  std::vector<double> elapsed;
  for (auto next = variants.begin(); next != variants.end();) {
    const auto end = next + std::min<std::ptrdiff_t>(Study::kAtATime / 3, variants.end() - next);
    const IntervalPlan plan({next, end});
    const double part = static_cast<double>(end - next) / static_cast<double>(variants.size());
    Results results = study.replay(plan.scenarios(), part);
    const Intervals found = plan.settle(results, overhead);
    for (const ScenarioResult& result : results.scenarios)
      elapsed.push_back(study.elapsed_of(result));
    intervals.insert(intervals.end(), found.begin(), found.end());
    next = end;
  }
  return elapsed;
}

}  // namespace rubato
