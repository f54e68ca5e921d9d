#include "tools/analysis/cures.h"

#include <fmt/core.h>

#include <algorithm>

#include "models/base/error.h"
#include "models/base/shell_quoted.h"
#include "models/scenario/scenario.h"
#include "tools/analysis/caveats.h"
#include "tools/analysis/efficiency.h"
#include "tools/analysis/lost_cores.h"
#include "tools/analysis/other_rows.h"
#include "tools/cli/install_paths.h"
#include "tools/options/replay_command.h"

namespace rubato {
namespace {

constexpr double kLeastGain = 0.01;  ///< of the elapsed time

/// The scenario with a platform of the archive's own machine, else the first with a platform;
/// nullptr without one.
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

/// A command that compares latency and bandwidth on the platform of the run, or on a built-in
/// network if there is none.
std::string network_command(const Results& results) {
  std::string scenarios;
  if (const ScenarioResult* platform = platform_of(results)) {
    const auto acts = [&](const char* change) {
      try {
        return has_effect(
            parse_scenario(scenario_text(platform->base, platform->changes), platforms_dir()),
            change);
      } catch (const InputError&) {
        return true;  // the platform file was removed
      }
    };
    for (const char* change : {"latency/2", "bandwidth*2"}) {
      if (!acts(change)) continue;
      std::vector<std::string> changes = platform->changes;
      changes.emplace_back(change);
      scenarios += fmt::format("{}--on {}", scenarios.empty() ? "" : " ",
                               shell_quoted(scenario_text(platform->base, changes)));
    }
  }
  if (scenarios.empty())
    scenarios = results.trace.nodes == 1 ? "--on infiniband-hdr:ppn=1" : "--on infiniband-hdr";
  return ask_again("replay", results, scenarios);
}

/// What `perfect` assumes to be free.
std::string costless_transfer(const Results& results, const ScenarioResult& scenario) {
  if (!communicates(results)) return "free tracing";
  return scenario.name == "measured" ? "free messages and tracing" : "free messages";
}

/// The cure that corresponds to a serialisation efficiency of 1.
std::string parallelised(Serialiser serialiser) {
  switch (serialiser) {
    case Serialiser::kKeptCalls:
      return "free kept calls";
    case Serialiser::kApart:
      return "ranks that begin and end together";
    case Serialiser::kTurns:
      break;
  }
  return "no dependency chains between ranks";
}

/// A command that separates tracing from messages, or latency from bandwidth; "" without
/// communication.
std::string transfer_command(const Results& results, const ScenarioResult& scenario) {
  if (is_most_recording(scenario, *scenario_named(results, "perfect")))
    return ask_again("replay", results, "--on undisturbed");
  return communicates(results) ? network_command(results) : "";
}

}  // namespace

std::vector<Cure> cures(const Results& results) {
  const ScenarioResult* scenario = run_of_interest(results);
  if (!scenario) return {};
  const std::optional<Efficiency> e = efficiency(results, *scenario);
  if (!e) return {};
  std::vector<Cure> found;
  const auto add = [&](const std::string& what, double factor, const std::string& command) {
    if (1 - factor >= kLeastGain)
      found.push_back({what, (1 - factor) * scenario->elapsed, command});
  };
  add(costless_transfer(results, *scenario), e->transfer, transfer_command(results, *scenario));
  add("equal work on all ranks", e->load_balance,
      ask_again(
          "replay", results,
          fmt::format("--on {}", shell_quoted(fmt::format("{}:rank{}.cpu*{:.2f}", scenario->base,
                                                          e->busiest, 1 / e->load_balance)))));
  add(parallelised(serialiser_of(results, *e)), e->serialisation, "");
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
  // If ranks lacked cores, the line of factors refers to the headline.
  std::vector<std::string> both = {efficiency_line(results), headline(results)};
  if (lacks_cores(results)) std::swap(both[0], both[1]);
  for (const std::string& line : both) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace rubato
