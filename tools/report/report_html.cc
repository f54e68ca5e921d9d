#include "tools/report/report_html.h"

#include <fmt/core.h>

#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "models/base/error.h"
#include "models/base/shell_quoted.h"
#include "models/base/source_date.h"
#include "replay/analyse/other_rows.h"
#include "tools/cli/install_paths.h"
#include "tools/format/json_text.h"
#include "tools/report/counter_picture.h"
#include "tools/report/interval_report.h"
#include "tools/report/job_report.h"
#include "tools/report/link_report.h"
#include "tools/report/report_json.h"
#include "tools/report/sweep_report.h"
#include "tools/tables/place_tables.h"
#include "tools/version.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;

std::string read_part(const std::string& name) {
  const std::string path = share_dir() + "/report/" + name;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) {
    throw InputError(fmt::format(
        "{}: missing, but needed for HTML reports; is this installation complete?", path));
  }
  return text.str();
}

std::string escape_html(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

/// Escapes JSON for a <script> element, which a "</script>" or "<!--" in a name would end or
/// change. In JSON "<" occurs only in strings, where \u003c means the same.
std::string escape_script(const std::string& json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (const char c : json) escaped += c == '<' ? "\\u003c" : std::string(1, c);
  return escaped;
}

/// Six significant digits: enough for charts, in a third of the bytes. (Not for numbers that the
/// text report has too: they would be rounded twice.)
Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

/// A column with a number per rank: `value` of its result.
template <typename Value>
Json column(const ScenarioResult& scenario, const Value& value) {
  Json numbers = Json::array();
  if (!scenario.deadlock.empty()) return numbers;
  for (const RankResult& rank : scenario.ranks)
    numbers.push_back(rounded(std::invoke(value, rank)));
  return numbers;
}

/// A scenario with one array per column instead of an object per rank, which is small for thousands
/// of ranks.
Json scenario_columns(const ScenarioResult& scenario, size_t call_count) {
  const bool ended = scenario.deadlock.empty();
  Json json = {
      {"name", scenario.name},
      {"elapsed", ended ? json_text::number(scenario.elapsed) : Json(nullptr)},
      {"elapsed_with_init", ended ? json_text::number(scenario.elapsed_with_init) : Json(nullptr)},
      {"deadlock", scenario.deadlock}};
  for (int level = 0; level < kLevels; ++level) {
    json["traffic"][kLevelNames[level]] = {{"messages", scenario.traffic[level].messages},
                                           {"bytes", scenario.traffic[level].bytes}};
  }
  json["waits"] = nullptr;
  for (int kind = 0; ended && scenario.has_waits && kind < kWaitKinds; ++kind)
    json["waits"].push_back(column(scenario, [&](const RankResult& r) { return r.waits[kind]; }));
  json["others"] = Json::array();
  for (int i = 0; ended && i < kOtherRowsInWindow; ++i)
    json["others"].push_back(column(scenario, kOtherRows[i].seconds));
  json["own_work"] = column(scenario, &RankResult::own_work);
  json["compute"] = column(scenario, &RankResult::compute);
  json["mpi"] = column(scenario, &RankResult::mpi);
  json["calls"] = Json::array();
  for (size_t call = 0; ended && call < call_count; ++call) {
    const auto totals = [&](const RankResult& rank) {
      return call < rank.calls.size() ? rank.calls[call] : CallTotals{};
    };
    CallTotals sum;
    for (const RankResult& rank : scenario.ranks) {
      sum.calls += totals(rank).calls;
      sum.bytes_sent += totals(rank).bytes_sent;
      sum.bytes_received += totals(rank).bytes_received;
    }
    json["calls"].push_back(
        {{"time", column(scenario, [&](const RankResult& rank) { return totals(rank).time; })},
         {"calls", sum.calls},
         {"bytes_sent", sum.bytes_sent},
         {"bytes_received", sum.bytes_received}});
  }
  return json;
}

Json platform_data(const PlatformPicture& platform) {
  Json levels = Json::array();
  for (const LevelPicture& level : platform.levels) {
    Json curve = Json::array(), samples = Json::array();
    for (const CurvePoint& point : level.curve) {
      curve.push_back({rounded(point.bytes), rounded(point.seconds)});
    }
    for (const SamplePoint& sample : level.samples) {
      samples.push_back({rounded(sample.bytes), rounded(sample.seconds), rounded(sample.fitted)});
    }
    levels.push_back(
        {{"level", level.level}, {"curve", std::move(curve)}, {"samples", std::move(samples)}});
  }
  return {{"name", platform.name},
          {"file", platform.file},
          {"measured", platform.measured},
          {"levels", std::move(levels)}};
}

Json timeline_data(const ScenarioPicture& picture) {
  Json sampling;  // null: none
  if (picture.sampling)
    sampling = {{"samples", picture.sampling->samples}, {"period", picture.sampling->period}};
  return {{"rows", picture.rows},
          {"columns", picture.columns},
          {"ranks_per_row", picture.ranks_per_row},
          {"cells", picture.cells},
          {"functions", picture.functions},
          {"sampling", std::move(sampling)},
          {"path_rows", picture.path_rows},
          {"path_pieces", picture.path_pieces},
          {"path", picture.path},
          {"pieces", picture.pieces},
          {"message_unit", picture.message_unit},
          {"messages", picture.messages},
          {"all_messages", picture.all_messages}};
}

/// Load balance, serialisation and transfer of each window, in thousandths.
Json over_time_data(const EfficienciesOverTime& over_time) {
  Json windows = Json::array();
  for (const WindowEfficiency& window : over_time.fine) {
    Json factors = Json::array();
    for (const double factor : {window.load_balance, window.serialisation, window.transfer})
      factors.push_back(std::lround(1000 * factor));
    windows.push_back(std::move(factors));
  }
  return windows;
}

/// Cells as [row, column, messages, bytes, seconds]; sizes as [least, messages, bytes].
Json traffic_data(const TrafficPicture& picture) {
  Json cells = Json::array(), sizes = Json::array();
  for (const TrafficCell& cell : picture.cells) {
    cells.push_back(
        {cell.row, cell.column, cell.sent.count, cell.sent.bytes, rounded(cell.seconds)});
  }
  for (size_t at = 0; at < picture.sizes.size(); ++at) {
    const Requests requests = picture.sizes[at];
    if (requests.count == 0 && sizes.empty()) continue;
    sizes.push_back({SizeHistogram::least(at), requests.count, requests.bytes});
  }
  return {{"rows", picture.rows},
          {"ranks_per_row", picture.ranks_per_row},
          {"cells", std::move(cells)},
          {"sizes", std::move(sizes)}};
}

}  // namespace

