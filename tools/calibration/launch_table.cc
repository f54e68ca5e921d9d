#include "tools/calibration/launch_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "models/base/units.h"
#include "models/statistics/statistics.h"
#include "tools/calibration/sample_fit.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"

namespace rubato {
namespace {

/// Seconds by launch.
using Launches = std::map<int, double>;

/// The sizes 0, 1, 8, 64, ... and the largest are shown; the file has all.
bool is_shown(double bytes, double largest) {
  if (bytes == 0 || bytes == largest) return true;
  const auto whole = static_cast<unsigned long long>(bytes);
  return std::has_single_bit(whole) && std::countr_zero(whole) % 3 == 0;
}

std::string table_of(const std::string& operation, const std::map<double, Launches>& cells,
                     int launches, int page_width) {
  std::vector<double> all;
  const double largest = cells.rbegin()->first;
  for (const auto& [bytes, cell] : cells) {
    if (!is_shown(bytes, largest)) continue;
    for (const auto& [launch, seconds] : cell) all.push_back(seconds);
  }
  const TimeUnit unit = common_unit(all);
  Table table;
  for (const auto& [bytes, cell] : cells) {
    if (!is_shown(bytes, largest)) continue;
    std::vector<double> times;
    for (const auto& [launch, seconds] : cell) times.push_back(seconds);
    std::string error;
    if (times.size() > 1)
      error = fmt::format("{:.1f} %", 100 * standard_error(times) / mean(times));
    std::vector<Cell> row = {{fmt::format("{} ({})", operation, unit.name), show_bytes(bytes)},
                             {"Median", unit.show(median(times))},
                             {"Mean", unit.show(mean(times))},
                             {"±", error}};
    for (int launch = 1; launch <= launches; ++launch) {
      const auto found = cell.find(launch);
      row.emplace_back(std::to_string(launch), found == cell.end() ? "" : unit.show(found->second));
    }
    table.add(std::move(row));
  }
  return table.text(page_width);
}

/// For a single launch: a row per operation.
std::string table_of_one(const std::vector<std::string>& order,
                         std::map<std::string, std::map<double, Launches>>& operations,
                         int page_width) {
  const std::vector<double> sizes = {0, 8, 512, 4 << 10, 32 << 10, 256 << 10, 4 << 20};
  Table table;
  for (const std::string& operation : order) {
    std::vector<Cell> row = {{"Time", operation}};
    for (const double bytes : sizes) {
      const auto found = operations[operation].find(bytes);
      const bool is_there = found != operations[operation].end();
      row.emplace_back(show_bytes(bytes), is_there ? Json(found->second.begin()->second) : "",
                       As::kSeconds);
    }
    table.add(std::move(row));
  }
  return table.text(page_width) + "\n";
}

}  // namespace

std::string sample_table(const std::vector<SampleRow>& rows, OfLoops of_loops, int page_width) {
  std::vector<std::string> order;
  std::map<std::string, std::map<double, std::vector<SampleRow>>> rows_of;
  int launches = 0;
  for (const SampleRow& row : rows) {
    const std::string operation = operation_of(row);
    if (!rows_of.count(operation)) order.push_back(operation);
    rows_of[operation][row.bytes].push_back(row);
    launches = std::max(launches, row.launch);
  }
  std::map<std::string, std::map<double, Launches>> operations;
  for (const auto& [operation, sizes] : rows_of) {
    for (const auto& [bytes, same] : sizes) {
      for (const SampleRow& row : one_per_launch(same))
        operations[operation][bytes][row.launch] = seconds_of_launch(row, of_loops);
    }
  }
  if (launches == 1) return table_of_one(order, operations, page_width);
  std::string text;
  for (const std::string& operation : order)
    text += table_of(operation, operations[operation], launches, page_width) + "\n";
  return text;
}

}  // namespace rubato
