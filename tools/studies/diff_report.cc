#include "tools/studies/diff_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/format/json_text.h"
#include "tools/format/numbers.h"
#include "tools/format/rank_rows.h"
#include "tools/format/text_table.h"
#include "tools/report/report_json.h"
#include "tools/version.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::pair<std::string, TimePair>;

constexpr size_t kSizesShown = 12;

std::string level_name(uint8_t level) {
  return level < kLevels ? kLevelNames[level] : "no peer";
}

/// "rank 1", "rank 1 thread 2"
std::string who(const Divergence& place) {
  return place.thread == 0 ? fmt::format("rank {}", place.rank)
                           : fmt::format("rank {} thread {}", place.rank, place.thread);
}

/// "rank 1, event 112: MPI_Send of 8 KiB to 0; measured, event 110: MPI_Isend of 8 KiB to 0"
std::string show_place(const Divergence& place) {
  const OperationPlace &a = place.predicted, &b = place.measured;
  if (b.event == 0)
    return fmt::format("{}, event {}: {}, only in the prediction", who(place), a.event, a.what);
  if (a.event == 0)
    return fmt::format("{}, event {}: {}, only in the measured run", who(place), b.event, b.what);
  if (a.what == b.what && a.event == b.event)
    return fmt::format("{}, event {}: {}", who(place), a.event, a.what);
  if (a.what == b.what)
    return fmt::format("{}, event {} (measured: {}): {}", who(place), a.event, b.event, a.what);
  return fmt::format("{}, event {}: {}; measured, event {}: {}", who(place), a.event, a.what,
                     b.event, b.what);
}

/// "1.234 ms longer than measured"
std::string show_gap(double gap) {
  if (gap == 0) return "equal to the measured run";
  return fmt::format("{} {} than measured", show_seconds(std::abs(gap)),
                     gap > 0 ? "longer" : "shorter");
}

/// The largest gaps first.
std::vector<Row> sorted(std::vector<Row> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::abs(a.second.gap()) > std::abs(b.second.gap());
  });
  return rows;
}

std::vector<Row> sizes(const RunDifference& difference) {
  std::vector<Row> rows;
  for (const auto& [key, pair] : difference.by_size) {
    const auto& [call, level, bytes] = key;
    const std::string size = bytes == 0 ? "" : fmt::format(", from {}", show_bytes(bytes));
    rows.emplace_back(fmt::format("{}, {}{}", call, level_name(level), size), pair);
  }
  return sorted(std::move(rows));
}

std::vector<Row> levels(const RunDifference& difference) {
  std::vector<Row> rows;
  for (uint8_t level = 0; level <= kLevels; ++level) {
    const TimePair& pair = difference.by_level[level];
    if (pair.predicted_calls + pair.measured_calls > 0) rows.emplace_back(level_name(level), pair);
  }
  return rows;
}

std::string show_calls(uint64_t predicted, uint64_t measured) {
  if (predicted + measured == 0) return "";
  if (predicted == measured) return show_count(predicted);
  return fmt::format("{} / {}", show_count(predicted), show_count(measured));
}

/// A table of times, which are sums over `ranks` ranks and shown as means; shares are relative to
/// `whole`.
std::string table(const std::string& title, const std::vector<Row>& rows, size_t ranks,
                  double whole, bool with_calls, int width) {
  const double share_of_rank = ranks == 0 ? 1 : 1.0 / static_cast<double>(ranks);
  std::vector<double> seconds;
  for (const auto& [name, pair] : rows) {
    seconds.push_back(pair.predicted * share_of_rank);
    seconds.push_back(pair.measured * share_of_rank);
  }
  const TimeUnit unit = common_unit(seconds);
  std::vector<std::string> header = {fmt::format("{} ({})", title, unit.name), "predicted",
                                     "measured", "gap", "gap/elapsed"};
  if (with_calls) header.push_back("calls");
  TextTable text(header);
  for (const auto& [name, pair] : rows) {
    const double gap = pair.gap() * share_of_rank;
    std::vector<std::string> cells = {name, unit.show(pair.predicted * share_of_rank),
                                      unit.show(pair.measured * share_of_rank), unit.show(gap),
                                      whole > 0 ? fmt::format("{:+.1f} %", 100 * gap / whole) : ""};
    if (with_calls) cells.push_back(show_calls(pair.predicted_calls, pair.measured_calls));
    text.add_row(std::move(cells));
  }
  return text.format(width) + "\n";
}

