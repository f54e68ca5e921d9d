#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/format/numbers.h"
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
TableCell bytes_or_dash(double bytes) {
  return bytes == 0 ? TableCell("-") : BytesCell{bytes};
}
std::string show_count_or_dash(double count) {
  return count == 0 ? "-" : show_count(static_cast<uint64_t>(std::llround(count)));
}
TableCell rate_or_dash(double bytes_per_second) {
  return bytes_per_second == 0 ? TableCell("-") : RateCell{bytes_per_second};
}

/// One unit for all columns. Of times: chosen for the longest time of the run, with one more digit
/// than that needs, so that small calls are visible.
Unit unit_of(const RankTable& table) {
  if (table.quantity == Quantity::kBytes) {
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
    if (table.quantity == Quantity::kCount) return show_count_or_dash(value);
    return table.quantity == Quantity::kBytes && value == 0 ? "-" : unit.show(value);
  };
  const size_t ranks = table.columns[0].values.size();
  std::vector<std::string> header = {"Rank"};
  std::vector<std::vector<double>> values;
  for (const NumberColumn& column : table.columns) {
    const bool shows = std::any_of(column.values.begin(), column.values.end(),
                                   [&](double value) { return show(std::abs(value)) != show(0); });
    if (!shows && !values.empty()) continue;
    header.push_back(column.name);
    values.push_back(column.values);
  }
  TextTable text(header);
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::string> row = {std::to_string(rank)};
    for (const std::vector<double>& column : values) row.push_back(show(column[rank]));
    text.add_row(std::move(row));
  }
  const std::string title = table.quantity == Quantity::kCount || unit.name == std::string("B")
                                ? fmt::format("{}: {}", scenario, table.title)
                                : fmt::format("{}: {}, in {}", scenario, table.title, unit.name);
  return "\n" + wrap(title, width, 2) + text.format(width);
}

TableCell call_cell(const CallFigure& figure, const CallSum& sum) {
  const double value = number_of(figure.value(sum));
  if (figure.text == CallFigure::kIfAny && value == 0) return "-";
  switch (figure.measure) {
    case Measure::kCount:
      return show_count(static_cast<uint64_t>(std::llround(value)));
    case Measure::kSeconds:
      return SecondsCell{value};
    case Measure::kShare:
    case Measure::kWaits:
      return show_share(value, sum.time);
    case Measure::kBytes:
      return bytes_or_dash(value);
    case Measure::kRate:
      break;
  }
  return rate_or_dash(value);
}

/// Calls summed over all ranks, with the bandwidth of receiving calls.
std::string call_table(const ScenarioProfile& profile, const std::vector<CallColumn>& groups,
                       int width) {
  const std::vector<CallSum> sums = sums_of(profile);
  std::vector<const CallFigure*> figures;
  std::vector<std::string> header = {"Call"};
  for (const CallFigure& figure : call_figures()) {
    if (figure.text == CallFigure::kNo) continue;
    const bool any = std::any_of(sums.begin(), sums.end(), [&](const CallSum& sum) {
      return number_of(figure.value(sum)) > 0;
    });
    if (figure.text == CallFigure::kIfAny && !any) continue;
    figures.push_back(&figure);
    header.push_back(figure.heading);
  }
  TextTable table(header);
  for (const CallColumn& group : groups) {
    CallSum sum;
    for (const size_t call : group.calls) sum += sums[call];
    std::vector<TableCell> row = {group.name};
    for (const CallFigure* figure : figures) {
      const bool is_known = (!figure->of_one || group.calls.size() == 1) &&
                            (!figure->of_waits || profile.result->has_waits);
      row.push_back(is_known ? call_cell(*figure, sum) : TableCell("-"));
    }
    table.add_row(std::move(row));
  }
  return table.format(width);
}

