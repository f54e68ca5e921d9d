#include "tools/tables/site_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/format/json_text.h"
#include "tools/format/numbers.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;
using json_text::number;

std::string sizes(const SiteRow& row) {
  if (row.messages == 0) return "-";
  const std::string least = show_bytes(static_cast<double>(row.smallest));
  const std::string most = show_bytes(static_cast<double>(row.largest));
  return least == most ? least : least + " to " + most;
}

}  // namespace

std::string path_text(const SiteRow& row) {
  std::string text;
  for (size_t i = 0, next = 0; i < row.path.size(); i = next) {
    while (next < row.path.size() && row.path[next] == row.path[i]) ++next;
    text += (i == 0 ? "" : " > ") + row.path[i];
    if (next - i > 1) text += fmt::format(" ×{}", next - i);  // recursion
  }
  return text;
}

std::string sites_text(const std::vector<SiteRow>& rows, const std::string& scenario, int width) {
  if (rows.empty()) return "";
  TextTable table(
      {"Site", "Calls", "Time", "Min", "Mean", "Max", "Waits", "Bytes", "Message size"});
  std::string sites;
  for (size_t i = 0; i < rows.size(); ++i) {
    const SiteRow& row = rows[i];
    const std::string number = std::to_string(i + 1);
    table.add_row({number, show_count(row.count), show_seconds(row.time), show_seconds(row.least),
                   show_seconds(row.mean()), show_seconds(row.most), show_seconds(row.waits),
                   row.messages > 0 ? show_bytes(static_cast<double>(row.bytes)) : "-",
                   sizes(row)});
    const std::string path = path_text(row);
    sites += wrap(fmt::format("{:>4}  {}{}", number, row.call, path.empty() ? "" : ": " + path),
                  width, 8);
  }
  const std::string title = scenario + ": calls by call site";
  return "\n" + wrap(title, width, 2) + table.format(width) + sites;
}

std::string site_errors_text(const std::vector<SiteRow>& recorded,
                             const std::vector<SiteRow>& predicted, int width) {
  struct Error {
    std::string site;
    double recorded = 0, predicted = 0;
    double size() const { return std::abs(recorded - predicted); }
  };
  std::map<std::string, Error> by_site;
  const auto at = [&](const SiteRow& row) -> Error& {
    const std::string path = path_text(row);
    const std::string site = row.call + (path.empty() ? "" : ": " + path);
    Error& error = by_site[site];
    error.site = site;
    return error;
  };
  for (const SiteRow& row : recorded) at(row).recorded += row.time;
  for (const SiteRow& row : predicted) at(row).predicted += row.time;
  std::vector<Error> errors;
  double all = 0;
  for (const auto& [site, error] : by_site) {
    errors.push_back(error);
    all += error.recorded;
  }
  std::erase_if(errors, [&](const Error& error) { return error.size() < 1e-3 * all; });
  if (errors.empty()) return "";
  std::stable_sort(errors.begin(), errors.end(),
                   [](const Error& a, const Error& b) { return a.size() > b.size(); });
  TextTable table({"Site", "Recorded", "Predicted", "Difference"});
  std::string sites;
  for (size_t i = 0; i < errors.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const char* sign = errors[i].recorded < errors[i].predicted ? "-" : "";
    table.add_row({number, show_seconds(errors[i].recorded), show_seconds(errors[i].predicted),
                   sign + show_seconds(errors[i].size())});
    sites += wrap(fmt::format("{:>4}  {}", number, errors[i].site), width, 8);
  }
  return "\n" +
         wrap(
             "Recorded − predicted for the machine of the recording: calls of all ranks by "
             "call site",
             width, 2) +
         table.format(width) + sites;
}

Json sites_to_json(const std::vector<SiteRow>& rows) {
  Json list = Json::array();
  for (const SiteRow& row : rows) {
    list.push_back({{"call", row.call},
                    {"path", row.path},
                    {"calls", row.count},
                    {"ranks", row.ranks},
                    {"time", number(row.time)},
                    {"time_min", number(row.least)},
                    {"time_mean", number(row.mean())},
                    {"time_max", number(row.most)},
                    {"waits", number(row.waits)},
                    {"messages", row.messages},
                    {"bytes", row.bytes},
                    {"size_min", row.smallest},
                    {"size_max", row.largest}});
  }
  return list;
}

Json sampled_to_json(const std::vector<SampledFunction>& rows) {
  Json list = Json::array();
  for (const SampledFunction& row : rows) {
    list.push_back({{"name", row.name},
                    {"place", row.place},
                    {"exclusive", row.exclusive},
                    {"inclusive", row.inclusive},
                    {"exclusive_samples", row.exclusive_samples},
                    {"inclusive_samples", row.inclusive_samples}});
  }
  return list;
}

}  // namespace rubato
