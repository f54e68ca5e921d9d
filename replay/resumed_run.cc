#include "replay/resumed_run.h"

#include <algorithm>

#include "replay/cluster/byte_stream.h"
#include "replay/cluster/try_all.h"

namespace rubato {

void ResumedRun::open(const ReplayOptions& options, Results& results) {
  if (options.checkpoint.empty()) return;
  Team* const team = options.team ? options.team : options.spread;
  const bool leads = !team || team->leads();
  const auto open_own = [&] {
    checkpoint_.emplace(options.checkpoint, options.checkpoint_key, team ? team->self() : 0);
  };
  const auto open_first = [&] {
    if (leads) open_own();
  };
  if (team)
    try_all(*team, open_first);
  else
    open_first();
  ByteWriter found;
  if (leads) {
    for (const auto& [scenario, result] : checkpoint_->found()) {
      if (scenario >= results.scenarios.size()) continue;
      results.scenarios[scenario] = result;
      found.number(scenario);
    }
  }
  const Bytes done = team ? team->share(found.take()) : found.take();
  for (ByteReader reader(done); !reader.empty();) done_.insert(reader.number());
  results.from_checkpoint = done_.size();
  // (Ranks that are divided come together in the first process.) The first has read all files now.
  if (options.spread) {
    try_all(*team, [&] {
      if (!leads) open_own();
    });
  }
}

bool ResumedRun::has(const std::vector<size_t>& scenarios) const {
  return std::all_of(scenarios.begin(), scenarios.end(),
                     [&](size_t scenario) { return done_.count(scenario) > 0; });
}

void ResumedRun::keep(const std::vector<size_t>& scenarios, const Results& results) {
  if (!checkpoint_) return;
  for (const size_t scenario : scenarios) checkpoint_->add(scenario, results.scenarios[scenario]);
}

}  // namespace rubato
