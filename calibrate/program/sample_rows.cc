#include "calibrate/program/sample_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "models/statistics/statistics.h"

namespace rubato {
namespace {

/// Five cells without content: of the times, of the other statistics, or of a collective.
constexpr const char* kNone = ",,,,";

struct Row {
  Level level;
  std::string pattern;
  size_t bytes = 0;
  int messages = 1;
  std::string times = kNone;       ///< seconds_min to round_trips
  std::string statistics = kNone;  ///< seconds_min_even to seconds_median_odd
  std::string collective = kNone;  ///< processes to dropped
};

std::string text_of(const Row& row, int launch) {
  return fmt::format("{},{},{},{},{},{},{},{}\n", kLevelNames[static_cast<int>(row.level)],
                     row.pattern, row.bytes, row.messages, row.times, launch, row.statistics,
                     row.collective);
}

/// Both halves of the loops.
std::string halves_of(const Timing& timing, OfLoops of_loops) {
  if (timing.loops < 2) return ",";
  return fmt::format("{},{}", timing.half(of_loops, 0), timing.half(of_loops, 1));
}

/// The least of every second value, from the first or the second one on.
double least_of_half(const std::vector<double>& values, size_t first) {
  double least = values[first];
  for (size_t i = first; i < values.size(); i += 2) least = std::min(least, values[i]);
  return least;
}

/// The number of messages to which a time refers.
int messages_of(const std::string& pattern, size_t bytes) {
  if (pattern == "burst") return Pair::burst_length(bytes);
  return pattern == "stream" ? Pair::kStreamLength : 1;
}

Row row_of(const CollectiveSample& sample, const CollectiveResults& results) {
  const std::vector<double>& all =
      results.sync == ProcessSync::kWindow ? sample.timing.global : sample.timing.local;
  const double factor = results.tukey_factor;
  const std::vector<double> kept = without_outliers(all, factor);
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  std::string interval;
  if (kept.size() >= 2) {
    const Interval of_mean = confidence_interval(kept);
    interval = fmt::format("{}", (of_mean.high - of_mean.low) / 2 / mean(kept));
  }
  const std::string halves =
      all.size() < 2 ? "," : fmt::format("{},{}", least_of_half(all, 0), least_of_half(all, 1));
  return {sample.level,
          name_of(sample.op),
          sample.bytes,
          1,
          fmt::format("{},{:.6g},{:.6g},{},1", *least, mean(kept), *most, all.size()),
          fmt::format("{},{},,", halves, median(kept)),
          fmt::format("{},{},{:.6g},{:.6g},{}", sample.processes, interval,
                      median(without_outliers(sample.timing.local, factor)),
                      median(without_outliers(sample.timing.global, factor)), sample.timing.late)};
}

}  // namespace

std::string sample_header() {
  return "level,pattern,bytes,messages,seconds_min,seconds_avg,seconds_max,loops,round_trips,"
         "launch,seconds_min_even,seconds_min_odd,seconds_median,seconds_median_even,"
         "seconds_median_odd,processes,interval,seconds_local,seconds_global,dropped\n";
}

std::string rows_of(const LevelSeries& measured, int launch) {
  std::string text;
  for (const Series& series : measured.series) {
    for (const auto& [bytes, timing] : series.timings) {
      // Times to the last digit, since the fit uses them.
      text += text_of(
          {measured.level, series.pattern, bytes, messages_of(series.pattern, bytes),
           fmt::format("{},{:.6g},{:.6g},{},{}", timing.min, timing.average(), timing.max,
                       timing.loops, timing.round_trips),
           fmt::format("{},{},{}", halves_of(timing, OfLoops::kLeast),
                       timing.seconds(OfLoops::kMedian), halves_of(timing, OfLoops::kMedian))},
          launch);
    }
  }
  const auto add_probe = [&](const char* pattern, const std::optional<double>& bytes) {
    if (bytes) text += text_of({measured.level, pattern, static_cast<size_t>(*bytes)}, launch);
  };
  add_probe("eager", measured.probe.eager);
  add_probe("waiting", measured.probe.waiting);
  return text;
}

std::string rows_of(const CollectiveResults& results, int launch) {
  std::string text;
  for (const CollectiveSample& sample : results.samples)
    text += text_of(row_of(sample, results), launch);
  for (const SyncLimit& limit : results.limits) {
    if (!limit.held_from) continue;
    Row row{limit.level, "held " + name_of(limit.op), *limit.held_from};
    row.collective = std::to_string(limit.processes) + kNone;
    text += text_of(row, launch);
  }
  return text;
}

std::string raw_header() {
  return "launch,level,pattern,processes,bytes,round_trips,seconds,at\n";
}

std::string raw_rows_of(const LevelSeries& measured, int launch, double start) {
  std::string text;
  for (const Series& series : measured.series) {
    for (const auto& [bytes, timing] : series.timings) {
      const std::string what =
          fmt::format("{},{},{},,{}", launch, kLevelNames[static_cast<int>(measured.level)],
                      series.pattern, bytes);
      for (size_t i = 0; i < timing.all.size(); ++i) {
        text += fmt::format("{},{},{:.6g},{:.6f}\n", what, timing.round_trips_of[i], timing.all[i],
                            timing.ended[i] - start);
      }
    }
  }
  return text;
}

std::string raw_rows_of(const CollectiveResults& results, int launch, double start) {
  std::string text;
  for (const CollectiveSample& sample : results.samples) {
    const CollectiveTiming& timing = sample.timing;
    const std::vector<double>& all =
        results.sync == ProcessSync::kWindow ? timing.global : timing.local;
    const std::string what =
        fmt::format("{},{},{},{},{}", launch, kLevelNames[static_cast<int>(sample.level)],
                    name_of(sample.op), sample.processes, sample.bytes);
    for (size_t i = 0; i < all.size(); ++i)
      text += fmt::format("{},1,{:.6g},{:.6f}\n", what, all[i], timing.ended[i] - start);
  }
  return text;
}

std::string comments_of(const Provenance& measured) {
  std::string text;
  for (const auto& [key, value] : measured) {
    std::string line = "# " + key + ": " + value;
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    text += line + "\n";
  }
  return text;
}

}  // namespace rubato
