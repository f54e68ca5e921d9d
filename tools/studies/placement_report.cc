#include "tools/studies/placement_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "models/base/shell_quoted.h"
#include "tools/format/json_text.h"
#include "tools/format/numbers.h"
#include "tools/format/text_table.h"
#include "tools/options/replay_command.h"
#include "tools/report/report_json.h"
#include "tools/version.h"
#include "tools/words/note_words.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;
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

std::string table(const PlacementSearch& found, int width) {
  std::vector<double> seconds;
  for (const TriedPlacement& tried : found.tried) seconds.push_back(tried.elapsed);
  const TimeUnit unit = common_unit(seconds);
  std::vector<std::string> header = {"Ranks"};
  if (has_shape(found)) header.insert(header.end(), {"Nodes", "Links"});
  header.insert(header.end(), {fmt::format("Elapsed ({})", unit.name), "Saved"});
  TextTable table(header);
  const double asked = elapsed_asked(found);
  for (const TriedPlacement& tried : found.tried) {
    std::vector<std::string> row = {words_for(tried.ranks)};
    if (has_shape(found)) {
      row.emplace_back(words_for(tried.nodes));
      row.push_back(tried.mean_links > 0 ? fmt::format("{:.2f}", tried.mean_links) : "-");
    }
    row.push_back(unit.show(tried.elapsed));
    row.push_back(is_asked(tried) ? "-" : percent_of(asked - tried.elapsed, asked));
    table.add_row(row);
  }
  return table.format(width);
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
  std::string text = wrap(opening(found, subject), width, 2) + "\n" + table(found, width);
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
  Json json = {{"format", kJsonFormat},
               {"rubato", kVersion},
               {"scenario", subject.scenario->name},
               {"elapsed", number(elapsed_asked(found))},
               {"placements", Json::array()}};
  for (const TriedPlacement& tried : found.tried) {
    json["placements"].push_back(
        {{"ranks", words_for(tried.ranks)},
         {"nodes", has_shape(found) ? Json(words_for(tried.nodes)) : Json(nullptr)},
         {"elapsed", number(tried.elapsed)},
         {"mean_links", has_shape(found) ? number(tried.mean_links) : Json(nullptr)},
         {"node_of_rank", tried.node_of_rank},
         {"network_of_node", has_shape(found) ? Json(tried.network_of_node) : Json(nullptr)}});
  }
  return json_text::dump(json, 1) + "\n";
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
