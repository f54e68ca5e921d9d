#include "calibrate/collective_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "models/fit/statistics.h"
#include "models/units.h"

namespace rubato {
namespace {

/// Beside those of messages.
constexpr std::array<const char*, 5> kColumns = {"processes", "interval", "seconds_local",
                                                 "seconds_global", "dropped"};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

/// A row by the names of its columns.
using Row = std::map<std::string, std::string>;

std::string join(const std::vector<std::string>& header, const Row& row) {
  std::string line;
  for (size_t i = 0; i < header.size(); ++i) {
    const auto cell = row.find(header[i]);
    line += (i ? "," : "") + (cell == row.end() ? "" : cell->second);
  }
  return line + "\n";
}

std::string exact(double value) {
  return fmt::format("{}", value);
}
std::string rough(double value) {
  return fmt::format("{:.6g}", value);
}

/// The least of every second value, from the first or the second one on.
double least_of_half(const std::vector<double>& values, size_t first) {
  double least = values[first];
  for (size_t i = first; i < values.size(); i += 2) least = std::min(least, values[i]);
  return least;
}

const std::vector<double>& times_of(const CollectiveResults& results,
                                    const CollectiveSample& sample) {
  return results.sync == ProcessSync::kWindow ? sample.timing.global : sample.timing.local;
}

/// Half the confidence interval of the mean, over it. Of two values or more.
double interval_of(const std::vector<double>& times) {
  const Interval interval = confidence_interval(times);
  return (interval.high - interval.low) / 2 / mean(times);
}

Row row_of(const CollectiveResults& results, const CollectiveSample& sample) {
  const std::vector<double>& all = times_of(results, sample);
  const std::vector<double> kept = without_outliers(all);
  Row row = {{"pattern", name_of(sample.op)},
             {"seconds_min", exact(*std::min_element(all.begin(), all.end()))},
             {"seconds_avg", rough(mean(kept))},
             {"seconds_max", rough(*std::max_element(all.begin(), all.end()))},
             {"loops", std::to_string(all.size())},
             {"round_trips", "1"},
             {"seconds_median", exact(median(kept))},
             {"seconds_local", rough(median(without_outliers(sample.timing.local)))},
             {"seconds_global", rough(median(without_outliers(sample.timing.global)))},
             {"dropped", std::to_string(sample.timing.late)}};
  if (kept.size() >= 2) row["interval"] = exact(interval_of(kept));
  if (all.size() >= 2) {
    row["seconds_min_even"] = exact(least_of_half(all, 0));
    row["seconds_min_odd"] = exact(least_of_half(all, 1));
  }
  row["level"] = kLevelNames[static_cast<int>(sample.level)];
  row["bytes"] = std::to_string(sample.bytes);
  row["processes"] = std::to_string(sample.processes);
  return row;
}

}  // namespace

std::string with_collectives(const std::string& samples, const CollectiveResults& results,
                             int launch) {
  if (results.samples.empty() && results.limits.empty()) return samples;
  std::vector<std::string> header;
  std::string rows, comments;
  std::istringstream lines(samples);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] == '#') {
      comments += line + "\n";
    } else if (header.empty()) {
      header = cells_of(line);
      header.insert(header.end(), kColumns.begin(), kColumns.end());
      rows += join(header, [&] {
        Row names;
        for (const std::string& name : header) names[name] = name;
        return names;
      }());
    } else {
      rows += line + std::string(kColumns.size(), ',') + "\n";
    }
  }
  const auto add = [&](Row row) {
    row["messages"] = "1";
    row["launch"] = std::to_string(launch);
    rows += join(header, row);
  };
  for (const CollectiveSample& sample : results.samples) add(row_of(results, sample));
  for (const SyncLimit& limit : results.limits) {
    if (!limit.held_from) continue;
    add({{"level", kLevelNames[static_cast<int>(limit.level)]},
         {"pattern", "held " + name_of(limit.op)},
         {"bytes", std::to_string(*limit.held_from)},
         {"processes", std::to_string(limit.processes)}});
  }
  return rows + comments;
}

MeasuredCollectives measured_by(const CollectiveResults& results) {
  MeasuredCollectives measured;
  std::set<CollectiveOp> between_nodes;
  for (const CollectiveSample& sample : results.samples) {
    if (sample.level == Level::kNetwork) between_nodes.insert(sample.op);
  }
  for (const CollectiveSample& sample : results.samples) {
    if (between_nodes.count(sample.op) && sample.level != Level::kNetwork) continue;
    const std::vector<double> kept = without_outliers(times_of(results, sample));
    measured.times[sample.op].push_back(
        {static_cast<double>(sample.processes),
         static_cast<double>(sample.bytes),
         {median(kept)},
         kept.size() >= 2 ? relative_error_of(interval_of(kept)) : 0});
  }
  for (const SyncLimit& limit : results.limits) {
    if (limit.held_from) measured.held_from[limit.op] = static_cast<double>(*limit.held_from);
  }
  return measured;
}

std::string collectives_table(const CollectiveResults& results) {
  if (results.samples.empty()) return "";
  std::map<CollectiveOp, std::map<int, std::map<size_t, double>>> medians;
  std::map<size_t, bool> lengths;
  for (const CollectiveSample& sample : results.samples) {
    medians[sample.op][sample.processes][sample.bytes] =
        median(without_outliers(times_of(results, sample)));
    if (sample.bytes) lengths[sample.bytes] = true;
  }
  std::string text = fmt::format("{:<15} {:>4}", "collective (us)", "p");
  for (const auto& [bytes, one] : lengths)
    text += fmt::format(" {:>9}", format_bytes(static_cast<double>(bytes)));
  text += "\n";
  for (const auto& [op, by_processes] : medians) {
    for (const auto& [processes, by_length] : by_processes) {
      text += fmt::format("{:<15} {:>4}", name_of(op), processes);
      if (by_length.count(0)) text += fmt::format(" {:>9.2f}", 1e6 * by_length.at(0));
      for (const auto& [bytes, one] : lengths) {
        if (by_length.count(0)) break;
        const auto found = by_length.find(bytes);
        text += found == by_length.end() ? fmt::format(" {:>9}", "")
                                         : fmt::format(" {:>9.2f}", 1e6 * found->second);
      }
      text += "\n";
    }
  }
  for (const SyncLimit& limit : results.limits) {
    if (!limit.held_from) continue;
    text += fmt::format("{}: members hold each other from {} on\n", name_of(limit.op),
                        format_bytes(static_cast<double>(*limit.held_from)));
  }
  return text;
}

}  // namespace rubato