std::string alignment_lines(const DiffResults& results, int width) {
  const RunDifference& d = results.difference;
  std::string text = fmt::format("{} operations match; ", show_count(d.same));
  text +=
      d.different + d.only_predicted + d.only_measured == 0
          ? "all of them."
          : fmt::format(
                "{} with the same call differ in peers or sizes, {} are only in the prediction, "
                "{} only in the measured run.",
                show_count(d.different), show_count(d.only_predicted), show_count(d.only_measured));
  text = wrap(text, width, 2) + "\n";
  if (d.first_difference) {
    text += wrap(fmt::format("First difference, at {}: {}.", show_seconds(d.first_difference->time),
                             show_place(*d.first_difference)),
                 width, 2) +
            "\n";
  }
  if (!d.first_drift) {
    return text + fmt::format("No rank is ever more than {} ahead or behind.\n",
                              show_seconds(results.threshold));
  }
  const Drift& drift = *d.first_drift;
  return text +
         wrap(fmt::format("First drift of more than {} {}, at {}: {}. The drift is {} there: {} "
                          "from the call and {} from the compute before it.",
                          show_seconds(results.threshold), drift.drift > 0 ? "behind" : "ahead",
                          show_seconds(drift.time), show_place(drift),
                          show_seconds(std::abs(drift.drift)), show_seconds(drift.inside),
                          show_seconds(drift.outside)),
              width, 2) +
         "\n";
}

Json pair_to_json(const TimePair& pair) {
  return {{"predicted", pair.predicted},
          {"measured", pair.measured},
          {"gap", pair.gap()},
          {"predicted_calls", pair.predicted_calls},
          {"measured_calls", pair.measured_calls}};
}

Json place_to_json(const OperationPlace& place) {
  if (place.event == 0) return nullptr;
  return {{"event", place.event}, {"operation", place.what}};
}

Json divergence_to_json(const Divergence& divergence) {
  return {{"rank", divergence.rank},
          {"thread", divergence.thread},
          {"time", divergence.time},
          {"predicted", place_to_json(divergence.predicted)},
          {"measured", place_to_json(divergence.measured)}};
}

Json side_to_json(const DiffSide& side) {
  return {{"archive", side.archive}, {"scenario", side.scenario}, {"elapsed", side.elapsed}};
}

}  // namespace

