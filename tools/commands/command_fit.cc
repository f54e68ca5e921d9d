#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "models/base/error.h"
#include "models/base/shell_quoted.h"
#include "models/platform/platform_file.h"
#include "tools/calibration/calibration_report.h"
#include "tools/calibration/launch_table.h"
#include "tools/calibration/platform_fit.h"
#include "tools/cli/commands.h"
#include "tools/cli/replay_notices.h"
#include "tools/files/whole_file.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"
#include "tools/report/platform_picture.h"

namespace po = boost::program_options;
namespace fs = std::filesystem;

namespace rubato {
namespace {

const CommandHelp kFitHelp = {
    "rubato fit SAMPLES.csv -o FILE [--html FILE] [--all] [options]",
    "Fits the samples of 'rubato calibrate' again and writes a platform file: on another machine,\n"
    "by another version, or for several launches in one file (the median over launches counts).",
    "  rubato fit cluster.csv -o cluster.toml\n"
    "  rubato fit cluster.csv --html curves.html"};

}  // namespace

int command_fit(const Arguments& arguments) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", po::value<std::string>()->value_name("FILE"), "the platform file to write");
  add("time", po::value<std::string>()->value_name("NAME"),
      "statistic of the loops of a launch: min (undisturbed) or median (usual); default: as "
      "calibrated");
  add("segments", po::value<int>()->value_name("N")->default_value(kSegmentsOfLevel),
      "most segments of a curve, 1 to 20");
  add("digits", po::value<int>()->value_name("N")->default_value(kMeasuredDigits),
      "significant digits of times and bandwidths in FILE, 2 to 15");
  add("name", po::value<std::string>()->value_name("NAME"),
      "name of the machine in reports (default: the name of FILE)");
  add("all",
      "print times and formulas of all patterns and operations with their ranges, not the curves");
  add("html", po::value<std::string>()->value_name("FILE"),
      "write a page with every curve and formula, its samples and residuals");
  add("force", "replace an existing file");
  add("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kFitHelp, options, "samples", false, values)) return 0;
  const auto files = values.count("samples") ? values["samples"].as<std::vector<std::string>>()
                                             : std::vector<std::string>{};
  const bool page = values.count("html") > 0, all = values.count("all") > 0;
  if (files.size() != 1 || (!values.count("output") && !page && !all)) {
    throw UsageError(fmt::format(
        "expected one sample file and -o FILE, --html FILE or --all; usage: {}", kFitHelp.usage));
  }
  // Without -o the page describes the platform file beside the samples.
  const std::string output = values.count("output") ? values["output"].as<std::string>() : "";
  if (!values.count("force")) refuse_existing({output});
  if (output == "-") throw UsageError("-o: expected a file name, not '-'");
  if (!output.empty()) keep_input(files[0], output);
  std::unique_ptr<WholeFile> html;
  if (page) {
    keep_input(files[0], values["html"].as<std::string>());
    keep_apart(output, values["html"].as<std::string>());
    html = std::make_unique<WholeFile>(values["html"].as<std::string>());
  }
  const int segments = number_in(values, "segments", 1, kMostSegments);
  const int digits = number_in(values, "digits", kLeastDigits, kMostDigits);
  const SampleFile samples = read_sample_file(files[0], "seconds_min");

  const OfLoops of_loops = values.count("time") ? of_loops_named(values["time"].as<std::string>())
                                                : counted_of_loops(samples);
  const std::string name = values.count("name")
                               ? values["name"].as<std::string>()
                               : fs::path(output.empty() ? files[0] : output).stem().string();
  FittedPlatform fitted = fit_platform(samples, files[0], name, page_width(), of_loops, segments);
  fitted.platform.measured["time"] = name_of(of_loops);
  fitted.platform.measured["fitted"] = fmt::format("rubato fit {}", fmt::join(arguments, " "));
  const std::string text = format_platform(fitted.platform, fitted.comments, digits);
  std::string written;
  if (!output.empty()) {
    WholeFile file(output);
    file.write(text);
    file.commit();
    const std::vector<std::string> falls = platform_warnings(text, output);
    if (!falls.empty()) written += falls_line(output, falls.size()) + "\n";
    written += fmt::format("{}: platform file; {}: samples\n", output, files[0]);
  }
  if (page) {
    html->write(calibration_html(fitted));
    html->commit();
    written += fmt::format("{}: page\n", values["html"].as<std::string>());
  }
  if (all) {
    print_to_stdout(fmt::format("{}{}Ranges hold with 95 % confidence.\n{}",
                                sample_table(samples.rows, of_loops, page_width()), fitted.report,
                                written));
  } else {
    print_to_stdout(fmt::format("{}\n{}{}All tables: {}\n",
                                curves_of(fitted.platform, page_width()), fitted.remarks, written,
                                fmt::format("rubato fit {} --all", shell_quoted(files[0]))));
  }
  return 0;
}

}  // namespace rubato
