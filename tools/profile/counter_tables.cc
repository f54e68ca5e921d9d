#include "tools/profile/counter_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "replay/sources/input_format.h"
#include "tools/format/csv_text.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

constexpr size_t kPlacesShown = 10;

/// Metrics that add up, or the others, by number.
std::vector<size_t> chosen(const Metrics& metrics, bool adds_up) {
  std::vector<size_t> list;
  for (size_t i = 0; i < metrics.metrics.size(); ++i) {
    if (metrics.metrics[i].adds_up == adds_up) list.push_back(i);
  }
  return list;
}

/// A count as a number, a time in a unit of time, bytes as bytes.
std::string show_value(const Metric& metric, double value) {
  if (metric.unit == "ns") return value == 0 ? "-" : show_seconds(value * 1e-9);
  if (metric.unit == "bytes" || metric.unit == "Bytes" || metric.unit == "B")
    return value == 0 ? "-" : show_bytes(value);
  if (value == 0) return "-";
  if (value < 0 || (value != std::floor(value) && value < 1000))
    return fmt::format("{:.4g}", value);
  return show_count(static_cast<uint64_t>(std::llround(value)));
}

std::string title_of(const Metric& metric) {
  const bool in_values = metric.unit.empty() || metric.unit == "#" || metric.unit == "ns" ||
                         metric.unit == "bytes" || metric.unit == "Bytes" || metric.unit == "B";
  return in_values ? metric.name : metric.name + " [" + metric.unit + "]";
}

double sum_of_all(const Metrics& metrics, size_t metric, bool in_mpi) {
  double all = 0;
  for (int rank = 0; rank < metrics.ranks; ++rank) all += metrics.sum(metric, rank, in_mpi);
  return all;
}

/// Rows by rank; for many ranks minimum, median, maximum and mean, in columns of one kind each.
std::string rank_table(const Metrics& metrics, const std::vector<size_t>& shown, int width,
                       bool all) {
  const auto ranks = static_cast<size_t>(metrics.ranks);
  const bool fold = !all && ranks > kRanksShown;
  std::vector<std::vector<Cell>> rows(fold ? 4 : ranks);
  const char* const names[] = {"minimum", "median", "maximum", "mean"};
  for (size_t row = 0; row < rows.size(); ++row)
    rows[row].push_back(
        {fold ? fmt::format("{} ranks", ranks) : "Rank", fold ? names[row] : std::to_string(row)});
  for (const size_t metric : shown) {
    for (const bool in_mpi : {false, true}) {
      const std::string heading = in_mpi ? "in MPI" : title_of(metrics.metrics[metric]);
      std::vector<double> values;
      for (int rank = 0; rank < metrics.ranks; ++rank)
        values.push_back(metrics.sum(metric, rank, in_mpi));
      if (fold) {
        std::sort(values.begin(), values.end());
        const double mean =
            std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
        values = {values.front(), values[values.size() / 2], values.back(), std::round(mean)};
      }
      for (size_t row = 0; row < rows.size(); ++row)
        rows[row].emplace_back(heading, show_value(metrics.metrics[metric], values[row]));
    }
  }
  Table table;
  for (std::vector<Cell>& row : rows) table.add(std::move(row));
  return table.text(width);
}

/// Places with the largest share of some counter first. Without `all`, places are summed over the
/// callers of their function, and calls of MPI are left out.
struct PlaceRow {
  std::string name;
  std::vector<double> sums;     ///< by metric
  std::vector<double> by_rank;  ///< of the first metric shown
};