ReportOrigin report_origin(const std::string& command, const Arguments& arguments) {
  ReportOrigin origin;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) origin.host = host.data();
  // A given date is shown in UTC, so that the page is the same everywhere.
  const std::optional<std::time_t> given = source_date();
  const std::time_t now = given ? *given : std::time(nullptr);
  std::array<char, 32> date{};
  if (std::tm parts{}; given ? gmtime_r(&now, &parts) : localtime_r(&now, &parts)) {
    std::strftime(date.data(), date.size(), given ? "%Y-%m-%d %H:%M UTC" : "%Y-%m-%d %H:%M",
                  &parts);
  }
  origin.date = date.data();
  origin.command = "rubato " + command;
  for (const std::string& word : arguments) origin.command += ' ' + shell_quoted(word);
  return origin;
}

std::string fill_page(const std::string& template_name, const std::vector<std::string>& scripts,
                      const std::string& title, const std::string& data_json) {
  std::string script = read_part("page.js") + read_part("export.js");
  for (const std::string& name : scripts) script += read_part(name);
  const std::string page = read_part(template_name);
  const std::array<std::pair<std::string, std::string>, 5> parts = {{
      {"@TITLE@", escape_html(title)},
      {"@CSS@", read_part("report.css")},
      {"@CHART@", read_part("chart.min.js")},
      {"@JS@", script},
      {"@DATA@", escape_script(data_json)},
  }};
  // One pass over the template, so that inserted text is never searched for marks.
  std::string out;
  size_t done = 0;
  while (done < page.size()) {
    size_t next = page.size();
    const std::pair<std::string, std::string>* found = nullptr;
    for (const auto& part : parts) {
      const size_t at = page.find(part.first, done);
      if (at < next) {
        next = at;
        found = &part;
      }
    }
    out.append(page, done, next - done);
    if (!found) break;
    out += found->second;
    done = next + found->first.size();
  }
  return out;
}

