#include <fmt/core.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "tools/calibration/compare_report.h"
#include "tools/cli/commands.h"
#include "tools/files/report_files.h"
#include "tools/files/sample_file.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

const CommandHelp kCompareHelp = {
    "rubato compare A.csv B.csv [options]",
    "Tests for each operation and size whether two sets of samples differ significantly\n"
    "(Wilcoxon's rank-sum test over launches), and which one is faster.",
    "Each side needs several launches, ten or more if possible: launches = 10 in both\n"
    "plans, and lengths = \"a.csv\" in the second one ('rubato help plan'):\n"
    "  rubato calibrate --quick --plan a-plan.toml -o a.toml -- mpirun -n 2\n"
    "  rubato calibrate --quick --plan b-plan.toml -o b.toml -- mpirun -n 2 OPTIONS\n"
    "  rubato compare a.csv b.csv\n"
    "Sample files may be concatenated (cat), including those of older versions."};

using Cells = std::set<std::pair<std::string, double>>;  // operation and bytes

/// Adds the cells without a median in some launch.
void add_cells_without_median(const SampleFile& samples, Cells& cells) {
  for (const SampleRow& row : samples.rows) {
    if (!(row.median > 0)) cells.emplace(operation_of(row), row.bytes);
  }
}

/// Observations by median, except in the cells `by_least`, which use the minimum on both sides.
std::vector<Observation> observations_of(const SampleFile& samples, bool median,
                                         const Cells& by_least) {
  std::vector<Observation> observations;
  for (const SampleRow& row : samples.rows) {
    const bool least = !median || by_least.count({operation_of(row), row.bytes}) > 0;
    observations.push_back(
        {operation_of(row), row.bytes, row.launch, least ? row.seconds : row.median});
  }
  return observations;
}

}  // namespace

int command_compare(const Arguments& arguments) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("time", po::value<std::string>()->value_name("NAME")->default_value("median"),
      "time of a sample: median, min, avg or max of its loops; min replaces median where a launch "
      "of an older version has no median");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write all results as JSON; '-': to standard output instead of the tables");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write a row per operation and size; '-' as above");
  add("html", po::value<std::string>()->value_name("FILE"),
      "write a self-contained page with charts");
  add("all", "show each operation and size, not only the summary");
  add("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kCompareHelp, options, "file", false, values)) return 0;
  const auto files = values.count("file") ? values["file"].as<std::vector<std::string>>()
                                          : std::vector<std::string>{};
  if (files.size() != 2) {
    throw UsageError(fmt::format("expected two files of samples; usage: {}", kCompareHelp.usage));
  }
  const std::string time = values["time"].as<std::string>();
  if (time != "min" && time != "avg" && time != "max" && time != "median") {
    throw UsageError(fmt::format("--time: '{}' is none of min, avg, max, median", time));
  }

  ReportFiles reports(values, {"json", "csv", "html"}, files);
  ComparedFiles compared{files[0], files[1], "seconds_" + time, {}};
  // ReproMPI compares medians; samples of older versions lack them for most messages.
  const bool median = time == "median";
  std::vector<SampleFile> samples;
  Cells by_least;
  for (const std::string& file : files) {
    samples.push_back(read_sample_file(file, median ? "seconds_min" : compared.column));
    if (median) add_cells_without_median(samples.back(), by_least);
  }
  compared.comparison = compare(observations_of(samples[0], median, by_least),
                                observations_of(samples[1], median, by_least));
  for (const CellComparison& cell : compared.comparison.cells)
    compared.by_least += static_cast<int>(by_least.count({cell.operation, cell.bytes}));
  if (compared.comparison.cells.empty()) {
    throw InputError(
        fmt::format("{} and {} have no level, pattern and size in common", files[0], files[1]));
  }
  if (reports.tables_wanted())
    print_to_stdout(comparison_text(compared, values.count("all") > 0, page_width()));
  if (reports.wants("json")) reports.write("json", comparison_json(compared));
  if (reports.wants("csv")) reports.write("csv", comparison_csv(compared));
  if (reports.wants("html")) reports.write("html", comparison_html(compared));
  reports.commit();
  return 0;
}

}  // namespace rubato
