#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"
#include "tools/profile/profile_report.h"
#include "tools/tables/call_figures.h"
#include "tools/tables/cause_tables.h"
#include "tools/tables/place_tables.h"
#include "tools/tables/profile_tables.h"
#include "tools/tables/site_tables.h"
#include "tools/tables/window_table.h"

namespace rubato {
namespace {

/// Zero is shown as a dash, so that other values are easy to see.
Json or_dash(uint64_t number) {
  return number == 0 ? Json("-") : Json(number);
}

/// One unit for all columns. Of times: chosen for the longest time of the run, with one more digit
/// than that needs, so that small calls are visible.
Unit unit_of(const RankTable& table) {
  if (table.as == As::kBytes) {
    std::vector<double> all;
    for (const NumberColumn& column : table.columns)
      all.insert(all.end(), column.values.begin(), column.values.end());
    return common_bytes(all);
  }
  double longest = 0;
  for (size_t i = 0; i + table.outside < table.columns.size(); ++i) {
    for (const double value : table.columns[i].values) longest = std::max(longest, std::abs(value));
  }
  TimeUnit unit = common_unit({longest});
  unit.decimals = std::min(4, unit.decimals + 1);
  return unit;
}

std::string layout(const RankTable& table, const std::string& scenario, int width) {
  if (table.columns.empty()) return fmt::format("\n{}: no {}\n", scenario, table.title);
  const Unit unit = unit_of(table);
  const auto show = [&](double value) {
    if (table.as != As::kSeconds && value == 0) return std::string("-");
    return table.as == As::kCount ? show_count(std::llround(value)) : unit.show(value);
  };
  std::vector<const NumberColumn*> shown;
  for (const NumberColumn& column : table.columns) {
    const bool shows = std::any_of(column.values.begin(), column.values.end(),
                                   [&](double value) { return show(std::abs(value)) != show(0); });
    if (shows || shown.empty()) shown.push_back(&column);
  }
  Table text;
  for (size_t rank = 0; rank < table.columns[0].values.size(); ++rank) {
    std::vector<Cell> row = {{"Rank", rank}};
    for (const NumberColumn* column : shown)
      row.emplace_back(column->name, show(column->values[rank]));
    text.add(std::move(row));
  }
  const std::string title = table.as == As::kCount || unit.name == std::string("B")
                                ? fmt::format("{}: {}", scenario, table.title)
                                : fmt::format("{}: {}, in {}", scenario, table.title, unit.name);
  return text.section(title, width);
}

/// A row of the calls `name`, or of several names.
std::vector<Cell> call_row(const std::string& name, const CallSum& sum, bool is_one,
                           bool has_waits) {
  std::vector<Cell> row = {{"Call", name}};
  for (const CallFigure& figure : call_figures()) {
    if (figure.text == CallFigure::kNo) continue;
    const double value = number_of(figure.value(sum));
    const bool is_known = (!figure.of_one || is_one) && (!figure.of_waits || has_waits);
    const bool has_dash = value == 0 && (figure.as == As::kBytes || figure.as == As::kRate);
    Json cell = value;
    if (!is_known || has_dash)
      cell = "-";
    else if (figure.text == CallFigure::kIfAny && value == 0)
      cell = nullptr;
    else if (figure.as == As::kShare)
      cell = show_share(value, sum.time);
    row.emplace_back(figure.heading, std::move(cell), figure.as);
  }
  return row;
}

/// Calls summed over all ranks, with the bandwidth of receiving calls.
std::string call_table(const ScenarioProfile& profile, const std::vector<CallColumn>& groups,
                       int width) {
  const std::vector<CallSum> sums = sums_of(profile);
  const bool has_waits = profile.result->has_waits;
  Table table;
  table.set_columns(call_row("", {}, true, has_waits));
  for (const CallColumn& group : groups) {
    CallSum sum;
    for (const size_t call : group.calls) sum += sums[call];
    table.add(call_row(group.name, sum, group.calls.size() == 1, has_waits));
  }
  return table.text(width);
}

/// Requests by call and size, summed over all ranks.
std::string size_table(const ScenarioProfile& profile, int width) {
  Table table;
  for (size_t call = 0; call < profile.calls->size(); ++call) {
    CallTraffic sum;
    for (const RankProfile& rank : profile.ranks) sum += rank.calls[call].traffic;
    std::string name = (*profile.calls)[call];
    for (size_t at = 0; at < std::max(sum.sent.size(), sum.received.size()); ++at) {
      const Requests out = sum.sent[at], in = sum.received[at];
      if (out.count + in.count == 0) continue;
      table.add({{"Call", std::exchange(name, "")},
                 {"From", SizeHistogram::least(at), As::kBytes},
                 {"Sends", or_dash(out.count), As::kCount},
                 {"Bytes", or_dash(out.bytes), As::kBytes},
                 {"Receives", or_dash(in.count), As::kCount},
                 {"Bytes", or_dash(in.bytes), As::kBytes}});
    }
  }
  return table.section(profile.result->name + ": sends and receives by size, of all ranks", width);
}

std::string node_table(const ScenarioProfile& profile, int width) {
  if (profile.nodes.size() < 2) return "";
  Table table;
  bool any = false;
  for (const NodeTraffic& node : profile.nodes) {
    table.add({{"Node", node.name},
               {"Ranks", or_dash(static_cast<uint64_t>(node.ranks)), As::kCount},
               {"Bytes received", or_dash(node.received.bytes), As::kBytes},
               {"Receives", or_dash(node.received.count), As::kCount},
               {"Bytes sent", or_dash(node.sent.bytes), As::kBytes},
               {"Sends", or_dash(node.sent.count), As::kCount}});
    any = any || node.received.count + node.sent.count > 0;
  }
  if (!any) return "\n" + wrap(profile.result->name + ": no messages between nodes", width, 2);
  return table.section(profile.result->name + ": traffic between nodes", width);
}

/// A line per pair of ranks.
std::string pair_list(const ScenarioProfile& profile, int width) {
  Table table;
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    for (const PeerTraffic& to : profile.ranks[rank].peers) {
      if (to.sent.count == 0) continue;
      const double seconds = time_receiving(profile, to.peer, static_cast<int32_t>(rank));
      table.add({{"From", rank},
                 {"To", to.peer},
                 {"Bytes", to.sent.bytes, As::kBytes},
                 {"Requests", to.sent.count, As::kCount},
                 {"Time of receiver", seconds, As::kSeconds}});
    }
  }
  return table.section(profile.result->name + ": pairs that exchange messages", width);
}

/// Without a unit: counts.
std::string matrix(const ScenarioProfile& profile, const std::string& title,
                   double (*value)(const PeerTraffic&), const std::optional<Unit>& unit,
                   int width) {
  Table table;
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    std::vector<Cell> row = {{"Rank", rank}};
    for (size_t peer = 0; peer < profile.ranks.size(); ++peer)
      row.emplace_back(std::to_string(peer), "-", As::kCount);
    for (const PeerTraffic& entry : profile.ranks[rank].peers) {
      const double number = value(entry);
      if (number != 0) row[entry.peer + 1].value = unit ? Json(unit->show(number)) : Json(number);
    }
    table.add(std::move(row));
  }
  return table.section(fmt::format("{}: {}{}", profile.result->name, title, unit ? unit->name : ""),
                       width);
}

