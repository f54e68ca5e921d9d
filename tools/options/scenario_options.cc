#include "tools/options/scenario_options.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>

#include <algorithm>
#include <set>

#include "models/base/error.h"
#include "models/base/shell_quoted.h"
#include "models/base/units.h"
#include "models/scenario/scenario_change.h"
#include "tools/cli/install_paths.h"
#include "tools/options/replay_command.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

using Words = std::vector<std::string>;

po::options_description described() {
  po::options_description options("Reading and replaying the archive");
  auto add = options.add_options();
  add("overhead", po::value<std::string>()->value_name("none|KEY=TIME,..."),
      "none: do not subtract tracing overhead; KEY=TIME: overhead of archives that do not record "
      "it: outside=, before=, after=, record= (or message=, request=, completion=, collective=), "
      "function=");
  add("keep-stolen",
      "include the time for which ranks were descheduled in all scenarios, not only in measured, "
      "to compare with another run on the same busy nodes");
  add("eager-limit", po::value<std::string>()->value_name("SIZE"),
      "largest eagerly sent message, for archives that do not record it");
  add("polling", po::value<std::string>()->value_name("wait|keep"),
      "on a modelled machine, treat a loop of MPI_Test or MPI_Iprobe as one wait (default), or "
      "keep the recorded number of calls");
  add("wildcards", po::value<std::string>()->value_name("recorded|arrival"),
      "on a modelled machine, match a receive from any source or tag with the recorded message "
      "(default), or with the first to arrive; also MPI_Waitany if no communication depends on it");
  add_clocks(options);
  add("threads", po::value<int>()->value_name("N"),
      "number of worker threads, at most 64; default: one per processor for large archives, at "
      "most 8 that divide a replay");
  return options;
}

/// Parses a value from the command line: errors become usage errors.
template <typename Parse>
double quantity(const std::string& option, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("--{}: {}", option, error.what()));
  }
}

/// "outside=80ns,before=40ns"
RecordingOverhead parse_overhead(const std::string& text) {
  RecordingOverhead overhead;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string part = text.substr(start, end - start);
    const std::string key = part.substr(0, part.find('='));
    double* value = key == "outside"      ? &overhead.outside
                    : key == "before"     ? &overhead.inside_before
                    : key == "after"      ? &overhead.inside_after
                    : key == "record"     ? &overhead.message  // also sets the three below
                    : key == "message"    ? &overhead.message
                    : key == "request"    ? &overhead.request
                    : key == "completion" ? &overhead.completion
                    : key == "collective" ? &overhead.collective
                    : key == "function"   ? &overhead.function
                                          : nullptr;
    if (!value || key.size() == part.size()) {
      throw UsageError(fmt::format(
          "--overhead: '{}' is none of outside=TIME, before=TIME, after=TIME, record=TIME, "
          "message=TIME, request=TIME, completion=TIME, collective=TIME, function=TIME",
          part));
    }
    *value = quantity("overhead", part.substr(key.size() + 1), parse_seconds);
    if (*value < 0) throw UsageError(fmt::format("--overhead: '{}' is negative", part));
    if (key == "record") overhead.request = overhead.completion = overhead.collective = *value;
    start = end + 1;
  }
  return overhead;
}

/// The value of an option, which must be one of `words`; the first of them without the option.
std::string one_of(const po::variables_map& values, const std::string& option, const Words& words) {
  if (!values.count(option)) return words[0];
  const std::string word = text_of(values, option);
  if (std::find(words.begin(), words.end(), word) != words.end()) return word;
  throw UsageError(fmt::format("--{}: '{}' is none of {}{}", option, word, fmt::join(words, ", "),
                               did_you_mean(word, words)));
}

}  // namespace

void add_clocks(po::options_description& options) {
  options.add_options()(
      "clocks", po::value<std::string>()->value_name("repaired|corrected|raw"),
      "timestamps: with the clock offsets of the archive and calls moved behind their cause "
      "(default), with the offsets only, or as recorded");
}

void read_clocks(const po::variables_map& values, ReplayOptions& options) {
  const std::string clocks = one_of(values, "clocks", {"repaired", "corrected", "raw"});
  options.repair = clocks == "repaired";
  options.ignore_offsets = clocks == "raw";
}

void add_engine_options(po::options_description& options) {
  options.add(described());
}

