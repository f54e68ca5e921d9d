#include "replay/run/contention_cost.h"

namespace rubato {
namespace {

ContentionCost cost_of(const ScenarioResult& shared, const ScenarioResult& alone, size_t calls) {
  ContentionCost cost;
  cost.elapsed_alone = alone.elapsed;
  cost.by_call.assign(calls, 0);
  for (size_t rank = 0; rank < shared.ranks.size(); ++rank) {
    const RankResult& with = shared.ranks[rank];
    const RankResult& without = alone.ranks[rank];
    cost.mpi += with.mpi - without.mpi;
    for (size_t call = 0; call < with.calls.size(); ++call)
      cost.by_call[call] += with.calls[call].time - without.calls[call].time;
  }
  return cost;
}

}  // namespace

bool has_shared_network(const Scenario& scenario, const Placement& placement) {
  const ContentionSetting& contention = scenario.platform.contention;
  if (scenario.basis != Basis::kModel || !contention.model || contention.flows_alone) return false;
  return contention.make_network(placement, 1) != nullptr;
}

ContentionPlan::ContentionPlan(const std::vector<Scenario>& planned, size_t asked)
    : scenarios_(planned), alone_(asked, 0), planned_(planned.size()) {
  for (size_t i = 0; i < asked; ++i) {
    if (!has_shared_network(planned[i], Placement())) continue;
    alone_[i] = scenarios_.size();
    scenarios_.push_back(planned[i]);
    scenarios_.back().platform.contention.flows_alone = true;
  }
}

void ContentionPlan::settle(Results& results) const {
  for (size_t i = 0; i < alone_.size(); ++i) {
    if (alone_[i] == 0) continue;
    ScenarioResult& shared = results.scenarios[i];
    const ScenarioResult& alone = results.scenarios[alone_[i]];
    if (shared.deadlock.empty() && alone.deadlock.empty())
      shared.contention = cost_of(shared, alone, results.calls.size());
  }
  results.scenarios.resize(planned_);
}

}  // namespace rubato
