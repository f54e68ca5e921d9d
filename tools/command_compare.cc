#include <fmt/core.h>

#include <map>
#include <memory>
#include <vector>

#include "models/error.h"
#include "tools/commands.h"
#include "tools/compare_report.h"
#include "tools/options.h"
#include "tools/sample_file.h"
#include "tools/text_table.h"
#include "tools/whole_file.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

const CommandHelp kHelp = {
    "rubato compare A.csv B.csv [options]",
    "Says for each operation and size whether two sets of samples differ, by Wilcoxon's rank-sum\n"
    "test over launches, and which one is faster.",
    "Each side needs several launches, ten or more if possible:\n"
    "  rubato calibrate --launches 10 --quick -o a.toml -- mpirun -n 2\n"
    "  rubato calibrate --launches 10 --quick --lengths a.csv -o b.toml -- mpirun -n 2 OPTIONS\n"
    "  rubato compare a.csv b.csv\n"
    "Files of samples may also be strung together (cat), those of older versions too."};

std::vector<Observation> observations_in(const std::string& file, const std::string& column) {
  std::vector<Observation> observations;
  // ReproMPI compares medians. Most messages have none: after mpptest, the minimum of their
  // averages stands for a launch.
  const bool median = column == "seconds_median";
  const SampleFile samples = read_sample_file(file, median ? "seconds_min" : column);
  for (const SampleRow& row : samples.rows) {
    observations.push_back(
        {operation_of(row), row.bytes, row.launch, median ? seconds_of_launch(row) : row.seconds});
  }
  return observations;
}

}  // namespace

int command_compare(const Arguments& arguments) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("time", po::value<std::string>()->value_name("NAME")->default_value("median"),
      "which time of a sample: min, avg or max of its loops; median: of collectives and of waits "
      "after computing, else min");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write all results as JSON; '-': to standard output instead of the tables");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write a row per operation and size; '-' as above");
  add("html", po::value<std::string>()->value_name("FILE"),
      "write a page with charts; one file that needs no network");
  add("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kHelp, options, "file", false, values)) return 0;
  const auto files = values.count("file") ? values["file"].as<std::vector<std::string>>()
                                          : std::vector<std::string>{};
  if (files.size() != 2) {
    throw UsageError(fmt::format("two files of samples, please; usage: {}", kHelp.usage));
  }
  const std::string time = values["time"].as<std::string>();
  if (time != "min" && time != "avg" && time != "max" && time != "median") {
    throw UsageError(fmt::format("--time: '{}' is none of min, avg, max, median", time));
  }

  using Writer = std::string (*)(const ComparedFiles&);
  std::map<std::string, Writer> writers;  // by the name of the file
  for (const auto& [option, writer] : {std::pair<const char*, Writer>{"json", comparison_json},
                                       {"csv", comparison_csv},
                                       {"html", comparison_html}}) {
    if (!values.count(option)) continue;
    if (!writers.emplace(values[option].as<std::string>(), writer).second) {
      throw UsageError("two reports cannot be written to one file");
    }
  }
  std::vector<std::pair<std::unique_ptr<WholeFile>, Writer>> outputs;
  for (const auto& [name, writer] : writers) {
    if (name == "-") continue;
    for (const std::string& file : files) keep_input(file, name);
    outputs.emplace_back(std::make_unique<WholeFile>(name), writer);
  }

  ComparedFiles compared{files[0], files[1], "seconds_" + time, {}};
  const std::vector<Observation> a = observations_in(files[0], compared.column);
  const std::vector<Observation> b = observations_in(files[1], compared.column);
  compared.comparison = compare(a, b);
  if (compared.comparison.cells.empty()) {
    throw InputError(
        fmt::format("{} and {} have no level, pattern and size in common", files[0], files[1]));
  }
  for (const auto& [file, writer] : outputs) {
    file->write(writer(compared));
    file->commit();
  }
  const auto standard = writers.find("-");
  print_to_stdout(standard == writers.end() ? comparison_text(compared, page_width())
                                            : standard->second(compared));
  return 0;
}

}  // namespace rubato
