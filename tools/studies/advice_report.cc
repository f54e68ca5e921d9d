#include "tools/studies/advice_report.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "models/base/shell_quoted.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"
#include "tools/options/replay_command.h"
#include "tools/report/interval_report.h"
#include "tools/report/report_json.h"
#include "tools/words/note_words.h"

namespace rubato {
namespace {

using json_text::number;
using Kind = CandidateKind;

constexpr double kLargePart = 0.05;      ///< of all compute
constexpr size_t kLongestCommand = 500;  ///< length limit of commands in the text
constexpr size_t kMostNames = 6;         ///< in a list within a sentence

double saved(const Advice& advice, const TriedCandidate& tried) {
  return advice.elapsed - tried.elapsed;
}

bool helps(const Advice& advice, const TriedCandidate& tried) {
  return saved(advice, tried) >= kLeastSaving * advice.elapsed;
}

/// " between nodes" or " inside a socket"; "" for all levels.
std::string of_level(const std::string& level) {
  if (level.empty()) return "";
  return level == "network" ? " between nodes" : " inside a " + level;
}

/// "solve (app.c:41)"
std::string place_of(const Advice& advice, const std::string& function) {
  for (const FunctionResult& result : advice.run.functions) {
    if (result.name == function) return result.place;
  }
  return function;
}

std::string placement_words(const std::string& name) {
  const std::string number = name.substr(name.find(':') + 1);
  if (name.starts_with("block:")) return fmt::format("ranks in blocks of {} per node", number);
  if (name.starts_with("roundrobin:")) return fmt::format("ranks round robin on {} nodes", number);
  return "ranks grouped by traffic on nodes";
}

/// "solve (app.c:41) in half the time"
std::string words_for(const Advice& advice, const Candidate& candidate) {
  const std::string& name = candidate.name;
  switch (candidate.kind) {
    case Kind::kFunction:
      return place_of(advice, name) + " in half the time";
    case Kind::kFunctionBalance:
      return place_of(advice, name) + " equally long on all ranks";
    case Kind::kBalance:
      return "equal compute on all ranks";
    case Kind::kLatency:
      return "half the latency" + of_level(name);
    case Kind::kBandwidth:
      return "twice the bandwidth" + of_level(name);
    case Kind::kOverhead:
      return "half the overheads" + of_level(name);
    case Kind::kCollectives:
      return name.empty() ? "collectives that only synchronise" : name + " that only synchronises";
    case Kind::kAlgorithm:
      return fmt::format("{} by {}", name.substr(0, name.find('=')),
                         name.substr(name.find('=') + 1));
    case Kind::kPlacement:
      return placement_words(name);
    case Kind::kPerfect:
      return "free messages";
  }
  return name;
}

/// The rows of the text: changes that help, the best algorithm of each operation, and all
/// placements.
std::vector<const TriedCandidate*> rows_of(const Advice& advice) {
  std::vector<const TriedCandidate*> rows;
  std::set<std::string> operations;
  for (const TriedCandidate& tried : advice.tried) {
    const Candidate& candidate = tried.candidate;
    if (!tried.deadlock.empty()) continue;
    if (!helps(advice, tried) && candidate.kind != Kind::kPlacement) continue;
    const std::string operation = candidate.name.substr(0, candidate.name.find('='));
    if (candidate.kind == Kind::kAlgorithm && !operations.insert(operation).second) continue;
    rows.push_back(&tried);
  }
  return rows;
}

std::string opening(const Advice& advice, const AdviceSubject& subject,
                    const std::vector<const TriedCandidate*>& rows) {
  std::string text = fmt::format("{}, {}: {} elapsed.", advice.run.trace.path,
                                 subject.scenario->name, show_seconds(advice.elapsed));
  if (!subject.unknown.empty()) return text + " No saving is known. " + subject.unknown;
  if (rows.empty() || !helps(advice, *rows[0])) return text + " No evaluated change saves 1 %.";
  const double seconds = saved(advice, *rows[0]);
  text += fmt::format(" Largest saving: {}: {} ({}", words_for(advice, rows[0]->candidate),
                      show_seconds(seconds), percent_of(seconds, advice.elapsed));
  if (const auto& saving = rows[0]->saving)
    text +=
        fmt::format("; 95 %: {} to {}", show_seconds(saving->first), show_seconds(saving->second));
  return text + ").";
}

/// "0.296 (0.290–0.302)"
std::string saving_text(const Advice& advice, const TriedCandidate& tried, const TimeUnit& unit) {
  Intervals interval(1);
  if (tried.saving) interval[0] = {tried.saving->first, tried.saving->second, ""};
  return unit.show(saved(advice, tried)) + show_interval(interval, 0, unit);
}

std::string table(const Advice& advice, const std::vector<const TriedCandidate*>& rows, int width) {
  std::vector<double> seconds = {advice.elapsed};
  for (const TriedCandidate* tried : rows) seconds.push_back(tried->elapsed);
  const TimeUnit unit = common_unit(seconds);
  Table table;
  for (size_t i = 0; i < rows.size(); ++i) {
    const TriedCandidate& tried = *rows[i];
    table.add(
        {{"Change", fmt::format("{:>2}. {}", i + 1, words_for(advice, tried.candidate))},
         {fmt::format("Elapsed ({})", unit.name), unit.show(tried.elapsed)},
         {fmt::format("Saved ({})", unit.name), saving_text(advice, tried, unit)},
         {"Saved", percent_of(saved(advice, tried), advice.elapsed)},
         {"Share of compute", tried.compute_share ? percent_of(*tried.compute_share, 1) : ""}});
  }
  return table.text(width);
}

/// The function with the largest shortfall: halving its time saves less than half of the expected
/// saving, which is half of its compute time if all ranks computed it at the same time. Null if
/// there is none.
const TriedCandidate* largest_disappointment(const Advice& advice) {
  const TriedCandidate* found = nullptr;
  double most = 0;
  for (const TriedCandidate& tried : advice.tried) {
    if (tried.candidate.kind != Kind::kFunction) continue;
    if (!tried.compute_share || *tried.compute_share < kLargePart) continue;
    const double promise = *tried.compute_share / 2 * advice.compute_share * advice.elapsed;
    const double missed = promise - saved(advice, tried);
    if (missed < promise / 2 || missed <= most) continue;
    most = missed;
    found = &tried;
  }
  return found;
}

std::string disappointment(const Advice& advice) {
  const TriedCandidate* tried = largest_disappointment(advice);
  if (!tried) return "";
  const double gain = saved(advice, *tried);
  return fmt::format(
      "{} takes {} of all compute, but halving its time saves {} of the elapsed time: other "
      "compute and waits remain.",
      place_of(advice, tried->candidate.name), percent_of(*tried->compute_share, 1),
      gain > 0 ? percent_of(gain, advice.elapsed) : "nothing");
}

bool was_tried(const Advice& advice, Kind kind) {
  return std::any_of(advice.tried.begin(), advice.tried.end(),
                     [kind](const TriedCandidate& tried) { return tried.candidate.kind == kind; });
}

bool any_helps(const Advice& advice, Kind kind) {
  return std::any_of(advice.tried.begin(), advice.tried.end(), [&](const TriedCandidate& tried) {
    return tried.candidate.kind == kind && tried.deadlock.empty() && helps(advice, tried);
  });
}

/// "No function, no balanced function saves 1 %": the kinds of changes that do not help.
std::string non_findings(const Advice& advice) {
  std::vector<std::string> kinds;
  const std::pair<Kind, const char*> names[] = {
      {Kind::kFunction, "function"},   {Kind::kFunctionBalance, "balanced function"},
      {Kind::kLatency, "latency"},     {Kind::kBandwidth, "bandwidth"},
      {Kind::kOverhead, "overhead"},   {Kind::kCollectives, "collective operation"},
      {Kind::kAlgorithm, "algorithm"}, {Kind::kPlacement, "placement"}};
  for (const auto& [kind, name] : names) {
    if (was_tried(advice, kind) && !any_helps(advice, kind)) kinds.push_back(name);
  }
  if (was_tried(advice, Kind::kPerfect) && !any_helps(advice, Kind::kPerfect))
    kinds.push_back("better network");
  if (kinds.empty()) return "";
  return fmt::format("No {} saves 1 %.", fmt::join(kinds, ", no "));
}

std::string deadlocks(const Advice& advice) {
  std::vector<std::string> names;
  for (const TriedCandidate& tried : advice.tried) {
    if (!tried.deadlock.empty()) names.push_back(words_for(advice, tried.candidate));
  }
  if (names.empty()) return "";
  if (names.size() > kMostNames) names.resize(kMostNames);
  return fmt::format("The program deadlocks with: {}.", fmt::join(names, "; "));
}

std::string left_out(const Advice& advice, const AdviceSubject& subject) {
  if (advice.functions_left_out == 0) return "";
  return fmt::format("Not evaluated: {} with less compute{}.",
                     counted(advice.functions_left_out, "function", "functions"),
                     subject.most < kMostTried ? "; --all evaluates more" : "");
}

/// Reasons for missing results, and how to get them.
std::vector<std::string> missing(const Advice& advice, const AdviceSubject& subject) {
  std::vector<std::string> lines;
  if (subject.without_losses && subject.unknown.empty())
    lines.push_back("Ranks lost their cores at times; undisturbed is the run without that time.");
  if (advice.run.functions.empty())
    lines.push_back(
        fmt::format("No functions were recorded: {}.", advice.run.trace.record_functions));
  if (subject.scenario->basis != Basis::kModel || subject.scenario->base == "perfect") {
    const std::string network =
        fmt::format("--on infiniband-hdr{}", advice.run.trace.nodes == 1 ? ":ppn=1" : "");
    lines.push_back(
        fmt::format("Latency, bandwidth, overheads, algorithms and placements need a platform: {}, "
                    "or a file of 'rubato calibrate'.",
                    ask_again("advise", advice.run, network)));
  }
  return lines;
}

std::string commands(const Advice& advice, const AdviceSubject& subject,
                     const std::vector<const TriedCandidate*>& rows) {
  std::string text =
      "\n"
      "Commands to reproduce:\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string command = advice_command(advice, *rows[i], subject);
    if (command.size() > kLongestCommand)
      command = fmt::format("({} characters; see --json or --csv)", command.size());
    text += fmt::format("{:>2}. {}\n", i + 1, command);
  }
  return text;
}

/// All candidates.
Table candidate_table(const Advice& advice, const AdviceSubject& subject) {
  Table table;
  for (const TriedCandidate& tried : advice.tried) {
    const bool is_candidate = !tried.candidate.text.empty();  // else the row of a reason
    const bool is_known = is_candidate && tried.deadlock.empty();
    const Json low = tried.saving ? number(tried.saving->first) : nullptr;
    const Json high = tried.saving ? number(tried.saving->second) : nullptr;
    table.add(
        {{"scenario", subject.scenario->name, As::kCsv},
         {"kind", is_candidate ? kCandidateNames[static_cast<size_t>(tried.candidate.kind)] : "",
          As::kFiles},
         {"name", tried.candidate.name, As::kFiles},
         {"what", words_for(advice, tried.candidate), As::kJson},
         {"scenario", tried.candidate.text, As::kJson},
         {"elapsed", is_known ? number(tried.elapsed) : nullptr, "", As::kSeconds},
         {"saved", is_known ? number(saved(advice, tried)) : nullptr, "", As::kSeconds},
         {"saved_interval", tried.saving ? Json::array({low, high}) : nullptr, As::kJson},
         {"saved_low_s", low, As::kCsv},
         {"saved_high_s", high, As::kCsv},
         {"compute_share", tried.compute_share ? number(*tried.compute_share) : nullptr,
          As::kFiles},
         {"changed", tried.candidate.text, As::kCsv},
         {"no_savings", json_text::text_or_null(subject.unknown), As::kCsv},
         {"deadlock", json_text::text_or_null(tried.deadlock), As::kJson},
         {"command", advice_command(advice, tried, subject), As::kJson}});
  }
  return table;
}

}  // namespace

