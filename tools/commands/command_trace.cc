#include <elf.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "models/base/number_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/install_paths.h"
#include "tools/cli/standard_streams.h"
#include "tools/launch/flavour.h"
#include "tools/launch/median_run.h"
#include "tools/launch/preload_path.h"
#include "tools/launch/preloadable.h"
#include "tools/launch/trace_watch.h"
#include "tools/options/options.h"
#include "tracer/base/launcher.h"
#include "tracer/base/output_name.h"
#include "tracer/code/function_filter.h"
#include "tracer/counters/counter_list.h"

namespace fs = std::filesystem;
namespace po = boost::program_options;

/// `rubato trace` sets LD_PRELOAD to the tracer and executes the program in its place. So signals,
/// exit codes and standard streams are those of the program. The job contains only the preloaded
/// library and, on one rank, a watcher process (trace_watch.h).
namespace rubato {
namespace {

/// "512MiB" as 512 and "MiB"; the number is NaN if there is none.
std::pair<double, std::string> number_and_unit(const std::string& text) {
  try {
    size_t used = 0;
    const double value = std::stod(text, &used);
    return {value, text.substr(used)};
  } catch (const std::exception&) {
    return {NAN, text};
  }
}

/// "1GiB", "512MiB", "64KiB", "1000000" in bytes.
uint64_t parse_size(const std::string& text) {
  const auto [value, unit] = number_and_unit(text);
  if (unit.empty() && value > 0 && value < 65536)
    throw UsageError(fmt::format("--memory {}: did you mean {}MiB?", text, text));
  const std::pair<const char*, double> units[] = {
      {"", 1},
      {"B", 1},
      {"KiB", 1024.0},
      {"MiB", 1024.0 * 1024},
      {"GiB", 1024.0 * 1024 * 1024},
      {"kB", 1e3},
      {"MB", 1e6},
      {"GB", 1e9},
  };
  for (const auto& [name, factor] : units) {
    if (value > 0 && unit == name) return static_cast<uint64_t>(value * factor);
  }
  throw UsageError(fmt::format("--memory {}: expected a size such as 512MiB or 2GiB", text));
}

/// "2:10", ":10", "2:", "barrier:3:7"; the tracer parses it again.
std::string checked_window(const po::variables_map& values) {
  const std::string text = values["window"].as<std::string>();
  static const std::regex form(R"((barrier:)?([0-9]*\.?[0-9]*):([0-9]*\.?[0-9]*))");
  std::smatch part;
  const auto number = [&](size_t i, double otherwise) {
    return part[i].length() == 0 ? otherwise : std::stod(part[i]);
  };
  constexpr size_t kMost = 100;  // characters; std::regex recurses for each
  if (text.size() > kMost || !std::regex_match(text, part, form) ||
      text.find("..") != std::string::npos || part[2] == "." || part[3] == "." ||
      number(2, 0) >= number(3, 1e18)) {
    throw UsageError(fmt::format(
        "--window {}: expected seconds, such as 2:10, or barriers, such as barrier:3:7", text));
  }
  return text;
}

/// The absolute path of a new directory, or file: the program may change its working directory.
std::string new_output(const std::string& option, const std::string& name,
                       const char* what = "directory") {
  if (name.empty()) throw UsageError(fmt::format("{}: expected the name of a {}", option, what));
  if (what == std::string("file") && name.back() == '/')
    throw UsageError(
        fmt::format("{} {}: expected the name of a file, not a directory", option, name));
  std::string path = fs::absolute(name).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  // For the working directory or a parent, the archive would become its sibling (DIR-2).
  if ((fs::current_path().string() + "/").starts_with(path == "/" ? path : path + "/")) {
    throw UsageError(fmt::format("{} {}: expected the name of a new {}", option, name, what));
  }
  return path;
}

/// The directory of the archive.
std::string output_path(const po::variables_map& values, const std::string& program) {
  if (values.count("output") != 0) return new_output("-o", values["output"].as<std::string>());
  return new_output("-o", "rubato-" + fs::path(program).filename().string() + ".otf2dir");
}

/// Checked before the program starts, not after hours of running.
void refuse_unwritable(const std::string& output) {
  const std::string parent = fs::path(output).parent_path().string();
  if (access(parent.c_str(), W_OK | X_OK) != 0) {
    throw InputError(fmt::format("{} cannot be created in {}: {}; nothing was started",
                                 fs::path(output).filename().string(), parent,
                                 std::strerror(errno)));
  }
}

void set(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
}

/// Puts a word in front of a list in the environment.
void prepend(const char* name, const std::string& word) {
  const char* others = std::getenv(name);
  set(name, others == nullptr || *others == '\0' ? word : word + ":" + others);
}

void preload(const std::string& tracer) {
  prepend("LD_PRELOAD", tracer);
  // The AddressSanitizer of gcc works behind the tracer, but refuses to start there.
  prepend("ASAN_OPTIONS", "verify_asan_link_order=0");
}

/// Refuses options that require an archive.
void refuse_without_archive(const po::variables_map& values) {
  for (const char* name : {"output", "records", "functions", "function-filter", "call-sites",
                           "call-paths", "sample", "counters"}) {
    if (values.count(name) == 0) continue;
    if (name == std::string("call-sites") && values.count("report") != 0) continue;
    throw UsageError(fmt::format("--no-archive excludes --{}, which needs an archive{}", name,
                                 name == std::string("call-sites") ? " or --report" : ""));
  }
}

/// "1ms", "500us", "0.01s" in nanoseconds.
uint64_t parse_period(const std::string& text) {
  const auto [value, unit] = number_and_unit(text);
  constexpr double kLeast = 1e5, kMost = 1e8;  // nanoseconds
  for (const auto& [name, factor] : {std::pair{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}) {
    const double nanoseconds = value * factor;
    if (unit == name && nanoseconds >= kLeast && nanoseconds <= kMost)
      return static_cast<uint64_t>(nanoseconds);
  }
  throw UsageError(fmt::format("--sample {}: expected a time from 100us to 100ms", text));
}

/// The absolute path of the filter file, after checking its rules: the program may change its
/// working directory.
std::string checked_filter(const po::variables_map& values) {
  const std::string name = values["function-filter"].as<std::string>();
  std::ifstream file(name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad() || fs::is_directory(name)) {
    throw InputError(fmt::format("{} cannot be read; nothing was started", name));
  }
  if (const int line = FunctionFilter::bad_line(text)) {
    throw InputError(
        fmt::format("{}:{}: expected 'include PATTERN' or 'exclude PATTERN'", name, line));
  }
  return fs::absolute(name).string();
}

/// The list of counters, after this process has tried them.
std::string checked_counters(const po::variables_map& values) {
  const std::string list = values["counters"].as<std::string>();
  const CounterTrouble trouble = try_counters(list);
  const std::string line = "--counters: " + trouble.text;
  if (trouble.kind == CounterTrouble::Kind::kList) throw UsageError(line);
  if (trouble.kind == CounterTrouble::Kind::kMachine)
    throw InputError(line + "; nothing was started");
  return list;
}

/// The number of --runs. This process must not be part of an MPI job, which cannot start again.
int checked_runs(const po::variables_map& values, bool archive) {
  const int runs = values["runs"].as<int>();
  if (runs < 1 || runs > 99) throw UsageError(fmt::format("--runs {}: expected 1 to 99", runs));
  if (runs == 1) return runs;
  if (!archive) throw UsageError("--no-archive excludes --runs, which keeps an archive");
  if (launcher_rank() > 0 || launcher_flavour() != Flavour::kUnknown) {
    throw UsageError(
        "--runs starts the MPI job several times, so that mpirun goes behind it: rubato trace "
        "--runs 5 mpirun -n 4 ./app");
  }
  return runs;
}

/// Executes the program in place of this process; returns only after --help, and --runs.
int trace(const Arguments& arguments) {
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("output,o", po::value<std::string>()->value_name("DIR"),
       "directory of the archive (default: rubato-PROGRAM.otf2dir); if it exists, the archive is "
       "called DIR-2, DIR-3, ..., with the number before the extension")
      ("memory", po::value<std::string>()->value_name("SIZE")->default_value("256MiB"),
       "memory for records, per process")
      ("when-full", po::value<std::string>()->value_name("flush|stop")->default_value("flush"),
       "when this memory is full: flush records to the output's disk, or stop recording")
      ("records", po::value<std::string>()->value_name("DIR"),
       "directory for records during the run (default: /dev/shm if it has space, else TMPDIR)")
      ("window", po::value<std::string>()->value_name("START:END"),
       "record only these seconds of the run, or barrier:N:M, from the Nth to the Mth MPI_Barrier")
      ("clock", po::value<std::string>()->value_name("tsc|monotonic")->default_value("tsc"),
       "time-stamp counter if it is reliable, or the system clock")
      ("clock-domain", po::value<std::string>()->value_name("node|rank")->default_value("node"),
       "node: the ranks of a node share a clock; rank: each rank has its own")
      ("sync-every", po::value<double>()->value_name("SECONDS")->default_value(0, "0"),
       "synchronise the clocks of the nodes also during the run, at this interval (1e-6 to 1e9); 0: "
       "only at its start and end")
      ("functions",
       "record the functions of a program that was compiled with -finstrument-functions")
      ("function-filter", po::value<std::string>()->value_name("FILE"),
       "functions to record: lines 'include PATTERN' and 'exclude PATTERN', of which the last "
       "match decides")
      ("call-sites", "record the source line of each MPI call")
      ("counters", po::value<std::string>()->value_name("NAME,..."),
       "count events of the program and of MPI, such as perf::PAGE-FAULTS or PAPI_TOT_INS")
      ("call-paths",
       "record the functions on the stack at each MPI call, and the line (any program)")
      ("sample", po::value<std::string>()->value_name("TIME"),
       "record which function runs between MPI calls, each TIME of computing, such as 1ms")
      ("runs", po::value<int>()->value_name("N")->default_value(1, "1"),
       "in front of mpirun: run it N times, and keep the archive of median elapsed time, with the "
       "times of all")
      ("summary",
       "print a summary at the end: elapsed time, share of MPI, the most expensive calls, load "
       "balance (also with RUBATO_SUMMARY=1 in the environment)")
      ("no-archive", "print only the summary: write no archive and keep no records")
      ("report", po::value<std::string>()->value_name("FILE"),
       "with --no-archive: at the end write sums of times, messages, sizes and waits to FILE, which "
       "'rubato profile FILE' shows")
      ("help,h", "show this help");
  // clang-format on
  const CommandHelp help = {
      "mpirun -n N rubato trace [options] PROGRAM [arguments]",
      "Runs an MPI program and records its MPI calls in an OTF2 archive. The program need not be\n"
      "recompiled; its results, exit code and output do not change.",
      "Examples:\n"
      "  mpirun -n 4 rubato trace -o run.otf2dir ./app args\n"
      "  mpirun -n 4 rubato trace bash job.sh       (a script that starts the program)\n"
      "  mpirun -n 4 rubato trace --no-archive ./app   (one line, no files)\n"
      "  mpirun -n 4 rubato trace --no-archive --report sums.json ./app   (long runs)\n"
      "  rubato trace --runs 5 -o run.otf2dir mpirun -n 4 ./app   (the median run)\n"
      "Details: share/doc/tracing.md"};
  po::variables_map values;
  if (!parse_options(arguments, help, options, "program", true, values)) return 0;
  if (values.count("program") == 0) throw UsageError("expected a program; usage: " + help.usage);

  const bool archive = values.count("no-archive") == 0;
  if (!archive) refuse_without_archive(values);
  if (archive && values.count("report") != 0) {
    throw UsageError("--report: expected --no-archive too; of an archive, rubato profile shows it");
  }
  const int runs = checked_runs(values, archive);
  const uint64_t memory = parse_size(values["memory"].as<std::string>());
  const std::string clock = values["clock"].as<std::string>();
  if (clock != "tsc" && clock != "monotonic") {
    throw UsageError(fmt::format("--clock {}: expected tsc or monotonic", clock));
  }
  const std::string when_full = values["when-full"].as<std::string>();
  if (when_full != "flush" && when_full != "stop") {
    throw UsageError(fmt::format("--when-full {}: expected flush or stop", when_full));
  }
  const std::string domain = values["clock-domain"].as<std::string>();
  if (domain != "node" && domain != "rank") {
    throw UsageError(fmt::format("--clock-domain {}: expected node or rank", domain));
  }
  const double sync_every = values["sync-every"].as<double>();
  if (!(sync_every == 0 || (sync_every >= 1e-6 && sync_every <= 1e9))) {
    throw UsageError(
        fmt::format("--sync-every {}: expected seconds, from 1e-6 to 1e9, or 0", sync_every));
  }
  const uint64_t sample_period =
      values.count("sample") != 0 ? parse_period(values["sample"].as<std::string>()) : 0;
  const std::string filter = values.count("function-filter") != 0 ? checked_filter(values) : "";
  const std::string counters = values.count("counters") != 0 ? checked_counters(values) : "";
  const auto command = values["program"].as<std::vector<std::string>>();
  const std::string program = find_program(command[0]);
  std::string output = output_path(values, command[0]);
  const std::string report =
      values.count("report") != 0
          ? new_output("--report", values["report"].as<std::string>(), "file")
          : "";
  if (archive) refuse_unwritable(output);
  if (!report.empty()) refuse_unwritable(report);
  const Flavour flavour = choose_flavour(program);
  const std::string tracer = library_dir() + "/librubato-trace-" + flavour_name(flavour) + ".so";
  if (access(tracer.c_str(), R_OK) != 0) {
    throw InputError(
        fmt::format("{}: this installation has no tracer for {}; build Rubato where that MPI is "
                    "installed",
                    tracer, flavour_title(flavour)));
  }

  // Warn now: in such a process the tracer is not loaded and cannot.
  if (launcher_rank() == 0) {
    if (const std::string why = why_not_preloaded(program); !why.empty()) {
      print_to_stderr(fmt::format(
          "rubato: warning: {} {}: the tracer cannot record its calls, only those of MPI programs "
          "that it starts",
          program, why));
    }
    if (const std::string join = srun_that_joins(flavour); !join.empty()) {
      print_to_stderr(
          fmt::format("rubato: warning: srun started the tasks without PMI, so each is an MPI job "
                      "of its own, and only one is recorded; use {}",
                      join));
    }
  }

  if (runs > 1) {
    // (The child goes on.)
    if (const std::optional<int> code = keep_median_run(runs, output)) return *code;
  }
  preload(preload_directory(library_dir()) + "/" + fs::path(tracer).filename().string());
  set("RUBATO_TRACE_OUTPUT", output);
  // The expected name of the archive, unless another job takes it first.
  const std::string expected = free_output(output);
  set("RUBATO_TRACE_EXPECTED", expected);
  set("RUBATO_TRACE_MEMORY", std::to_string(memory));
  set("RUBATO_TRACE_WHEN_FULL", when_full);
  if (values.count("records") != 0) {
    set("RUBATO_TRACE_RECORDS", fs::absolute(values["records"].as<std::string>()).string());
  }
  if (values.count("window") != 0) set("RUBATO_TRACE_WINDOW", checked_window(values));
  set("RUBATO_TRACE_CLOCK", clock);
  set("RUBATO_TRACE_CLOCK_DOMAIN", domain);
  set("RUBATO_TRACE_SYNC_EVERY", general_text(sync_every, 17));
  set("RUBATO_TRACE_FUNCTIONS", !filter.empty() || values.count("functions") != 0 ? "1" : "0");
  if (!filter.empty()) set("RUBATO_TRACE_FUNCTION_FILTER", filter);
  set("RUBATO_TRACE_CALL_SITES", values.count("call-sites") != 0 ? "1" : "0");
  if (!counters.empty()) set("RUBATO_TRACE_COUNTERS", counters);
  set("RUBATO_TRACE_CALL_PATHS", values.count("call-paths") != 0 ? "1" : "0");
  set("RUBATO_TRACE_SAMPLE", std::to_string(sample_period));
  if (!archive || values.count("summary") != 0) set("RUBATO_SUMMARY", "1");
  set("RUBATO_TRACE_ARCHIVE", archive ? "1" : "0");
  set("RUBATO_TRACE_REPORT", report);
  // exec keeps the process id, so the tracer can tell this process from its children.
  set("RUBATO_TRACE_PID", std::to_string(getpid()));

  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (launcher_rank() == 0) {
    watch_command(archive ? expected : "", hydra_stderr(), hydra_mpiexec_stderr());
  }
  execv(program.c_str(), words.data());
  const int error = errno;
  // Text without "#!" is a script of /bin/sh for shells and for MPICH's launcher, as for execvp().
  if (error == ENOEXEC && std::ifstream(program).peek() != ELFMAG0)
    execvp(program.c_str(), words.data());
  throw InputError(fmt::format("{}: {}", program, std::strerror(error)));
}

}  // namespace

int command_trace(const Arguments& arguments) {
  try {
    return trace(arguments);
  } catch (const std::runtime_error&) {
    // All ranks of a job have the same error. Rank 0 reports it. The others wait, because mpirun
    // ends rank 0 when another rank exits with an error.
    if (launcher_rank() == 0) throw;
    std::signal(SIGTERM, SIG_DFL);  // sent by mpirun; ends silently
    sleep(2);
    return 1;
  }
}

}  // namespace rubato
