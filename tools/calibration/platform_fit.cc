#include "tools/calibration/platform_fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "models/base/error.h"
#include "models/base/units.h"
#include "models/fit/collective_fit.h"
#include "models/fit/curve_ranges.h"
#include "models/fit/grade.h"
#include "models/fit/load_fit.h"
#include "models/fit/network_fit.h"
#include "tools/calibration/pattern_check.h"
#include "tools/calibration/sample_fit.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

/// The bandwidth of a line that grows by `per_byte` seconds per byte.
std::string show_slope(double per_byte) {
  return per_byte > 0 ? show_rate(1 / per_byte) : "inf";
}

/// A table of the segments of a level with their confidence intervals.
std::string level_table(const std::string& name, const SegmentedFit& fit, int page_width) {
  Table table;
  for (size_t k = 0; k < fit.segments.size(); ++k) {
    const Segment& segment = fit.segments[k];
    const SegmentIntervals& intervals = fit.intervals[k];
    const bool known = std::isfinite(intervals.per_byte.high);
    const Interval latency{std::max(0.0, intervals.intercept.low), intervals.intercept.high};
    const Interval slopes{intervals.per_byte.high, intervals.per_byte.low};
    table.add({{name + " from", segment.from, As::kBytes},
               {"from between", k == 0 ? "" : brief_range(intervals.from, show_bytes)},
               {"latency", segment.intercept, As::kSeconds},
               {"95 %", latency.high < 0 ? "" : brief_range(latency, show_seconds)},
               {"bandwidth", segment.per_byte > 0 ? Json(1 / segment.per_byte) : "inf", As::kRate},
               {"95 %", known ? brief_range(slopes, show_slope) : ""}});
  }
  return table.text(page_width);
}

/// The fit error of a level's curve, its protocols, and warnings about its samples.
std::string remarks(const std::vector<TimedLength>& timings, const LevelFit& fit,
                    const std::vector<ProtocolSegment>& protocols) {
  std::string text = fmt::format(
      "{} lengths, {} segments, fit error {:.1f} % rms, {:.1f} % at worst", timings.size(),
      fit.transfer->segments.size(), 100 * fit.transfer->rms_error, 100 * fit.transfer->max_error);
  for (const ProtocolSegment& protocol : protocols) {
    text += fmt::format("{} {} from {}", &protocol == &protocols.front() ? "; sends are" : ",",
                        kProtocolNames[static_cast<int>(protocol.protocol)],
                        format_bytes(protocol.from));
  }
  const bool one_launch = timings.front().launches == 1;
  if (one_launch && fit.repeatable_within > kRepeatable) {
    text += fmt::format(
        "\n"
        "The two halves of the run differ by {:.1f} %: the machine was busy, or ranks share a "
        "core; calibrate again on an idle machine.",
        100 * fit.repeatable_within);
  }
  const std::string uncertain = uncertain_curve(*fit.transfer);
  return text + (uncertain.empty() ? "" : "\n" + uncertain);
}

/// True if there are samples of messages between ranks, all free of noise: a simulator.
bool were_exact(const std::map<Level, LevelSamples>& levels) {
  bool any = false;
  for (const auto& [level, samples] : levels) {
    if (level == Level::kSelf || samples.transfer.empty()) continue;
    if (!are_exact(samples.transfer)) return false;
    any = true;
  }
  return any;
}

/// Lines on noise and on the degradation by concurrent messages.
std::string disturbances(const Provenance& measured) {
  std::string text;
  for (const auto& [key, value] : measured) {
    if (key == "noise") text += fmt::format("noise: {}\n", value);
    if (key.ends_with("_degradation"))
      text += fmt::format("degradation ratio of the {} level: {}\n", key.substr(0, key.find('_')),
                          value);
  }
  return text;
}

}  // namespace

std::string uncertain_curve(const SegmentedFit& fit) {
  constexpr double kHalf = 0.5;
  const Segment* worst = nullptr;  // (Comparisons with NaN are false.)
  for (const Segment& segment : fit.segments) {
    if (segment.uncertainty >= (worst ? worst->uncertainty : kHalf)) worst = &segment;
  }
  if (!worst) return "";
  return fmt::format(
      "Its times from {} on have an uncertainty of {:.0f} %, too much to be useful: the samples "
      "vary between launches, or were disturbed; calibrate again on an idle machine.",
      format_bytes(worst->from), 100 * worst->uncertainty);
}

