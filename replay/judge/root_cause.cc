#include "replay/judge/root_cause.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "models/scenario/scenario.h"
#include "replay/analyse/place_summary.h"
#include "replay/judge/efficiency.h"
#include "replay/study/run_replay.h"

namespace rubato {
namespace {

constexpr double kMainShare = 0.5;

/// The function in which `rank` causes more than half of its delays of others; "" if there is none.
std::string function_of(const PlaceSummary& summary, int rank) {
  std::map<std::string, double> by_function;
  double all = 0;
  for (const PlaceSummary::Delay& delay : summary.delays) {
    if (delay.rank != rank) continue;
    const NamedPlace& place = summary.places[delay.place];
    all += delay.seconds;
    if (place.kind == Place::Kind::kCompute) by_function[place.function_place] += delay.seconds;
  }
  for (const auto& [function, seconds] : by_function) {
    if (seconds > kMainShare * all) return function;
  }
  return "";
}

}  // namespace

void find_root_cause(EventSource& source, Results& results, ReplayOptions options) {
  if (!waits_in_turn(results)) return;
  const TraceDefinitions& trace = source.definitions();
  WaitCauses causes(trace);
  WaitPlaces places(source);
  options.observers = {&causes};
  if (source.call_places()) options.observers.push_back(&places);
  options.wait_states = true;
  options.verify = false;
  options.total_functions = false;
  run_replay(source, {parse_scenario("perfect")}, options);
  const std::vector<double>& roots = causes.roots();
  const double all = std::accumulate(roots.begin(), roots.end(), 0.0);
  if (!(all > 0)) return;
  const auto most = std::max_element(roots.begin(), roots.end());
  std::map<uint16_t, double> by_call;
  for (const auto& [key, sum] : causes.waits()) by_call[key.call] += sum.ticks;
  const auto call = std::max_element(by_call.begin(), by_call.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  const int rank = static_cast<int>(most - roots.begin());
  results.root_cause = RootCause{rank, *most / all, trace.calls[call->first].name,
                                 function_of(place_summary(places, source), rank)};
}

}  // namespace rubato