/// Requests by call and size, summed over all ranks.
std::string size_table(const ScenarioProfile& profile, int width) {
  TextTable table({"Call", "From", "Sends", "Bytes", "Receives", "Bytes"});
  bool any = false;
  for (size_t call = 0; call < profile.calls->size(); ++call) {
    CallTraffic sum;
    for (const RankProfile& rank : profile.ranks) sum += rank.calls[call].traffic;
    std::string name = (*profile.calls)[call];
    for (size_t at = 0; at < std::max(sum.sent.size(), sum.received.size()); ++at) {
      const Requests out = sum.sent[at], in = sum.received[at];
      if (out.count + in.count == 0) continue;
      table.add_row({std::exchange(name, ""),
                     BytesCell{static_cast<double>(SizeHistogram::least(at))},
                     show_count_or_dash(static_cast<double>(out.count)),
                     bytes_or_dash(static_cast<double>(out.bytes)),
                     show_count_or_dash(static_cast<double>(in.count)),
                     bytes_or_dash(static_cast<double>(in.bytes))});
      any = true;
    }
  }
  if (!any) return "";
  return "\n" +
         wrap(fmt::format("{}: sends and receives by size, of all ranks", profile.result->name),
              width, 2) +
         table.format(width);
}

std::string node_table(const ScenarioProfile& profile, int width) {
  if (profile.nodes.size() < 2) return "";
  const auto name = [&](const std::string& words) {
    return "\n" + wrap(profile.result->name + ": " + words, width, 2);
  };
  TextTable table({"Node", "Ranks", "Bytes received", "Receives", "Bytes sent", "Sends"});
  bool any = false;
  for (const NodeTraffic& node : profile.nodes) {
    table.add_row({node.name, show_count_or_dash(node.ranks),
                   bytes_or_dash(static_cast<double>(node.received.bytes)),
                   show_count_or_dash(static_cast<double>(node.received.count)),
                   bytes_or_dash(static_cast<double>(node.sent.bytes)),
                   show_count_or_dash(static_cast<double>(node.sent.count))});
    any = any || node.received.count + node.sent.count > 0;
  }
  if (!any) return name("no messages between nodes");
  return name("traffic between nodes") + table.format(width);
}

/// A line per pair of ranks.
std::string pair_list(const ScenarioProfile& profile, int width) {
  TextTable table({"From", "To", "Bytes", "Requests", "Time of receiver"});
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    for (const PeerTraffic& to : profile.ranks[rank].peers) {
      if (to.sent.count == 0) continue;
      table.add_row({std::to_string(rank), std::to_string(to.peer),
                     BytesCell{static_cast<double>(to.sent.bytes)}, show_count(to.sent.count),
                     SecondsCell{time_receiving(profile, to.peer, static_cast<int32_t>(rank))}});
    }
  }
  return "\n" + wrap(profile.result->name + ": pairs that exchange messages", width, 2) +
         table.format(width);
}

std::string matrix(const ScenarioProfile& profile, const std::string& title,
                   const std::function<std::string(const PeerTraffic&)>& show, int width) {
  std::vector<std::string> header = {"Rank"};
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) header.push_back(std::to_string(rank));
  TextTable table(header);
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    std::vector<std::string> row = {std::to_string(rank)};
    row.resize(header.size(), "-");
    for (const PeerTraffic& entry : profile.ranks[rank].peers) row[entry.peer + 1] = show(entry);
    table.add_row(std::move(row));
  }
  return "\n" + wrap(profile.result->name + ": " + title, width, 2) + table.format(width);
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
  const Unit unit = unit_of({"", Quantity::kSeconds, {{"", times}}}), size = common_bytes(bytes);
  return matrix(
             profile,
             fmt::format("SIZE(row, column): bytes sent by the row's rank to the column's, in {}",
                         size.name),
             [&](const PeerTraffic& entry) {
               return entry.sent.bytes == 0 ? std::string("-")
                                            : size.show(static_cast<double>(entry.sent.bytes));
             },
             width) +
         matrix(
             profile, "REQUEST(row, column): number of these messages",
             [](const PeerTraffic& entry) {
               return show_count_or_dash(static_cast<double>(entry.sent.count));
             },
             width) +
         matrix(
             profile,
             fmt::format("TIME(row, column): time in which the row's rank received from the "
                         "column's, in {}",
                         unit.name),
             [&](const PeerTraffic& entry) {
               return entry.time == 0 ? std::string("-") : unit.show(entry.time);
             },
             width);
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
