#include "tools/calibration/call_formulas.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "models/base/error.h"
#include "models/fit/message_pattern.h"
#include "tools/calibration/sample_fit.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

using Key = std::pair<double, double>;  // processes, bytes

/// Times by processes and bytes, with one value per launch.
std::vector<CollectiveTimes> times_of(const std::map<Key, std::vector<SampleRow>>& cells,
                                      OfLoops of_loops) {
  std::vector<CollectiveTimes> times;
  for (const auto& [key, rows] : cells) {
    CollectiveTimes one{key.first, key.second, {}, 0};
    for (const SampleRow& row : one_per_launch(rows)) {
      one.seconds.push_back(seconds_of_launch(row, of_loops));
      one.relative_error = std::max(one.relative_error, relative_error_of(row.interval));
    }
    times.push_back(std::move(one));
  }
  return times;
}

}  // namespace

MeasuredCollectives sampled_collectives(const SampleFile& samples) {
  MeasuredCollectives measured;
  std::map<CollectiveOp, std::map<Key, std::vector<SampleRow>>> rows;
  std::set<CollectiveOp> between_nodes;
  for (const SampleRow& row : samples.rows) {
    const auto op = collective_named(row.pattern);
    if (row.processes && op && row.level == kLevelNames[static_cast<int>(Level::kNetwork)])
      between_nodes.insert(*op);
  }
  for (const SampleRow& row : samples.rows) {
    const auto op = collective_named(row.pattern);
    if (!row.processes || !op) continue;
    if (between_nodes.count(*op) && row.level != kLevelNames[static_cast<int>(Level::kNetwork)])
      continue;
    rows[*op][{row.processes, row.bytes}].push_back(row);
    measured.level[*op] = between_nodes.count(*op) ? Level::kNetwork : Level::kNode;
  }
  for (const auto& [op, cells] : rows) measured.times[op] = times_of(cells, OfLoops::kMedian);
  constexpr const char* kHeld = "held ";
  for (const SampleRow& row : samples.probes) {
    if (row.pattern.rfind(kHeld, 0) != 0) continue;
    const auto op = collective_named(row.pattern.substr(std::char_traits<char>::length(kHeld)));
    if (!op || !is_rooted(*op)) continue;
    const auto [known, is_new] = measured.held_from.emplace(*op, row.bytes);
    if (!is_new) known->second = std::min(known->second, row.bytes);
  }
  return measured;
}

std::vector<FittedCall> fit_calls(const SampleFile& samples,
                                  const std::map<CollectiveOp, CollectiveFit>& collectives,
                                  OfLoops of_loops) {
  std::vector<std::string> order;
  std::map<std::string, std::map<Key, std::vector<SampleRow>>> patterns;
  const auto told = samples.measured.find("ranks");
  const int ranks = told == samples.measured.end() ? 0 : std::atoi(told->second.c_str());
  for (const SampleRow& row : samples.rows) {
    if (row.processes) continue;
    const std::string name = operation_of(row);
    if (!patterns.count(name)) order.push_back(name);
    const int talk = is_of_all_ranks(row.pattern) ? std::max(2, ranks) : 2;
    patterns[name][{talk, row.bytes}].push_back(row);
  }
  std::vector<FittedCall> calls;
  for (const std::string& name : order) {
    try {
      calls.push_back({name, fit_collective(times_of(patterns[name], of_loops))});
    } catch (const InputError&) {
      // Fewer than three lengths: no formula.
    }
  }
  for (const auto& [op, fit] : collectives) calls.push_back({name_of(op), fit});
  return calls;
}

std::string formula_report(const std::vector<FittedCall>& calls, const std::string& library,
                           int page_width) {
  if (calls.empty()) return "";
  std::vector<std::pair<std::string, FormulaFit>> fits;
  bool all_from_launches = true;
  for (const FittedCall& call : calls) {
    fits.emplace_back(call.name, call.fit.whole);
    if (call.fit.from_launches) continue;
    fits.back().second.goodness = std::numeric_limits<double>::quiet_NaN();
    all_from_launches = false;
  }
  std::string text = library.empty() ? "" : library + "\n";
  text += format_formula_table(fits);
  text += wrap(
      "p processes, d bytes; log is base 2. The table has one formula for all sizes: if the "
      "library switches its protocol or algorithm, Q is near 0, and the platform file has a "
      "formula per range.",
      page_width, 0);
  if (!all_from_launches) text += "Q requires at least four launches (launches of --plan).\n";
  return text;
}

}  // namespace rubato
