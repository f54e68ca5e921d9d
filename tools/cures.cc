#include "tools/cures.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "tools/caveats.h"
#include "tools/efficiency.h"
#include "tools/other_rows.h"

namespace rubato {
namespace {

constexpr double kLeastSaving = 0.01;  ///< of the elapsed time

/// `word` as a shell takes it: in quotes where it needs them.
std::string shell_word(const std::string& word) {
  const char* const harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+%@";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// What the user called the archive: its directory, where the anchor file has its usual name.
std::string archive_of(const TraceSummary& trace) {
  const std::filesystem::path path = trace.path;
  if (path.filename() != "traces.otf2" || !path.has_parent_path()) return shell_word(trace.path);
  return shell_word(path.parent_path().string());
}

std::string replay_command(const Results& results, const std::string& scenarios) {
  return fmt::format("rubato replay {} {}", archive_of(results.trace), scenarios);
}

/// The first scenario with a platform, its own machine's before others; nullptr without one.
const ScenarioResult* platform_of(const Results& results) {
  const ScenarioResult* first = nullptr;
  for (const ScenarioResult& scenario : results.scenarios) {
    if (!scenario.deadlock.empty() || scenario.from_recording || scenario.base == "perfect")
      continue;
    if (scenario.own_machine) return &scenario;
    if (!first) first = &scenario;
  }
  return first;
}

/// Latency against bandwidth on the platform of the run; a known network where it has none.
std::string network_command(const Results& results) {
  const ScenarioResult* platform = platform_of(results);
  if (!platform) {
    const bool one_node = results.trace.nodes == 1;
    return replay_command(results, fmt::format("--on infiniband-hdr{}", one_node ? ":ppn=1" : ""));
  }
  std::string changed = platform->base;
  char separator = ':';
  for (const std::string& change : platform->changes) {
    if (change.starts_with("name=")) continue;
    changed += separator + change;
    separator = ',';
  }
  return replay_command(
      results, fmt::format("--on {} --on {}", shell_word(changed + separator + "latency/2"),
                           shell_word(changed + separator + "bandwidth*2")));
}

}  // namespace

std::vector<Cure> cures(const Results& results) {
  const ScenarioResult* scenario = run_of_interest(results);
  if (!scenario) return {};
  const std::optional<Efficiency> e = efficiency(results, *scenario);
  if (!e) return {};
  std::vector<Cure> found;
  const auto add = [&](const std::string& what, double factor, const std::string& command) {
    if (1 - factor >= kLeastSaving)
      found.push_back({what, (1 - factor) * scenario->elapsed, command});
  };
  add("messages that cost nothing", e->transfer, network_command(results));
  add("equal work on all ranks", e->load_balance,
      replay_command(results, fmt::format("--on {}", shell_word(fmt::format(
                                                         "{}:rank{}.cpu*{:.2f}", scenario->base,
                                                         e->busiest, 1 / e->load_balance)))));
  add("no rank that waits for its turn", e->serialisation, "");
  std::stable_sort(found.begin(), found.end(),
                   [](const Cure& a, const Cure& b) { return a.seconds > b.seconds; });
  return found;
}

std::vector<std::string> next_commands(const Results& results) {
  std::vector<std::string> commands;
  for (const Cure& cure : cures(results)) {
    if (!cure.command.empty()) commands.push_back(cure.command);
  }
  return commands;
}

std::vector<std::string> verdict(const Results& results) {
  std::vector<std::string> lines;
  for (const std::string& line : {efficiency_line(results), headline(results)}) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace rubato
