#include "replay/study/study.h"

#include <algorithm>
#include <utility>

#include "models/base/error.h"
#include "replay/run/other_jobs.h"

namespace rubato {

Study::Study(EventSource& source, const ReplayOptions& options, std::string purpose)
    : source_(&source), options_(options), purpose_(std::move(purpose)) {
  options_.wait_states = options_.verify = options_.total_functions = false;
  options_.observers.clear();
  options_.functions.clear();
}

Study::~Study() {
  if (options_.progress && replays_ > 0) options_.progress(1);
}

std::vector<double> Study::elapsed(const std::vector<Scenario>& variants) {
  std::vector<double> seconds;
  for (auto next = variants.begin(); next != variants.end();) {
    const auto end = next + std::min<std::ptrdiff_t>(kAtATime, variants.end() - next);
    const double part = static_cast<double>(end - next) / static_cast<double>(variants.size());
    const Results results = replay({next, end}, part);
    for (const ScenarioResult& result : results.scenarios) seconds.push_back(elapsed_of(result));
    next = end;
  }
  return seconds;
}

Results Study::replay(const std::vector<Scenario>& variants, double part) {
  return replay(variants, part, options_);
}

Results Study::observe(const Scenario& scenario, const std::vector<Observer<1>*>& observers,
                       bool total_functions) {
  ReplayOptions watching = options_;
  watching.observers = observers;
  watching.total_functions = total_functions;
  Results results = replay({scenario}, 1, watching);
  elapsed_of(results.scenarios[0]);  // refuses a deadlock
  return results;
}

Results Study::replay(const std::vector<Scenario>& variants, double part,
                      const ReplayOptions& options) {
  ReplayOptions reporting = options;
  // The number of steps is not known: each one advances by half of the rest.
  const auto shown = [this](double parts) { return shown_ + (1 - shown_) / 2 * parts; };
  if (options.progress) {
    reporting.progress = [&](double share) {
      options.progress(std::min(shown(parts_ + part * share), 0.99));
    };
  }
  Results results = replay_with_jobs(*source_, variants, reporting);
  if (replays_ == 0 && !results.scenarios.empty()) {
    first_ = results.scenarios.front();
    first_.ranks.clear();
  }
  replays_ += results.scenarios.size();
  parts_ += part;
  if (parts_ > 1 - 1e-9) {
    shown_ = shown(1);
    parts_ = 0;
  }
  return results;
}

double Study::elapsed_of(const ScenarioResult& result) const {
  if (result.deadlock.empty()) return result.elapsed;
  const std::string where = purpose_.empty()
                                ? std::string("the program deadlocks on this machine")
                                : purpose_ + ": scenario '" + result.name + "' is a deadlock";
  throw InputError(where + ": " + result.deadlock);
}

}  // namespace rubato
