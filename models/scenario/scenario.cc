#include "models/scenario/scenario.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "models/base/error.h"
#include "models/platform/loggps.h"
#include "models/platform/platform_file.h"
#include "models/platform/platform_presets.h"
#include "models/scenario/scenario_keys.h"

namespace rubato {
namespace {

/// A machine without a file. `make` takes the parameters of the model out of the changes.
struct Machine {
  const char* name;
  Basis basis;
  Platform (*make)(const std::string& text, std::vector<Change>& changes);
};

/// Removes the model's parameters from the changes.
LogGps take_loggps(const std::string& text, std::vector<Change>& changes) {
  LogGps machine;
  std::erase_if(changes, [&](const Change& change) {
    try {
      return change.operation == '=' && machine.set(change.key, change.value);
    } catch (const InputError& error) {
      refuse(text, error.what());
    }
  });
  return machine;
}

Platform no_platform(const std::string&, std::vector<Change>&) {
  return {};
}

constexpr std::array<Machine, 5> kMachines = {{
    {"measured", Basis::kMeasured, no_platform},
    {"undisturbed", Basis::kUndisturbed, no_platform},
    {"perfect", Basis::kModel,
     [](const std::string&, std::vector<Change>&) { return perfect_platform(); }},
    {"bandela", Basis::kModel,
     [](const std::string&, std::vector<Change>&) {
       return bandela_platform(0, std::numeric_limits<double>::infinity());
     }},
    {"loggps", Basis::kModel,
     [](const std::string& text, std::vector<Change>& changes) {
       return loggps_platform(take_loggps(text, changes));
     }},
}};

/// Reports that there is neither a platform file nor a preset of this name.
[[noreturn]] void refuse_base(const std::string& text, const std::string& base,
                              const std::string& presets) {
  std::vector<std::string> names = machine_names();
  names.insert(names.begin() + 2, "undisturbed:local");
  const std::vector<std::string> known = preset_names(presets);
  names.insert(names.end(), known.begin(), known.end());
  // "infiniband-hdr,ppn=1"
  const size_t comma = base.find(',');
  const std::string first = base.substr(0, comma);
  std::error_code ignored;
  if (comma != std::string::npos && (std::find(names.begin(), names.end(), first) != names.end() ||
                                     std::filesystem::is_regular_file(first, ignored))) {
    refuse(text, "changes stand behind a ':'; did you mean '" + first + ":" +
                     text.substr(comma + 1) + "'?");
  }
  throw InputError(
      "scenario '" + text + "': there is no platform file '" + base + "'" +
      did_you_mean(base, names) +
      "; name one, or use measured, undisturbed, perfect, "
      "bandela:latency=...,bandwidth=..., loggps:L=...,o=...,g=...,G=...,S=..." +
      (known.empty() ? "" : " or a preset of " + presets + " (see 'rubato platforms')"));
}

/// `text` without blanks at its ends.
std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

Change parse_change(const std::string& scenario, const std::string& word) {
  const size_t at = word.find_first_of("=*/");
  if (at == std::string::npos || at == 0 || at + 1 == word.size()) {
    refuse(scenario, "'" + word + "' is not a change; write key=value, key*factor or key/factor");
  }
  return {trimmed(word.substr(0, at)), word[at], trimmed(word.substr(at + 1))};
}

/// Splits "BASE:changes". A colon inside a path that exists is part of the path.
std::pair<std::string, std::string> split_base(const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return {text, ""};
  for (size_t colon = text.find(':'); colon != std::string::npos;
       colon = text.find(':', colon + 1)) {
    const std::string base = text.substr(0, colon);
    if (std::filesystem::is_regular_file(base, ignored)) return {base, text.substr(colon + 1)};
  }
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

/// True for region=NAME of a C++ function, cut at a comma inside of it: its factor is missing.
bool is_cut_name(const std::string& word) {
  if (!word.starts_with("region=") || word.find_first_of("(<") == std::string::npos ||
      word.ends_with("=mean"))
    return false;
  const size_t last = word.find_last_of("*/");
  return last == std::string::npos || last + 1 == word.size() ||
         word.find_first_not_of("0123456789.e+-", last + 1) != std::string::npos;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  size_t begin = 0;
  while (begin <= text.size() && !text.empty()) {
    size_t comma = std::min(text.find(',', begin), text.size());
    while (comma < text.size() && is_cut_name(text.substr(begin, comma - begin)))
      comma = std::min(text.find(',', comma + 1), text.size());
    words.push_back(trimmed(text.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return words;
}

/// apply_change(); an error in the change is a usage error.
void apply_checked(Scenario& scenario, const std::string& text, Change change,
                   const std::string& presets) {
  // Bandela's formula applies to all messages, including messages of a rank to itself.
  const bool everywhere =
      scenario.base == "bandela" && (change.key == "latency" || change.key == "bandwidth");
  try {
    apply_change(scenario, text, change, presets);
    if (everywhere) {
      change.key = "self." + change.key;
      apply_change(scenario, text, change, presets);
    }
  } catch (const InputError& error) {
    // The file is bad, not the command line.
    if (change.key == "placement" || change.key == "network")
      throw InputError("scenario '" + text + "': " + error.what());
    refuse(text, error.what());
  }
}

/// Refuses dr=fit if a later change took the network model away that has this ratio.
void refuse_lost_fit(const Scenario& scenario, const std::string& text) {
  if (scenario.fits_degradation && !scenario.platform.contention.is("degradation"))
    refuse(text, "dr=fit needs contention by degradation, which a later change replaces");
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const Machine& machine : kMachines) names.push_back(machine.name);
  return names;
}

bool is_recording(const Scenario& scenario) {
  return scenario.basis == Basis::kMeasured && scenario.cpu == 1 && scenario.processors.empty() &&
         scenario.functions.empty();
}

std::string scenario_text(const std::string& base, const std::vector<std::string>& changes) {
  std::string text = base;
  char separator = ':';
  for (const std::string& change : changes) {
    if (change.starts_with("name=")) continue;
    text += separator + change;
    separator = ',';
  }
  return text;
}

Platform perfect_platform() {
  Platform platform;
  platform.name = "perfect";
  LevelModel free;
  free.gap = TransferCurve();
  platform.levels.fill(free);
  platform.level(Level::kSocket).reset();  // priced as node
  platform.collectives.pricing = CollectivePricing::kPerfect;
  return platform;
}

Platform bandela_platform(double latency, double bandwidth) {
  Platform platform;
  platform.name = "bandela";
  LevelModel level;
  level.transfer = TransferCurve::hockney(latency, bandwidth);
  level.gap = TransferCurve();
  platform.levels.fill(level);
  platform.level(Level::kSocket).reset();  // priced as node
  return platform;
}

double Scenario::processor_factor(int rank, int node) const {
  double factor = 1;
  for (const ProcessorChange& change : processors) {
    const int number = change.nodes ? node : rank;
    if (number >= change.first && number <= change.last) factor *= change.factor;
  }
  return factor;
}

Scenario parse_scenario(const std::string& text, const std::string& presets) {
  const auto [base, words] = split_base(text);
  std::vector<Change> changes;
  Scenario scenario;
  scenario.base = base;
  scenario.changes = split_words(words);
  for (const std::string& word : scenario.changes) {
    if (base == "undisturbed" && word == "local") {
      scenario.local = true;
    } else {
      changes.push_back(parse_change(text, word));
    }
  }
  scenario.name = text;
  const auto machine = std::find_if(kMachines.begin(), kMachines.end(),
                                    [&](const Machine& each) { return base == each.name; });
  if (machine != kMachines.end()) {
    scenario.basis = machine->basis;
    scenario.platform = machine->make(text, changes);
  } else {
    std::error_code ignored;
    const bool is_file = std::filesystem::exists(base, ignored);
    const std::string path = is_file ? base : preset_path(presets, base);
    if (path.empty()) refuse_base(text, base, presets);
    scenario.platform = load_platform(path);
    scenario.platform_file = path;
  }
  for (const Change& change : changes) {
    refuse_idle(scenario, text, change);
    apply_checked(scenario, text, change, presets);
  }
  refuse_idle_algorithms(scenario, text, changes);
  refuse_lost_fit(scenario, text);
  return scenario;
}

void refuse_idle_change(const Scenario& scenario, const std::string& change) {
  refuse_idle(scenario, scenario.name, parse_change(scenario.name, change));
}

bool has_effect(const Scenario& scenario, const std::string& change) {
  try {
    refuse_idle_change(scenario, change);
  } catch (const UsageError&) {
    return false;
  }
  return true;
}

Scenario changed(const Scenario& scenario, const std::string& change) {
  Scenario other = scenario;
  apply_checked(other, scenario.name, parse_change(scenario.name, change), "");
  other.changes.push_back(change);
  return other;
}

std::string change_by(const std::string& key, char operation, double factor) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), factor).ptr;
  return key + operation + std::string(digits.data(), end);
}

}  // namespace rubato
