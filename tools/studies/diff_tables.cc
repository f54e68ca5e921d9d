#include "tools/studies/diff_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

using Row = std::pair<std::string, TimePair>;

constexpr size_t kSizesShown = 12;
constexpr size_t kOperationsShown = 10;
constexpr double kRounding = 1e-12;  ///< seconds

/// "rank 1", "rank 1 thread 2"
std::string who(const Divergence& place) {
  return place.thread == 0 ? fmt::format("rank {}", place.rank)
                           : fmt::format("rank {} thread {}", place.rank, place.thread);
}

/// "rank 1, event 112: MPI_Send of 8 KiB to 0; new: event 110: MPI_Isend of 8 KiB to 0"
std::string show_place(const Divergence& place) {
  const OperationPlace &a = place.before, &b = place.after;
  if (b.event == 0)
    return fmt::format("{}, event {}: {}, only in the old run", who(place), a.event, a.what);
  if (a.event == 0)
    return fmt::format("{}, event {}: {}, only in the new run", who(place), b.event, b.what);
  if (a.what == b.what && a.event == b.event)
    return fmt::format("{}, event {}: {}", who(place), a.event, a.what);
  if (a.what == b.what)
    return fmt::format("{}, event {} (new: {}): {}", who(place), a.event, b.event, a.what);
  return fmt::format("{}, event {}: {}; new: event {}: {}", who(place), a.event, a.what, b.event,
                     b.what);
}

/// "1.234 ms longer"
std::string show_gap(double gap) {
  return fmt::format("{} {}", show_seconds(std::abs(gap)), gap > 0 ? "longer" : "shorter");
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
    if (pair.before_calls + pair.after_calls > 0) rows.emplace_back(level_name(level), pair);
  }
  return rows;
}

std::string show_calls(uint64_t before, uint64_t after) {
  if (before + after == 0) return "";
  if (before == after) return show_count(before);
  return fmt::format("{} / {}", show_count(before), show_count(after));
}

/// A table of times, which are sums over `ranks` ranks and shown as means; shares are relative to
/// `whole`.
std::string table(const std::string& title, const std::vector<Row>& rows, size_t ranks,
                  double whole, bool with_calls, int width) {
  const double share_of_rank = ranks == 0 ? 1 : 1.0 / static_cast<double>(ranks);
  std::vector<double> seconds;
  for (const auto& [name, pair] : rows) {
    seconds.push_back(pair.before * share_of_rank);
    seconds.push_back(pair.after * share_of_rank);
  }
  const TimeUnit unit = common_unit(seconds);
  const auto show = [&](double time, double error) {
    return unit.show(time * share_of_rank) +
           (error > 0 ? " ± " + unit.show(error * share_of_rank) : "");
  };
  const auto row_of = [&](const std::string& name, const TimePair& pair) -> std::vector<Cell> {
    const double gap = pair.gap() * share_of_rank;
    const std::string calls = show_calls(pair.before_calls, pair.after_calls);
    return {{fmt::format("{} ({})", title, unit.name), name},
            {"old", show(pair.before, pair.before_error)},
            {"new", show(pair.after, pair.after_error)},
            {"gap", unit.show(gap)},
            {"gap/elapsed", whole > 0 ? signed_percent(gap, whole) : ""},
            {"calls", with_calls ? Json(calls) : nullptr}};
  };
  Table table;
  table.set_columns(row_of("", {}));
  for (const auto& [name, pair] : rows) table.add(row_of(name, pair));
  return table.text(width) + "\n";
}

std::string alignment_lines(const DiffResults& results, int width) {
  const RunDifference& d = results.difference;
  std::string text = fmt::format("{} operations match; ", show_count(d.same));
  text += d.different + d.only_before + d.only_after == 0
              ? "all of them."
              : fmt::format(
                    "{} with the same call differ in peers or sizes, {} are only in the old run, "
                    "{} only in the new run.",
                    show_count(d.different), show_count(d.only_before), show_count(d.only_after));
  text = wrap(text, width, 2);
  if (d.first_difference) {
    text += wrap(fmt::format("First difference, at {}: {}.", show_seconds(d.first_difference->time),
                             show_place(*d.first_difference)),
                 width, 2);
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
                          show_seconds(drift.time), show_place(drift), show_seconds(drift.drift),
                          show_seconds(drift.inside), show_seconds(drift.outside)),
              width, 2);
}

}  // namespace

std::string level_name(uint8_t level) {
  return level < kLevels ? kLevelNames[level] : "no peer";
}

std::string diff_tables(const DiffResults& results, int width) {
  const RunDifference& d = results.difference;
  const double whole = results.before.runs[results.before.shown].time.elapsed;
  const size_t ranks = d.by_rank.size();
  std::string text = alignment_lines(results, width);
  for (const DiffSide* side : {&results.before, &results.after}) {
    for (size_t run = 0; run < side->runs.size() && side->runs.size() > 1; ++run) {
      text += wrap(fmt::format("{}: {}{}", side->runs[run].archive,
                               show_seconds(side->runs[run].time.elapsed),
                               run == side->shown ? ", shown in the tables" : ""),
                   width, 2);
    }
  }
  text += "\n" +
          wrap(fmt::format("Old: {}. New: {}. Tables are means over {} ranks.",
                           name_of(results.before), name_of(results.after), ranks),
               width, 2) +
          "\n";
  std::vector<Row> calls = sorted({d.by_call.begin(), d.by_call.end()});
  TimePair all;
  for (const TimePair& rank : d.by_rank) {
    all.before += rank.before;
    all.after += rank.after;
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
  for (size_t i = 0; i < std::min(kOperationsShown, d.largest.size()); ++i) {
    const OperationGap& each = d.largest[i];
    if (std::abs(each.gap()) < kRounding) break;
    text += wrap(fmt::format("  {}, at {}: {}: {} → {}", show_gap(each.gap()),
                             show_seconds(each.time), show_place(each),
                             show_seconds(each.before_seconds), show_seconds(each.after_seconds)),
                 width, 4);
  }
  return text;
}

}  // namespace rubato