std::vector<PlaceRow> place_rows(const Metrics& metrics, const std::vector<size_t>& shown,
                                 bool all) {
  std::map<std::string, PlaceRow> rows;
  for (size_t place = 0; place < metrics.places.size(); ++place) {
    const MetricPlace& own = metrics.places[place];
    if (!all && own.in_mpi()) continue;
    const std::string name = all ? metrics.path_of(place) : metrics.name_of(place);
    PlaceRow& row = rows[name];
    row.name = name;
    row.sums.resize(metrics.metrics.size());
    row.by_rank.resize(metrics.ranks);
    for (const size_t metric : shown) row.sums[metric] += metrics.sum_at(place, metric);
    for (int rank = 0; rank < metrics.ranks; ++rank)
      row.by_rank[rank] += metrics.count(place, rank, shown.front());
  }
  std::vector<double> whole(metrics.metrics.size());
  for (const auto& [name, row] : rows) {
    for (const size_t metric : shown) whole[metric] += row.sums[metric];
  }
  const auto share = [&](const PlaceRow& row) {
    double most = 0;
    for (const size_t metric : shown)
      most = std::max(most, whole[metric] > 0 ? row.sums[metric] / whole[metric] : 0);
    return most;
  };
  std::vector<PlaceRow> sorted;
  for (auto& [name, row] : rows) {
    if (share(row) > 0) sorted.push_back(std::move(row));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const PlaceRow& a, const PlaceRow& b) { return share(a) > share(b); });
  return sorted;
}

std::string place_table(const Metrics& metrics, const std::vector<size_t>& shown, int width,
                        bool all) {
  const std::vector<PlaceRow> rows = place_rows(metrics, shown, all);
  Table table;
  const size_t rows_shown = all ? rows.size() : std::min(rows.size(), kPlacesShown);
  for (size_t i = 0; i < rows_shown; ++i) {
    const PlaceRow& row = rows[i];
    std::vector<Cell> cells = {{all ? "Call path" : "In", row.name}};
    for (const size_t metric : shown) {
      const Metric& what = metrics.metrics[metric];
      cells.emplace_back(title_of(what), show_value(what, row.sums[metric]));
    }
    const auto most = std::max_element(row.by_rank.begin(), row.by_rank.end());
    if (metrics.ranks > 1) {
      const bool any = *most > 0;
      cells.emplace_back("Most on rank", any ? Json(most - row.by_rank.begin()) : Json(""));
      cells.emplace_back("of it", any ? show_share(*most, row.sums[shown.front()]) : "");
    }
    table.add(std::move(cells));
  }
  const std::string what = all ? "counters by call path" : "counters of the program by place";
  const std::string which = rows_shown < rows.size()
                                ? fmt::format(", the {} largest of {}", rows_shown, rows.size())
                                : "";
  return table.section("recorded: " + what + which, width);
}

std::string gauge_table(const Metrics& metrics, int width) {
  Table table;
  for (const size_t metric : chosen(metrics, false)) {
    GaugeValues all;
    int ranks = 0;
    for (int rank = 0; rank < metrics.ranks; ++rank) {
      const GaugeValues& own = metrics.gauge(metric, rank);
      if (own.samples == 0) continue;
      all.least = ranks == 0 ? own.least : std::min(all.least, own.least);
      all.most = ranks == 0 ? own.most : std::max(all.most, own.most);
      all.sum += own.sum;
      all.samples += own.samples;
      ++ranks;
    }
    if (ranks == 0) continue;
    const Metric& what = metrics.metrics[metric];
    table.add({{"Gauge", title_of(what)},
               {"Ranks", ranks},
               {"Minimum", show_value(what, all.least)},
               {"Mean", show_value(what, all.sum / static_cast<double>(all.samples))},
               {"Maximum", show_value(what, all.most)},
               {"Samples", all.samples, As::kCount}});
  }
  return table.section("recorded: gauges", width);
}

/// {"perf::PAGE-FAULTS": 12}, without counters that counted nothing.
template <typename Value>
Json values_to_json(const Metrics& metrics, const Value& value) {
  Json json = Json::object();
  for (const size_t metric : chosen(metrics, true)) {
    if (const double count = value(metric); count != 0) json[metrics.metrics[metric].name] = count;
  }
  return json;
}

const char* kind_of(MetricPlace::Kind kind) {
  switch (kind) {
    case MetricPlace::Kind::kProgram:
      return "program";
    case MetricPlace::Kind::kFunction:
      return "function";
    case MetricPlace::Kind::kBefore:
      return "before";
    case MetricPlace::Kind::kCall:
      break;
  }
  return "call";
}

}  // namespace

Metrics metrics_of(const std::string& path, bool ignore_offsets) {
  for (const InputFormat* format : input_formats()) {
    if (!format->recognises(path)) continue;
    if (format == input_formats().back()) return read_metrics(path, ignore_offsets);
    break;
  }
  return {};
}

