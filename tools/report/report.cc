#include "tools/report/report.h"

#include <utility>

#include "replay/judge/lost_cores.h"
#include "tools/cli/install_paths.h"
#include "tools/report/interval_report.h"
#include "tools/words/note_words.h"
#include "tools/words/verdict_words.h"

namespace rubato {

Report::Report(const Results& of, Intervals intervals_of_elapsed,
               std::vector<Sweep> sweeps_of_platforms, const Diagnosis& diagnosis)
    : results(&of),
      roles(of),
      intervals(std::move(intervals_of_elapsed)),
      sweeps(std::move(sweeps_of_platforms)) {
  judgement = judge(roles, diagnosis, platforms_dir(), intervals);
  const Conclusion conclusion = conclude(roles);
  std::vector<std::string> both = {efficiency_line(judgement), headline(conclusion)};
  answer = short_answer(judgement, conclusion);
  // If ranks lacked cores, the line of factors refers to the headline.
  if (lacks_cores(roles)) std::swap(both[0], both[1]);
  both.push_back(estimate_line(judgement));
  for (std::string& line : both) {
    if (!line.empty()) verdict.push_back(std::move(line));
  }
  for (const ScenarioResult& scenario : of.scenarios)
    efficiencies.push_back(efficiency(roles, scenario));
  runs = runs_line(of.trace);
  kept_calls = kept_calls_line(of.trace);
  notes = caveats(roles);
  interval_notes = not_told_apart(roles, intervals);
  scenario_notes = caveats(of.scenarios);
}

}  // namespace rubato
