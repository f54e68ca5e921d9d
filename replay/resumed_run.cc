#include "replay/resumed_run.h"

#include <algorithm>

#include "replay/cluster/byte_stream.h"
#include "replay/cluster/try_all.h"

namespace rubato {

namespace {

/// Whether a result has what reports look at by number: of each rank, call and cable.
bool has_all(const ScenarioResult& result, const Scenario& scenario, size_t ranks, size_t calls) {
  if (result.name != scenario.name || !result.jobs.empty() || result.contention) return false;
  if (!result.deadlock.empty()) return result.ranks.empty();
  const auto has_calls = [&](const RankResult& rank) { return rank.calls.size() == calls; };
  if (result.ranks.size() != ranks ||
      !std::all_of(result.ranks.begin(), result.ranks.end(), has_calls))
    return false;
  if (!result.links) return true;
  const LinkLoads::Drawing& drawing = result.links->drawing;
  const size_t points = drawing.shape.vertices.size();
  return drawing.busy.size() == drawing.shape.cables.size() &&
         std::all_of(drawing.shape.cables.begin(), drawing.shape.cables.end(),
                     [&](const TopologyDrawing::Cable& cable) {
                       return cable.from < points && cable.to < points;
                     });
}

}  // namespace

void ResumedRun::open(const ReplayOptions& options, const std::vector<Scenario>& scenarios,
                      int ranks, size_t calls) {
  if (options.checkpoint.empty()) return;
  Team* const team = options.team ? options.team : options.spread;
  const bool leads = !team || team->leads();
  // What it depends on, the first process found out for all.
  std::string key = options.checkpoint_key;
  if (options.spread) {
    ByteWriter first;
    first.text(key);
    const Bytes shared = team->share(first.take());
    key = ByteReader(shared).text();
  }
  const auto open_own = [&] {
    checkpoint_.emplace(options.checkpoint, key, team ? team->self() : 0,
                        [&](uint64_t scenario, const ScenarioResult& result) {
                          return scenario < scenarios.size() &&
                                 has_all(result, scenarios[scenario], static_cast<size_t>(ranks),
                                         calls);
                        });
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
