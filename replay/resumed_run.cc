#include "replay/resumed_run.h"

#include <algorithm>

#include "replay/cluster/byte_stream.h"
#include "replay/cluster/try_all.h"

namespace rubato {

void ResumedRun::open(const ReplayOptions& options) {
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
    for (const auto& [scenario, result] : checkpoint_->found()) found.number(scenario);
  }
  const Bytes done = team ? team->share(found.take()) : found.take();
  for (ByteReader reader(done); !reader.empty();) done_.insert(reader.number());
  divides_ = options.team;
  // (Ranks that are divided come together in the first process.) The first has read all files now.
  if (options.spread) {
    try_all(*team, [&] {
      if (!leads) open_own();
    });
  }
}

bool ResumedRun::take(const std::vector<size_t>& scenarios, Results& results) {
  const bool are_done = std::all_of(scenarios.begin(), scenarios.end(),
                                    [&](size_t scenario) { return done_.count(scenario) > 0; });
  if (!are_done) return false;
  results.from_checkpoint += scenarios.size();
  if (!checkpoint_) return true;
  for (const size_t scenario : scenarios) {
    const auto found = checkpoint_->found().find(scenario);
    if (found != checkpoint_->found().end()) results.scenarios[scenario] = found->second;
  }
  return true;
}

void ResumedRun::keep(const std::vector<size_t>& scenarios, const Results& results) {
  const auto add = [&] {
    if (!checkpoint_) return;
    for (const size_t scenario : scenarios) checkpoint_->add(scenario, results.scenarios[scenario]);
  };
  // (Where scenarios are shared out, each process has its own to keep.)
  if (divides_)
    try_all(*divides_, add);
  else
    add();
}

}  // namespace rubato
