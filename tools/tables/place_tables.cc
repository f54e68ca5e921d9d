#include "tools/tables/place_tables.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/words/verdict_words.h"

namespace rubato {
namespace {

using json_text::text_or_null;

constexpr size_t kRowsOfPage = 20;
constexpr double kLeastCause = 0.001;  ///< of all waits, in text
constexpr size_t kLeastElements = 2;   ///< of a call path that is shortened

double sum_of_waits(const std::vector<WaitAtPlace>& rows) {
  double all = 0;
  for (const WaitAtPlace& row : rows) all += row.seconds;
  return all;
}

Table wait_table(const PlaceSummary& summary, const std::vector<WaitAtPlace>& rows) {
  const double all = sum_of_waits(rows);
  const bool one_comm = std::all_of(rows.begin(), rows.end(), [&](const WaitAtPlace& row) {
    return row.communicator == rows[0].communicator;
  });
  Table table;
  for (const WaitAtPlace& row : rows) {
    const bool has_cause = row.rank >= 0;
    table.add({{"place", place_text(summary.places[row.place]), "Waits in"},
               {"Times", row.count, As::kCount},
               {"Time", row.seconds, As::kSeconds},
               {"of all waits", show_share(row.seconds, all)},
               {"communicator", row.communicator, one_comm ? "" : "Communicator"},
               {"seconds", row.seconds, As::kFiles},
               {"rank", row.rank, As::kFiles},
               {"Most by rank", has_cause ? std::to_string(row.rank) : ""},
               {"cause", has_cause ? place_text(summary.places[row.cause]) : "", "in"},
               {"share", row.all > 0 ? row.caused / row.all : 0, As::kFiles},
               {"of it", has_cause ? show_share(row.caused, row.all) : ""}});
  }
  return table;
}

/// The elements of path_text().
std::vector<std::string> elements_of(const NamedPlace& place) {
  std::vector<std::string> path = place.path;
  if (path.size() <= 1) return {place_text(place)};
  const bool in_function = place.kind == Place::Kind::kCompute && !place.function.empty();
  if (!in_function && !place.call.empty())
    path.push_back((place.kind == Place::Kind::kCompute ? "before " : "") + place.call);
  return path;
}

std::string joined(std::span<const std::string> elements) {
  return fmt::format("{}", fmt::join(elements, " > "));
}

/// path_text() of these places, without outer functions as far as it is longer than `columns`: at
/// least the end in which it differs from the others, of which inner functions are left out then.
std::map<size_t, std::string> short_paths(const PlaceSummary& summary,
                                          const std::set<size_t>& places, size_t columns) {
  std::map<std::string, std::set<std::string>> ends;  // whole paths by their ends
  const auto each_end = [&](size_t place, const auto& visit) {
    const std::vector<std::string> path = elements_of(summary.places[place]);
    for (size_t from = 0; from < path.size(); ++from)
      if (!visit(path, std::span(path).subspan(from))) return;
  };
  for (const size_t place : places) {
    each_end(place, [&](const auto& path, auto end) {
      ends[joined(end)].insert(joined(path));
      return true;
    });
  }
  std::map<size_t, std::string> texts;
  for (const size_t place : places) {
    each_end(place, [&](const auto& path, auto end) {
      const bool is_whole = end.size() == path.size();
      if (!is_whole && (end.size() < kLeastElements || ends[joined(end)].size() > 1)) return false;
      const std::string outer = is_whole ? "" : "... > ";
      texts[place] = outer + joined(end);
      if (texts[place].size() <= columns) return false;
      if (end.size() > kLeastElements + 1)
        texts[place] = outer + end.front() + " > ... > " + joined(end.last(kLeastElements));
      return true;
    });
  }
  return texts;
}

Table cause_table(const PlaceSummary& summary, int width) {
  constexpr int kOtherColumns = 36;
  double all = 0;
  for (const PlaceSummary::Delay& row : summary.delays) all += row.seconds;
  std::vector<const PlaceSummary::Delay*> rows;
  std::set<size_t> causes, waits;
  for (const PlaceSummary::Delay& row : summary.delays) {
    if (row.seconds < kLeastCause * all) continue;
    rows.push_back(&row);
    causes.insert(row.place);
    waits.insert(row.waiting);
  }
  const auto columns = static_cast<size_t>(std::max(0, width - kOtherColumns) / 2);
  const auto cause_texts = short_paths(summary, causes, columns);
  const auto wait_texts = short_paths(summary, waits, columns);
  Table table;
  for (const PlaceSummary::Delay* row : rows) {
    table.add({{"Place", cause_texts.at(row->place)},
               {"Rank", row->rank},
               {"Time", row->seconds, As::kSeconds},
               {"of all waits", show_share(row->seconds, all)},
               {"Waited for in", wait_texts.at(row->waiting)}});
  }
  return table;
}

/// "5 %" of a time by samples; null where functions were recorded, or without samples.
Json show_error(const PlaceSummary& summary, double error, double seconds) {
  if (!summary.sampling || summary.sampling->samples == 0) return nullptr;
  return error > 0 && seconds > 0 ? show_share(error, seconds) : "";
}

Table function_table(const PlaceSummary& summary, const std::vector<FunctionEfficiency>& rows) {
  Table table;
  for (const FunctionEfficiency& row : rows) {
    const double compute = row.sum_of(row.compute), inclusive = row.sum_of(row.inclusive);
    const Json with_callees = row.inclusive.empty() ? Json("") : Json(inclusive);
    table.add({{"name", function_text(row), "Function"},
               {"compute", compute, "Compute", As::kSeconds},
               {"±", show_error(summary, row.compute_error, compute)},
               {"with callees", with_callees, As::kSeconds},
               {"±", show_error(summary, row.inclusive_error, inclusive)},
               {"load_balance", row.load_balance(), As::kFiles},
               {"Load balance", compute > 0 ? show_share(row.load_balance(), 1) : "-"},
               {"mpi", row.sum_of(row.mpi), "MPI", As::kSeconds},
               {"compute_share", row.compute_share(), "Compute", As::kShare},
               {"wait_share", row.wait_share(), "Waits", As::kShare},
               {"transfer_share", row.transfer_share(), "Transfer", As::kShare}});
  }
  return table;
}

template <typename Row>
std::vector<Row> rows_of_page(std::vector<Row> rows) {
  rows.resize(std::min(rows.size(), kRowsOfPage));
  return rows;
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

}  // namespace

std::string place_text(const NamedPlace& place) {
  const std::string at = place.site.empty() ? "" : " (" + place.site + ")";
  switch (place.kind) {
    case Place::Kind::kCompute:
      if (!place.function.empty()) return place.function_place + called_by(place.caller);
      return place.call.empty() ? "outside of functions" : "before " + place.call + at;
    case Place::Kind::kCall:
      return place.call + (place.function.empty() ? "" : " in " + place.function) + at +
             called_by(place.caller);
    case Place::Kind::kLost:
      return "flushing, no core, or not recorded";
    case Place::Kind::kUnknown:
      break;
  }
  return "unknown";
}

std::string path_text(const NamedPlace& place) {
  return joined(elements_of(place));
}

std::string function_text(const FunctionEfficiency& function) {
  return function.name.empty() ? "outside of functions" : function.place;
}

std::string places_text(const PlaceSummary& summary, const std::string& scenario, int width) {
  std::string functions = scenario + ": efficiencies by function";
  const std::optional<Sampling>& sampling = summary.sampling;
  if (sampling && sampling->samples == 0)
    functions += ", no sample was taken";
  else if (sampling)
    functions += fmt::format(", from {}, one per {} of processor time ({} asked); ±: 95 % interval",
                             counted(sampling->samples, "sample", "samples"),
                             show_seconds(sampling->period), show_seconds(sampling->asked));
  return wait_table(summary, waits_by_place(summary))
             .section(scenario + ": waits by place", width) +
         cause_table(summary, width)
             .section(scenario + ": causes of waits by place, at least 0.1 % each", width) +
         function_table(summary, summary.functions).section(functions, width);
}

Json places_to_json(const PlaceSummary& summary) {
  Json list = Json::array(), waits = Json::array(), causes = Json::array();
  for (const NamedPlace& place : summary.places) {
    list.push_back({{"name", place_text(place)},
                    {"kind", kind_key(place.kind)},
                    {"call", text_or_null(place.call)},
                    {"function", text_or_null(place.function)},
                    {"call_site", text_or_null(place.site)},
                    {"path", place.path}});
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
  const std::vector<WaitAtPlace> waits = waits_by_place(summary);
  return {{"all", sum_of_waits(waits)},
          {"waits", wait_table(summary, rows_of_page(waits)).json()},
          {"functions", function_table(summary, rows_of_page(summary.functions)).json()}};
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
