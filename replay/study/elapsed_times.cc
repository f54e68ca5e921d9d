#include "replay/study/elapsed_times.h"

#include <algorithm>
#include <optional>
#include <string>

#include "models/base/error.h"
#include "replay/run/driver.h"

namespace rubato {
namespace {

constexpr size_t kAtATime = 128;  ///< a few passes of the widest lanes

}  // namespace

ElapsedTimes::ElapsedTimes(EventSource& source, const ReplayOptions& options)
    : source_(&source), options_(options), progress_(options.progress) {
  options_.wait_states = options_.verify = false;
  options_.total_functions = false;
  options_.observers.clear();
}

ElapsedTimes::~ElapsedTimes() {
  if (progress_ && replays_ > 0) progress_(1);
}

std::vector<double> ElapsedTimes::of(const std::vector<Scenario>& variants,
                                     const RecordingOverhead* overhead, Intervals* intervals) {
  std::vector<double> elapsed;
  // The number of calls is not known: each one advances by half of the rest.
  const double before = shown_;
  const double part = (1 - before) / 2;
  const size_t at_a_time = intervals ? kAtATime / 3 : kAtATime;
  for (size_t first = 0; first < variants.size(); first += at_a_time) {
    const size_t last = std::min(first + at_a_time, variants.size());
    if (progress_) {
      options_.progress = [&](double share) {
        const double done = static_cast<double>(first) + share * static_cast<double>(last - first);
        shown_ = std::max(shown_, before + part * done / static_cast<double>(variants.size()));
        progress_(std::min(shown_, 0.99));
      };
    }
    const std::vector<Scenario> asked(variants.begin() + static_cast<std::ptrdiff_t>(first),
                                      variants.begin() + static_cast<std::ptrdiff_t>(last));
    std::optional<IntervalPlan> plan;
    if (intervals) plan.emplace(asked);
    Results results = run_replay(*source_, plan ? plan->scenarios() : asked, options_);
    for (size_t i = 0; i < asked.size(); ++i) {
      const ScenarioResult& result = results.scenarios[i];
      if (!result.deadlock.empty())
        throw InputError("the program deadlocks on this machine: " + result.deadlock);
      elapsed.push_back(result.elapsed);
    }
    if (replays_ == 0) {
      first_ = results.scenarios.front();
      first_.ranks.clear();
    }
    replays_ += results.scenarios.size();
    if (plan) {
      for (const auto& interval : plan->settle(results, *overhead)) intervals->push_back(interval);
    }
  }
  return elapsed;
}

}  // namespace rubato
