#include "tools/calibration/sample_fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "models/base/error.h"
#include "models/fit/message_pattern.h"
#include "models/statistics/statistics.h"

namespace rubato {
namespace {

Level level_named(const std::string& text, const std::string& file) {
  const std::vector<std::string> names(kLevelNames.begin(), kLevelNames.end());
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    throw InputError(file + ": there is no level '" + text + "'" + did_you_mean(text, names));
  }
  return static_cast<Level>(found - names.begin());
}

/// The median of `part` over the rows; 0 if one of them lacks it.
template <typename Part>
double median_of(const std::vector<SampleRow>& rows, Part part) {
  std::vector<double> values;
  for (const SampleRow& row : rows) values.push_back(part(row));
  if (std::any_of(values.begin(), values.end(), [](double value) { return !(value > 0); }))
    return 0;
  return median(values);
}

/// Makes the median represent a row. Errors: InputError if it has none.
void count_median(SampleRow& row, const std::string& name) {
  if (!(row.median > 0)) {
    throw InputError(fmt::format(
        "{}: {} of {} bytes has no seconds_median; fit samples of older versions with --time min",
        name, operation_of(row), row.bytes));
  }
  row.seconds = row.median;
  std::copy_n(row.median_half, 2, row.half);
}

/// Combines all launches of one message length.
TimedLength put_together(const std::vector<SampleRow>& rows) {
  const std::vector<SampleRow> launches = one_per_launch(rows);
  const SampleRow& first = launches.front();
  TimedLength length{first.bytes, first.messages, first.seconds, {first.half[0], first.half[1]}, 1};
  if (launches.size() == 1) return length;
  std::vector<double> all;
  std::vector<double> halves[2];
  for (size_t i = 0; i < launches.size(); ++i) {
    all.push_back(launches[i].seconds);
    halves[i % 2].push_back(launches[i].seconds);
  }
  length.seconds = median(all);
  length.launches = static_cast<int>(launches.size());
  for (int i = 0; i < 2; ++i) length.half[i] = median(halves[i]);
  // The standard error of the median of n normally distributed values is sqrt(pi / 2) times that of
  // their mean; the median of two values is their mean.
  length.launch_error = launches.size() == 2
                            ? error_of_halves(length)
                            : std::sqrt(M_PI_2) * standard_error(all) / length.seconds;
  return length;
}

/// The times of messages, the median over launches, by what `key_of` says of a row (none: it is
/// left out) and by bytes.
template <typename Key, typename KeyOf>
std::map<Key, std::map<double, double>> times_by(const SampleFile& samples, const std::string& name,
                                                 OfLoops of_loops, const KeyOf& key_of) {
  std::map<Key, std::map<double, std::vector<SampleRow>>> cells;
  for (const SampleRow& row : samples.rows) {
    if (row.processes) continue;  // a collective
    const std::optional<Key> key = key_of(row);
    if (!key) continue;
    SampleRow& kept = cells[*key][row.bytes].emplace_back(row);
    if (of_loops == OfLoops::kMedian) count_median(kept, name);
  }
  std::map<Key, std::map<double, double>> times;
  for (const auto& [key, lengths] : cells) {
    for (const auto& [bytes, launches] : lengths)
      times[key][bytes] = put_together(launches).seconds;
  }
  return times;
}

}  // namespace

std::vector<SampleRow> one_per_launch(const std::vector<SampleRow>& rows) {
  std::map<int, std::vector<SampleRow>> by_launch;
  for (const SampleRow& row : rows) by_launch[row.launch].push_back(row);
  std::vector<SampleRow> launches;
  for (const auto& [launch, same] : by_launch) {
    SampleRow& one = launches.emplace_back(same.front());
    if (same.size() == 1) continue;
    one.seconds = median_of(same, [](const SampleRow& row) { return row.seconds; });
    one.median = median_of(same, [](const SampleRow& row) { return row.median; });
    for (int i = 0; i < 2; ++i) {
      one.half[i] = median_of(same, [i](const SampleRow& row) { return row.half[i]; });
      one.median_half[i] =
          median_of(same, [i](const SampleRow& row) { return row.median_half[i]; });
    }
    for (const SampleRow& row : same) one.interval = std::max(one.interval, row.interval);
  }
  return launches;
}

OfLoops counted_of_loops(const SampleFile& samples) {
  const auto time = samples.measured.find("time");
  const bool median = time != samples.measured.end() && time->second == name_of(OfLoops::kMedian);
  return median ? OfLoops::kMedian : OfLoops::kLeast;
}

