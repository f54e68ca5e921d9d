#include "tools/tables/site_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/format/numbers.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

std::string sizes(const SiteRow& row) {
  if (row.messages == 0) return "-";
  const std::string least = show_bytes(static_cast<double>(row.smallest));
  const std::string most = show_bytes(static_cast<double>(row.largest));
  return least == most ? least : least + " to " + most;
}

Json known(const std::optional<double>& time) {
  return time ? Json(*time) : Json(nullptr);
}

/// A numbered row of a table, below it.
std::string numbered(size_t number, const std::string& site, int width) {
  return wrap(fmt::format("{:>4}  {}", number, site), width, 8);
}

}  // namespace

std::string site_name(const SiteRow& row) {
  std::string text = row.call;
  for (size_t i = 0, next = 0; i < row.path.size(); i = next) {
    while (next < row.path.size() && row.path[next] == row.path[i]) ++next;
    text += (i == 0 ? ": " : " > ") + row.path[i];
    if (next - i > 1) text += fmt::format(" ×{}", next - i);  // recursion
  }
  return text;
}

Table site_table(const std::vector<SiteRow>& rows) {
  Table table;
  for (size_t i = 0; i < rows.size(); ++i) {
    const SiteRow& row = rows[i];
    table.add({{"Site", i + 1},
               {"call", row.call, As::kFiles},
               {"path", row.path, As::kFiles},
               {"calls", row.count, "Calls", As::kCount},
               {"ranks", row.ranks, As::kFiles},
               {"time", row.time, "Time", As::kTime},
               {"time_min", row.least, "Min", As::kTime},
               {"time_mean", row.mean(), "Mean", As::kTime},
               {"time_max", row.most, "Max", As::kTime},
               {"rank_time_min", known(row.rank_least), "Least rank", As::kTime},
               {"rank_time_max", known(row.rank_most), "Most rank", As::kTime},
               {"waits", row.waits, "Waits", As::kTime},
               {"messages", row.messages, As::kFiles},
               {"bytes", row.bytes, As::kFiles},
               {"Bytes", row.messages > 0 ? show_bytes(static_cast<double>(row.bytes)) : "-"},
               {"size_min", row.smallest, As::kFiles},
               {"size_max", row.largest, As::kFiles},
               {"Message size", sizes(row)}});
  }
  return table;
}

std::string sites_text(const std::vector<SiteRow>& rows, const std::string& scenario, int width) {
  std::string text = site_table(rows).section(scenario + ": calls by call site", width);
  for (size_t i = 0; i < rows.size(); ++i) text += numbered(i + 1, site_name(rows[i]), width);
  return text;
}

std::string site_errors_text(const std::vector<SiteRow>& recorded,
                             const std::vector<SiteRow>& predicted, int width) {
  struct Error {
    double recorded = 0, predicted = 0;
    double size() const { return std::abs(recorded - predicted); }
  };
  std::map<std::string, Error> by_site;
  for (const SiteRow& row : recorded) by_site[site_name(row)].recorded += row.time;
  for (const SiteRow& row : predicted) by_site[site_name(row)].predicted += row.time;
  double all = 0;
  for (const auto& [site, error] : by_site) all += error.recorded;
  std::erase_if(by_site, [&](const auto& each) { return each.second.size() < 1e-3 * all; });
  std::vector<std::pair<std::string, Error>> errors(by_site.begin(), by_site.end());
  std::stable_sort(errors.begin(), errors.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  Table table;
  std::string sites;
  for (size_t i = 0; i < errors.size(); ++i) {
    const auto& [site, error] = errors[i];
    const char* sign = error.recorded < error.predicted ? "-" : "";
    table.add({{"Site", i + 1},
               {"Recorded", error.recorded, As::kTime},
               {"Predicted", error.predicted, As::kTime},
               {"Difference", sign + show_seconds(error.size())}});
    sites += numbered(i + 1, site, width);
  }
  return table.section(
             "Recorded − predicted for the machine of the recording: calls of all ranks by "
             "call site",
             width) +
         sites;
}

Table sampled_table(const std::vector<SampledFunction>& rows) {
  Table table;
  for (const SampledFunction& row : rows) {
    table.add({{"name", row.name, As::kFiles},
               {"place", row.place, As::kFiles},
               {"exclusive", row.exclusive, As::kJson},
               {"inclusive", row.inclusive, As::kJson},
               {"exclusive_samples", row.exclusive_samples, As::kFiles},
               {"inclusive_samples", row.inclusive_samples, As::kFiles}});
  }
  return table;
}

}  // namespace rubato
