#include "tools/studies/placement_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "models/base/shell_quoted.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"
#include "tools/options/replay_command.h"
#include "tools/report/report_json.h"
#include "tools/words/note_words.h"

namespace rubato {
namespace {

using json_text::number;

constexpr double kLeastGain = 0.001;  ///< of the elapsed time

const char* words_for(RankOrder order) {
  switch (order) {
    case RankOrder::kAsked:
      return "as asked for";
    case RankOrder::kBlocks:
      return "in blocks";
    case RankOrder::kRoundRobin:
      return "round robin";
    case RankOrder::kMessages:
      return "that talk together";
  }
  return "";
}

const char* words_for(NodeOrder order) {
  switch (order) {
    case NodeOrder::kAsked:
      return "as asked for";
    case NodeOrder::kRow:
      return "in a row";
    case NodeOrder::kSpread:
      return "at equal distances";
    case NodeOrder::kDrawn:
      return "drawn";
    case NodeOrder::kNear:
      return "near those they talk to";
  }
  return "";
}

bool is_asked(const TriedPlacement& tried) {
  return tried.ranks == RankOrder::kAsked && tried.nodes == NodeOrder::kAsked;
}

bool has_shape(const PlacementSearch& found) {
  return !found.tried[0].network_of_node.empty();
}

double elapsed_asked(const PlacementSearch& found) {
  return found.run.scenarios[0].elapsed;
}

/// True if the best placement saves enough to be reported.
bool saves(const PlacementSearch& found) {
  const double asked = elapsed_asked(found);
  return asked - found.tried[0].elapsed >= kLeastGain * asked;
}

std::string opening(const PlacementSearch& found, const PlacementSubject& subject) {
  const double asked = elapsed_asked(found);
  std::string text = fmt::format("{}, {}: {} as asked for.", found.run.trace.path,
                                 subject.scenario->name, show_seconds(asked));
  const TriedPlacement& best = found.tried[0];
  if (!saves(found)) return text + " No evaluated placement saves 0.1 %.";
  text += fmt::format(" {} ({} less) with", show_seconds(best.elapsed),
                      percent_of(asked - best.elapsed, asked));
  if (best.ranks != RankOrder::kAsked || !has_shape(found))
    text += fmt::format(" ranks {}{}", words_for(best.ranks), has_shape(found) ? " on" : "");
  if (has_shape(found)) text += fmt::format(" nodes {}", words_for(best.nodes));
  return text + ".";
}

Table placement_table(const PlacementSearch& found, const PlacementSubject& subject) {
  std::vector<double> seconds;
  for (const TriedPlacement& tried : found.tried) seconds.push_back(tried.elapsed);
  const TimeUnit unit = common_unit(seconds);
  const double asked = elapsed_asked(found);
  const auto of_shape = [&](Json value) { return has_shape(found) ? value : nullptr; };
  Table table;
  for (const TriedPlacement& tried : found.tried) {
    const double links = tried.mean_links;
    table.add({{"ranks", words_for(tried.ranks), "Ranks"},
               {"nodes", of_shape(words_for(tried.nodes)), "Nodes"},
               {"Links", of_shape(links > 0 ? fmt::format("{:.2f}", links) : "-")},
               {"elapsed", number(tried.elapsed), "", As::kSeconds},
               {fmt::format("Elapsed ({})", unit.name), unit.show(tried.elapsed)},
               {"Saved", is_asked(tried) ? "-" : percent_of(asked - tried.elapsed, asked)},
               {"mean_links", of_shape(number(links)), As::kFiles},
               {"no_conclusion", json_text::text_or_null(subject.no_conclusion), As::kCsv},
               {"node_of_rank", tried.node_of_rank, As::kJson},
               {"network_of_node", of_shape(tried.network_of_node), As::kJson}});
  }
  return table;
}

/// The scenario with the placement of the hosts file.
std::string best_text(const PlacementSearch& found, const PlacementSubject& subject) {
  std::vector<std::string> changes;
  for (const std::string& change : subject.scenario->changes) {
    if (!change.starts_with("nodes=") && !change.starts_with("ppn=") &&
        !change.starts_with("placement="))
      changes.push_back(change);
  }
  changes.push_back("placement=file:" + subject.hosts_file);
  if (found.sockets > 1) changes.push_back(fmt::format("sockets={}", found.sockets));
  if (has_shape(found)) changes.emplace_back("nodes=hosts");
  return scenario_text(subject.scenario->base, changes);
}

}  // namespace

std::string placement_text(const PlacementSearch& found, const PlacementSubject& subject,
                           int width) {
  std::string text = wrap(opening(found, subject), width, 2);
  if (!subject.no_conclusion.empty()) text += wrap(subject.no_conclusion, width, 2);
  text += placement_table(found, subject).section("", width);
  if (has_shape(found) && found.tried[0].mean_links > 0)
    text += "\n" + wrap("Links: cost-weighted mean number of hops between nodes.", width, 2);
  for (const std::string& line : caveats(found.run)) text += wrap("Note: " + line, width, 2);
  if (!saves(found)) return text;
  const std::string archive = archive_word(found.run.trace);
  text +=
      "\n"
      "Commands to reproduce the best:\n";
  if (!subject.hosts_are_asked) {
    text += fmt::format(
        "  {}\n", ask_again("place", found.run,
                            fmt::format("--on {} --hosts {}",
                                        shell_quoted(scenario_text(subject.scenario->base,
                                                                   subject.scenario->changes)),
                                        shell_quoted(subject.hosts_file))));
  }
  text += fmt::format("  {}\n",
                      ask_again("replay", found.run,
                                fmt::format("--on {}", shell_quoted(best_text(found, subject)))));
  return text;
}

std::string placement_json(const PlacementSearch& found, const PlacementSubject& subject) {
  return json_file({{"scenario", subject.scenario->name},
                    {"elapsed", number(elapsed_asked(found))},
                    {"no_conclusion", json_text::text_or_null(subject.no_conclusion)},
                    {"placements", placement_table(found, subject).json()}});
}

std::string placement_csv(const PlacementSearch& found, const PlacementSubject& subject) {
  return placement_table(found, subject).csv();
}

std::string placement_hosts(const PlacementSearch& found) {
  const TriedPlacement& best = found.tried[0];
  std::string text = "# The host of each rank, in order of ranks.\n";
  for (const int node : best.node_of_rank) {
    text +=
        fmt::format("node{}\n", best.network_of_node.empty() ? node : best.network_of_node[node]);
  }
  return text;
}

}  // namespace rubato
