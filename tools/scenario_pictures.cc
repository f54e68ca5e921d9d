#include "tools/scenario_pictures.h"

#include <algorithm>
#include <limits>

#include "replay/observe/cause_summary.h"
#include "replay/observe/timeline_picture.h"
#include "tools/cause_tables.h"

namespace rubato {

std::vector<ScenarioPicture> draw_scenarios(EventSource& source,
                                            const std::vector<Scenario>& scenarios,
                                            const Results& results, ReplayOptions options) {
  const TraceDefinitions& trace = source.definitions();
  options.wait_states = true;
  options.verify = false;
  std::vector<ScenarioPicture> pictures;
  for (size_t i = 0; i < scenarios.size() && pictures.size() < kMostPictures; ++i) {
    const ScenarioResult& result = results.scenarios[i];
    if (!result.deadlock.empty() || !(result.elapsed > 0)) continue;
    double begin = std::numeric_limits<double>::infinity();
    for (const RankResult& rank : result.ranks) begin = std::min(begin, rank.start);
    TimelinePicture picture(trace, begin * trace.ticks_per_second,
                            result.elapsed * trace.ticks_per_second, kPictureCells,
                            scenarios[i].basis == Basis::kMeasured || options.keep_stolen);
    WaitCauses causes(trace);
    CriticalPath path(trace);
    options.observers = {&picture, &causes, &path};
    const Results again = run_replay(source, {scenarios[i]}, options);
    ScenarioPicture drawn;
    drawn.scenario = i;
    drawn.rows = picture.rows();
    drawn.columns = picture.columns();
    drawn.ranks_per_row = picture.ranks_per_row();
    for (const Activity activity : picture.cells())
      drawn.cells += static_cast<char>('0' + static_cast<int>(activity));
    if (again.scenarios[0].has_waits) {
      drawn.path_rows = picture.path_rows(path);
      drawn.path = path_line(cause_summary(causes, path, trace));
    }
    pictures.push_back(std::move(drawn));
  }
  return pictures;
}

}  // namespace rubato
