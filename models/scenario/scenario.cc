#include "models/scenario/scenario.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "models/base/error.h"
#include "models/base/units.h"
#include "models/platform/level_curves.h"
#include "models/platform/loggps.h"
#include "models/platform/platform_file.h"
#include "models/platform/platform_presets.h"
#include "models/scenario/level_changes.h"
#include "models/scenario/placement_changes.h"
#include "models/scenario/scenario_change.h"

namespace rubato {
namespace {

/// Reports that there is neither a platform file nor a preset of this name.
[[noreturn]] void refuse_base(const std::string& text, const std::string& base,
                              const std::string& presets) {
  std::vector<std::string> names = {"measured", "undisturbed", "undisturbed:local",
                                    "perfect",  "bandela",     "loggps"};
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

/// Factors, and the product of all factors of one kind, are from 10^-9 to 10^9.
constexpr double kMostFactor = 1e9;

/// `before` times `factor`, checked.
double multiplied(const std::string& scenario, double before, double factor) {
  const double product = before * factor;
  if (!(product >= 1 / kMostFactor && product <= kMostFactor))
    refuse(scenario, "the factors of cpu are together beyond 10^-9 to 10^9");
  return product;
}

double parse_factor(const std::string& scenario, const Change& change) {
  double factor = 0;
  const char* end = change.value.data() + change.value.size();
  const auto result = std::from_chars(change.value.data(), end, factor);
  if (result.ec != std::errc() || result.ptr != end || !(factor > 0) || std::isinf(factor)) {
    refuse(scenario, "'" + change.value + "' is not a factor; write a number above 0, as in " +
                         change.key + "*0.5");
  }
  if (!(factor >= 1 / kMostFactor && factor <= kMostFactor))
    refuse(scenario, "the factor '" + change.value + "' is not from 1e-9 to 1e9");
  return change.operation == '/' ? 1 / factor : factor;
}

Change parse_change(const std::string& scenario, const std::string& word) {
  const size_t at = word.find_first_of("=*/");
  if (at == std::string::npos || at == 0 || at + 1 == word.size()) {
    refuse(scenario, "'" + word + "' is not a change; write key=value, key*factor or key/factor");
  }
  return {word.substr(0, at), word[at], word.substr(at + 1)};
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
  if (!word.starts_with("region=") || word.find_first_of("(<") == std::string::npos) return false;
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
    words.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return words;
}

double parse_latency(const std::string& value) {
  const double seconds = parse_seconds(value);
  if (seconds < 0) throw InputError("'" + value + "' is not a latency: it must not be negative");
  return seconds;
}

/// Latency in the usual sense: one way, including the processors' overheads.
double latency_of(const LevelModel& level) {
  const double transfer = level.transfer.empty() ? 0 : level.transfer(0);
  return transfer + level.send_overhead(0) + level.receive_overhead(0);
}

void change_latency(LevelModel& level, const std::string& scenario, const Change& change) {
  if (level.transfer.empty()) level.transfer = TransferCurve({Segment{}});
  const double latency = latency_of(level);
  const double wanted = change.operation == '=' ? parse_latency(change.value)
                                                : latency * parse_factor(scenario, change);
  add_latency(level, wanted - latency);
}

void change_bandwidth(LevelModel& level, const std::string& scenario, const Change& change) {
  std::function<double(double)> slope;
  if (change.operation == '=') {
    const double per_byte = 1 / parse_bandwidth(change.value);
    slope = [per_byte](double) { return per_byte; };
  } else {
    const double factor = parse_factor(scenario, change);
    slope = [factor](double per_byte) { return per_byte / factor; };
  }
  change_slopes(level, slope);
  // A given bandwidth holds for each direction, whatever the traffic in the other one.
  if (change.operation == '=') level.crossing_delay = TransferCurve();
}

void change_overhead(LevelModel& level, const std::string& scenario, const Change& change) {
  if (change.operation == '=') refuse(scenario, "write " + change.key + "*FACTOR");
  scale_overheads(level, parse_factor(scenario, change));
}

const std::vector<std::string> kKeys = {"latency",
                                        "bandwidth",
                                        "overhead",
                                        "cpu",
                                        "ppn",
                                        "placement",
                                        "nodes",
                                        "sockets",
                                        "region",
                                        "name",
                                        "self.latency",
                                        "self.bandwidth",
                                        "self.overhead",
                                        "socket.latency",
                                        "socket.bandwidth",
                                        "socket.overhead",
                                        "node.latency",
                                        "node.bandwidth",
                                        "node.overhead",
                                        "network.latency",
                                        "network.bandwidth",
                                        "network.overhead",
                                        "collectives",
                                        "contention",
                                        "network",
                                        "dr"};

/// Changes the links of the level's network like its messages: a machine with twice the bandwidth
/// has links with twice the bandwidth. Links defined by the lines of a graph stay.
void change_links(ContentionSetting& network, const std::string& what, double factor) {
  const auto scale = [&](const char* key, double by) {
    const auto found = network.numbers.find(key);
    if (found != network.numbers.end()) found->second *= by;
  };
  if (what == "latency") scale("link_latency", factor);
  if (what != "bandwidth") return;
  for (const char* key :
       {"link_bandwidth", "backbone_bandwidth", "injection_bandwidth", "ejection_bandwidth"})
    scale(key, factor);
}

/// Seconds per byte of the longest messages.
double last_slope(const LevelModel& level) {
  return level.transfer.empty() ? 0 : level.transfer.segments().back().per_byte;
}

/// Applies latency, bandwidth or overhead, for one level or for all but self.
void change_network(Scenario& scenario, const std::string& text, const Change& change) {
  const size_t dot = change.key.find('.');
  const std::string what = dot == std::string::npos ? change.key : change.key.substr(dot + 1);
  // If the platform has no level socket, a change of it creates one from the level node.
  if (dot != std::string::npos && change.key.substr(0, dot) == "socket") {
    auto& socket = scenario.platform.level(Level::kSocket);
    if (!socket) {
      scenario.platform.contention = scenario.platform.contended();
      socket = scenario.platform.level(Level::kNode);
    }
  }
  bool any = false;
  for (int i = 0; i < kLevels; ++i) {
    const bool named = dot != std::string::npos && change.key.substr(0, dot) == kLevelNames[i];
    const bool all = dot == std::string::npos && i != static_cast<int>(Level::kSelf);
    if ((!named && !all) || !scenario.platform.levels[i]) continue;
    any = true;
    scenario.changed_levels[i] = true;
    LevelModel& level = *scenario.platform.levels[i];
    const double slope = last_slope(level);
    if (what == "latency") change_latency(level, text, change);
    if (what == "bandwidth") change_bandwidth(level, text, change);
    if (what == "overhead") change_overhead(level, text, change);
    ContentionSetting& network = scenario.platform.contention;
    if (!network.model || !network.levels[static_cast<size_t>(i)]) continue;
    if (what == "bandwidth" && slope > 0 && last_slope(level) > 0)
      change_links(network, what, slope / last_slope(level));
    if (what == "latency" && change.operation != '=')
      change_links(network, what, parse_factor(text, change));
  }
  if (!any) refuse(text, "'" + change.key + "' changes a level that the platform does not have");
}

bool is_above_zero(const TransferCurve& curve) {
  return std::any_of(curve.segments().begin(), curve.segments().end(), [](const Segment& segment) {
    return segment.intercept != 0 || segment.per_byte != 0;
  });
}

bool grows(const TransferCurve& curve) {
  return std::any_of(curve.segments().begin(), curve.segments().end(),
                     [](const Segment& segment) { return segment.per_byte != 0; });
}

/// True if a level has a latency, a bandwidth or an overhead that a factor would change.
bool has_any(const LevelModel& level, const std::string& what) {
  if (what == "latency") return latency_of(level) > 0;
  const ScaledBy by = what == "bandwidth" ? ScaledBy::kBandwidth : ScaledBy::kOverhead;
  const auto curves = level_curves();
  return std::any_of(curves.begin(), curves.end(), [&](const LevelCurve& curve) {
    const TransferCurve* found = curve.scaled_by == by ? curve.find(level) : nullptr;
    return found && (by == ScaledBy::kBandwidth ? grows(*found) : is_above_zero(*found));
  });
}

/// Refuses a factor on a quantity that the machine does not have: it would change nothing.
void refuse_idle(const Scenario& scenario, const std::string& text, const Change& change) {
  const size_t dot = change.key.find('.');
  const std::string what = dot == std::string::npos ? change.key : change.key.substr(dot + 1);
  if (scenario.basis != Basis::kModel || change.operation == '=' ||
      (what != "latency" && what != "bandwidth" && what != "overhead"))
    return;
  parse_factor(text, change);  // refuses an invalid factor
  bool any = false;
  for (int i = 0; i < kLevels; ++i) {
    const bool named = dot != std::string::npos && change.key.substr(0, dot) == kLevelNames[i];
    const bool all = dot == std::string::npos && i != static_cast<int>(Level::kSelf);
    const auto& level = scenario.platform.priced_by(static_cast<Level>(i));
    if ((!named && !all) || !level) continue;
    if (has_any(*level, what)) return;
    any = true;
  }
  if (!any) return;  // change_network() reports it
  const std::string set = what == "latency"     ? "; set one with " + change.key + "=1us"
                          : what == "bandwidth" ? "; set one with " + change.key + "=10GB/s"
                                                : "";
  refuse(text, "'" + change.key + change.operation + change.value +
                   "' changes nothing: the machine has no " + what + set);
}

/// Refuses an algorithm if collectives cost only their synchronisation.
void refuse_idle_algorithms(const Scenario& scenario, const std::string& text,
                            const std::vector<Change>& changes) {
  if (scenario.basis != Basis::kModel ||
      scenario.platform.collectives.pricing != CollectivePricing::kPerfect)
    return;
  const auto& presets = kCollectivePresetNames;
  for (const Change& change : changes) {
    const bool is_preset = change.key == "collectives" &&
                           std::find(presets.begin(), presets.end(), change.value) != presets.end();
    const bool is_algorithm =
        collective_named(change.key) && change.value != kCollectivePricingNames[2];
    if (is_preset || is_algorithm) {
      refuse(text, "'" + change.key + "=" + change.value +
                       "' changes nothing: collectives cost nothing on this machine; add "
                       "collectives=algorithm");
    }
  }
}

/// collectives=mpich|openmpi|perfect|algorithm|analytic
void change_all_collectives(CollectiveModel& model, const std::string& text, const Change& change) {
  const auto& presets = kCollectivePresetNames;
  const auto preset = std::find(presets.begin(), presets.end(), change.value);
  const auto& pricings = kCollectivePricingNames;
  const auto pricing = std::find(pricings.begin(), pricings.end(), change.value);
  if (change.operation == '=' && preset != presets.end()) {
    // A library named in the scenario overrides the platform file.
    model.preset = static_cast<CollectivePreset>(preset - presets.begin());
    for (OperationModel& operation : model.operations) {
      operation.rules.clear();
      operation.formula.clear();
    }
  } else if (change.operation == '=' && pricing != pricings.end()) {
    model.pricing = static_cast<CollectivePricing>(pricing - pricings.begin());
  } else {
    std::vector<std::string> words(presets.begin(), presets.end());
    words.insert(words.end(), pricings.begin(), pricings.end());
    refuse(text, "write collectives=WORD with one of " + quoted_list(words));
  }
}

/// True for contention, contention.KEY and the short names of such keys.
bool changes_contention(const std::string& key) {
  if (key == "contention" || key.starts_with("contention.")) return true;
  return std::any_of(network_models().begin(), network_models().end(),
                     [&](const NetworkModel* model) {
                       const NetworkKey* found = model->key(key);
                       return found && found->short_name == key;
                     });
}

/// Notes dr=fit in `scenario` and returns the change with the initial ratio of the search.
Change without_fit(Scenario& scenario, Change change) {
  const bool is_ratio = change.key == "dr" || change.key == "contention.dr" ||
                        change.key == "contention.degradation_ratio";
  const bool fits = is_ratio && change.operation == '=' && change.value == "fit";
  if (is_ratio || change.key == "contention") scenario.fits_degradation = fits;
  if (fits) change.value = "1";
  return change;
}

/// contention=MODEL or none; contention.KEY=VALUE, *FACTOR or /FACTOR; short names such as dr
void change_contention(ContentionSetting& setting, const std::string& text, const Change& change) {
  if (change.key == "contention") {
    const NetworkModel* model = network_model(change.value);
    if (change.operation != '=' || (!model && change.value != "none")) {
      std::vector<std::string> names = {"none"};
      for (const NetworkModel* each : network_models()) names.push_back(each->name);
      refuse(text, "write contention=MODEL with one of " + quoted_list(names) +
                       "; contention.KEY=NUMBER sets a key of one");
    }
    setting.set_model(model);
    return;
  }
  const std::string prefix = "contention.";
  const std::string name =
      change.key.starts_with(prefix) ? change.key.substr(prefix.size()) : change.key;
  const NetworkModel* owner = setting.model && setting.model->key(name) ? setting.model : nullptr;
  std::vector<std::string> names;
  for (const NetworkModel* model : network_models()) {
    for (const NetworkKey& key : model->keys) names.push_back(prefix + key.name);
    // A value for a key switches its model on.
    if (!owner && change.operation == '=' && model->key(name)) owner = model;
  }
  if (!owner) {
    refuse(text, change.operation == '='
                     ? "there is no key '" + change.key + "'" + did_you_mean(change.key, names)
                     : "the platform has no " + change.key + " to change; write " + change.key +
                           "=NUMBER");
  }
  const NetworkKey& key = *owner->key(name);
  setting.set_model(owner);
  if (change.operation == '=') {
    try {
      setting.set(key, change.value);
    } catch (const InputError& error) {
      refuse(text, change.key + ": " + error.what());
    }
    return;
  }
  if (!key.is_number())
    refuse(text, change.key + " is no number to change; write " + change.key + "=");
  const auto before = setting.number(key.name);
  if (!before) refuse(text, "there is no limit to change; write " + change.key + "=NUMBER");
  double value = *before * parse_factor(text, change);
  if (key.kind == NetworkKey::Kind::kCount) value = std::max(1.0, std::round(value));
  try {
    setting.set(key, format_network_number(key, value));
  } catch (const InputError& error) {
    refuse(text, change.key + ": " + error.what());
  }
}

/// allreduce=ring, for all sizes and numbers of processes; allreduce=perfect.
void change_collective(Scenario& scenario, const std::string& text, const Change& change) {
  if (change.operation != '=') refuse(text, "write " + change.key + "=ALGORITHM");
  const CollectiveOp op = *collective_named(change.key);
  OperationModel& operation = scenario.platform.collectives.of(op);
  operation.perfect = change.value == kCollectivePricingNames[2];
  if (operation.perfect) {
    scenario.changed_collectives.push_back(op);
    return;
  }
  AlgorithmRule everywhere;
  everywhere.choice.algorithm = algorithm_named(op, change.value);
  scenario.changed_collectives.push_back(op);
  operation.rules = {everywhere};
  operation.formula.clear();
}

/// "rank3.cpu", "node0-1.cpu": the processors that a key names; nothing for other keys.
std::optional<ProcessorChange> parse_processors(const std::string& key) {
  const size_t dot = key.find(".cpu");
  if (dot == std::string::npos || dot + 4 != key.size() || dot < 5) return {};
  ProcessorChange change;
  change.nodes = key.compare(0, 4, "node") == 0;
  if (!change.nodes && key.compare(0, 4, "rank") != 0) return {};
  const std::string range = key.substr(4, dot - 4);
  const size_t dash = range.find('-');
  change.first = parse_count(range.substr(0, dash));
  change.last = dash == std::string::npos ? change.first : parse_count(range.substr(dash + 1));
  if (change.first < 0 || change.last < change.first) return {};
  return change;
}

/// network=FILE or a name in share/networks, a directory beside `presets`.
ContentionSetting named_network(const std::string& text, const Change& change,
                                const std::string& presets) {
  if (change.operation != '=') refuse(text, "write network=FILE");
  const std::filesystem::path networks = std::filesystem::path(presets).parent_path() / "networks";
  std::error_code ignored;
  std::string path = change.value;
  if (!std::filesystem::exists(path, ignored)) path = preset_path(networks.string(), change.value);
  if (path.ends_with(".xml")) {
    ContentionSetting setting;
    setting.set_model(network_model("simgrid"));
    setting.set(*setting.model->key("file"), path);
    return setting;
  }
  if (!path.empty()) return load_network(path);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(networks, ignored))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  refuse(text, "there is no network '" + change.value + "'" + did_you_mean(change.value, names) +
                   "; write network=FILE, or one of " + quoted_list(names));
}

/// region=solve*0.5
void change_function(Scenario& scenario, const std::string& text, const Change& change) {
  // Names of functions may hold these signs: the last one is the operator.
  const size_t at = change.value.find_last_of("*/");
  if (change.operation != '=' || at == std::string::npos || at == 0 ||
      at + 1 == change.value.size()) {
    refuse(text, "write region=FUNCTION*FACTOR, as in region=solve*0.5: half the time");
  }
  const Change factor{"region=" + change.value.substr(0, at), change.value[at],
                      change.value.substr(at + 1)};
  scenario.functions.push_back({change.value.substr(0, at), parse_factor(text, factor)});
}

void apply(Scenario& scenario, const std::string& text, const Change& change,
           const std::string& presets) {
  const std::optional<ProcessorChange> processors = parse_processors(change.key);
  const bool is_operation = collective_named(change.key).has_value();
  if (!is_operation && !processors && !changes_contention(change.key) &&
      std::find(kKeys.begin(), kKeys.end(), change.key) == kKeys.end()) {
    std::vector<std::string> keys = scenario_keys();
    keys.insert(keys.end(), {"rank0.cpu", "node0.cpu"});
    if (text.starts_with("loggps")) keys.insert(keys.end(), {"L", "o", "g", "G", "S"});
    refuse(text, "there is no key '" + change.key + "'" + did_you_mean(change.key, keys));
  }
  if (change.key == "name") {
    if (change.operation != '=') refuse(text, "write name=TEXT");
    // Reports identify scenarios by these names.
    if (change.value == "measured" || change.value == "undisturbed" || change.value == "perfect")
      refuse(text, "the name " + change.value + " belongs to the scenario without changes");
    scenario.name = change.value;
  } else if (change.key == "cpu") {
    Change factor = change;
    if (factor.operation == '=') factor.operation = '*';
    scenario.cpu = multiplied(text, scenario.cpu, parse_factor(text, factor));
  } else if (processors) {
    Change factor = change;
    if (factor.operation == '=') factor.operation = '*';
    scenario.processors.push_back(*processors);
    scenario.processors.back().factor = parse_factor(text, factor);
  } else if (change.key == "region") {
    change_function(scenario, text, change);
  } else if (scenario.basis != Basis::kModel) {
    refuse(text, "durations come from the archive, so only cpu and region can be changed, not '" +
                     change.key + "'");
  } else if (change.key == "ppn" || change.key == "placement" || change.key == "sockets") {
    change_placement(scenario.placement, text, change);
  } else if (change.key == "nodes") {
    change_network_nodes(scenario.placement, scenario.platform.contention, text, change);
  } else if (is_operation) {
    change_collective(scenario, text, change);
  } else if (changes_contention(change.key)) {
    change_contention(scenario.platform.contention, text, without_fit(scenario, change));
  } else if (change.key == "network") {
    scenario.platform.contention = named_network(text, change, presets);
  } else if (change.key == "collectives") {
    change_all_collectives(scenario.platform.collectives, text, change);
  } else {
    change_network(scenario, text, change);
  }
}

/// The same; an error in the change is a usage error.
void apply_checked(Scenario& scenario, const std::string& text, Change change,
                   const std::string& presets) {
  // Bandela's formula applies to all messages, including messages of a rank to itself.
  const bool everywhere =
      scenario.base == "bandela" && (change.key == "latency" || change.key == "bandwidth");
  try {
    apply(scenario, text, change, presets);
    if (everywhere) {
      change.key = "self." + change.key;
      apply(scenario, text, change, presets);
    }
  } catch (const InputError& error) {
    // The file is bad, not the command line.
    if (change.key == "placement" || change.key == "network")
      throw InputError("scenario '" + text + "': " + error.what());
    refuse(text, error.what());
  }
}

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

}  // namespace

std::vector<std::string> scenario_keys() {
  std::vector<std::string> keys = kKeys;
  for (const char* name : kCollectiveNames) keys.push_back(name);
  return keys;
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
  if (base == "measured") {
    scenario.basis = Basis::kMeasured;
  } else if (base == "undisturbed") {
    scenario.basis = Basis::kUndisturbed;
  } else if (base == "perfect") {
    scenario.platform = perfect_platform();
  } else if (base == "bandela") {
    scenario.platform = bandela_platform(0, std::numeric_limits<double>::infinity());
  } else if (base == "loggps") {
    scenario.platform = loggps_platform(take_loggps(text, changes));
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
