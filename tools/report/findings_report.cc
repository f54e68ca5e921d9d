#include "tools/report/findings_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "tools/cli/install_paths.h"
#include "tools/format/json_text.h"
#include "tools/format/numbers.h"
#include "tools/format/text_table.h"
#include "tools/options/replay_command.h"
#include "tools/words/verdict_words.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

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

/// " 1.   1.120 s  ±8 %  96.2 %  messages: ...", continued below its text.
std::string row_of(size_t number, const ToldFinding& told, const std::string& told_text,
                   bool with_intervals, int width) {
  const Finding& finding = told.finding;
  std::string half = around(finding);
  if (with_intervals) half = std::string(std::max(0, 7 - display_width(half)), ' ') + half;
  std::string lead = fmt::format("{:2}. {:>9}{} {:>7}  ", number, show_seconds(finding.seconds),
                                 half, show_share(told.share, 1));
  const int column = display_width(lead);
  const std::string text = wrap(fmt::format("{}: {}", name_of(finding.kind), told_text),
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

/// The text of a finding below another one on the same messages; null: there is none.
std::string unlike(const ToldFinding& told, const ToldFinding* above) {
  if (!above) return told.text;
  const auto messages = [](Finding finding) {
    finding.kind = FindingKind::kMessages;
    return finding_text(finding);
  };
  const std::string same = messages(told.finding);
  if (same != messages(above->finding) || !told.text.ends_with(same)) return told.text;
  return told.text.substr(0, told.text.size() - same.size()) + "the same messages";
}

/// Rows for the first `most` findings, numbered from `first` on, and the commands that are not
/// among `commands` yet.
std::string rows_of(const std::vector<ToldFinding>& list, size_t first, size_t most, int width,
                    std::vector<std::string>& commands) {
  std::string out;
  const bool with_intervals = std::any_of(
      list.begin(), list.end(), [](const ToldFinding& told) { return told.finding.half; });
  const ToldFinding* above = nullptr;
  for (size_t i = 0; i < std::min(most, list.size()); ++i) {
    const ToldFinding& told = list[i];
    out += row_of(first + i, told, unlike(told, above), with_intervals, width);
    if (told.finding.kind != FindingKind::kPlacement) above = &told;  // (no messages there)
    if (!told.command.empty() &&
        std::find(commands.begin(), commands.end(), told.command) == commands.end())
      commands.push_back(told.command);
  }
  return out;
}

/// " (2 more: --all)"
std::string more_of(const std::vector<ToldFinding>& list, size_t most) {
  return list.size() > most ? fmt::format(" ({} more: --all)", list.size() - most) : "";
}

Json to_json(const ToldFinding& told, const std::string& scenario) {
  const auto& [finding, share, text, command] = told;
  Json interval;
  if (finding.half)
    interval = {{"low", json_text::number(std::max(0.0, finding.seconds - *finding.half))},
                {"high", json_text::number(finding.seconds + *finding.half)}};
  return {{"kind", name_of(finding.kind)},
          {"scenario", or_null(scenario)},
          {"text", text},
          {"seconds", json_text::number(finding.seconds)},
          {"interval", interval},
          {"of_elapsed", json_text::number(share)},
          {"rank", finding.rank < 0 ? Json(nullptr) : Json(finding.rank)},
          {"share", finding.rank < 0 ? Json(nullptr) : json_text::number(finding.share)},
          {"function", or_null(finding.function)},
          {"callers", finding.callers},
          {"call", or_null(finding.call)},
          {"call_path", finding.path},
          {"messages", finding.messages},
          {"bytes", finding.bytes},
          {"command", or_null(command)}};
}

}  // namespace

ToldFindings::ToldFindings(const Judgement& judgement, const Roles& roles)
    : known(judgement.efficiency.has_value()), elapsed(judgement.elapsed) {
  if (known) messages_known = !judgement.efficiency->without_lost_cores;
  if (roles.judged) of = roles.judged->name;
  for (const Finding& finding : judgement.findings) {
    // `measured` takes what `undisturbed` takes, and what was lost.
    const double lost = finding.kind == FindingKind::kLostCores ? finding.seconds : 0;
    list.push_back({finding, finding.seconds / (elapsed + lost), finding_text(finding),
                    next_command(finding, *roles.results)});
  }
  platform = judgement.platform;
  platform_elapsed = judgement.platform_elapsed;
  for (const Finding& finding : judgement.on_platform) {
    on_platform.push_back({finding, finding.seconds / platform_elapsed, finding_text(finding),
                           next_command(finding, *roles.results)});
  }
}

ToldFindings told_findings(const JudgedRun& run) {
  const Roles roles(run.results);
  return ToldFindings(judge(roles, run.diagnosis, platforms_dir(), run.intervals), roles);
}

std::string findings_text(const ToldFindings& findings, size_t most, int width) {
  std::string out;
  std::vector<std::string> commands;
  const auto add = [&](const std::string& line) { out += wrap(line, width, 2); };
  if (!findings.list.empty()) {
    add(fmt::format("Findings, each costs at most so much of the {} of {}{}:",
                    show_seconds(findings.elapsed), findings.of, more_of(findings.list, most)));
    out += rows_of(findings.list, 1, most, width, commands);
  } else if (findings.known && findings.messages_known) {
    add("Findings: none costs 1 % of the elapsed time: nothing to gain.");
  }
  if (findings.known && !findings.messages_known)
    add("The cost of messages is not known: ranks lacked cores.");
  if (!findings.on_platform.empty()) {
    add(fmt::format("On {} the network costs at most so much of {}{}:", findings.platform,
                    show_seconds(findings.platform_elapsed), more_of(findings.on_platform, most)));
    const size_t first = 1 + std::min(most, findings.list.size());
    out += rows_of(findings.on_platform, first, most, width, commands);
  }
  if (commands.empty()) return out;
  out += "Next commands:\n";
  for (const std::string& command : commands) out += continued(command, width);
  return out;
}

Json findings_to_json(const ToldFindings& findings) {
  Json list = Json::array();
  for (const ToldFinding& told : findings.list) list.push_back(to_json(told, findings.of));
  for (const ToldFinding& told : findings.on_platform)
    list.push_back(to_json(told, findings.platform));
  return list;
}

}  // namespace rubato
