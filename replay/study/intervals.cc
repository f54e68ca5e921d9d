#include "replay/study/intervals.h"

#include <strings.h>

#include <algorithm>
#include <cmath>

#include "models/platform/uncertainty.h"
#include "replay/analyse/model_error.h"
#include "replay/analyse/other_rows.h"
#include "replay/run/contention_cost.h"
#include "replay/study/study.h"

namespace rubato {
namespace {

/// The share of the model's error that two scenarios of one platform file do not have in common:
/// what the model leaves out may matter on one machine and not on the other. Chosen on two networks
/// of the virtual laboratory (tests/lab/virtual/run --ratios).
constexpr double kModelErrorApart = 0.5;

/// True when messages take no time.
bool is_free(const Platform& platform) {
  return std::all_of(platform.levels.begin(), platform.levels.end(), [](const auto& level) {
    return !level || (level->transfer.empty() && level->send_overhead.empty() &&
                      level->receive_overhead.empty());
  });
}

/// The most that recording added to the calls and functions of a rank, in seconds. What records of
/// functions cost is missing in its compute, compared with the `recorded` one if that is replayed
/// beside it.
double most_overhead(const ScenarioResult& result, const Scenario& scenario,
                     const ScenarioResult* recorded, const RecordingOverhead& overhead) {
  const double per_call = overhead.outside + overhead.inside_before + overhead.inside_after;
  const bool compares = overhead.function > 0 && recorded && scenario.processors.empty() &&
                        scenario.functions.empty();
  double most = 0;
  for (size_t i = 0; i < result.ranks.size(); ++i) {
    const RankResult& rank = result.ranks[i];
    double calls = 0;
    for (const CallTotals& totals : rank.calls) calls += static_cast<double>(totals.calls);
    double all = calls * per_call;
    if (compares) {
      const double outside = recorded->ranks[i].compute / scenario.cpu - rank.compute;
      all = std::max(all, outside + calls * (per_call - overhead.outside));
    }
    most = std::max(most, all);
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

/// How far the platform file of the recorded machine missed this run.
struct OwnError {
  const ScenarioResult* scenario = nullptr;  ///< of that file, unchanged
  std::string file;                          ///< "": not known
  double of_mpi = 0;
};

/// `lost`: of the mean rank, in seconds: what the run takes without it is itself an estimate.
OwnError own_error(const Results& results, const std::vector<Scenario>& scenarios, size_t asked,
                   double lost) {
  constexpr double kLeastLost = 0.01;  // of the run
  const ScenarioResult *measured = nullptr, *undisturbed = nullptr;
  OwnError own;
  for (size_t i = 0; i < asked; ++i) {
    const ScenarioResult& result = results.scenarios[i];
    if (!result.deadlock.empty()) continue;
    if (is_recording(scenarios[i])) measured = &result;
    if (scenarios[i].basis == Basis::kUndisturbed && result.changes.empty()) undisturbed = &result;
    if (!result.own_machine || own.scenario) continue;
    own = {&result, scenarios[i].platform_file};
  }
  const ScenarioResult* const run = undisturbed ? undisturbed : measured;
  const auto error = error_of_calls(results, run, own.scenario);
  if (!error || lost > kLeastLost * run->elapsed) return {};
  const double of_elapsed =
      std::abs(run->elapsed - own.scenario->elapsed) / mean(own.scenario->ranks, &RankResult::mpi);
  own.of_mpi = std::max({*error, of_elapsed, kModelErrorInSimulator});
  return own;
}

}  // namespace

double half_of_difference(const ElapsedInterval& a, const ElapsedInterval& b) {
  return std::hypot(std::hypot(a.model - b.model, a.compute - b.compute),
                    std::hypot(a.overhead - b.overhead, a.losses - b.losses));
}

double model_of_ratio(double a, double b, bool is_one_file) {
  return is_one_file ? std::hypot(a - b, kModelErrorApart * std::hypot(a, b)) : std::hypot(a, b);
}

double half_of_ratio(const ElapsedInterval& a, const ElapsedInterval& b) {
  const auto shared = [&](double ElapsedInterval::*part) {
    return a.*part / a.elapsed - b.*part / b.elapsed;
  };
  const double model =
      model_of_ratio(a.model / a.elapsed, b.model / b.elapsed, a.platform_file == b.platform_file);
  return std::hypot(
      std::hypot(model, shared(&ElapsedInterval::compute)),
      std::hypot(shared(&ElapsedInterval::overhead), shared(&ElapsedInterval::losses)));
}

IntervalPlan::IntervalPlan(const std::vector<Scenario>& asked, bool of_recording)
    : scenarios_(asked), variants_(asked.size()) {
  for (size_t i = 0; i < asked.size(); ++i) {
    const Scenario& scenario = asked[i];
    Variants& variants = variants_[i];
    const bool models = scenario.basis == Basis::kModel;
    if ((is_recording(scenario) && !of_recording) ||
        (models && !states_uncertainty(scenario.platform)))
      continue;
    variants.has_interval = true;
    variants.compensated = scenario.basis != Basis::kMeasured;
    variants.models = models && !is_free(scenario.platform);
    Scenario base = scenario;
    const auto add = [&](const Scenario& variant) {
      scenarios_.push_back(variant);
      return scenarios_.size() - 1;
    };
    if (has_shared_network(scenario, Placement()) &&
        !scenario.platform.contention.model->has_own_links) {
      base.platform.contention.set_model(nullptr);
      variants.alone = add(base);
    }
    if (variants.models) {
      Scenario variant = base;
      variant.platform = deviated(base.platform, kErrors);
      variants.network = add(variant);
      variant.platform = costlier(base.platform, 1 + kErrors * largest_model_error(base.platform));
      variants.model = add(variant);
    }
    base.cpu /= 1 + kErrors * kComputeError;
    variants.compute = add(base);
    if (scenario.basis != Basis::kUndisturbed) continue;
    base = scenario;
    base.overhead *= 1 - kErrors * kOverheadError;
    variants.recording = add(base);
  }
}

Intervals IntervalPlan::settle(Results& results, const RecordingOverhead& overhead) const {
  Intervals intervals(variants_.size());
  const double lost = mean_lost(results);
  const ScenarioResult* recording = nullptr;
  for (size_t i = 0; i < variants_.size(); ++i)
    if (is_recording(scenarios_[i])) recording = &results.scenarios[i];
  const OwnError own = own_error(results, scenarios_, variants_.size(), lost);
  for (size_t i = 0; i < variants_.size(); ++i) {
    const Variants& variants = variants_[i];
    const ScenarioResult& result = results.scenarios[i];
    if (!variants.has_interval || !result.deadlock.empty()) continue;
    const ScenarioResult& base = variants.alone ? results.scenarios[variants.alone] : result;
    if (!base.deadlock.empty()) continue;
    const auto longer_by = [&](size_t variant) {
      const ScenarioResult& other = results.scenarios[variant];
      return variant == 0 || !other.deadlock.empty() ? 0 : other.elapsed - base.elapsed;
    };
    double network = longer_by(variants.network);
    double costlier = longer_by(variants.model);
    if (variants.alone) {
      constexpr double kMostOfCosts = 20;
      const double error = kErrors * largest_model_error(scenarios_[i].platform);
      const double of_sharing = error * std::max(0.0, result.elapsed - base.elapsed);
      if (costlier > 0) network += std::min(network / costlier, kMostOfCosts) * of_sharing;
      costlier += of_sharing;
    }
    const double compute = longer_by(variants.compute);
    double subtracted = longer_by(variants.recording);
    if (variants.compensated && variants.recording == 0)
      subtracted =
          kErrors * kOverheadError * most_overhead(result, scenarios_[i], recording, overhead);
    double model = 0;
    if (variants.models) {
      const Platform& platform = scenarios_[i].platform;
      const double of_mpi = model_error_of(platform, result.measured_nodes);
      const double mpi = kErrors * mean(result.ranks, &RankResult::mpi);
      const double replayed = largest_model_error(platform);
      const bool ends = results.scenarios[variants.model].deadlock.empty();
      costlier = replayed > 0 ? costlier * of_mpi / replayed : 0;
      model = of_mpi * mpi;
      if (ends) model = std::min(model, std::max(costlier, kModelErrorInSimulator * mpi));
      // A change may use what the run did not.
      if (!own.file.empty() && scenarios_[i].platform_file == own.file)
        model = &result == own.scenario ? own.of_mpi * mpi : std::max(model, own.of_mpi * mpi);
    }
    const double guesses =
        variants.models ? kErrors * kGuessedAlgorithmError * mean_guessed(result, results.calls)
                        : 0;
    const bool recorded = scenarios_[i].basis != Basis::kModel;
    const bool many = lost > kManyLosses * results.trace.elapsed;
    const double loss_error = many       ? kLossErrorOfMany
                              : recorded ? kLossErrorRecorded
                                         : kLossErrorModel;
    const double losses =
        kErrors * loss_error * (lost - mean(result.ranks, &RankResult::lost_core));
    const double of_platform = std::hypot(network, model, guesses);
    const double half = std::hypot(of_platform, std::hypot(compute, losses, subtracted));
    intervals[i] = {std::max(0.0, result.elapsed - half),
                    result.elapsed + half,
                    scenarios_[i].platform_file,
                    of_platform,
                    compute,
                    subtracted,
                    losses,
                    result.elapsed};
  }
  results.scenarios.resize(variants_.size());
  return intervals;
}

std::vector<double> elapsed_with_intervals(Study& study, const std::vector<Scenario>& variants,
                                           const RecordingOverhead& overhead,
                                           Intervals& intervals) {
  std::vector<double> elapsed;
  for (auto next = variants.begin(); next != variants.end();) {
    const auto end = next + std::min<std::ptrdiff_t>(Study::kAtATime / IntervalPlan::kMostReplays,
                                                     variants.end() - next);
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