FittedPlatform fit_platform(const SampleFile& samples, const std::string& file,
                            const std::string& name, int page_width, OfLoops of_loops,
                            int max_segments) {
  FittedPlatform fitted;
  Platform& platform = fitted.platform;
  platform.name = name;
  platform.measured = samples.measured;
  platform.measured["samples"] = std::filesystem::path(file).filename().string();
  choose_preset(platform);
  std::string& report = fitted.report;
  std::string left_out;
  const std::map<Level, LevelSamples> levels = sampled_levels(samples, file, of_loops);
  const bool exact = were_exact(levels);
  if (exact && max_segments == kSegmentsOfLevel) max_segments = kMostSegments;
  for (const Level level : {Level::kSocket, Level::kNode, Level::kNetwork, Level::kSelf}) {
    if (!levels.count(level)) continue;
    const LevelSamples& of_level = levels.at(level);
    const LevelFit fit = fit_level(of_level, max_segments);
    if (!fit.transfer) {
      left_out += fmt::format(
          "{}: left out because it has {} message lengths; a curve needs "
          "three\n",
          kLevelNames[static_cast<int>(level)], of_level.transfer.size());
      continue;
    }
    add_level(platform, level, fit, of_level.probe);
    fitted.comments.levels[static_cast<size_t>(level)] = curve_ranges(fit);
    fitted.comments.memory += copy_ranges(fit);
    fitted.levels.push_back({level, of_level, fit});
    const std::string name_of_level = kLevelNames[static_cast<int>(level)];
    const std::string remark = remarks(of_level.transfer, fit, platform.level(level)->protocols);
    report += level_table(name_of_level, *fit.transfer, page_width) + remark + "\n\n";
    fitted.remarks += fmt::format("{}: {}\n", name_of_level, remark);
  }
  report += left_out.empty() || report.empty() ? "" : left_out + "\n";
  fitted.remarks += left_out;
  if (const size_t unused = rows_of_no_use(samples); unused > 0 && !report.empty())
    report += fmt::format("{} rows of patterns without a curve were not used\n", unused);
  if (report.empty()) {
    throw InputError(fmt::format(
        "{}: no level has three lengths or more of the patterns pingpong or sendrecv", file));
  }
  fitted.comments.contention = note_load(platform.measured, loaded_times(samples, file, of_loops),
                                         platform.level(Level::kSocket).has_value());
  if (const double lost = lost_of_messages(samples); lost > 0) {
    platform.measured["messages_lost"] =
        fmt::format("{:.1f}% of the time of ping-pongs, the best loops aside", 100 * lost);
  }
  const std::string disturbed = disturbances(platform.measured);
  report += disturbed.empty() ? "" : disturbed + "\n";
  fitted.remarks += disturbed;
  const MeasuredCollectives measured = sampled_collectives(samples);
  const std::map<CollectiveOp, CollectiveFit> collectives = fit_collectives(measured);
  add_collectives(platform, collectives, measured);
  // Links come last: their latency is subtracted from that of the level, by which collectives are
  // priced.
  if (auto& network = platform.levels[static_cast<size_t>(Level::kNetwork)]) {
    ShiftTimes shifts = shift_times(samples, file, of_loops);
    const std::optional<int> cores = cores_of_nodes(platform.measured);
    const size_t without = std::erase_if(shifts, [&](const auto& shift) {
      return cores && shift.first.ranks > std::max(1, *cores);
    });
    if (without > 0) {
      const std::string text = fmt::format(
          "How the ranks of a node share its adapter is not known: the nodes had {} cores, fewer "
          "than "
          "ranks.\n",
          *cores);
      report += text;
      fitted.remarks += text;
    }
    const auto seconds = [&level = *network](double bytes) {
      return level.send_overhead(bytes) + level.transfer(bytes) + level.receive_overhead(bytes);
    };
    const double longest = levels.at(Level::kNetwork).transfer.back().bytes;
    const double growth = seconds(longest) - seconds(longest / 2);
    const double one_way = growth > 0 ? longest / 2 / growth : 0;
    // Without two halves nothing is known of the noise.
    const std::vector<TimedLength>& timings = levels.at(Level::kNetwork).transfer;
    const bool has_halves = std::ranges::any_of(timings, [](const TimedLength& timing) {
      return timing.half[0] > 0 && timing.half[1] > 0;
    });
    const double noise = has_halves ? repeatability(timings) : 1;
    if (auto links = fit_shared_links(shifts, one_way, exact, noise,
                                      levels.at(Level::kNetwork).probe.eager)) {
      tell_distances(*network, *links);
      // A file has either links or a degradation; links are more detailed.
      fitted.comments.contention = network_table(*links);
      if (links->kind == SharedLinks::Kind::kNotExplained) {
        platform.measured["network_not_explained"] =
            fmt::format("{:.0f} % ({})", 100 * links->worst, links->worst_shift);
      }
      report += describe(*links) + "\n\n";
      fitted.remarks += describe(*links) + "\n";
    }
  }
  const Platform whole = parse_platform(format_platform(platform, fitted.comments), name);
  const std::vector<CheckedPattern> checked = check_patterns(whole, samples, file, of_loops);
  add_grade(platform, model_error(checked, exact));
  const std::string check = describe(checked);
  report += check.empty() ? "" : check + "\n";
  fitted.remarks += check;
  if (!platform.grade.empty())
    fitted.remarks += fmt::format("This calibration: {}\n", platform.grade);
  fitted.calls = fit_calls(samples, collectives, of_loops);
  const auto library = samples.measured.find("mpi");
  report += formula_report(fitted.calls, library == samples.measured.end() ? "" : library->second,
                           page_width);
  return fitted;
}

}  // namespace rubato
