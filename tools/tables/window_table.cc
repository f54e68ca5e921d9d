#include "tools/tables/window_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "tools/format/numbers.h"
#include "tools/format/table.h"

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
  std::vector<double> ends;
  for (const WindowEfficiency& window : over_time.coarse) ends.push_back(window.end);
  const TimeUnit unit = common_unit(ends);
  const auto percent = [](double factor) { return fmt::format("{:.0f} %", 100 * factor); };
  Table table;
  for (const WindowEfficiency& window : over_time.coarse) {
    table.add({{fmt::format("From ({})", unit.name), unit.show(window.begin)},
               {"Parallel", percent(window.parallel())},
               {"Load balance", percent(window.load_balance)},
               {"Serialisation", percent(window.serialisation)},
               {"Transfer", percent(window.transfer)},
               {"Smallest", smallest_factor(window)}});
  }
  return table.section(scenario + ": efficiencies over time", width);
}

Json over_time_json(const EfficienciesOverTime& over_time) {
  Json json = Json::array();
  for (const WindowEfficiency& window : over_time.fine) {
    json.push_back({{"begin", window.begin},
                    {"end", window.end},
                    {"load_balance", window.load_balance},
                    {"serialisation", window.serialisation},
                    {"transfer", window.transfer},
                    {"busiest", window.busiest < 0 ? Json(nullptr) : Json(window.busiest)}});
  }
  return json;
}

}  // namespace rubato
