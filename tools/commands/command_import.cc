#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "models/base/error.h"
#include "models/platform/platform_file.h"
#include "tools/calibration/foreign_samples.h"
#include "tools/calibration/platform_fit.h"
#include "tools/cli/commands.h"
#include "tools/cli/terminal_text.h"
#include "tools/files/whole_file.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"

namespace po = boost::program_options;
namespace fs = std::filesystem;

namespace rubato {
namespace {

using Words = std::vector<std::string>;

const CommandHelp kImportHelp = {
    "rubato import FILE... -o FILE [options]",
    "Builds a platform file from the output of the OSU micro-benchmarks, the Intel MPI "
    "Benchmarks\n"
    "and NetPIPE. Files without a level are taken as measured between nodes. Several files of "
    "one\n"
    "benchmark count as several launches.",
    "  rubato import osu_latency.txt osu_bw.txt -o cluster.toml\n"
    "  rubato import --level node=shm.txt --level network=ib.txt -o cluster.toml\n"
    "These benchmarks do not measure the eager limit: unless you add a 'protocol' to the file, "
    "all\n"
    "messages are eager (share/doc/platform-files.md)."};

/// A file and the level on which it was measured.
struct Input {
  std::string level;
  std::string file;
};

std::vector<Input> inputs_of(const po::variables_map& values) {
  std::vector<Input> inputs;
  if (values.count("samples")) {
    for (const std::string& file : values["samples"].as<Words>())
      inputs.push_back({"network", file});
  }
  if (values.count("level")) {
    for (const std::string& word : values["level"].as<Words>()) {
      const size_t equals = word.find('=');
      const Input input{word.substr(0, equals),
                        equals == std::string::npos ? "" : word.substr(equals + 1)};
      const Words names(kLevelNames.begin(), kLevelNames.end());
      if (input.file.empty() || std::find(names.begin(), names.end(), input.level) == names.end()) {
        throw UsageError(fmt::format("--level: expected LEVEL=FILE with a level of {1}, not '{0}'",
                                     word, quoted_list(names)));
      }
      inputs.push_back(input);
    }
  }
  return inputs;
}

/// The samples in the format that `rubato fit` reads.
std::string csv_of(const SampleFile& samples) {
  std::string text;
  for (const auto& [key, value] : samples.measured)
    text += fmt::format("# {}: {}\n", key, one_line(value));
  text += "level,pattern,bytes,messages,seconds_min,launch,processes\n";
  for (const SampleRow& row : samples.rows) {
    text += fmt::format("{},{},{:.15g},{},{:.9g},{},{}\n", row.level, row.pattern, row.bytes,
                        row.messages, row.seconds, row.launch,
                        row.processes ? fmt::format("{}", row.processes) : "");
  }
  return text;
}

}  // namespace

int command_import(const Arguments& arguments) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", po::value<std::string>()->value_name("FILE"), "the platform file to write");
  add("level", po::value<Words>()->value_name("LEVEL=FILE"),
      "FILE was measured on this level: self, socket, node or network; may be repeated");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "also write the samples, for 'rubato fit' and 'rubato compare'");
  add("window", po::value<int>()->value_name("N")->default_value(64),
      "window size of osu_bw (its option -W)");
  add("name", po::value<std::string>()->value_name("NAME"),
      "name of the machine in reports (default: the name of FILE)");
  add("force", "replace existing files");
  add("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kImportHelp, options, "samples", false, values)) return 0;
  const std::vector<Input> inputs = inputs_of(values);
  if (inputs.empty() || !values.count("output")) {
    throw UsageError(
        fmt::format("expected files of samples and -o FILE; usage: {}", kImportHelp.usage));
  }
  const int window = values["window"].as<int>();
  if (window < 2) throw UsageError("--window: expected an integer above 1");
  const std::string output = values["output"].as<std::string>();
  const std::string csv = values.count("csv") ? values["csv"].as<std::string>() : "";
  if (output == "-") throw UsageError("-o: expected a file name, not '-'");
  keep_apart(output, csv);
  if (!values.count("force")) refuse_existing({output, csv});
  for (const std::string& file : {output, csv}) {
    for (const Input& input : inputs) keep_input(input.file, file);
  }

  SampleFile samples;
  std::map<std::string, std::vector<SampleRow>> of_level;
  std::set<std::string> benchmarks;
  std::map<std::pair<std::string, std::string>, int> launches;  // by level and pattern
  for (const Input& input : inputs) {
    ForeignSamples read = read_foreign_samples(input.file, window);
    benchmarks.insert(read.benchmark);
    std::set<std::string> patterns;
    for (const SampleRow& row : read.rows) patterns.insert(row.pattern);
    for (const std::string& pattern : patterns) ++launches[{input.level, pattern}];
    for (SampleRow& row : read.rows) {
      row.level = input.level;
      row.launch = launches[{input.level, row.pattern}];
      of_level[input.level].push_back(row);
    }
  }
  for (auto& [level, rows] : of_level) {
    for (const SampleRow& row : as_calibrated(std::move(rows))) samples.rows.push_back(row);
  }

  samples.measured["benchmark"] = fmt::format("{}", fmt::join(benchmarks, ", "));
  Words files;
  for (const Input& input : inputs) files.push_back(fs::path(input.file).filename().string());
  const std::string name =
      values.count("name") ? values["name"].as<std::string>() : fs::path(output).stem().string();
  FittedPlatform fitted = fit_platform(samples, inputs[0].file, name, page_width());
  fitted.platform.measured["samples"] = fmt::format("{}", fmt::join(files, ", "));
  if (!csv.empty()) {
    WholeFile file(csv);
    file.write(csv_of(samples));
    file.commit();
  }
  WholeFile file(output);
  file.write(format_platform(fitted.platform, fitted.comments, kMeasuredDigits));
  file.commit();
  print_to_stdout(fmt::format("{}Ranges hold with 95 % confidence. {}: platform file\n",
                              fitted.report, output));
  return 0;
}

}  // namespace rubato