std::string matrices(const ScenarioProfile& profile, int width) {
  std::vector<double> times, bytes;
  bool any = false;
  for (const RankProfile& rank : profile.ranks) {
    for (const PeerTraffic& entry : rank.peers) {
      times.push_back(entry.time);
      bytes.push_back(static_cast<double>(entry.sent.bytes));
    }
    any = any || !rank.peers.empty();
  }
  if (!any) return "\n" + profile.result->name + ": no messages between ranks\n";
  if (profile.ranks.size() > kRanksShown) return pair_list(profile, width);
  const Unit unit = unit_of({"", As::kSeconds, {{"", times}}}), size = common_bytes(bytes);
  return matrix(
             profile, "SIZE(row, column): bytes sent by the row's rank to the column's, in ",
             [](const PeerTraffic& entry) { return static_cast<double>(entry.sent.bytes); }, size,
             width) +
         matrix(
             profile, "REQUEST(row, column): number of these messages",
             [](const PeerTraffic& entry) { return static_cast<double>(entry.sent.count); }, {},
             width) +
         matrix(
             profile,
             "TIME(row, column): time in which the row's rank received from the column's, in ",
             [](const PeerTraffic& entry) { return entry.time; }, unit, width);
}

}  // namespace

std::string profile_summary(const ScenarioProfile& profile, int width) {
  return "\n" +
         wrap(fmt::format("{}: elapsed {}, calls of all ranks", profile.result->name,
                          show_seconds(profile.result->elapsed)),
              width, 2) +
         call_table(profile, call_groups(profile, false), width);
}

std::string profile_text(const ScenarioProfile& profile, int width) {
  const std::string& name = profile.result->name;
  std::string out = fmt::format("\n{}: elapsed {}\n", name, show_seconds(profile.result->elapsed));
  if (profile.causes) out += causes_text(*profile.causes, width);
  if (profile.places) out += places_text(*profile.places, name, width);
  out += over_time_text(profile.over_time, name, width);
  out += sites_text(profile.sites, name, width);
  const std::vector<CallColumn> groups = call_groups(profile, true);
  std::vector<RankTable> tables = rank_tables(profile, groups);
  if (profile.result->has_waits) tables.insert(tables.begin() + 1, wait_table(profile));
  for (const RankTable& table : tables) out += layout(table, name, width);
  out += "\n" + wrap(fmt::format("{}: calls of all ranks", name), width, 2) +
         call_table(profile, groups, width);
  out += size_table(profile, width);
  out += node_table(profile, width);
  out += matrices(profile, width);
  return out;
}

}  // namespace rubato