ReplayOptions engine_options(const po::variables_map& values) {
  ReplayOptions options;
  options.keep_stolen = values.count("keep-stolen") > 0;
  read_clocks(values, options);
  if (values.count("threads")) {
    options.threads = values["threads"].as<int>();
    if (options.threads < 1 || options.threads > 64)
      throw UsageError("--threads: expected 1 to 64");
  }
  const std::string overhead = text_of(values, "overhead");
  options.compensate = overhead != "none";
  if (options.compensate && values.count("overhead")) options.overhead = parse_overhead(overhead);
  if (values.count("eager-limit"))
    options.eager_limit = quantity("eager-limit", text_of(values, "eager-limit"), parse_bytes);
  options.spinning_waits = one_of(values, "polling", {"wait", "keep"}) == "wait";
  options.wildcards_by_arrival = one_of(values, "wildcards", {"recorded", "arrival"}) == "arrival";
  return options;
}

std::string engine_words(const po::variables_map& values) {
  std::string words;
  const po::options_description all = described();
  for (const auto& option : all.options()) {
    const std::string& name = option->long_name();
    if (!values.count(name) || name == "threads") continue;
    words += fmt::format("{}--{}", words.empty() ? "" : " ", name);
    if (option->semantic()->min_tokens() > 0) words += " " + shell_quoted(text_of(values, name));
  }
  return words;
}

/// True for a machine that `--on` accepts without a platform file of the user, with or without
/// changes.
static bool is_machine(const std::string& word) {
  const std::string base = word.substr(0, word.find(':'));
  const Words machines = machine_names();
  if (std::find(machines.begin(), machines.end(), base) != machines.end()) return true;
  std::error_code ignored;
  return !base.empty() && base.find('/') == std::string::npos &&
         std::filesystem::exists(std::filesystem::path(platforms_dir()) / (base + ".toml"),
                                 ignored);
}

std::string one_archive(const po::variables_map& values, const CommandHelp& help) {
  const Words archives = values.count("archive") ? values["archive"].as<Words>() : Words{};
  for (const std::string& word : archives) {
    std::error_code ignored;
    if (!word.ends_with(".toml") || std::filesystem::is_directory(word, ignored)) continue;
    const bool takes_machines = help.usage.find("--on") != std::string::npos;
    throw UsageError(fmt::format("{} is a platform file, not an archive; did you mean {} {}?", word,
                                 takes_machines ? "--on" : "rubato check", shell_quoted(word)));
  }
  for (size_t i = 1; i < archives.size() && help.usage.find("--on") != std::string::npos; ++i) {
    if (is_machine(archives[i]))
      throw UsageError(fmt::format("{} is a machine, not an archive; did you mean --on {}?",
                                   archives[i], shell_quoted(archives[i])));
  }
  if (archives.size() != 1)
    throw UsageError(fmt::format("expected one archive; usage: {}", help.usage));
  return archives[0];
}

Scenario named_scenario(const std::string& text) {
  return parse_scenario(text, platforms_dir());
}

void refuse_fit(const Scenario& scenario) {
  if (!scenario.fits_degradation) return;
  throw UsageError(
      "--on: dr=fit is only supported by 'rubato replay'; give the ratio that it finds, as "
      "dr=RATIO");
}

Scenario fixed_scenario(const std::string& text) {
  Scenario scenario = named_scenario(text);
  refuse_fit(scenario);
  return scenario;
}

std::vector<Scenario> named_scenarios(const po::variables_map& values) {
  const Words texts = values.count("on") ? values["on"].as<Words>() : Words{};
  std::vector<Scenario> scenarios;
  std::set<std::string> names;
  for (const std::string& text : texts) {
    scenarios.push_back(named_scenario(text));
    if (!names.insert(scenarios.back().name).second) {
      throw UsageError(fmt::format("--on: two scenarios are called '{}'; set name= for one of them",
                                   scenarios.back().name));
    }
  }
  return scenarios;
}

std::vector<std::string> input_files(const std::string& archive,
                                     const std::vector<Scenario>& scenarios) {
  constexpr std::string_view kNetwork = "network=";
  std::vector<std::string> files = {archive};
  for (const Scenario& scenario : scenarios) {
    files.push_back(scenario.platform_file);
    files.push_back(scenario.placement.file);
    for (const std::string& change : scenario.changes)
      if (change.starts_with(kNetwork)) files.push_back(change.substr(kNetwork.size()));
  }
  std::erase_if(files, [](const std::string& file) { return file.empty(); });
  return files;
}

KeptInScenario kept_in(const Scenario& scenario, const ReplayOptions& options,
                       const TraceDefinitions& trace) {
  const KeptLosses losses = kept_losses(scenario, options.keep_stolen);
  KeptInScenario kept;
  if (scenario.basis == Basis::kMeasured) kept.overhead = options.subtracted(trace.overhead);
  kept.flushes = losses.flushes;
  kept.stolen = losses.stolen;
  return kept;
}

std::string text_of(const po::variables_map& values, const std::string& name) {
  return values.count(name) ? values[name].as<std::string>() : "";
}

}  // namespace rubato
