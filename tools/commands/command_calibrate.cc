#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "models/base/units.h"
#include "models/fit/fit.h"
#include "models/placement/placement.h"
#include "models/platform/platform_file.h"
#include "tools/cli/commands.h"
#include "tools/cli/install_paths.h"
#include "tools/files/whole_file.h"
#include "tools/launch/calibration_plan.h"
#include "tools/launch/flavour.h"
#include "tools/launch/launches.h"
#include "tools/options/options.h"
#include "tracer/base/launcher.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

/// Whose calibrator to become: the launcher's, or under Slurm, which serves both, what was `asked`
/// for, else what it mostly speaks with either. Errors: InputError where the launcher knows better.
Flavour calibrator_flavour(Flavour asked) {
  const Flavour launcher = launcher_flavour();
  if (launcher != Flavour::kUnknown) {
    if (asked != Flavour::kUnknown && asked != launcher) {
      throw InputError(fmt::format("--mpi {}: this job was started by the mpirun of {}",
                                   flavour_name(asked), flavour_title(launcher)));
    }
    return launcher;
  }
  return asked != Flavour::kUnknown ? asked : likely_launcher_flavour();
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

/// The word that an option says. Errors: UsageError when it is none of `words`.
std::string one_of(const po::variables_map& values, const char* option,
                   const std::vector<std::string>& words) {
  const std::string word = values[option].as<std::string>();
  if (std::find(words.begin(), words.end(), word) != words.end()) return word;
  throw UsageError(fmt::format("--{}: '{}' is none of {}{}", option, word, fmt::join(words, ", "),
                               did_you_mean(word, words)));
}

/// The levels that have to be measured, with commas. Errors: UsageError.
std::string level_list(const std::string& list) {
  const std::vector<std::string> known(kLevelNames.begin(), kLevelNames.end());
  std::istringstream words(list);
  std::string word;
  do {
    word.clear();
    std::getline(words, word, ',');
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    throw UsageError(fmt::format("--levels: '{}' is none of {}{}", word, fmt::join(known, ", "),
                                 did_you_mean(word, known)));
  } while (!words.eof());
  return list;
}

/// What the command line asks for.
struct Request {
  bool help = false;
  std::vector<std::string> words;   ///< for the calibrator of one MPI
  Flavour mpi = Flavour::kUnknown;  ///< asked for
  LaunchPlan plan;                  ///< with a launcher only where several launches are asked for
  Arguments fit;                    ///< of `rubato fit`, which makes the platform file
};

/// How fast it has to be, as words for a launch or for a calibrator. Errors: UsageError.
std::vector<std::string> options_of_pace(const po::variables_map& values) {
  std::vector<std::string> options;
  if (values.count("quick")) options.push_back("--quick");
  if (values.count("seconds")) {
    const double seconds = values["seconds"].as<double>();
    if (!(seconds >= 1 && seconds <= 1e6))
      throw UsageError(fmt::format("--seconds: from 1 to a million, not {}", seconds));
    options.push_back(fmt::format("--seconds={}", seconds));
  }
  return options;
}

/// The words that each of several launches gets, beside its plan.
std::vector<std::string> options_of_launch(const po::variables_map& values) {
  std::vector<std::string> options = options_of_pace(values);
  for (const char* name : {"levels", "mpi"}) {
    if (values.count(name))
      options.insert(options.end(), {std::string("--") + name, values[name].as<std::string>()});
  }
  return options;
}

/// The part of a request that several launches need. Errors: UsageError.
LaunchPlan launch_plan(const po::variables_map& values, const CalibrationPlan& plan,
                       const std::vector<std::string>& launcher) {
  // Three show what launches differ by; a quick run has time for one.
  constexpr int kLaunches = 3, kQuickLaunches = 1;
  LaunchPlan launches;
  const bool is_one_of_several = !values["launch"].defaulted();
  if (launcher.empty()) {
    if (plan.launches > 1 && !is_one_of_several) {
      const std::string file = values["plan"].as<std::string>();
      throw UsageError(
          fmt::format("{}: launches = {} needs a launcher: rubato calibrate --plan {} "
                      "-o FILE -- mpirun -n 2",
                      file, plan.launches, file));
    }
    return launches;
  }
  launches.launches = plan.launches > 0       ? plan.launches
                      : values.count("quick") ? kQuickLaunches
                                              : kLaunches;
  if (launcher_flavour() != Flavour::kUnknown) {
    throw UsageError(
        "rubato calibrate starts the launcher after '--' itself; run it without mpirun");
  }
  if (is_one_of_several) throw UsageError("--launch and a launcher behind '--' exclude each other");
  launches.launcher = launcher;
  launches.options = options_of_launch(values);
  launches.experiments = plan;
  return launches;
}

/// The command line, and behind it, as a comment of the shell, what the plan says.
std::string command_of(const Arguments& arguments, const CalibrationPlan& plan) {
  std::string command = fmt::format("rubato calibrate {}", fmt::join(arguments, " "));
  const std::vector<std::string> changed = changed_keys(plan);
  if (!changed.empty()) command += fmt::format("  # plan: {}", fmt::join(changed, ", "));
  return command;
}

/// The words in front of "--" and those behind it.
std::pair<Arguments, Arguments> at_dashes(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  return {{arguments.begin(), dashes},
          {dashes == arguments.end() ? dashes : dashes + 1, arguments.end()}};
}

const CommandHelp kCalibrateHelp = {
    "mpirun -n RANKS rubato calibrate -o FILE [options]",
    "Measures the cost of messages on this machine and writes a platform file for 'rubato "
    "replay'.\n"
    "Rank 0 exchanges messages with the last rank on its own node (level 'node'), the last rank\n"
    "on another node (level 'network'), and itself (level 'self'); start it so that these pairs\n"
    "exist. If ranks are bound to cores and rank 0 has partners on its own socket and on another\n"
    "one, 'socket' is inside the first and 'node' between the two.\n"
    "With a launcher after '--' it starts several launches and makes one platform file of all.\n"
    "A plan changes the experiments ('rubato help plan').",
    "Examples:\n"
    "  mpirun -n 2 rubato calibrate -o cluster.toml                 one node\n"
    "  mpirun -n 4 --map-by ppr:2:node rubato calibrate -o c.toml   two nodes\n"
    "  rubato calibrate -o c.toml -- mpirun -n 2                    three launches\n"
    "  rubato help plan >plan.toml         experiments, to be edited for --plan"};

po::options_description visible_options() {
  po::options_description visible("Options");
  visible.add_options()  //
      ("output,o", po::value<std::string>()->value_name("FILE"),
       "the platform file to write (.toml); the samples go beside it, as .csv")  //
      ("quick", "at most 30 s instead of minutes, with less certain numbers")    //
      ("seconds", po::value<double>()->value_name("N"),
       "approximate duration (default for two ranks: two or three minutes; --quick: 20 to 30 s)")  //
      ("plan", po::value<std::string>()->value_name("FILE"),
       "the experiments: sizes, patterns, collectives, number of launches; 'rubato help plan' "
       "prints the default one")  //
      ("levels", po::value<std::string>()->value_name("LIST"),
       "levels to measure: socket, node, network, separated by commas; self for none of them; an "
       "error if the ranks do not have one (default: all that they have)")  //
      ("name", po::value<std::string>()->value_name("NAME"),
       "name of the machine in reports (default: the name of FILE)")  //
      ("launch", po::value<int>()->value_name("N")->default_value(1),
       "number of this launch among several, for the samples ('rubato compare') and the random "
       "order of lengths")  //
      ("mpi", po::value<std::string>()->value_name("NAME"),
       "openmpi or mpich, if the launcher does not tell (default: MPICH under 'srun --mpi=pmi2', "
       "else Open MPI)")  //
      ("html", po::value<std::string>()->value_name("FILE"),
       "write a page with every curve and formula, its samples and residuals")  //
      ("raw", po::value<std::string>()->value_name("FILE.csv"),
       "write every single observation with its time")                                    //
      ("all", "print times and formulas of all patterns and operations, not the curves")  //
      ("samples-only", "write the samples, and leave the platform file to 'rubato fit'")  //
      ("force", "replace existing files")                                                 //
      ("help,h", "show this help");
  return visible;
}

Request read_request(const Arguments& arguments) {
  const auto [own, launcher] = at_dashes(arguments);
  po::variables_map values;
  Request request;
  request.help = !parse_options(own, kCalibrateHelp, visible_options(), "", false, values);
  if (request.help) return request;
  if (!values.count("output")) {
    throw UsageError(
        "-o FILE is missing; usage: mpirun -n RANKS rubato calibrate -o FILE [options]");
  }
  const std::string toml = values["output"].as<std::string>();
  const std::string csv = csv_beside(toml);
  if (csv == toml || platform_name(toml).empty()) {
    throw UsageError(
        fmt::format("'{}' is no name for a platform file; use one like cluster.toml", toml));
  }
  if (values.count("mpi")) {
    const bool open = one_of(values, "mpi", {"openmpi", "mpich"}) == "openmpi";
    request.mpi = open ? Flavour::kOpenMpi : Flavour::kMpich;
  }
  if (values["launch"].as<int>() < 1) throw UsageError("--launch: from 1 on");
  const std::string name =
      values.count("name") ? values["name"].as<std::string>() : platform_name(toml);
  const std::string html = values.count("html") ? values["html"].as<std::string>() : "";
  const std::string raw = values.count("raw") ? values["raw"].as<std::string>() : "";
  for (const std::string& other : {toml, csv}) keep_apart(other, html);
  if (!raw.empty()) {
    for (const std::string& other : {toml, csv, html}) keep_apart(other, raw);
  }
  CalibrationPlan plan;
  if (values.count("plan")) {
    const std::string file = values["plan"].as<std::string>();
    for (const std::string& written : {toml, csv, html, raw}) keep_input(file, written);
    plan = load_calibration_plan(file);
    if (!plan.lengths.empty() && !raw.empty()) keep_input(plan.lengths, raw);
    for (const std::string& written : {toml, csv, html, raw})
      if (!plan.partners.empty()) keep_input(plan.partners, written);
  }
  const std::string command = command_of(arguments, plan);
  request.words = {"--toml=" + toml,
                   "--csv=" + csv,
                   "--html=" + html,
                   "--raw=" + raw,
                   fmt::format("--launch={}", values["launch"].as<int>()),
                   "--command=" + command};
  for (std::string& word : calibrator_words(plan)) request.words.push_back(std::move(word));
  if (values.count("samples-only")) {
    for (const char* of_fit : {"name", "html", "all"}) {
      if (values.count(of_fit))
        throw UsageError(fmt::format("--samples-only leaves --{} to 'rubato fit'", of_fit));
    }
  } else {
    request.fit = {csv, "--output=" + toml, "--name=" + name};
    if (!html.empty()) request.fit.push_back("--html=" + html);
    if (values.count("all")) request.fit.push_back("--all");
    if (plan.segments != CalibrationPlan{}.segments)
      request.fit.push_back(fmt::format("--segments={}", plan.segments));
    if (plan.digits != CalibrationPlan{}.digits)
      request.fit.push_back(fmt::format("--digits={}", plan.digits));
    if (values.count("force")) request.fit.push_back("--force");
    request.words.push_back("--then=" + std::filesystem::read_symlink("/proc/self/exe").string());
    request.words.push_back("--then=fit");
    for (const std::string& word : request.fit) request.words.push_back("--then=" + word);
  }
  for (std::string& option : options_of_pace(values)) request.words.push_back(std::move(option));
  if (values.count("force")) request.words.push_back("--force");
  if (values.count("levels"))
    request.words.push_back("--levels=" + level_list(values["levels"].as<std::string>()));
  request.plan = launch_plan(values, plan, launcher);
  if (!request.plan.launcher.empty()) {
    request.plan.csv = csv;
    request.plan.raw = raw;
    if (!request.fit.empty()) request.plan.made_of_it = {toml};
    if (!html.empty()) request.plan.made_of_it.push_back(html);
    request.plan.command = command;
    // The file of -o comes first: the name that the user gave.
    if (!values.count("force")) {
      std::vector<std::string> made = {csv};
      if (!request.fit.empty()) made.insert(made.begin(), toml);
      if (!raw.empty()) made.push_back(raw);
      refuse_existing(made);
    }
  }
  return request;
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
    const Request request = read_request(arguments);
    if (request.help) return 0;
    if (!request.plan.launcher.empty()) {
      calibrate_in_launches(request.plan);
      if (!request.fit.empty()) return command_fit(request.fit);
      print_to_stdout(fmt::format("{}: samples\n", request.plan.csv));
      return 0;
    }
    const Flavour flavour = calibrator_flavour(request.mpi);
    // (Who names the MPI library knows of a launcher that says nothing of ranks.)
    const bool may_join = request.mpi == Flavour::kUnknown;
    const std::string join = may_join ? srun_that_joins(request.mpi) : "";
    if (!join.empty()) throw InputError("calibrate needs ranks that find each other: use " + join);
    if (flavour == Flavour::kUnknown) {
      throw InputError("calibrate needs at least 2 ranks: mpirun -n 2 rubato calibrate ...");
    }
    become(libexec_dir() + "/rubato-calibrate-" + flavour_name(flavour), request.words);
  } catch (const UsageError&) {
    if (!speaks) return 2;
    throw;
  } catch (const InputError&) {
    if (!speaks) return 1;
    throw;
  }
}

}  // namespace rubato
