#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "models/error.h"
#include "models/units.h"
#include "tools/commands.h"
#include "tools/flavour.h"
#include "tools/install_paths.h"
#include "tools/options.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

constexpr double kLeastSize = 1024;
constexpr double kMostSize = 1 << 30;  // an MPI count is an int; a burst has two of them in memory

/// Whose calibrator to become: the launcher's, or under Slurm, which serves both, what it speaks.
Flavour calibrator_flavour() {
  if (launcher_flavour() != Flavour::kUnknown) return launcher_flavour();
  if (std::getenv("PMIX_RANK")) return Flavour::kOpenMpi;
  if (std::getenv("PMI_RANK")) return Flavour::kMpich;
  return Flavour::kUnknown;
}

/// cluster.toml -> cluster.csv
std::string csv_beside(const std::string& toml) {
  const size_t dot = toml.rfind('.');
  const size_t slash = toml.rfind('/');
  const bool has_extension =
      dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return (has_extension ? toml.substr(0, dot) : toml) + ".csv";
}

/// dir/cluster.toml -> cluster
std::string platform_name(const std::string& toml) {
  const std::string file = toml.substr(toml.rfind('/') + 1);
  return file.substr(0, file.find('.'));
}

/// The words for the calibrator of one MPI, or none after --help.
std::vector<std::string> calibrator_words(const Arguments& arguments) {
  po::options_description visible("Options");
  visible.add_options()  //
      ("output,o", po::value<std::string>()->value_name("FILE"),
       "the platform file to write (.toml); the samples go beside it, as .csv")    //
      ("quick", "seconds instead of most of a minute, with less certain numbers")  //
      ("max-size", po::value<std::string>()->value_name("SIZE")->default_value("4MiB"),
       "the largest message")  //
      ("name", po::value<std::string>()->value_name("NAME"),
       "what reports call the machine (default: the name of FILE)")  //
      ("seed", po::value<unsigned>()->value_name("N")->default_value(1),
       "of the random order of message lengths")  //
      ("launch", po::value<int>()->value_name("N")->default_value(1),
       "which of several launches this is, for the samples ('rubato compare')")  //
      ("force", "replace existing files")                                        //
      ("help,h", "show this help");
  const CommandHelp help = {
      "mpirun -n RANKS rubato calibrate -o FILE [options]",
      "Measures what messages cost on this machine and writes a platform file for 'rubato "
      "replay'.\n"
      "Rank 0 talks to the last rank on its own node (level 'node'), to the last rank on another\n"
      "node (level 'network'), and to itself (level 'self'); start it so that these pairs exist.",
      "Examples:\n"
      "  mpirun -n 2 rubato calibrate -o cluster.toml                  one node\n"
      "  mpirun -n 4 --map-by ppr:2:node rubato calibrate -o c.toml    two nodes, both levels"};
  po::variables_map values;
  if (!parse_options(arguments, help, visible, "", false, values)) return {};
  if (!values.count("output")) {
    throw UsageError(fmt::format("-o FILE is missing; usage: {}", help.usage));
  }
  const std::string toml = values["output"].as<std::string>();
  const std::string csv = csv_beside(toml);
  if (csv == toml || platform_name(toml).empty()) {
    throw UsageError(
        fmt::format("'{}' is no name for a platform file; use one like cluster.toml", toml));
  }
  double max_size = 0;
  try {
    max_size = parse_bytes(values["max-size"].as<std::string>());
  } catch (const InputError& error) {
    throw UsageError(fmt::format("--max-size: {}", error.what()));
  }
  if (max_size < kLeastSize || max_size > kMostSize) {
    throw UsageError(fmt::format("--max-size must lie between {} and {}", format_bytes(kLeastSize),
                                 format_bytes(kMostSize)));
  }
  if (values["launch"].as<int>() < 1) throw UsageError("--launch: from 1 on");
  std::vector<std::string> words = {
      "--toml=" + toml,
      "--csv=" + csv,
      "--name=" + (values.count("name") ? values["name"].as<std::string>() : platform_name(toml)),
      fmt::format("--max-bytes={:.0f}", max_size),
      fmt::format("--seed={}", values["seed"].as<unsigned>()),
      fmt::format("--launch={}", values["launch"].as<int>()),
      fmt::format("--command=rubato calibrate {}", fmt::join(arguments, " "))};
  if (values.count("quick")) words.push_back("--quick");
  if (values.count("force")) words.push_back("--force");
  return words;
}

/// Becomes the calibrator; returns only by an exception.
[[noreturn]] void become(const std::string& program, std::vector<std::string> words) {
  if (access(program.c_str(), X_OK) != 0) {
    throw InputError(program + " is not there: this installation was built without that MPI");
  }
  words.insert(words.begin(), program);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw InputError(fmt::format("{} cannot be started: {}", program, std::strerror(errno)));
}

}  // namespace

int command_calibrate(const Arguments& arguments) {
  // mpirun starts this on every rank: one of them speaks.
  const bool speaks = launcher_rank() == 0;
  if (!speaks && !freopen("/dev/null", "w", stdout)) return 1;
  try {
    const std::vector<std::string> words = calibrator_words(arguments);
    if (words.empty()) return 0;
    const Flavour flavour = calibrator_flavour();
    if (flavour == Flavour::kUnknown) {
      throw InputError("calibrate needs at least 2 ranks: mpirun -n 2 rubato calibrate ...");
    }
    become(libexec_dir() + "/rubato-calibrate-" + flavour_name(flavour), words);
  } catch (const UsageError&) {
    if (!speaks) return 2;
    throw;
  } catch (const InputError&) {
    if (!speaks) return 1;
    throw;
  }
}

}  // namespace rubato
