#include "tools/files/scenario_archives.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "models/base/error.h"
#include "replay/archive/copy/archive_copy.h"
#include "replay/compare/record_times.h"
#include "replay/observe/kept_losses.h"
#include "replay/sources/input_format.h"
#include "replay/study/run_replay.h"

namespace rubato {
namespace {

/// Archive property with the name of the scenario whose times it contains.
constexpr const char* kScenarioProperty = "RUBATO::SCENARIO";
/// Archive properties of the tracing overhead, which predicted times do not contain.
constexpr const char* kOverheadProperties = "RUBATO::OVERHEAD";

/// True if the scenario changes no call of the recording.
bool is_the_recording(const Scenario& scenario) {
  return scenario.basis == Basis::kMeasured && scenario.cpu == 1 && scenario.processors.empty() &&
         scenario.functions.empty();
}

/// By rank: the factor of the own work of calls.
std::vector<double> own_work_factors(const Scenario& scenario, const TraceDefinitions& trace) {
  const Placement placement =
      scenario.placement.place(Placement(trace.node_of_rank, trace.socket_of_rank));
  std::vector<double> factors;
  for (int rank = 0; rank < trace.ranks(); ++rank)
    factors.push_back(1 /
                      (scenario.cpu * scenario.processor_factor(rank, placement.node_of(rank))));
  return factors;
}

}  // namespace

void refuse_other_formats(const std::string& archive) {
  for (const InputFormat* format : input_formats()) {
    if (!format->recognises(archive)) continue;
    if (format != input_formats().back())
      throw InputError(fmt::format("{}: not an OTF2 archive; --otf2 needs one as input", archive));
    return;
  }
}

std::vector<std::string> directory_names(const std::vector<Scenario>& scenarios) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const Scenario& scenario : scenarios) {
    std::string name = scenario.name;
    for (char& c : name) {
      const bool is_safe = std::isalnum(static_cast<unsigned char>(c)) ||
                           std::string_view("._-+=,").find(c) != std::string_view::npos;
      if (!is_safe) c = '_';
    }
    if (name.empty() || name.front() == '.') name.insert(0, "_");
    constexpr size_t kLongest = 200;
    name = name.substr(0, kLongest);
    std::string free = name;
    for (int number = 2; !taken.insert(free).second; ++number)
      free = fmt::format("{}-{}", name, number);
    names.push_back(free);
  }
  return names;
}

void write_scenario_archives(EventSource& source, const std::vector<Scenario>& scenarios,
                             const Results& results, ReplayOptions options,
                             const std::string& directory) {
  const TraceDefinitions& trace = source.definitions();
  options.verify = false;
  options.wait_states = true;
  options.total_functions = false;  // avoids reading all records again for them
  options.repair_records = true;
  const std::vector<std::string> names = directory_names(scenarios);
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (!results.scenarios[i].deadlock.empty()) continue;
    RecordTimes times(trace, is_the_recording(scenarios[i]));
    options.observers = {&times};
    run_replay(source, {scenarios[i]}, options);
    CopyOptions copy;
    copy.ignore_offsets = options.ignore_offsets;
    copy.properties[kScenarioProperty] = scenarios[i].name;
    const KeptLosses kept = kept_losses(scenarios[i], options.keep_stolen);
    copy.without_stolen = !kept.stolen && !options.keep_stolen;
    copy.without_flushes = !kept.flushes;
    copy.own_work = own_work_factors(scenarios[i], trace);
    if (scenarios[i].basis != Basis::kMeasured) copy.without_properties = kOverheadProperties;
    copy_archive(
        trace, [&](int timeline) { return times.times_of(timeline); }, directory + "/" + names[i],
        copy);
  }
}

}  // namespace rubato