std::map<Level, LevelSamples> sampled_levels(const SampleFile& samples, const std::string& name,
                                             OfLoops of_loops) {
  std::map<Level, LevelSamples> levels;
  // A send that returned early is proof of the eager protocol, but one that waited may have been
  // descheduled. So both limits are taken from the launch with the largest eager length.
  std::map<std::pair<Level, int>, ProtocolProbe> probes;
  for (const SampleRow& row : samples.probes) {
    if (row.pattern != "eager" && row.pattern != "waiting") continue;
    ProtocolProbe& probe = probes[{level_named(row.level, name), row.launch}];
    if (row.bytes != std::floor(row.bytes)) {
      throw InputError(
          fmt::format("{}: {} of {} bytes: expected an integer", name, row.pattern, row.bytes));
    }
    if (row.pattern == "eager") probe.eager = row.bytes;
    if (row.pattern == "waiting") probe.waiting = row.bytes;
    if (probe.eager && probe.waiting && *probe.eager >= *probe.waiting) {
      throw InputError(
          fmt::format("{}: contradictory eager limit: a send of {} bytes returned "
                      "early, but one of {} bytes waited",
                      name, *probe.eager, *probe.waiting));
    }
  }
  for (const auto& [key, probe] : probes) {
    ProtocolProbe& best = levels[key.first].probe;
    const bool first = !best.eager && !best.waiting;
    if (first || probe.eager.value_or(-1) > best.eager.value_or(-1)) best = probe;
  }
  std::map<std::pair<Level, std::string>, std::map<double, std::vector<SampleRow>>> series;
  for (const SampleRow& row : samples.rows) {
    if (row.processes) continue;  // a collective
    const Level level = level_named(row.level, name);
    if (!levels[level].series(row.pattern)) continue;
    SampleRow& kept = series[{level, row.pattern}][row.bytes].emplace_back(row);
    // Files of older versions have no medians of waits.
    if (of_loops == OfLoops::kMedian)
      count_median(kept, name);
    else if (counts_by_median(row.pattern, row.bytes, levels[level].probe.waiting) &&
             row.median > 0)
      kept.seconds = row.median;
  }
  for (const auto& [key, lengths] : series) {
    std::vector<TimedLength>& timings = *levels[key.first].series(key.second);
    for (const auto& [bytes, launches] : lengths) timings.push_back(put_together(launches));
  }
  return levels;
}

std::map<Level, std::vector<LoadedTime>> loaded_times(const SampleFile& samples,
                                                      const std::string& name, OfLoops of_loops) {
  using Key = std::pair<Level, int>;
  const auto live = [&](const SampleRow& row) {
    const auto pairs = pairs_at_once(row.pattern);
    return pairs ? std::optional(Key(level_named(row.level, name), *pairs)) : std::nullopt;
  };
  std::map<Level, std::vector<LoadedTime>> times;
  for (const auto& [key, lengths] : times_by<Key>(samples, name, of_loops, live)) {
    for (const auto& [bytes, seconds] : lengths)
      times[key.first].push_back({key.second, bytes, seconds});
  }
  return times;
}

ShiftTimes shift_times(const SampleFile& samples, const std::string& name, OfLoops of_loops) {
  return times_by<Shift>(samples, name, of_loops,
                         [](const SampleRow& row) { return shift_named(row.pattern); });
}

LevelTimes pattern_times(const SampleFile& samples, const std::string& name,
                         const std::string& pattern, OfLoops of_loops) {
  return times_by<Level>(samples, name, of_loops, [&](const SampleRow& row) {
    return row.pattern == pattern ? std::optional(level_named(row.level, name)) : std::nullopt;
  });
}

std::optional<int> cores_of_nodes(const Provenance& measured) {
  const auto cores = measured.find("cores");
  const int count = cores == measured.end() ? 0 : std::atoi(cores->second.c_str());
  return count > 0 ? std::optional(count) : std::nullopt;
}

double lost_of_messages(const SampleFile& samples) {
  std::vector<double> lost;
  for (const SampleRow& row : samples.rows) {
    if (row.pattern == "pingpong" && row.level != kLevelNames[0] && row.average > 0)
      lost.push_back(std::max(0.0, 1 - row.seconds / row.average));
  }
  return lost.empty() ? 0 : median(lost);
}

size_t rows_of_no_use(const SampleFile& samples) {
  LevelSamples any;
  std::set<std::string> checked;
  for (const MessagePattern& pattern : checked_patterns()) checked.insert(pattern.name());
  return static_cast<size_t>(
      std::count_if(samples.rows.begin(), samples.rows.end(), [&](const SampleRow& row) {
        return row.processes == 0 && !any.series(row.pattern) && !pairs_at_once(row.pattern) &&
               !shift_named(row.pattern) && !checked.count(row.pattern);
      }));
}

}  // namespace rubato