std::string diff_text(const DiffResults& results, int width) {
  const RunDifference& d = results.difference;
  const double gap = results.predicted.elapsed - results.measured.elapsed;
  const double whole = results.measured.elapsed;
  const size_t ranks = d.by_rank.size();
  std::string text =
      fmt::format("Predicted: {} on {}: {}\nMeasured:  {} on {}: {}\n", results.predicted.archive,
                  results.predicted.scenario, show_seconds(results.predicted.elapsed),
                  results.measured.archive, results.measured.scenario, show_seconds(whole));
  text += fmt::format("The prediction is {}{}.\n\n", show_gap(gap),
                      whole > 0 ? fmt::format(" ({:+.1f} %)", 100 * gap / whole) : "");
  text += alignment_lines(results, width) + "\n";

  text += fmt::format("Tables are means over {} ranks.\n\n", ranks);
  std::vector<Row> calls = sorted({d.by_call.begin(), d.by_call.end()});
  TimePair all;
  for (const TimePair& rank : d.by_rank) {
    all.predicted += rank.predicted;
    all.measured += rank.measured;
  }
  calls.emplace_back("all", all);
  text += table("by call", calls, ranks, whole, true, width);
  text += table("MPI by distance", levels(d), ranks, whole, true, width);
  std::vector<Row> by_size = sizes(d);
  if (by_size.size() > kSizesShown) by_size.resize(kSizesShown);
  text += table("MPI by call and size", by_size, ranks, whole, true, width);
  if (!d.by_function.empty()) {
    text += table("compute by function", sorted({d.by_function.begin(), d.by_function.end()}),
                  ranks, whole, false, width);
  }
  std::vector<Row> rows;
  for (size_t rank = 0; rank < ranks; ++rank)
    rows.emplace_back(fmt::format("rank {}", rank), d.by_rank[rank]);
  if (rows.size() > kRanksShown) {
    rows = sorted(std::move(rows));
    rows.resize(kRanksShown);
  }
  text += table("by rank", rows, 1, whole, false, width);
  if (!d.largest.empty()) text += "Operations with the largest gaps:\n";
  for (const OperationGap& each : d.largest) {
    text +=
        wrap(fmt::format("  {}, at {}: {}: {} instead of {}", show_gap(each.gap()),
                         show_seconds(each.time), show_place(each),
                         show_seconds(each.predicted_seconds), show_seconds(each.measured_seconds)),
             width, 4) +
        "\n";
  }
  return text;
}

std::string diff_json(const DiffResults& results) {
  const RunDifference& d = results.difference;
  Json json = {{"format", kJsonFormat},
               {"rubato", kVersion},
               {"predicted", side_to_json(results.predicted)},
               {"measured", side_to_json(results.measured)},
               {"gap", results.predicted.elapsed - results.measured.elapsed},
               {"operations",
                {{"same", d.same},
                 {"different", d.different},
                 {"only_predicted", d.only_predicted},
                 {"only_measured", d.only_measured}}}};
  json["first_difference"] = nullptr;
  if (d.first_difference) json["first_difference"] = divergence_to_json(*d.first_difference);
  json["threshold"] = results.threshold;
  json["first_drift"] = nullptr;
  if (d.first_drift) {
    json["first_drift"] = divergence_to_json(*d.first_drift);
    json["first_drift"]["drift"] = d.first_drift->drift;
    json["first_drift"]["inside"] = d.first_drift->inside;
    json["first_drift"]["outside"] = d.first_drift->outside;
  }
  const auto named = [](const std::vector<Row>& rows) {
    Json object = Json::object();
    for (const auto& [name, pair] : rows) object[name] = pair_to_json(pair);
    return object;
  };
  json["by_call"] = named({d.by_call.begin(), d.by_call.end()});
  json["by_level"] = named(levels(d));
  json["by_size"] = Json::array();
  for (const auto& [key, pair] : d.by_size) {
    const auto& [call, level, bytes] = key;
    Json row = {{"call", call}, {"level", level_name(level)}, {"bytes", bytes}};
    row.update(pair_to_json(pair));
    json["by_size"].push_back(std::move(row));
  }
  json["by_function"] = named({d.by_function.begin(), d.by_function.end()});
  json["by_rank"] = Json::array();
  for (size_t rank = 0; rank < d.by_rank.size(); ++rank) {
    json["by_rank"].push_back({{"rank", rank},
                               {"predicted", d.by_rank[rank].predicted},
                               {"measured", d.by_rank[rank].measured},
                               {"gap", d.by_rank[rank].gap()}});
  }
  json["largest"] = Json::array();
  for (const OperationGap& each : d.largest) {
    Json row = divergence_to_json(each);
    row["predicted_seconds"] = each.predicted_seconds;
    row["measured_seconds"] = each.measured_seconds;
    row["gap"] = each.gap();
    json["largest"].push_back(std::move(row));
  }
  return json_text::dump(json, 1) + "\n";
}

}  // namespace rubato
