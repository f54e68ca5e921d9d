#include "tools/scenario_pictures.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "replay/observe/cause_summary.h"
#include "replay/observe/timeline_picture.h"
#include "tools/cause_tables.h"
#include "tools/caveats.h"
#include "tools/scenario_options.h"

namespace rubato {
namespace {

bool can_be_drawn(const ScenarioResult& result) {
  return result.deadlock.empty() && result.elapsed > 0;
}

/// Those with most compute in all, "solve (app.c:41)".
std::vector<std::string> coloured_functions(const Results& results) {
  std::vector<std::pair<double, std::string>> functions;
  for (const FunctionResult& function : results.functions) {
    const double all = std::accumulate(function.compute.begin(), function.compute.end(), 0.0);
    if (all > 0) functions.emplace_back(-all, function.place);
  }
  std::sort(functions.begin(), functions.end());
  std::vector<std::string> names;
  for (const auto& [compute, place] : functions) {
    if (static_cast<int>(names.size()) == kColouredFunctions) break;
    if (std::find(names.begin(), names.end(), place) == names.end()) names.push_back(place);
  }
  return names;
}

}  // namespace

std::vector<size_t> choose_pictures(const std::vector<ScenarioResult>& scenarios) {
  const ScenarioResult* reference = reference_scenario(scenarios);
  const auto is_needed = [&](const ScenarioResult& scenario) {
    return &scenario == reference || scenario.name == "perfect";
  };
  size_t free = kMostPictures;
  for (const ScenarioResult& scenario : scenarios) {
    if (can_be_drawn(scenario) && is_needed(scenario)) --free;
  }
  std::vector<size_t> chosen;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (!can_be_drawn(scenarios[i])) continue;
    if (!is_needed(scenarios[i])) {
      if (free == 0) continue;
      --free;
    }
    chosen.push_back(i);
  }
  return chosen;
}

std::vector<ScenarioPicture> draw_scenarios(EventSource& source,
                                            const std::vector<Scenario>& scenarios,
                                            const Results& results, ReplayOptions options) {
  const TraceDefinitions& trace = source.definitions();
  options.wait_states = true;
  options.verify = false;
  const std::vector<std::string> functions = coloured_functions(results);
  std::vector<int> number_of_function;
  for (const FunctionName& function : source.functions()) {
    const auto found = std::find(functions.begin(), functions.end(), function.place());
    number_of_function.push_back(
        found == functions.end() ? -1 : static_cast<int>(found - functions.begin()));
  }
  std::vector<ScenarioPicture> pictures;
  for (const size_t i : choose_pictures(results.scenarios)) {
    const ScenarioResult& result = results.scenarios[i];
    const KeptLosses kept = kept_losses(scenarios[i], options.keep_stolen);
    TimelinePicture picture(trace, result.start * trace.ticks_per_second,
                            result.elapsed * trace.ticks_per_second, kPictureCells, kept);
    picture.colour_functions(source, number_of_function);
    WaitCauses causes(trace, kept);
    CriticalPath path(trace);
    WaitPlaces places(source, kept);
    CallProfile seen(trace, kept_in(scenarios[i], options, trace));
    FewMessages messages(trace, kDrawnMessages);
    options.observers = {&picture, &causes, &path, &places, &seen, &messages};
    const Results again = run_replay(source, {scenarios[i]}, options);
    ScenarioPicture drawn;
    drawn.scenario = i;
    drawn.rows = picture.rows();
    drawn.columns = picture.columns();
    drawn.ranks_per_row = picture.ranks_per_row();
    drawn.functions = functions;
    for (const Activity activity : picture.cells())
      drawn.cells += static_cast<char>(kFirstActivity + static_cast<int>(activity));
    const Placement recorded(trace.node_of_rank, trace.socket_of_rank);
    drawn.traffic = traffic_picture(
        profile_of(again, seen, trace, scenarios[i].placement.place(recorded), false),
        kTrafficRows);
    if (drawn.ranks_per_row == 1) drawn.messages = messages.take(result.start);
    if (again.scenarios[0].has_waits) {
      drawn.path_rows = picture.path_rows(path);
      drawn.path = path_line(cause_summary(causes, path, trace));
      drawn.places = place_summary(places, source);
    }
    pictures.push_back(std::move(drawn));
  }
  return pictures;
}

}  // namespace rubato
