#include "tools/tables/window_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "tools/format/numbers.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

/// The factor that costs a window most; "" if little can be gained.
std::string smallest_factor(const WindowEfficiency& window) {
  if (window.busiest < 0) return "no compute";
  constexpr double kGood = 0.95;
  const double least = std::min({window.load_balance, window.serialisation, window.transfer});
  if (least >= kGood) return "";
  if (least == window.transfer) return "transfer";
  if (least == window.serialisation) return "serialisation";
  return fmt::format("load balance: rank {}", window.busiest);
}

}  // namespace

std::string over_time_text(const EfficienciesOverTime& over_time, const std::string& scenario,
                           int width) {
  if (over_time.coarse.empty()) return "";
  std::vector<double> ends;
  for (const WindowEfficiency& window : over_time.coarse) ends.push_back(window.end);
  const TimeUnit unit = common_unit(ends);
  const auto percent = [](double factor) { return fmt::format("{:.0f} %", 100 * factor); };
  TextTable table({fmt::format("From ({})", unit.name), "Parallel", "Load balance", "Serialisation",
                   "Transfer", "Smallest"});
  for (const WindowEfficiency& window : over_time.coarse) {
    table.add_row({unit.show(window.begin), percent(window.parallel()),
                   percent(window.load_balance), percent(window.serialisation),
                   percent(window.transfer), smallest_factor(window)});
  }
  return "\n" + wrap(scenario + ": efficiencies over time", width, 2) + table.format(width);
}

nlohmann::ordered_json over_time_json(const EfficienciesOverTime& over_time) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const WindowEfficiency& window : over_time.fine) {
    json.push_back({{"begin", window.begin},
                    {"end", window.end},
                    {"load_balance", window.load_balance},
                    {"serialisation", window.serialisation},
                    {"transfer", window.transfer}});
    json.back()["busiest"] = window.busiest < 0 ? nlohmann::ordered_json(nullptr)
                                                : nlohmann::ordered_json(window.busiest);
  }
  return json;
}

}  // namespace rubato