std::string counters_text(const Metrics& metrics, int width, bool all) {
  std::vector<size_t> shown = chosen(metrics, true);
  std::erase_if(shown, [&](size_t metric) {
    return sum_of_all(metrics, metric, false) == 0 && sum_of_all(metrics, metric, true) == 0;
  });
  std::string out;
  if (!shown.empty()) {
    out += "\n" + wrap("recorded: counters of the program, and in MPI", width, 2) +
           rank_table(metrics, shown, width, all) + place_table(metrics, shown, width, all);
  }
  return out + gauge_table(metrics, width);
}

void counters_csv(const Metrics& metrics, const TextSink& write) {
  std::string text;
  const auto row = [&](const std::string& kind, const std::string& name, int rank, double value) {
    fmt::format_to(std::back_inserter(text), "recorded,{},{},{},,,{}\n", csv_text(kind),
                   csv_text(name), rank, value);
  };
  for (size_t place = 0; place < metrics.places.size(); ++place) {
    for (int rank = 0; rank < metrics.ranks; ++rank) {
      for (const size_t metric : chosen(metrics, true)) {
        const double count = metrics.count(place, rank, metric);
        const char* const kind = metrics.places[place].in_mpi() ? "counter_mpi " : "counter ";
        if (count != 0)
          row(kind + metrics.metrics[metric].name, metrics.path_of(place), rank, count);
      }
    }
  }
  for (const size_t metric : chosen(metrics, false)) {
    for (int rank = 0; rank < metrics.ranks; ++rank) {
      const GaugeValues& own = metrics.gauge(metric, rank);
      if (own.samples == 0) continue;
      const std::string& name = metrics.metrics[metric].name;
      row("gauge_minimum", name, rank, own.least);
      row("gauge_mean", name, rank, own.sum / static_cast<double>(own.samples));
      row("gauge_maximum", name, rank, own.most);
    }
  }
  write(text);
}

Json counters_to_json(const Metrics& metrics) {
  if (metrics.empty()) return nullptr;
  Json list = Json::array(), ranks = Json::array(), places = Json::array();
  for (const Metric& metric : metrics.metrics) {
    list.push_back({{"name", metric.name},
                    {"unit", metric.unit},
                    {"description", metric.description},
                    {"kind", metric.adds_up ? "counter" : "gauge"}});
  }
  for (int rank = 0; rank < metrics.ranks; ++rank) {
    Json gauges = Json::object();
    for (const size_t metric : chosen(metrics, false)) {
      const GaugeValues& own = metrics.gauge(metric, rank);
      if (own.samples == 0) continue;
      gauges[metrics.metrics[metric].name] = {{"samples", own.samples},
                                              {"minimum", own.least},
                                              {"mean", own.sum / static_cast<double>(own.samples)},
                                              {"maximum", own.most}};
    }
    const auto sums = [&](bool in_mpi) {
      return values_to_json(metrics, [&](size_t m) { return metrics.sum(m, rank, in_mpi); });
    };
    ranks.push_back({{"rank", rank},
                     {"program", sums(false)},
                     {"mpi", sums(true)},
                     {"gauges", std::move(gauges)}});
  }
  for (size_t place = 0; place < metrics.places.size(); ++place) {
    const MetricPlace& own = metrics.places[place];
    Json by_rank = Json::array();
    for (int rank = 0; rank < metrics.ranks; ++rank) {
      Json values =
          values_to_json(metrics, [&](size_t m) { return metrics.count(place, rank, m); });
      if (values.empty()) continue;
      by_rank.push_back({{"rank", rank}, {"counts", std::move(values)}});
    }
    if (by_rank.empty()) continue;
    places.push_back({{"path", metrics.path_of(place)},
                      {"kind", kind_of(own.kind)},
                      {"name", json_text::text_or_null(own.name)},
                      {"call_site", json_text::text_or_null(own.site)},
                      {"ranks", std::move(by_rank)}});
  }
  return {{"metrics", std::move(list)}, {"ranks", std::move(ranks)}, {"places", std::move(places)}};
}

}  // namespace rubato
