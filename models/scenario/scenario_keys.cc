#include "models/scenario/scenario_keys.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string_view>

#include "models/base/error.h"
#include "models/base/units.h"
#include "models/platform/level_curves.h"
#include "models/platform/platform_file.h"
#include "models/platform/platform_presets.h"
#include "models/scenario/level_changes.h"
#include "models/scenario/placement_changes.h"

namespace rubato {
namespace {

/// Factors, and the product of all factors of one kind, are from 10^-9 to 10^9.
constexpr double kMostFactor = 1e9;
constexpr std::string_view kMean = "=mean";

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
Change without_fit(Scenario& scenario, const std::string& text, Change change) {
  const bool is_ratio = change.key == "dr" || change.key == "contention.dr" ||
                        change.key == "contention.degradation_ratio";
  if (is_ratio && change.operation != '=' && scenario.fits_degradation)
    refuse(text, "a ratio that is fitted cannot be scaled");
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

/// region=solve*0.5, region=solve=mean
void change_function(Scenario& scenario, const std::string& text, const Change& change) {
  if (change.operation == '=' && change.value.ends_with(kMean) &&
      change.value.size() > kMean.size()) {
    const size_t length = change.value.size() - kMean.size();
    return scenario.functions.push_back({change.value.substr(0, length), 1, true});
  }
  // Names of functions may hold these signs: the last one is the operator.
  const size_t at = change.value.find_last_of("*/");
  if (change.operation != '=' || at == std::string::npos || at == 0 ||
      at + 1 == change.value.size()) {
    refuse(text,
           "write region=FUNCTION*FACTOR, as in region=solve*0.5: half the time, or "
           "region=FUNCTION=mean: equal time on all ranks");
  }
  const Change factor{"region=" + change.value.substr(0, at), change.value[at],
                      change.value.substr(at + 1)};
  scenario.functions.push_back({change.value.substr(0, at), parse_factor(text, factor)});
}

// --- Rows ---

using Names = std::vector<std::string>;

/// "cpu=1.5" is "cpu*1.5".
Change as_factor(Change change) {
  if (change.operation == '=') change.operation = '*';
  return change;
}

void set_name(Scenario& scenario, const std::string& text, const Change& change,
              const std::string&) {
  if (change.operation != '=') refuse(text, "write name=TEXT");
  // Reports identify scenarios by these names.
  if (change.value == "measured" || change.value == "undisturbed" || change.value == "perfect")
    refuse(text, "the name " + change.value + " belongs to the scenario without changes");
  scenario.name = change.value;
}

void change_cpu(Scenario& scenario, const std::string& text, const Change& change,
                const std::string&) {
  scenario.cpu = multiplied(text, scenario.cpu, parse_factor(text, as_factor(change)));
}

void change_processors(Scenario& scenario, const std::string& text, const Change& change,
                       const std::string&) {
  scenario.processors.push_back(*parse_processors(change.key));
  scenario.processors.back().factor = parse_factor(text, as_factor(change));
}

Names level_keys() {
  Names names = {"latency", "bandwidth", "overhead"};
  for (const char* level : kLevelNames) {
    for (const char* what : {".latency", ".bandwidth", ".overhead"})
      names.push_back(std::string(level) + what);
  }
  return names;
}

constexpr ScenarioKey kRows[] = {
    {"latency*0.5, node.bandwidth*2", "of all levels but self, or one; overhead", false, level_keys,
     nullptr,
     [](Scenario& scenario, const std::string& text, const Change& change, const std::string&) {
       change_network(scenario, text, change);
     }},
    {"cpu*1.5", "processors 1.5 times as fast", true, [] { return Names{"cpu"}; }, nullptr,
     change_cpu},
    {"rank3.cpu*2, node0-1.cpu*2", "some of them", true,
     [] {
       return Names{"rank0.cpu", "node0.cpu"};
     },
     [](const std::string& key) { return parse_processors(key).has_value(); }, change_processors},
    {"region=solve*0.5", "a function in half the time; =mean: balanced", true,
     [] { return Names{"region"}; }, nullptr,
     [](Scenario& scenario, const std::string& text, const Change& change, const std::string&) {
       change_function(scenario, text, change);
     }},
    {"ppn=4", "ranks per node; sockets=2: sockets per node", false,
     [] {
       return Names{"ppn", "sockets"};
     },
     nullptr,
     [](Scenario& scenario, const std::string& text, const Change& change, const std::string&) {
       change_placement(scenario.placement, text, change);
     }},
    {"placement=roundrobin:2", "or block:4, random:SEED, file:hosts.txt", false,
     [] { return Names{"placement"}; }, nullptr,
     [](Scenario& scenario, const std::string& text, const Change& change, const std::string&) {
       change_placement(scenario.placement, text, change);
     }},
    {"collectives=openmpi", "or mpich, analytic, algorithm, perfect", false,
     [] { return Names{"collectives"}; }, nullptr,
     [](Scenario& scenario, const std::string& text, const Change& change, const std::string&) {
       change_all_collectives(scenario.platform.collectives, text, change);
     }},
    {"allreduce=ring", "the algorithm of one operation", false,
     [] { return Names(kCollectiveNames.begin(), kCollectiveNames.end()); },
     [](const std::string& key) { return collective_named(key).has_value(); },
     [](Scenario& scenario, const std::string& text, const Change& change, const std::string&) {
       change_collective(scenario, text, change);
     }},
    {"dr=5", "contention: degradation ratio 5; dr=fit", false,
     [] {
       return Names{"contention", "dr"};
     },
     changes_contention,
     [](Scenario& scenario, const std::string& text, const Change& change, const std::string&) {
       change_contention(scenario.platform.contention, text, without_fit(scenario, text, change));
     }},
    {"network=fat-tree", "a network with a topology", false, [] { return Names{"network"}; },
     nullptr,
     [](Scenario& scenario, const std::string& text, const Change& change,
        const std::string& presets) {
       scenario.platform.contention = named_network(text, change, presets);
     }},
    {"nodes=0-15", "the nodes of the run in it", false, [] { return Names{"nodes"}; }, nullptr,
     [](Scenario& scenario, const std::string& text, const Change& change, const std::string&) {
       change_network_nodes(scenario.placement, scenario.platform.contention, text, change);
     }},
    {"name=TEXT", "the name in reports", true, [] { return Names{"name"}; }, nullptr, set_name},
};

/// The row of a key; null if there is none.
const ScenarioKey* row_of(const std::string& key) {
  for (const ScenarioKey& row : kRows) {
    const Names names = row.names();
    if ((row.also && row.also(key)) || std::find(names.begin(), names.end(), key) != names.end())
      return &row;
  }
  return nullptr;
}

}  // namespace

std::span<const ScenarioKey> scenario_key_rows() {
  return kRows;
}

std::vector<std::string> scenario_keys() {
  Names keys;
  for (const ScenarioKey& row : kRows) {
    for (std::string& name : row.names()) keys.push_back(std::move(name));
  }
  return keys;
}

void apply_change(Scenario& scenario, const std::string& text, const Change& change,
                  const std::string& presets) {
  const ScenarioKey* row = row_of(change.key);
  if (!row) {
    Names keys = scenario_keys();
    if (text.starts_with("loggps")) keys.insert(keys.end(), {"L", "o", "g", "G", "S"});
    refuse(text, "there is no key '" + change.key + "'" + did_you_mean(change.key, keys));
  }
  if (scenario.basis != Basis::kModel && !row->is_for_recording) {
    refuse(text, "durations come from the archive, so only cpu and region can be changed, not '" +
                     change.key + "'");
  }
  row->apply(scenario, text, change, presets);
}

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

}  // namespace rubato
