#include "tools/tables/place_tables.h"

#include <fmt/core.h>

#include "tools/format/numbers.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kRowsOfPage = 20;

std::string title(const std::string& scenario, const std::string& what, int width) {
  return "\n" + wrap(scenario + ": " + what, width, 2);
}

std::string wait_table(const PlaceSummary& summary, const std::string& scenario, int width) {
  const std::vector<WaitAtPlace> rows = waits_by_place(summary);
  if (rows.empty()) return "";
  double all = 0;
  bool one_comm = true;
  for (const WaitAtPlace& row : rows) {
    all += row.seconds;
    one_comm = one_comm && row.communicator == rows[0].communicator;
  }
  std::vector<std::string> header = {"Waits in", "Times", "Time", "of all waits"};
  if (!one_comm) header.push_back("Communicator");
  header.insert(header.end(), {"Most by rank", "in", "of it"});
  TextTable table(header);
  for (const WaitAtPlace& row : rows) {
    std::vector<TableCell> cells = {place_text(summary.places[row.place]), show_count(row.count),
                                    SecondsCell{row.seconds}, show_share(row.seconds, all)};
    if (!one_comm) cells.push_back(row.communicator);
    if (row.rank >= 0)
      cells.insert(cells.end(), {std::to_string(row.rank), place_text(summary.places[row.cause]),
                                 show_share(row.caused, row.all)});
    table.add_row(std::move(cells));
  }
  return title(scenario, "waits by place", width) + table.format(width);
}

std::string cause_table(const PlaceSummary& summary, const std::string& scenario, int width) {
  const std::vector<DelayAtPlace> rows = delays_by_place(summary);
  if (rows.empty()) return "";
  double all = 0;
  for (const DelayAtPlace& row : rows) all += row.seconds;
  TextTable table({"Rank", "in", "Root cause of", "of all waits", "Mostly waited for in"});
  for (const DelayAtPlace& row : rows) {
    table.add_row({std::to_string(row.rank), place_text(summary.places[row.place]),
                   SecondsCell{row.seconds}, show_share(row.seconds, all),
                   place_text(summary.places[row.waiting])});
  }
  return title(scenario, "causes of waits by place", width) + table.format(width);
}

/// "± 5 %" without the sign; "" for a time that is no estimate.
std::string show_error(double error, double seconds) {
  return error > 0 && seconds > 0 ? show_share(error, seconds) : "";
}

std::string function_table(const PlaceSummary& summary, const std::string& scenario, int width) {
  const std::vector<FunctionEfficiency>& rows = summary.functions;
  if (rows.empty()) return "";
  const std::optional<Sampling>& sampling = summary.sampling;
  std::vector<std::string> header = {"Function", "Compute", "with callees"};
  if (sampling) header = {"Function", "Compute", "±", "with callees", "±"};
  header.insert(header.end(), {"Load balance", "MPI", "Compute", "Waits", "Transfer"});
  TextTable table(header);
  for (const FunctionEfficiency& row : rows) {
    const double compute = row.sum_of(row.compute), inclusive = row.sum_of(row.inclusive);
    std::vector<TableCell> cells;
    cells.emplace_back(function_text(row));
    cells.emplace_back(SecondsCell{compute});
    if (sampling) cells.emplace_back(show_error(row.compute_error, compute));
    if (row.inclusive.empty())
      cells.emplace_back("");
    else
      cells.emplace_back(SecondsCell{inclusive});
    if (sampling) cells.emplace_back(show_error(row.inclusive_error, inclusive));
    cells.emplace_back(compute > 0 ? show_share(row.load_balance(), 1) : "-");
    cells.emplace_back(SecondsCell{row.sum_of(row.mpi)});
    for (const double share : {row.compute_share(), row.wait_share(), row.transfer_share()})
      cells.emplace_back(show_share(share, 1));
    table.add_row(std::move(cells));
  }
  std::string what = "efficiencies by function";
  if (sampling)
    what += fmt::format(", from {}, one per {} of processor time ({} asked); ±: 95 % interval",
                        counted(sampling->samples, "sample", "samples"),
                        show_seconds(sampling->period), show_seconds(sampling->asked));
  return title(scenario, what, width) + table.format(width);
}