std::string advice_command(const Advice& advice, const TriedCandidate& tried,
                           const AdviceSubject& subject) {
  const Scenario& scenario = *subject.scenario;
  const std::string base = shell_quoted(scenario_text(scenario.base, scenario.changes));
  std::string both = fmt::format("--on {} --on {}", base, shell_quoted(tried.candidate.text));
  if (base == "measured" || tried.candidate.text == "perfect") {
    // Every replay includes measured and perfect.
    both = tried.candidate.text == "perfect"
               ? (base == "measured" ? "" : fmt::format("--on {}", base))
               : fmt::format("--on {}", shell_quoted(tried.candidate.text));
  }
  std::string command = ask_again("replay", advice.run, both);
  if (tried.candidate.name == "messages" && tried.candidate.kind == Kind::kPlacement &&
      !subject.hosts_here) {
    const std::string writes =
        fmt::format("--on {} --hosts {}", base, shell_quoted(subject.hosts_file));
    command = ask_again("advise", advice.run, writes) + " && " + command;
  }
  return command;
}

std::string advice_text(const Advice& advice, const AdviceSubject& subject, int width) {
  const std::vector<const TriedCandidate*> rows = rows_of(advice);
  std::string text = wrap(opening(advice, subject, rows), width, 2);
  for (const std::string& line : caveats(advice.run.trace)) text += wrap("Note: " + line, width, 2);
  if (!rows.empty()) text += "\n" + table(advice, rows, width);
  text += "\n";
  std::vector<std::string> lines;
  if (subject.unknown.empty()) lines = {disappointment(advice), non_findings(advice)};
  lines.insert(lines.end(), {deadlocks(advice), left_out(advice, subject)});
  const std::vector<std::string> more = missing(advice, subject);
  lines.insert(lines.end(), more.begin(), more.end());
  if (rows.size() > 1) lines.push_back("Each change is replayed alone; savings do not add up.");
  for (const std::string& line : lines) {
    if (!line.empty()) text += wrap(line, width, 2);
  }
  if (!rows.empty()) text += commands(advice, subject, rows);
  return text;
}

std::string advice_json(const Advice& advice, const AdviceSubject& subject) {
  return json_file({{"archive", advice.run.trace.path},
                    {"scenario", subject.scenario->name},
                    {"elapsed", number(advice.elapsed)},
                    {"no_savings", json_text::text_or_null(subject.unknown)},
                    {"cures", candidate_table(advice, subject).json()},
                    {"not_tried", {{"functions", advice.functions_left_out}}}});
}

std::string advice_csv(const Advice& advice, const AdviceSubject& subject) {
  if (subject.unknown.empty()) return candidate_table(advice, subject).csv();
  Advice none = advice;  // a row for the reason
  none.tried.assign(1, {});
  return candidate_table(none, subject).csv();
}

std::string advice_hosts(const Advice& advice) {
  if (advice.hosts.empty()) return "# No better placement than the present one was found.\n";
  return fmt::format(
      "# The host of each rank, in order of ranks.\n"
      "{}\n",
      fmt::join(advice.hosts, "\n"));
}

}  // namespace rubato