std::string report_html(const Report& report, const std::vector<PlatformPicture>& platforms,
                        const std::vector<ScenarioPicture>& pictures, const ReportOrigin& origin,
                        const Metrics& metrics) {
  const Results& results = *report.results;
  const ScenarioResult* reference = report.roles.reference;
  Json data = {{"rubato", kVersion},
               {"answer", report.answer},
               {"verdict", report.verdict},
               {"findings", findings_to_json(report.judgement, results)},
               {"judged", report.judgement.scenario},
               {"judged_elapsed", json_text::number(report.judgement.elapsed)},
               {"reference", reference ? reference->name : ""},
               {"runs", report.runs},
               {"kept_line", report.kept_calls},
               {"caveats", report.notes},
               {"scenario_notes", report.scenario_notes},
               {"trace", trace_to_json(results.trace)},
               {"calls", results.calls},
               {"wait_kinds", kWaitNames},
               {"other_rows", Json::array()},
               {"outside_elapsed", Json::array()},
               {"sweeps", sweeps_to_json(report.sweeps)},
               {"scenarios", Json::array()},
               {"platforms", Json::array()}};
  if (!origin.command.empty())
    data["origin"] = {{"date", origin.date}, {"host", origin.host}, {"command", origin.command}};
  for (int i = 0; i < kOtherRowsInWindow; ++i) data["other_rows"].push_back(kOtherRows[i].name);
  for (const std::string& call : results.calls) {
    data["outside_elapsed"].push_back(outside_elapsed(call));
  }
  for (const std::string& line : report.interval_notes) data["scenario_notes"].push_back(line);
  for (const ScenarioResult& scenario : results.scenarios) {
    for (const std::string& line : job_lines(scenario)) data["scenario_notes"].push_back(line);
  }
  for (size_t i = 0; i < results.scenarios.size(); ++i) {
    Json columns = scenario_columns(results.scenarios[i], results.calls.size());
    columns["interval"] = nullptr;
    columns["links"] = links_to_json(results.scenarios[i]);
    columns["contention"] = contention_to_json(results.calls, results.scenarios[i]);
    columns["topology"] = drawing_for_page(results.scenarios[i]);
    if (const ElapsedInterval* interval = interval_of(report.intervals, i))
      columns["interval"] = {rounded(interval->low), rounded(interval->high)};
    columns["timeline"] = columns["places"] = columns["traffic_map"] = nullptr;
    for (const ScenarioPicture& picture : pictures) {
      if (picture.scenario != i) continue;
      columns["timeline"] = timeline_data(picture);
      columns["traffic_map"] = traffic_data(picture.traffic);
      columns["over_time"] = over_time_data(picture.over_time);
      if (picture.places) columns["places"] = places_for_page(*picture.places);
    }
    data["scenarios"].push_back(std::move(columns));
  }
  if (Json counters = counters_for_page(metrics, report.roles); !counters.is_null())
    data["counters"] = std::move(counters);
  for (const PlatformPicture& platform : platforms) {
    data["platforms"].push_back(platform_data(platform));
  }
  const std::string text = json_text::dump(data, -1);
  return fill_page("report.html",
                   {"timeline_data.js", "timeline_sums.js", "timeline_stacks.js",
                    "timeline_view.js", "timeline_strips.js", "timeline.js", "sweep.js",
                    "places.js", "traffic.js", "topology.js", "links.js", "report.js"},
                   "Rubato: " + results.trace.path, text);
}

}  // namespace rubato
