#include "replay/judge/roles.h"

#include <string>

#include "replay/judge/lost_cores.h"

namespace rubato {

bool is_platform(const ScenarioResult& scenario) {
  return scenario.deadlock.empty() && !scenario.from_recording && scenario.base != "perfect";
}

Roles::Roles(const Results& of) : results(&of) {
  const auto take = [](const ScenarioResult*& role, const ScenarioResult& scenario, bool fits) {
    if (!role && fits) role = &scenario;
  };
  for (const ScenarioResult& scenario : of.scenarios) {
    take(reference, scenario, scenario.name == "measured");
    if (!scenario.deadlock.empty()) continue;
    take(measured, scenario, scenario.name == "measured");
    take(perfect, scenario, scenario.name == "perfect");
    take(undisturbed, scenario, scenario.name == "undisturbed");
    take(own_machine, scenario, scenario.own_machine);
    take(platform, scenario, is_platform(scenario));
  }
  if (own_machine) platform = own_machine;
  if (!reference && !of.scenarios.empty()) reference = &of.scenarios.front();
  judged = undisturbed ? undisturbed : measured;
  if (undisturbed && lost_cores(*this)) reference = undisturbed;
}

std::vector<ModelError> model_errors(const Roles& roles) {
  return model_errors(*roles.results, roles.judged, roles.own_machine);
}

bool is_alone(const Results& results) {
  return results.trace.ranks == 1 && results.trace.calling_threads == 0;
}

}  // namespace rubato
