#include "tools/studies/tolerance_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "models/platform/uncertainty.h"
#include "replay/study/intervals.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"
#include "tools/report/report_json.h"

namespace rubato {
namespace {

using json_text::number;

/// The parameter value of a scenario that an axis scales; none for an axis of all levels.
struct Value {
  enum Kind { kNone, kSeconds, kBandwidth } kind = kNone;
  double value = 0;
};

Value value_of(const std::string& axis, const Scenario& scenario) {
  for (int level = 0; level < kLevels; ++level) {
    const std::string start = std::string(kLevelNames[level]) + ".";
    const std::optional<LevelModel>& model = scenario.platform.levels[level];
    if (!axis.starts_with(start) || !model) continue;
    if (axis.ends_with("latency")) {
      return {Value::kSeconds,
              model->transfer(0) + model->send_overhead(0) + model->receive_overhead(0)};
    }
    constexpr double kSize = 1 << 20;
    const double seconds = model->transfer(2 * kSize) - model->transfer(kSize);
    if (seconds > 0) return {Value::kBandwidth, kSize / seconds};
  }
  return {};
}

std::string show_value(const Value& value, double factor) {
  if (value.kind == Value::kSeconds) return show_seconds(value.value * factor);
  if (value.kind == Value::kBandwidth) return show_rate(value.value / factor);
  return "";
}

std::string show_factor(const std::string& axis, double factor, const char* space = " ") {
  // Enough digits that a factor slightly above 1 is not shown as 1.
  const double digits = factor < 1.1 ? 4 : factor < 10 ? 2 : factor < 100 ? 1 : 0;
  return fmt::format("{}{}{:.{}f}", axis.ends_with("latency") ? "×" : "÷", space, factor,
                     static_cast<int>(digits));
}

/// The derivative of the elapsed time by the parameter. Its share of the elapsed time is dT/df at f
/// = 1: for latency the value times the number of latencies on the critical path, for bandwidth the
/// bytes on the path divided by the value.
double on_path(const Tolerance& axis, const Value& value, double elapsed) {
  const double part = std::max(0.0, axis.share) * elapsed;
  if (value.kind == Value::kSeconds) return value.value > 0 ? part / value.value : 0;
  return value.kind == Value::kBandwidth ? part * value.value : part;
}

/// The amount on the critical path: a number of latencies, bytes or seconds.
std::string show_path(const Tolerance& axis, const Value& value, double elapsed) {
  if (value.kind == Value::kNone && axis.name != "cpu") return "";  // an axis of several levels
  const double path = on_path(axis, value, elapsed);
  if (value.kind == Value::kSeconds) return show_count(static_cast<uint64_t>(std::llround(path)));
  return value.kind == Value::kBandwidth ? show_bytes(std::round(path)) : show_seconds(path);
}

bool has_effect(const Tolerance& axis) {
  return std::abs(axis.share) > 1e-6 ||
         std::any_of(axis.factors.begin(), axis.factors.end(),
                     [](const auto& factor) { return factor.has_value(); });
}

/// Half the 95 % interval of the shares of latency and bandwidth, and of their factors less 1,
/// relative: the model's error. Nothing for platforms that do not state their uncertainty.
std::optional<double> half_width(const Tolerances& found, const Scenario& scenario) {
  if (scenario.basis != Basis::kModel || !states_uncertainty(scenario.platform)) return {};
  return kErrors * model_error_of(scenario.platform, found.measured_nodes);
}

/// The axes with an effect. The axis of all levels is left out if only one level has an effect.
std::vector<const Tolerance*> rows_of(const Tolerances& found) {
  std::vector<const Tolerance*> rows;
  for (const Tolerance& axis : found.axes) {
    if (has_effect(axis)) rows.push_back(&axis);
  }
  for (const std::string what : {"latency", "bandwidth"}) {
    const auto levels = std::count_if(rows.begin(), rows.end(), [&](const Tolerance* axis) {
      return axis->name.ends_with("." + what);
    });
    if (levels == 1) std::erase_if(rows, [&](const Tolerance* axis) { return axis->name == what; });
  }
  return rows;
}

std::string answer(const Tolerances& found, const Scenario& scenario, double percent) {
  const auto row = [&](const std::string& what) -> const Tolerance& {
    return *std::find_if(found.axes.begin(), found.axes.end(),
                         [&](const Tolerance& axis) { return axis.name == what; });
  };
  if (scenario.basis != Basis::kModel) return "";
  std::vector<std::string> matter, idle;
  for (const std::string what : {"latency", "bandwidth", "cpu"}) {
    const std::optional<double>& factor = row(what).factors[0];
    (factor ? matter : idle).push_back(factor ? what + " " + show_factor(what, *factor) : what);
  }
  std::string text = fmt::format("{}: {} elapsed", scenario.name, show_seconds(found.elapsed));
  if (!matter.empty())
    text += fmt::format("; {:g} % longer with {}", percent, fmt::join(matter, ", or "));
  text += ".";
  if (idle.empty()) return text;
  return text + fmt::format(" {} {} not matter: a factor of a million costs less than {:g} %.",
                            fmt::join(idle, " and "), idle.size() == 1 ? "does" : "do", percent);
}

/// Notes: levels without effect, formulas, contention.
std::vector<std::string> notes(const Tolerances& found, const Scenario& scenario) {
  std::vector<std::string> lines;
  for (int level = 0; level < kLevels; ++level) {
    const std::string start = std::string(kLevelNames[level]) + ".";
    bool asked = false, matters = false;
    for (const Tolerance& axis : found.axes) {
      if (!axis.name.starts_with(start)) continue;
      asked = true;
      matters = matters || has_effect(axis);
    }
    if (!asked || matters) continue;
    const std::string name = kLevelNames[level];
    lines.push_back(found.traffic[level].messages == 0
                        ? "no message crosses level " + name + "."
                        : "messages over level " + name + " cause no delay, at any factor.");
  }
  for (int i = 0; i < kLevels; ++i) {
    const auto level = static_cast<Level>(i);
    const Level priced = scenario.platform.priced_as(level);
    const bool same = priced == level || (level == Level::kSocket && priced == Level::kNode);
    if (scenario.basis != Basis::kModel || same || found.traffic[i].messages == 0) continue;
    lines.push_back(fmt::format("messages of level {} are priced as level {}.", kLevelNames[i],
                                kLevelNames[static_cast<int>(priced)]));
  }
  if (found.formulas) {
    lines.push_back("collectives priced by a formula do not depend on latency and bandwidth.");
  }
  const bool on_network = std::ranges::any_of(rows_of(found), [](const Tolerance* axis) {
    return axis->name.ends_with("latency") || axis->name.ends_with("bandwidth");
  });
  if (const auto half = half_width(found, scenario); half && on_network) {
    lines.push_back(
        fmt::format("shares of latency and bandwidth, and their factors less 1, are uncertain by "
                    "{:.0f} % (95 %): the model's error.",
                    100 * *half));
  }
  if (scenario.platform.contention.model) {
    lines.push_back(fmt::format("with contention, each of {} factors needed a replay of its own.",
                                found.replays));
  }
  return lines;
}

/// A row for each parameter; in text only for those of rows_of().
Table tolerance_table(const Tolerances& found, const Scenario& scenario,
                      const std::vector<double>& percents, const std::string& no_conclusion,
                      bool in_text = false) {
  const std::vector<const Tolerance*> rows = rows_of(found);
  Table table;
  for (const Tolerance& axis : found.axes) {
    if (in_text && std::ranges::find(rows, &axis) == rows.end()) continue;
    const Value value = value_of(axis.name, scenario);
    const bool is_one = value.kind != Value::kNone;  // of one level
    const bool has_path = (is_one || axis.name == "cpu") && std::isfinite(axis.share);
    std::vector<Cell> row = {
        {"name", axis.name, "Parameter"},
        {"value", is_one ? number(value.value) : nullptr, As::kFiles},
        {"Now", show_value(value, 1)},
        {"share", number(axis.share), As::kFiles},
        {"Share", show_share(std::max(0.0, axis.share), 1)},
        {"on_path", has_path ? number(on_path(axis, value, found.elapsed)) : nullptr, As::kFiles},
        {"On path", show_path(axis, value, found.elapsed)}};
    Json thresholds = Json::array();
    for (size_t i = 0; i < percents.size(); ++i) {
      const std::optional<double>& factor = axis.factors[i];
      const Json known = factor ? number(*factor) : nullptr;
      std::string shown = factor && is_one ? show_value(value, *factor) + " " : "";
      shown += factor ? show_factor(axis.name, *factor, "") : "never";
      thresholds.push_back({{"percent", percents[i]}, {"factor", known}});
      row.emplace_back(fmt::format("factor_{:g}", percents[i]), known, As::kCsv);
      row.emplace_back(fmt::format("{:g} % longer", percents[i]), shown);
    }
    row.emplace_back("thresholds", std::move(thresholds), As::kJson);
    row.emplace_back("no_conclusion", json_text::text_or_null(no_conclusion), As::kCsv);
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

std::string tolerance_text(const Tolerances& found, const Scenario& scenario,
                           const std::vector<double>& percents, int width,
                           const std::string& no_conclusion) {
  std::string out;
  for (const std::string& sentence : {answer(found, scenario, percents[0]), no_conclusion})
    if (!sentence.empty()) out += wrap(sentence, width, 2);
  const std::string table =
      tolerance_table(found, scenario, percents, no_conclusion, true).text(width);
  if (table.empty()) return out;
  out += (out.empty() ? "" : "\n") + table;
  out += "\n" + wrap(
                    "Share: part of the elapsed time due to this parameter. On path: number of "
                    "latencies, bytes, or seconds of compute on the critical path. never: not up "
                    "to a factor of a million.",
                    width, 0);
  for (const std::string& line : notes(found, scenario)) out += wrap("Note: " + line, width, 2);
  return out;
}

std::string tolerance_json(const Tolerances& found, const Scenario& scenario,
                           const std::vector<double>& percents, const std::string& no_conclusion) {
  const auto half = half_width(found, scenario);
  return json_file({{"scenario", scenario.name},
                    {"elapsed", number(found.elapsed)},
                    {"no_conclusion", json_text::text_or_null(no_conclusion)},
                    {"replays", found.replays},
                    {"numbers", tolerance_table(found, scenario, percents, no_conclusion).json()},
                    {"half_width", half ? number(*half) : nullptr}});
}

std::string tolerance_csv(const Tolerances& found, const Scenario& scenario,
                          const std::vector<double>& percents, const std::string& no_conclusion) {
  return tolerance_table(found, scenario, percents, no_conclusion).csv();
}

}  // namespace rubato
