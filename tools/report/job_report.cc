#include "tools/report/job_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/format/json_text.h"
#include "tools/format/numbers.h"

namespace rubato {

using json_text::number;

std::string nodes_text(const std::vector<int>& nodes) {
  std::string text;
  for (size_t i = 0; i < nodes.size();) {
    const int step = i + 1 < nodes.size() ? nodes[i + 1] - nodes[i] : 1;
    size_t last = i;
    while (last + 1 < nodes.size() && nodes[last + 1] == nodes[last] + step) ++last;
    if (last < i + 2 && step > 1) last = i;  // two numbers do not make a range
    if (!text.empty()) text += "+";
    text += last == i ? fmt::format("{}", nodes[i]) : fmt::format("{}-{}", nodes[i], nodes[last]);
    if (last > i && step > 1) text += fmt::format("/{}", step);
    i = last + 1;
  }
  return text;
}

std::vector<std::string> job_lines(const ScenarioResult& scenario) {
  constexpr size_t kMostText = 40;
  std::vector<std::string> lines;
  if (scenario.jobs.empty() || !scenario.deadlock.empty()) return lines;
  const double lost = scenario.elapsed - scenario.elapsed_without_jobs;
  if (std::abs(lost) < 1e-9) {
    lines.push_back(fmt::format("Other jobs on {} cost nothing.", scenario.name));
  } else if (lost > 0) {
    lines.push_back(fmt::format("Other jobs on {} cost {:.1f} % ({}) of the elapsed time.",
                                scenario.name, 100 * lost / scenario.elapsed, show_seconds(lost)));
  } else {
    lines.push_back(
        fmt::format("With other jobs {} takes {} less: they delay calls on which other ranks "
                    "would have waited.",
                    scenario.name, show_seconds(-lost)));
  }
  for (const OtherJobResult& job : scenario.jobs) {
    std::string nodes = nodes_text(job.nodes);
    if (nodes.size() > kMostText)
      nodes = fmt::format("{} to {}, {} of them", job.nodes.front(), job.nodes.back(),
                          job.nodes.size());
    lines.push_back(fmt::format("{} ({} ranks) takes {} there, on node{} {}{}.", job.path,
                                job.ranks, show_seconds(job.elapsed),
                                job.nodes.size() == 1 ? "" : "s", nodes,
                                job.start > 0 ? ", from " + show_seconds(job.start) + " on" : ""));
  }
  return lines;
}

Json jobs_to_json(const ScenarioResult& scenario) {
  if (!scenario.deadlock.empty()) return nullptr;
  Json others = Json::array();
  for (const OtherJobResult& job : scenario.jobs) {
    others.push_back({{"archive", job.path},
                      {"ranks", job.ranks},
                      {"nodes", job.nodes},
                      {"start", number(job.start)},
                      {"elapsed", number(job.elapsed)}});
  }
  return {{"elapsed_without", number(scenario.elapsed_without_jobs)}, {"others", others}};
}

}  // namespace rubato