const char* kind_key(Place::Kind kind) {
  switch (kind) {
    case Place::Kind::kCompute:
      return "compute";
    case Place::Kind::kCall:
      return "call";
    case Place::Kind::kLost:
      return "lost";
    case Place::Kind::kUnknown:
      break;
  }
  return "unknown";
}

/// null if not recorded.
Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace

std::string place_text(const NamedPlace& place) {
  const std::string at = place.site.empty() ? "" : " (" + place.site + ")";
  switch (place.kind) {
    case Place::Kind::kCompute:
      if (!place.function.empty()) return place.function_place;
      return place.call.empty() ? "outside of functions" : "before " + place.call + at;
    case Place::Kind::kCall:
      return place.call + (place.function.empty() ? "" : " in " + place.function) + at;
    case Place::Kind::kLost:
      return "flushing, no core, or not recorded";
    case Place::Kind::kUnknown:
      break;
  }
  return "unknown";
}

std::string function_text(const FunctionEfficiency& function) {
  return function.name.empty() ? "outside of functions" : function.place;
}

std::string places_text(const PlaceSummary& summary, const std::string& scenario, int width) {
  return wait_table(summary, scenario, width) + cause_table(summary, scenario, width) +
         function_table(summary, scenario, width);
}

Json places_to_json(const PlaceSummary& summary) {
  Json list = Json::array(), waits = Json::array(), causes = Json::array();
  for (const NamedPlace& place : summary.places) {
    list.push_back({{"name", place_text(place)},
                    {"kind", kind_key(place.kind)},
                    {"call", text_or_null(place.call)},
                    {"function", text_or_null(place.function)},
                    {"call_site", text_or_null(place.site)}});
  }
  for (const PlaceSummary::Wait& wait : summary.waits) {
    waits.push_back({{"rank", wait.rank},
                     {"place", wait.place},
                     {"communicator", wait.communicator},
                     {"count", wait.count},
                     {"time", wait.seconds}});
  }
  for (const PlaceSummary::Delay& delay : summary.delays) {
    causes.push_back({{"rank", delay.rank},
                      {"place", delay.place},
                      {"waiting_place", delay.waiting},
                      {"time", delay.seconds}});
  }
  return {{"list", std::move(list)}, {"waits", std::move(waits)}, {"causes", std::move(causes)}};
}

Json places_for_page(const PlaceSummary& summary) {
  Json waits = Json::array(), functions = Json::array();
  double all = 0;
  for (const WaitAtPlace& row : waits_by_place(summary)) {
    all += row.seconds;
    if (waits.size() == kRowsOfPage) continue;
    waits.push_back({{"place", place_text(summary.places[row.place])},
                     {"communicator", row.communicator},
                     {"seconds", row.seconds},
                     {"rank", row.rank},
                     {"cause", row.rank < 0 ? "" : place_text(summary.places[row.cause])},
                     {"share", row.all > 0 ? row.caused / row.all : 0}});
  }
  for (const FunctionEfficiency& row : summary.functions) {
    if (functions.size() == kRowsOfPage) break;
    functions.push_back({{"name", function_text(row)},
                         {"compute", row.sum_of(row.compute)},
                         {"load_balance", row.load_balance()},
                         {"mpi", row.sum_of(row.mpi)},
                         {"compute_share", row.compute_share()},
                         {"wait_share", row.wait_share()},
                         {"transfer_share", row.transfer_share()}});
  }
  return {{"all", all}, {"waits", std::move(waits)}, {"functions", std::move(functions)}};
}

Json functions_to_json(const PlaceSummary& summary) {
  Json functions = Json::array();
  for (const FunctionEfficiency& function : summary.functions) {
    functions.push_back(
        {{"name", text_or_null(function.name)},
         {"place", function_text(function)},
         {"load_balance", function.load_balance()},
         {"compute_share", function.compute_share()},
         {"wait_share", function.wait_share()},
         {"transfer_share", function.transfer_share()},
         {"calls", function.inclusive.empty() ? Json(nullptr) : Json(function.calls)},
         {"compute", function.compute},
         {"inclusive", function.inclusive},
         {"mpi", function.mpi},
         {"waits", function.waits}});
    if (!summary.sampling) continue;
    functions.back()["compute_error"] = function.compute_error;
    functions.back()["inclusive_error"] = function.inclusive_error;
  }
  return functions;
}

}  // namespace rubato
