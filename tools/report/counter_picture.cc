#include "tools/report/counter_picture.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tools/tables/packed_timeline.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSteps = 32767;  // the largest number of three digits

/// True for counters that counted; archives of other tracers may have anything.
bool has_counts(const Metric& metric, const std::vector<double>& counts) {
  const auto most = std::max_element(counts.begin(), counts.end());
  return metric.adds_up && most != counts.end() && *most > 1e-300 &&
         std::all_of(counts.begin(), counts.end(), [](double n) { return std::isfinite(n); });
}

/// By row and interval, the mean of the ranks of each row.
std::vector<double> rows_of(const std::vector<double>& counts, size_t ranks, size_t ranks_per_row) {
  std::vector<double> rows;
  for (size_t first = 0; first < ranks; first += ranks_per_row) {
    const size_t last = std::min(ranks, first + ranks_per_row);
    for (size_t interval = 0; interval < Metrics::kIntervals; ++interval) {
      double sum = 0;
      for (size_t rank = first; rank < last; ++rank)
        sum += counts[rank * Metrics::kIntervals + interval];
      rows.push_back(sum / static_cast<double>(last - first));
    }
  }
  return rows;
}

}  // namespace

Json counters_for_page(const Metrics& metrics, const Roles& roles) {
  if (!roles.measured) return nullptr;
  std::vector<size_t> shown;
  for (size_t metric = 0; metric < metrics.program.size(); ++metric) {
    if (has_counts(metrics.metrics[metric], metrics.program[metric])) shown.push_back(metric);
  }
  if (shown.empty()) return nullptr;
  const auto ranks = static_cast<size_t>(metrics.ranks);
  const size_t most =
      std::clamp<size_t>(kCounterCells / Metrics::kIntervals / shown.size(), 1, kCounterRows);
  const size_t ranks_per_row = (ranks + most - 1) / most;
  Json list = Json::array();
  for (const size_t metric : shown) {
    const std::vector<double> rows = rows_of(metrics.program[metric], ranks, ranks_per_row);
    const double step = std::max(1e-300, *std::max_element(rows.begin(), rows.end()) / kSteps);
    std::string cells;
    for (const double count : rows)
      pack(cells, static_cast<uint64_t>(std::llround(std::max(0.0, count) / step)));
    list.push_back({{"name", metrics.metrics[metric].name},
                    {"unit", metrics.metrics[metric].unit},
                    {"step", step},
                    {"cells", std::move(cells)}});
  }
  return {{"start", metrics.begin - roles.measured->start},
          {"seconds", metrics.seconds},
          {"intervals", Metrics::kIntervals},
          {"rows", (ranks + ranks_per_row - 1) / ranks_per_row},
          {"ranks_per_row", ranks_per_row},
          {"list", std::move(list)}};
}

}  // namespace rubato
