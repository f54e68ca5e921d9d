#include "tools/root_cause.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "models/cost/scenario.h"
#include "replay/observe/wait_causes.h"
#include "tools/efficiency.h"

namespace rubato {

void find_root_cause(EventSource& source, Results& results, ReplayOptions options) {
  if (!waits_in_turn(results)) return;
  const TraceDefinitions& trace = source.definitions();
  WaitCauses causes(trace);
  options.observers = {&causes};
  options.wait_states = true;
  options.verify = false;
  options.fit_degradation = false;
  run_replay(source, {parse_scenario("perfect")}, options);
  const std::vector<double>& roots = causes.roots();
  const double all = std::accumulate(roots.begin(), roots.end(), 0.0);
  if (!(all > 0)) return;
  const auto most = std::max_element(roots.begin(), roots.end());
  std::map<uint16_t, double> by_call;
  for (const auto& [key, sum] : causes.waits()) by_call[key.call] += sum.ticks;
  const auto call = std::max_element(by_call.begin(), by_call.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  results.root_cause =
      RootCause{static_cast<int>(most - roots.begin()), *most / all, trace.calls[call->first].name};
}

}  // namespace rubato
