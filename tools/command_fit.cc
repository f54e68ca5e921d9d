#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>

#include "models/error.h"
#include "models/level_fit.h"
#include "models/platform_file.h"
#include "models/units.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/sample_fit.h"
#include "tools/text_table.h"
#include "tools/whole_file.h"

namespace po = boost::program_options;
namespace fs = std::filesystem;

namespace rubato {
namespace {

const CommandHelp kHelp = {
    "rubato fit SAMPLES.csv -o FILE [options]",
    "Makes a platform file of the samples that 'rubato calibrate' wrote, as that did: on another\n"
    "machine, by another version, or of several launches strung together.",
    ""};

/// Three significant digits are what a table needs.
double brief(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double digits = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
  return std::round(value / digits) * digits;
}

std::string bandwidth(double per_byte) {
  return per_byte > 0 ? format_bandwidth(brief(1 / per_byte)) : "inf";
}

template <typename Show>
std::string range(const Interval& interval, Show show) {
  return fmt::format("{} to {}", show(interval.low), show(interval.high));
}

/// The segments of a level with their intervals.
std::string level_table(const std::string& name, const SegmentedFit& fit, int page_width) {
  const auto seconds = [](double value) { return format_seconds(brief(value)); };
  const auto bytes = [](double value) { return format_bytes(std::round(value)); };
  TextTable table({name, "from between", "latency", "", "bandwidth", ""});
  for (size_t k = 0; k < fit.segments.size(); ++k) {
    const Segment& segment = fit.segments[k];
    const SegmentIntervals& intervals = fit.intervals[k];
    // The interval of a bandwidth runs the other way than that of its slope.
    const Interval slope = {intervals.per_byte.high, intervals.per_byte.low};
    const bool known = std::isfinite(slope.low);
    table.add_row({bytes(segment.from), k == 0 ? "" : range(intervals.from, bytes),
                   seconds(segment.intercept), range(intervals.intercept, seconds),
                   bandwidth(segment.per_byte), known ? range(slope, bandwidth) : ""});
  }
  return table.format(page_width);
}

}  // namespace

int command_fit(const Arguments& arguments) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", po::value<std::string>()->value_name("FILE"), "the platform file to write");
  add("continuous", "no steps between the segments of a curve, only kinks");
  add("name", po::value<std::string>()->value_name("NAME"),
      "what reports call the machine (default: the name of FILE)");
  add("force", "replace an existing file");
  add("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kHelp, options, "samples", false, values)) return 0;
  const auto files = values.count("samples") ? values["samples"].as<std::vector<std::string>>()
                                             : std::vector<std::string>{};
  if (files.size() != 1 || !values.count("output")) {
    throw UsageError(
        fmt::format("one file of samples and -o FILE, please; usage: {}", kHelp.usage));
  }
  const std::string output = values["output"].as<std::string>();
  if (!values.count("force") && fs::is_regular_file(output)) {
    throw InputError(
        fmt::format("{} exists; choose another name, or --force to replace it", output));
  }
  if (output == "-") throw UsageError("-o: a platform file needs a name");
  keep_input(files[0], output);
  const SampleFile samples = read_sample_file(files[0], "seconds_min");

  Platform platform;
  platform.name =
      values.count("name") ? values["name"].as<std::string>() : fs::path(output).stem().string();
  platform.measured = samples.measured;
  platform.measured["samples"] = fs::path(files[0]).filename().string();
  platform.measured["fitted"] = fmt::format("rubato fit {}", fmt::join(arguments, " "));
  choose_preset(platform);
  const Joints joints = values.count("continuous") ? Joints::kContinuous : Joints::kFree;
  std::string report, left_out;
  const std::map<Level, LevelSamples> levels = sampled_levels(samples, files[0]);
  for (const Level level : {Level::kNode, Level::kNetwork, Level::kSelf}) {
    if (!levels.count(level)) continue;
    const LevelSamples& of_level = levels.at(level);
    const LevelFit fit = fit_level(of_level, joints);
    if (!fit.transfer) {
      left_out += fmt::format("{}: left out, it has {} of the three lengths that a curve needs\n",
                              kLevelNames[static_cast<int>(level)], of_level.transfer.size());
      continue;
    }
    add_level(platform, level, fit, of_level.probe);
    report += fmt::format(
        "{}{} lengths, fit error {:.1f} % rms, {:.1f} % at worst\n\n",
        level_table(kLevelNames[static_cast<int>(level)], *fit.transfer, page_width()),
        of_level.transfer.size(), 100 * fit.transfer->rms_error, 100 * fit.transfer->max_error);
  }
  report += left_out.empty() || report.empty() ? "" : left_out + "\n";
  if (report.empty()) {
    throw InputError(fmt::format(
        "{}: no level has three lengths or more of the patterns pingpong or sendrecv", files[0]));
  }
  WholeFile file(output);
  file.write(format_platform(platform));
  file.commit();
  print_to_stdout(
      fmt::format("{}Ranges hold with 95 % confidence. {}: platform file\n", report, output));
  return 0;
}

}  // namespace rubato
