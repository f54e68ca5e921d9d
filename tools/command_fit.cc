#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "models/cost/platform_file.h"
#include "models/error.h"
#include "tools/calibration_report.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/platform_fit.h"
#include "tools/text_table.h"
#include "tools/whole_file.h"

namespace po = boost::program_options;
namespace fs = std::filesystem;

namespace rubato {
namespace {

const CommandHelp kHelp = {
    "rubato fit SAMPLES.csv -o FILE [--html FILE] [options]",
    "Makes a platform file of the samples that 'rubato calibrate' wrote, as that did: on another\n"
    "machine, by another version, or of several launches strung together.",
    ""};

}  // namespace

int command_fit(const Arguments& arguments) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", po::value<std::string>()->value_name("FILE"), "the platform file to write");
  add("continuous", "no steps between the segments of a curve, only kinks");
  add("least",
      "of several launches the least time of each message counts, not the median: what\n"
      "the machine can do where something else slows some of the launches down (not where\n"
      "two virtual processors share a core now and then, which makes messages quicker)");
  add("time", po::value<std::string>()->value_name("NAME"),
      "what counts of the loops of a launch: min, which nothing disturbed, or median, what\n"
      "a message took most of the time (default: as it was calibrated)");
  add("name", po::value<std::string>()->value_name("NAME"),
      "what reports call the machine (default: the name of FILE)");
  add("html", po::value<std::string>()->value_name("FILE"),
      "write a page with every curve and formula, its samples and residuals");
  add("force", "replace an existing file");
  add("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kHelp, options, "samples", false, values)) return 0;
  const auto files = values.count("samples") ? values["samples"].as<std::vector<std::string>>()
                                             : std::vector<std::string>{};
  const bool page = values.count("html") > 0;
  if (files.size() != 1 || (!values.count("output") && !page)) {
    throw UsageError(fmt::format(
        "one file of samples and -o FILE or --html FILE, please; usage: {}", kHelp.usage));
  }
  // The page alone is about the platform that stands beside the samples.
  const std::string output = values.count("output") ? values["output"].as<std::string>() : "";
  if (!output.empty() && !values.count("force") && fs::is_regular_file(output)) {
    throw InputError(
        fmt::format("{} exists; choose another name, or --force to replace it", output));
  }
  if (output == "-") throw UsageError("-o: a platform file needs a name");
  if (!output.empty()) keep_input(files[0], output);
  const SampleFile samples = read_sample_file(files[0], "seconds_min");

  const OfLoops of_loops = values.count("time") ? of_loops_named(values["time"].as<std::string>())
                                                : counted_of_loops(samples);
  const std::string name = values.count("name")
                               ? values["name"].as<std::string>()
                               : fs::path(output.empty() ? files[0] : output).stem().string();
  const Joints joints = values.count("continuous") ? Joints::kContinuous : Joints::kFree;
  FittedPlatform fitted =
      fit_platform(samples, files[0], name, joints, page_width(),
                   {of_loops, values.count("least") ? OfLaunches::kLeast : OfLaunches::kMedian});
  fitted.platform.measured["time"] = name_of(of_loops);
  fitted.platform.measured["fitted"] = fmt::format("rubato fit {}", fmt::join(arguments, " "));
  std::string written;
  if (page) {
    const std::string html = values["html"].as<std::string>();
    keep_input(files[0], html);
    keep_apart(output, html);
    WholeFile file(html);
    file.write(calibration_html(fitted));
    file.commit();
    written += fmt::format("{}: page\n", html);
  }
  if (!output.empty()) {
    WholeFile file(output);
    const std::string text = format_platform(fitted.platform, fitted.comments);
    file.write(text);
    file.commit();
    for (const std::string& line : platform_warnings(text, output)) written += line + "\n";
    written = fmt::format("{}: platform file\n", output) + written;
  }
  print_to_stdout(fmt::format("{}Ranges hold with 95 % confidence. {}", fitted.report, written));
  return 0;
}

}  // namespace rubato
