#include "replay/run/lane_settings.h"

#include <memory>

#include "replay/run/summary.h"

namespace rubato {

MeasuredLane measured_lane(const Scenario& scenario, const ReplayOptions& options,
                           const RecordingOverhead& overhead, double ticks_per_second) {
  const auto ticks = [&](double seconds) { return scenario.overhead * seconds * ticks_per_second; };
  MeasuredLane lane;
  lane.cpu = scenario.cpu;
  lane.elastic = options.spinning_waits && !scenario.local &&
                 (scenario.basis == Basis::kUndisturbed || scenario.cpu != 1 ||
                  !scenario.processors.empty() || !scenario.functions.empty());
  if (scenario.basis == Basis::kUndisturbed && options.compensate) {
    lane.outside = ticks(overhead.outside);
    lane.inside_before = ticks(overhead.inside_before);
    lane.inside_after = ticks(overhead.inside_after);
    lane.per_action = {ticks(overhead.message), ticks(overhead.request), ticks(overhead.completion),
                       ticks(overhead.collective)};
    lane.function = function_ticks(scenario, options, overhead, ticks_per_second);
  }
  if (scenario.basis == Basis::kUndisturbed) {
    lane.drop_flushes = true;
    lane.drop_stolen = !options.keep_stolen;
  }
  return lane;
}

double function_ticks(const Scenario& scenario, const ReplayOptions& options,
                      const RecordingOverhead& overhead, double ticks_per_second) {
  if (!options.compensate || scenario.basis == Basis::kMeasured) return 0;
  const double share = scenario.basis == Basis::kUndisturbed ? scenario.overhead : 1;
  return share * overhead.function * ticks_per_second;
}

LaneMachines lane_machines(const std::vector<const Scenario*>& lanes, const Placement& placement,
                           const ReplayOptions& options, const RecordingOverhead& overhead,
                           double ticks_per_second) {
  const auto ticks = [&](double seconds) { return seconds * ticks_per_second; };
  LaneMachines machines;
  const std::shared_ptr<const Distances> distances =
      lanes.front()->platform.contention.make_distances(placement);
  for (const Scenario* scenario : lanes) {
    machines.interconnects.emplace_back(scenario->platform, distances);
    machines.names.push_back(scenario->name);
    machines.cpu.push_back(scenario->cpu);
  }
  machines.pairs = Pairs(placement, distances);
  machines.ticks_per_second = ticks_per_second;
  machines.keep_stolen = options.keep_stolen;
  machines.spinning_waits = options.spinning_waits;
  if (options.compensate) {
    machines.outside_ticks = ticks(overhead.outside);
    machines.function_ticks = ticks(overhead.function);
    machines.inside_ticks = ticks(overhead.inside_before + overhead.inside_after);
  }
  return machines;
}

const Scenario* pricing_scenario(const std::vector<Scenario>& scenarios,
                                 const TraceDefinitions& trace) {
  const Scenario* first = nullptr;
  for (const Scenario& scenario : scenarios) {
    if (is_own_machine(scenario, trace)) return &scenario;
    if (!first && scenario.basis == Basis::kModel && !scenario.platform_file.empty())
      first = &scenario;
  }
  return first;
}

MeasuredRules<1>::OwnPrice receiver_price(const Scenario& scenario, double ticks_per_second) {
  return [machine = Interconnect(scenario.platform), ticks_per_second](Level level, double bytes) {
    return machine.has(level) ? machine.message(level, bytes).receive_overhead * ticks_per_second
                              : 0;
  };
}

}  // namespace rubato
