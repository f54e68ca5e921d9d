#include "tools/report/sweep_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/format/csv_text.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"
#include "tools/report/interval_report.h"

namespace rubato {
namespace {

constexpr int kRowsOfCurve = 7;  ///< of 31 points over three decades: two per decade
constexpr int kRowsOfMap = 5;
/// A parameter that matters this close to its best factor is said to matter in the whole range.
constexpr double kAtOnce = 1.1;

/// At most `most` points of an axis, ends included, at equal steps, rounded.
std::vector<int> some_points(const SweepAxis& axis, int most) {
  std::vector<int> points;
  const int count = std::min(most, axis.points);
  for (int i = 0; i < count; ++i)
    points.push_back(static_cast<int>(std::lround(i * (axis.points - 1.0) / (count - 1))));
  return points;
}

/// Three significant digits, but at least all integer digits.
std::string show_number(double factor) {
  return factor >= 100 ? fmt::format("{:.0f}", factor) : fmt::format("{:.3g}", factor);
}

/// "20.3 ×"
std::string show_factor(double factor) {
  return show_number(factor) + " ×";
}

/// "latency ×"
std::string heading(const SweepAxis& axis) {
  return axis.key + " ×";
}

/// "1.250×", relative to the unchanged scenario.
std::string against_unchanged(const Sweep& sweep, double elapsed) {
  return fmt::format("{:.3f}×", elapsed / sweep.unchanged);
}

/// A sentence on the range in which a parameter matters.
std::string finding(const SweepAxis& axis, const Crossover& crossover) {
  const std::optional<double>& first = crossover.factors[0];
  const std::optional<double>& second = crossover.factors[1];
  const std::string range =
      fmt::format("from {} to {}", show_factor(axis.low), show_factor(axis.high));
  const double times = crossover.worst / crossover.best;
  if (!first) {
    return fmt::format("{} hardly matters {}: the run takes at most {:.2g} % longer.", axis.key,
                       range, std::max(0.0, 100 * (times - 1)));
  }
  const double best = axis.worsening(axis.more_is_worse() ? axis.low : axis.high);
  if (axis.worsening(*first) <= kAtOnce * best) {
    return fmt::format("{} matters in the whole range {}: the run takes {:.3g} × as long.",
                       axis.key, range, times);
  }
  const char* const side = axis.more_is_worse() ? "above" : "below";
  std::string line =
      fmt::format("{} matters {} {}: there the run takes {:g} % longer than at its best", axis.key,
                  side, show_factor(*first), kCrossoverPercents[0]);
  if (second) {
    line += fmt::format(", and {:g} % {} {}", kCrossoverPercents[1], side, show_factor(*second));
  }
  return line + ".";
}

std::string curve_table(const Sweep& sweep, int width) {
  const TimeUnit unit = common_unit(sweep.elapsed[0]);
  Table table;
  for (const int point : some_points(sweep.axes[0], kRowsOfCurve)) {
    const auto at = static_cast<size_t>(point);
    const double elapsed = sweep.elapsed[0][at];
    table.add({{heading(sweep.axes[0]), show_number(sweep.axes[0].factor(point))},
               {fmt::format("Elapsed ({})", unit.name),
                unit.show(elapsed) + show_interval(sweep.intervals, at, unit)},
               {"vs 1 ×", against_unchanged(sweep, elapsed)}});
  }
  return table.text(width);
}

/// Elapsed times relative to the unchanged scenario; the second parameter by row.
std::string map_table(const Sweep& sweep, int width) {
  const SweepAxis &across = sweep.axes[0], &down = sweep.axes[1];
  Table table;
  for (const int row : some_points(down, kRowsOfMap)) {
    std::vector<Cell> cells = {
        {fmt::format("{} \\ {}", heading(down), heading(across)), show_number(down.factor(row))}};
    for (const int point : some_points(across, kRowsOfMap)) {
      const double elapsed = sweep.elapsed[static_cast<size_t>(row)][static_cast<size_t>(point)];
      cells.emplace_back(show_number(across.factor(point)), against_unchanged(sweep, elapsed));
    }
    table.add(std::move(cells));
  }
  return table.text(width);
}

Json axis_to_json(const SweepAxis& axis, const Crossover& crossover) {
  Json factors = Json::array(), crossovers = Json::array();
  for (int point = 0; point < axis.points; ++point) factors.push_back(axis.factor(point));
  for (size_t i = 0; i < crossover.factors.size(); ++i) {
    const std::optional<double>& factor = crossover.factors[i];
    crossovers.push_back(
        {{"percent", kCrossoverPercents[i]}, {"factor", factor ? Json(*factor) : Json(nullptr)}});
  }
  return {{"key", axis.key},
          {"factors", std::move(factors)},
          {"best", crossover.best},
          {"worst", crossover.worst},
          {"crossovers", std::move(crossovers)}};
}

/// null if unknown.
Json intervals_to_json(const Intervals& intervals) {
  Json list = Json::array();
  for (const std::optional<ElapsedInterval>& interval : intervals) {
    if (!interval) return nullptr;
    list.push_back({{"low", interval->low}, {"high", interval->high}});
  }
  return list.empty() ? Json(nullptr) : list;
}

}  // namespace

std::vector<std::string> sweep_findings(const Sweep& sweep) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < sweep.axes.size(); ++i)
    lines.push_back(finding(sweep.axes[i], sweep.crossovers[i]));
  return lines;
}

std::string sweep_text(const Sweep& sweep, int width) {
  std::string out;
  for (const std::string& line : sweep_findings(sweep))
    out += wrap(fmt::format("{}: {}", sweep.scenario, line), width, 2);
  return out + "\n" +
         (sweep.axes.size() == 1 ? curve_table(sweep, width) : map_table(sweep, width));
}

Json sweeps_to_json(const std::vector<Sweep>& sweeps) {
  Json list = Json::array();
  for (const Sweep& sweep : sweeps) {
    Json axes = Json::array();
    for (size_t i = 0; i < sweep.axes.size(); ++i)
      axes.push_back(axis_to_json(sweep.axes[i], sweep.crossovers[i]));
    list.push_back({{"scenario", sweep.scenario},
                    {"unchanged", sweep.unchanged},
                    {"axes", std::move(axes)},
                    {"elapsed", sweep.elapsed},
                    {"intervals", intervals_to_json(sweep.intervals)},
                    {"findings", sweep_findings(sweep)}});
  }
  return list;
}

std::string sweep_csv(const std::vector<Sweep>& sweeps) {
  std::string out;
  for (const Sweep& sweep : sweeps) {
    const std::string name = csv_text(sweep.scenario);
    for (size_t row = 0; row < sweep.elapsed.size(); ++row) {
      for (size_t point = 0; point < sweep.elapsed[row].size(); ++point) {
        std::string changes = fmt::format("{}*{:.6g}", sweep.axes[0].key,
                                          sweep.axes[0].factor(static_cast<int>(point)));
        if (sweep.axes.size() == 2) {
          changes += fmt::format(" {}*{:.6g}", sweep.axes[1].key,
                                 sweep.axes[1].factor(static_cast<int>(row)));
        }
        out += fmt::format("{},,sweep,{},,{},,\n", name, changes, sweep.elapsed[row][point]);
      }
    }
  }
  return out;
}

}  // namespace rubato
