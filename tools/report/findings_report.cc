#include "tools/report/findings_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/judge/implausible_cost.h"
#include "replay/judge/lost_cores.h"
#include "replay/study/run_replay.h"
#include "tools/format/json_text.h"
#include "tools/format/numbers.h"
#include "tools/format/text_table.h"
#include "tools/options/replay_command.h"
#include "tools/words/verdict_words.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;
using json_text::number;
using json_text::text_or_null;

/// A command to be copied, continued on the next line at the page width.
std::string continued(const std::string& command, int width) {
  std::string out = "  ";
  int column = 2;
  for (const std::string& part : options_of(command)) {
    if (column > 2 && column + display_width(part) + 2 > width) {
      out += " \\\n   ";
      column = 3;
    }
    out += part;
    column += display_width(part);
  }
  return out + "\n";
}

/// "±8 %"; "" without an interval.
std::string around(const Finding& finding) {
  return finding.half ? fmt::format("±{:.0f} %", 100 * *finding.half / finding.seconds) : "";
}

/// " 1.  ≤ 1.120 s  ±8 %  96.2 %  messages: ...", continued below its text.
std::string line_of(size_t number, const Finding& finding, const std::string& words,
                    bool with_intervals, int width) {
  std::string half = around(finding);
  if (with_intervals) half = std::string(std::max(0, 7 - display_width(half)), ' ') + half;
  const std::string cost = (finding.is_bound() ? "≤ " : "") + show_seconds(finding.seconds);
  std::string lead =
      fmt::format("{:2}. {:>11}{} {:>7}  ", number, cost, half, show_share(finding.of_elapsed, 1));
  const int column = display_width(lead);
  const std::string text = wrap(fmt::format("{}: {}", row_of(finding.kind).name, words),
                                std::max(20, width - column), 0);
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin) + 1;
    out += lead + text.substr(begin, end - begin);
    lead.assign(static_cast<size_t>(column), ' ');
    begin = end;
  }
  return out;
}

/// Rows for the first `most` findings, numbered from `first` on, and the commands that are not
/// among `commands` yet.
std::string rows_of(std::span<const Finding> list, const Results& results, size_t first,
                    size_t most, int width, std::vector<std::string>& commands) {
  std::string out;
  const bool with_intervals =
      std::any_of(list.begin(), list.end(), [](const Finding& finding) { return finding.half; });
  for (size_t i = 0; i < std::min(most, list.size()); ++i) {
    out += line_of(first + i, list[i], finding_text(list[i], list.first(i)), with_intervals, width);
    const std::string command = next_command(list[i], results);
    if (!command.empty() && std::find(commands.begin(), commands.end(), command) == commands.end())
      commands.push_back(command);
  }
  return out;
}

/// What the costs of these findings are: " (≤: at most)"
std::string meaning_of(const std::vector<Finding>& list) {
  const auto bounds = std::ranges::count_if(list, &Finding::is_bound);
  if (bounds == 0) return " (saved in a replay)";
  return std::cmp_equal(bounds, list.size()) ? " (≤: at most)"
                                             : " (≤: at most; others: saved in a replay)";
}

/// " (2 more: --all)"
std::string more_of(const std::vector<Finding>& list, size_t most) {
  return list.size() > most ? fmt::format(" ({} more: --all)", list.size() - most) : "";
}

Json to_json(const Finding& finding, const std::string& scenario, const Results& results) {
  Json interval;
  if (finding.half)
    interval = {{"low", number(std::max(0.0, finding.seconds - *finding.half))},
                {"high", number(finding.seconds + *finding.half)}};
  return {{"kind", row_of(finding.kind).name},
          {"scenario", text_or_null(scenario)},
          {"text", finding_text(finding)},
          {"seconds", number(finding.seconds)},
          {"at_most", finding.is_bound()},
          {"interval", interval},
          {"of_elapsed", number(finding.of_elapsed)},
          {"rank", finding.rank < 0 ? Json(nullptr) : Json(finding.rank)},
          {"share", finding.rank < 0 ? Json(nullptr) : number(finding.share)},
          {"function", text_or_null(finding.function)},
          {"callers", finding.callers},
          {"call", text_or_null(finding.call)},
          {"call_path", finding.path},
          {"messages", finding.messages},
          {"bytes", finding.bytes},
          {"command", text_or_null(next_command(finding, results))}};
}

}  // namespace

std::string findings_text(const Judgement& judgement, const Results& results, size_t most,
                          int width) {
  std::string out;
  std::vector<std::string> commands;
  const auto add = [&](const std::string& line) { out += wrap(line, width, 2); };
  const bool lacks_cores = judgement.efficiency && judgement.efficiency->without_lost_cores;
  if (!judgement.findings.empty()) {
    add(fmt::format(
        "Findings, and what each costs of the {} of {}{}{}:", show_seconds(judgement.elapsed),
        judgement.scenario, meaning_of(judgement.findings), more_of(judgement.findings, most)));
    out += rows_of(judgement.findings, results, 1, most, width, commands);
  } else if (judgement.efficiency && !lacks_cores && !judgement.without_mpi) {
    add("Findings: none costs 1 % of the elapsed time: nothing to gain.");
  }
  if (lacks_cores) add("The cost of messages is not known: ranks lacked cores.");
  if (!judgement.on_platform.empty()) {
    add(fmt::format("On {} the network costs so much of {}{}{}:", judgement.platform,
                    show_seconds(judgement.platform_elapsed), meaning_of(judgement.on_platform),
                    more_of(judgement.on_platform, most)));
    const size_t first = 1 + std::min(most, judgement.findings.size());
    out += rows_of(judgement.on_platform, results, first, most, width, commands);
  }
  if (commands.empty()) return out;
  out += "Next commands:\n";
  for (const std::string& command : commands) out += continued(command, width);
  return out;
}

Json findings_to_json(const Judgement& judgement, const Results& results) {
  Json list = Json::array();
  for (const Finding& finding : judgement.findings)
    list.push_back(to_json(finding, judgement.scenario, results));
  for (const Finding& finding : judgement.on_platform)
    list.push_back(to_json(finding, judgement.platform, results));
  return list;
}

std::string no_conclusion(EventSource& source, const ReplayOptions& options,
                          const Scenario& scenario) {
  ReplayOptions own = options;
  own.wait_states = true;
  own.verify = false;
  std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect")};
  if (scenario.basis == Basis::kModel) scenarios.push_back(scenario);
  Results results = run_replay(source, scenarios, own);
  find_undisturbed(source, results, own);
  const Roles roles(results);
  Judgement judgement;
  if (implausible_cost(roles)) judgement.least_elapsed = elapsed_by_least_times(source, roles, own);
  return no_conclusion(roles, judgement);
}

}  // namespace rubato
