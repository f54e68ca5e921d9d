// Platform files are read here; format_platform.cc writes them.
#include "models/platform/platform_file.h"

#include <toml++/toml.h>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>

#include "models/base/error.h"
#include "models/base/input_file.h"
#include "models/base/number_text.h"
#include "models/base/units.h"
#include "models/platform/curve_falls.h"
#include "models/platform/file_kind.h"
#include "models/platform/level_curves.h"
#include "models/platform/platform_text.h"

namespace rubato {
namespace {

/// One file being read: converts TOML nodes to numbers, and reports errors as file:line messages.
class Reader {
 public:
  explicit Reader(std::string origin) : origin_(std::move(origin)) {}

  [[noreturn]] void fail(const toml::node& node, const std::string& message) const {
    throw InputError(origin_ + ":" + std::to_string(node.source().begin.line) + ": " + message);
  }

  /// A path as seen from the file's folder.
  std::string beside(const std::string& path) const {
    return (std::filesystem::path(origin_).parent_path() / path).string();
  }

  /// Complains about the first key of `table` that is not in `known`.
  void check_keys(const toml::table& table, const std::string& where,
                  const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      throw InputError(origin_ + ":" + std::to_string(key.source().begin.line) + ": " + where +
                       " has no key '" + name + "'" + did_you_mean(name, known));
    }
  }

  const toml::table& table(const toml::node& node, const std::string& what) const {
    if (const toml::table* t = node.as_table()) return *t;
    fail(node, what + " must be a table");
  }

  const toml::array& array(const toml::node& node, const std::string& what) const {
    const toml::array* a = node.as_array();
    if (!a || a->empty()) fail(node, what + " must be a list with at least one entry");
    return *a;
  }

  std::string text(const toml::node& node, const std::string& what) const {
    if (const auto value = node.value<std::string>()) return *value;
    fail(node, what + " must be text in quotes");
  }

  /// A quantity with its unit, by one of the parsers of models/base/units.h.
  double quantity(const toml::node& node, const std::string& what,
                  const std::function<double(const std::string&)>& parse) const {
    const auto value = node.value<std::string>();
    if (!value) fail(node, what + " must be a quantity with its unit in quotes, such as \"1.3us\"");
    try {
      return parse(*value);
    } catch (const InputError& error) {
      fail(node, what + ": " + error.what());
    }
  }

  /// The quantity `key` of an entry, which must have it.
  double required(const toml::table& entry, const char* key, const std::string& where,
                  const std::function<double(const std::string&)>& parse) const {
    const toml::node* node = entry.get(key);
    if (!node) fail(entry, where + " lacks '" + key + "'");
    return quantity(*node, where + " '" + key + "'", parse);
  }

 private:
  std::string origin_;
};

/// The relative error that an entry states, or 0.
double read_uncertainty(const Reader& reader, const toml::table& entry) {
  const toml::node* node = entry.get("uncertainty");
  if (!node) return 0;
  const auto value = node->value<double>();
  if (!value || !(*value >= 0 && *value <= kMostUncertainty))
    reader.fail(*node, "uncertainty must be a number from 0 to 1000");
  return *value;
}

/// The curve of these segments; `node` is their place in the file.
TransferCurve curve_of(const Reader& reader, const toml::node& node, const std::string& what,
                       std::vector<Segment> segments) {
  try {
    return TransferCurve(std::move(segments));
  } catch (const InputError& error) {
    reader.fail(node, what + ": " + error.what());
  }
}

/// A curve given as segments (a list) or as a constant time (text).
TransferCurve read_segments(const Reader& reader, const toml::node& node, const std::string& what) {
  if (node.is_string()) {
    const double seconds = reader.quantity(node, what, parse_seconds);
    if (seconds < 0) reader.fail(node, what + ": a time must not be negative");
    return curve_of(reader, node, what, {Segment{0, seconds, 0, 0}});
  }
  std::vector<Segment> segments;
  for (const toml::node& item : reader.array(node, what)) {
    const toml::table& entry = reader.table(item, "an entry of " + what);
    reader.check_keys(entry, "an entry of " + what,
                      {"from", "latency", "time", "bandwidth", "uncertainty"});
    Segment segment;
    segment.from = reader.required(entry, "from", what, parse_bytes);
    const toml::node* time = entry.get("time");  // at `from`
    if (time && entry.get("latency"))
      reader.fail(*time, "an entry of " + what + " has a 'latency' or a 'time', not both");
    segment.intercept = reader.required(entry, time ? "time" : "latency", what, parse_seconds);
    segment.per_byte = 1 / reader.required(entry, "bandwidth", what, parse_bandwidth);
    if (time && segment.intercept < 0) reader.fail(*time, what + ": a time must not be negative");
    if (time) segment.intercept -= segment.from * segment.per_byte;
    segment.uncertainty = read_uncertainty(reader, entry);
    segments.push_back(segment);
  }
  return curve_of(reader, node, what, std::move(segments));
}

/// A curve given as points: straight lines between them, constant below the first, the last slope
/// on.
TransferCurve read_points(const Reader& reader, const toml::node& node, const std::string& what) {
  std::vector<std::pair<double, double>> points;
  for (const toml::node& item : reader.array(node, what)) {
    const toml::table& entry = reader.table(item, "an entry of " + what);
    reader.check_keys(entry, "an entry of " + what, {"size", "time"});
    points.emplace_back(reader.required(entry, "size", what, parse_bytes),
                        reader.required(entry, "time", what, parse_seconds));
  }
  std::vector<Segment> segments;
  if (points.front().first > 0) segments.push_back({0, points.front().second, 0, 0});
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const auto [n0, t0] = points[i];
    const auto [n1, t1] = points[i + 1];
    if (!(n1 > n0)) reader.fail(node, what + ": sizes must increase");
    const double slope = (t1 - t0) / (n1 - n0);
    segments.push_back({n0, t0 - n0 * slope, slope, 0});
  }
  if (points.size() == 1) segments.assign(1, {0, points.front().second, 0, 0});
  return curve_of(reader, node, what, std::move(segments));
}

std::vector<ProtocolSegment> read_protocols(const Reader& reader, const toml::node& node,
                                            const std::string& what) {
  std::vector<ProtocolSegment> protocols;
  for (const toml::node& item : reader.array(node, what)) {
    const toml::table& entry = reader.table(item, "an entry of " + what);
    reader.check_keys(entry, "an entry of " + what, {"from", "kind"});
    ProtocolSegment segment;
    segment.from = reader.required(entry, "from", what, parse_bytes);
    const toml::node* kind = entry.get("kind");
    if (!kind) reader.fail(entry, what + " lacks 'kind'");
    const std::string name = reader.text(*kind, what + " 'kind'");
    const auto known = std::find(kProtocolNames.begin(), kProtocolNames.end(), name);
    if (known == kProtocolNames.end()) {
      reader.fail(*kind, "protocol '" + name +
                             "' is not known; use \"eager\", \"pull\", \"push\" or \"async\"");
    }
    segment.protocol = static_cast<Protocol>(known - kProtocolNames.begin());
    if (!protocols.empty() && !(segment.from > protocols.back().from)) {
      reader.fail(entry, what + ": sizes must increase");
    }
    protocols.push_back(segment);
  }
  return protocols;
}

LevelModel read_level(const Reader& reader, const toml::table& table, const std::string& where) {
  std::vector<std::string> keys = {"latency", "bandwidth", "points", "protocol"};
  for (const LevelCurve& curve : level_curves()) keys.push_back(curve.key);
  reader.check_keys(table, "[" + where + "]", keys);
  LevelModel level;
  const toml::node* transfer = table.get("transfer");
  const toml::node* points = table.get("points");
  const bool plain = table.get("latency") || table.get("bandwidth");
  if ((transfer ? 1 : 0) + (points ? 1 : 0) + (plain ? 1 : 0) != 1) {
    reader.fail(table, "[" + where + "] needs 'latency' and 'bandwidth', or 'transfer', or " +
                           "'points': one of them");
  }
  if (plain) {
    const double latency = reader.required(table, "latency", where, parse_seconds);
    if (latency < 0) reader.fail(*table.get("latency"), where + ": a time must not be negative");
    level.transfer = TransferCurve::hockney(
        latency, reader.required(table, "bandwidth", where, parse_bandwidth));
  } else {
    level.transfer = transfer ? read_segments(reader, *transfer, where + ".transfer")
                              : read_points(reader, *points, where + ".points");
  }
  if (const auto* node = table.get("protocol"))
    level.protocols = read_protocols(reader, *node, where + ".protocol");
  for (const LevelCurve& curve : level_curves().subspan(1)) {
    if (const auto* node = table.get(curve.key))
      curve.make(level) = read_segments(reader, *node, where + "." + curve.key);
  }
  return level;
}

// --- Collectives ---

/// The index in `names` of the word in `node`.
int read_word(const Reader& reader, const toml::node& node, const std::string& what,
              const std::vector<std::string>& names) {
  const std::string word = reader.text(node, what);
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end())
    reader.fail(node, what + " '" + word + "' is not known; use one of " + quoted_list(names));
  return static_cast<int>(found - names.begin());
}

template <size_t N>
std::vector<std::string> words(const std::array<const char*, N>& names) {
  return {names.begin(), names.end()};
}

/// The algorithm named by `node`, with the segment size from `table`.
AlgorithmChoice read_algorithm(const Reader& reader, const toml::node& node,
                               const toml::table& table, CollectiveOp op,
                               const std::string& where) {
  AlgorithmChoice choice;
  try {
    choice.algorithm = algorithm_named(op, reader.text(node, where + ".algorithm"));
  } catch (const InputError& error) {
    reader.fail(node, error.what());
  }
  if (const toml::node* segment = table.get("segment")) {
    if (!takes_segments(choice.algorithm)) {
      reader.fail(*segment, where + ": the algorithm '" + name_of(choice.algorithm) +
                                "' does not cut messages into segments");
    }
    choice.segment = reader.quantity(*segment, where + ".segment", parse_bytes);
  }
  return choice;
}

int read_processes(const Reader& reader, const toml::node& node, const std::string& what) {
  const auto count = node.value_exact<int64_t>();
  if (!count || *count < 1 || *count > std::numeric_limits<int>::max())
    reader.fail(node, what + " must be a whole number above 0");
  return static_cast<int>(*count);
}

/// An algorithm for everything, or a list of them by size and number of processes.
std::vector<AlgorithmRule> read_rules(const Reader& reader, const toml::table& table,
                                      CollectiveOp op, const std::string& where) {
  const toml::node& node = *table.get("algorithm");
  if (node.is_string()) {
    AlgorithmRule everywhere;
    everywhere.choice = read_algorithm(reader, node, table, op, where);
    return {everywhere};
  }
  std::vector<AlgorithmRule> rules;
  for (const toml::node& item : reader.array(node, where + ".algorithm")) {
    const std::string what = "an entry of " + where + ".algorithm";
    const toml::table& entry = reader.table(item, what);
    reader.check_keys(entry, what, {"from", "processes", "name", "segment"});
    const toml::node* name = entry.get("name");
    if (!name) reader.fail(entry, what + " lacks 'name'");
    AlgorithmRule rule;
    rule.choice = read_algorithm(reader, *name, entry, op, where);
    if (const toml::node* from = entry.get("from"))
      rule.bytes = reader.quantity(*from, what + " 'from'", parse_bytes);
    if (const toml::node* processes = entry.get("processes"))
      rule.processes = read_processes(reader, *processes, what + " 'processes'");
    rules.push_back(rule);
  }
  return rules;
}

/// Refuses a formula that is negative, for two processes or its own number, at the first or last
/// size of a piece: it would count as 0 there. A difference within the printed digits counts as 0.
void check_formula(const Reader& reader, const toml::array& pieces,
                   const std::vector<CollectiveFormula>& formula, const std::string& where) {
  constexpr double kLarge = 1 << 30;  // bytes; the last piece has no end
  for (size_t i = 0; i < formula.size(); ++i) {
    const int processes = std::max(2, formula[i].processes);
    const bool is_last =
        i + 1 == formula.size() || formula[i + 1].processes != formula[i].processes;
    const double end = is_last ? std::max(kLarge, 2 * formula[i].from) : formula[i + 1].from;
    for (const double bytes : {formula[i].from, end}) {
      double sum = 0, size = 0;
      for (const auto& [key, term] : kFormulaTerms) {
        CollectiveFormula one;
        one.*term = 1;
        const double part = formula[i].*term * one(processes, bytes);
        sum += part;
        size += std::abs(part);
      }
      if (sum >= -1e-5 * size) continue;
      reader.fail(pieces[i], where + " gives a negative time for " + std::to_string(processes) +
                                 " processes and " + format_bytes(bytes));
    }
  }
}

std::vector<CollectiveFormula> read_formula(const Reader& reader, const toml::node& node,
                                            const std::string& where) {
  std::vector<CollectiveFormula> formula;
  std::vector<std::string> keys = {"processes", "from", "uncertainty"};
  for (const auto& [key, term] : kFormulaTerms) keys.push_back(key);
  for (const toml::node& item : reader.array(node, where)) {
    const toml::table& entry = reader.table(item, "an entry of " + where);
    reader.check_keys(entry, "an entry of " + where, keys);
    CollectiveFormula piece;
    if (const toml::node* processes = entry.get("processes")) {
      piece.processes = read_processes(reader, *processes, where + " 'processes'");
      if (piece.processes < 2) reader.fail(*processes, where + ": 'processes' must be 2 or more");
    }
    if (entry.get("from")) piece.from = reader.required(entry, "from", where, parse_bytes);
    for (const auto& [key, term] : kFormulaTerms) {
      if (entry.get(key)) piece.*term = reader.required(entry, key, where, parse_seconds);
    }
    piece.uncertainty = read_uncertainty(reader, entry);
    if (!formula.empty()) {
      const CollectiveFormula& last = formula.back();
      if ((piece.processes == 0) != (last.processes == 0))
        reader.fail(entry, where + ": 'processes' must be in all entries, or in none");
      if (piece.processes < last.processes)
        reader.fail(entry, where + ": 'processes' must not decrease");
      if (piece.processes == last.processes && !(piece.from > last.from))
        reader.fail(entry, where + ": sizes must increase");
    }
    formula.push_back(piece);
  }
  check_formula(reader, *node.as_array(), formula, where);
  return formula;
}

CollectiveModel read_collectives(const Reader& reader, const toml::table& table) {
  std::vector<std::string> keys = {"model", "preset", "reduction_bandwidth"};
  for (const char* name : kCollectiveNames) keys.push_back(name);
  reader.check_keys(table, "[collectives]", keys);
  CollectiveModel model;
  if (const toml::node* node = table.get("model")) {
    model.pricing = static_cast<CollectivePricing>(
        read_word(reader, *node, "collectives.model", words(kCollectivePricingNames)));
  }
  if (const toml::node* node = table.get("preset")) {
    model.preset = static_cast<CollectivePreset>(
        read_word(reader, *node, "collectives.preset", words(kCollectivePresetNames)));
  }
  for (int i = 0; i < kCollectiveOps; ++i) {
    const toml::node* node = table.get(kCollectiveNames[i]);
    if (!node) continue;
    const auto op = static_cast<CollectiveOp>(i);
    const std::string where = std::string("collectives.") + kCollectiveNames[i];
    const toml::table& entry = reader.table(*node, where);
    reader.check_keys(entry, "[" + where + "]",
                      {"algorithm", "segment", "formula", "formula_processes", "sync_limit"});
    OperationModel& operation = model.of(op);
    if (entry.get("algorithm")) {
      operation.rules = read_rules(reader, entry, op, where);
    } else if (const toml::node* segment = entry.get("segment")) {
      reader.fail(*segment, where + ": 'segment' needs an 'algorithm' beside it");
    }
    if (const toml::node* formula = entry.get("formula"))
      operation.formula = read_formula(reader, *formula, where + ".formula");
    // Pieces of each number of processes end with the largest one.
    const int last = operation.formula.empty() ? 0 : operation.formula.back().processes;
    operation.formula_processes = last;
    if (const toml::node* most = entry.get("formula_processes")) {
      operation.formula_processes = read_processes(reader, *most, where + ".formula_processes");
      if (last > 0 && operation.formula_processes != last) {
        reader.fail(*most, where + ".formula_processes must be " + std::to_string(last) +
                               ", the last 'processes' of the formula");
      }
    }
    if (const toml::node* limit = entry.get("sync_limit")) {
      if (!is_rooted(op)) {
        reader.fail(*limit, where +
                                ": 'sync_limit' is for operations with a root: in this one "
                                "members wait for each other at any size");
      }
      operation.sync_limit = reader.quantity(*limit, where + ".sync_limit", parse_bytes);
    }
  }
  return model;
}

// --- Contention ---

/// Sets a model's key. Quantities and words are quoted, other numbers are not.
void read_network_key(const Reader& reader, const toml::node& node, const std::string& section,
                      const NetworkKey& key, ContentionSetting& setting) {
  const std::string what = section + "." + key.name;
  const auto set = [&](const std::string& text) {
    setting.set(key, text);
    return 0.0;
  };
  const auto digits = [](const toml::node& number) {
    const auto value = number.value<double>();
    return value ? general_text(*value, std::numeric_limits<double>::max_digits10) : "";
  };
  std::string text;
  switch (key.kind) {
    case NetworkKey::Kind::kSeconds:
    case NetworkKey::Kind::kBandwidth:
      reader.quantity(node, what, set);
      return;
    case NetworkKey::Kind::kCounts:
      for (const toml::node& item : reader.array(node, what))
        text += (text.empty() ? "" : "x") + digits(item);
      break;
    case NetworkKey::Kind::kLines:
      for (const toml::node& item : reader.array(node, what))
        text += (text.empty() ? "" : "\n") + reader.text(item, "an entry of " + what);
      break;
    case NetworkKey::Kind::kFile:
      setting.set(key, reader.beside(reader.text(node, what)));
      return;
    case NetworkKey::Kind::kShare:
      text = node.is_string() ? reader.text(node, what) : digits(node);
      break;
    case NetworkKey::Kind::kWord:
      text = key.words[read_word(reader, node, what, key.words)];
      break;
    default:
      text = digits(node);
  }
  try {
    set(text);
  } catch (const InputError& error) {
    reader.fail(node, what + " " + error.what());
  }
}

/// [contention] with a model, or the same as [network] with a topology.
ContentionSetting read_contention(const Reader& reader, const toml::table& table,
                                  const std::string& section) {
  const std::string model_key = section == "network" ? "topology" : "model";
  std::vector<std::string> keys = {model_key, "levels"};
  std::vector<std::string> names = {"none"};
  for (const NetworkModel* model : network_models()) {
    names.push_back(model->name);
    for (const NetworkKey& key : model->keys) keys.push_back(key.name);
  }
  reader.check_keys(table, "[" + section + "]", keys);
  const toml::node* kind = table.get(model_key);
  if (!kind) reader.fail(table, "[" + section + "] lacks '" + model_key + "'");
  ContentionSetting setting;
  setting.model = network_model(names[read_word(reader, *kind, section + "." + model_key, names)]);
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (name == model_key || name == "levels") continue;
    const NetworkKey* known = setting.model ? setting.model->key(name) : nullptr;
    if (known) {
      read_network_key(reader, node, section, *known, setting);
      continue;
    }
    const auto owner = std::find_if(network_models().begin(), network_models().end(),
                                    [&](const NetworkModel* model) { return model->key(name); });
    reader.fail(node, section + "." + name + " is for the model \"" + (*owner)->name + "\"");
  }
  if (const toml::node* node = table.get("levels")) {
    setting.levels.fill(false);
    for (const toml::node& item : reader.array(*node, section + ".levels")) {
      setting.levels[read_word(reader, item, "an entry of " + section + ".levels",
                               words(kLevelNames))] = true;
    }
  }
  return setting;
}

Platform read_platform(const Reader& reader, const toml::table& root) {
  reader.check_keys(root, "the file",
                    {"format", "name", "grade", "model_error", "level", "memory", "collectives",
                     "contention", "network", "measured"});
  const toml::node* format = root.get("format");
  if (!format) reader.fail(root, "'format = 1' is missing; is this a platform file?");
  if (format->value<int>() != 1) reader.fail(*format, "this version reads format 1 only");

  Platform platform;
  if (const auto* name = root.get("name")) platform.name = reader.text(*name, "'name'");
  if (const auto* grade = root.get("grade")) platform.grade = reader.text(*grade, "'grade'");
  if (const auto* error = root.get("model_error")) {
    platform.model_error = error->value<double>();
    if (!platform.model_error ||
        !(*platform.model_error >= 0 && *platform.model_error <= kMostUncertainty))
      reader.fail(*error, "'model_error' must be a number from 0 to 1000");
  }
  const toml::node* levels = root.get("level");
  if (!levels) reader.fail(root, "there is no [level.node] and no [level.network]");
  const toml::table& level_table = reader.table(*levels, "'level'");
  reader.check_keys(level_table, "'level'", {kLevelNames.begin(), kLevelNames.end()});
  for (int i = 0; i < kLevels; ++i) {
    const toml::node* node = level_table.get(kLevelNames[i]);
    if (!node) continue;
    const std::string where = std::string("level.") + kLevelNames[i];
    platform.levels[i] = read_level(reader, reader.table(*node, where), where);
  }
  if (const auto* node = root.get("memory")) {
    const toml::table& table = reader.table(*node, "[memory]");
    reader.check_keys(table, "[memory]", {"copy", "packing"});
    if (const auto* copy = table.get("copy"))
      platform.copy = read_segments(reader, *copy, "memory.copy");
    if (const auto* packing = table.get("packing"))
      platform.packing = read_segments(reader, *packing, "memory.packing");
  }
  if (const auto* node = root.get("collectives")) {
    const toml::table& table = reader.table(*node, "[collectives]");
    platform.collectives = read_collectives(reader, table);
    if (const auto* bandwidth = table.get("reduction_bandwidth")) {
      platform.reduction_bandwidth =
          reader.quantity(*bandwidth, "collectives.reduction_bandwidth", parse_bandwidth);
    }
  }
  for (const std::string section : {"contention", "network"}) {
    const toml::node* node = root.get(section);
    if (!node) continue;
    if (platform.contention.model)
      reader.fail(*node, "[contention] and [network] say the same thing: one of them, please");
    platform.contention =
        read_contention(reader, reader.table(*node, "[" + section + "]"), section);
  }
  if (const auto* node = root.get("measured")) {
    for (const auto& [key, value] : reader.table(*node, "[measured]")) {
      platform.measured[std::string(key.str())] =
          reader.text(value, "measured." + std::string(key.str()));
    }
  }
  return platform;
}

/// Refuses keys with more parts than any table here has: toml++ nests a table for each part and
/// destroys them by recursion, which may overflow the stack. (It limits nested values itself.)
void refuse_deep_keys(const std::string& text, const std::string& origin) {
  constexpr int kMostParts = 16;
  unsigned line = 1;
  int parts = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const bool is_long = text.compare(i, 3, std::string(3, c)) == 0;
      const std::string quotes(is_long ? 3 : 1, c);
      for (i += quotes.size(); i < text.size() && text.compare(i, quotes.size(), quotes) != 0;
           ++i) {
        if (text[i] == '\\' && c == '"') ++i;
        if (i < text.size() && text[i] == '\n') ++line;
        if (!is_long && i < text.size() && text[i] == '\n') break;  // toml++ reports it
      }
      i += quotes.size() - 1;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '.' && ++parts > kMostParts) {
      throw InputError(origin + ":" + std::to_string(line) +
                       ": a key of more than 16 parts; no platform file has one");
    } else if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') {
      line += c == '\n' ? 1 : 0;
      parts = 1;
    }
  }
}

toml::table parse_toml(const std::string& text, const std::string& origin) {
  refuse_deep_keys(text, origin);
  try {
    return toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw InputError(origin + ":" + std::to_string(error.source().begin.line) + ": " +
                     std::string(error.description()));
  }
}

/// Many times the size of a platform with thousands of segments.
constexpr size_t kMostBytes = size_t{16} << 20;

std::string platform_text(const std::string& path) {
  std::string text = text_of_file(path, "a platform file", kMostBytes);
  refuse_other_kinds(text, path);
  return text;
}

/// The line of the entry that begins at the fall, in a file that was read before.
unsigned line_of(const toml::table& root, const CurveFall& fall) {
  const toml::node& level = *root["level"][kLevelNames[static_cast<int>(fall.level)]].node();
  std::vector<std::string> keys = {fall.curve};
  if (fall.curve == "transfer") keys = {"transfer", "send_overhead", "receive_overhead"};
  for (const std::string& key : keys) {
    const toml::array* entries = level.as_table()->get_as<toml::array>(key);
    if (!entries) continue;
    for (const toml::node& entry : *entries) {
      const toml::node* from = entry.as_table()->get("from");
      if (from && parse_bytes(*from->value<std::string>()) == fall.bytes)
        return entry.source().begin.line;
    }
  }
  return level.source().begin.line;
}

}  // namespace

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

Platform parse_platform(const std::string& text, const std::string& origin) {
  return read_platform(Reader(origin), parse_toml(text, origin));
}

std::vector<std::string> platform_warnings(const std::string& text, const std::string& origin) {
  const toml::table root = parse_toml(text, origin);
  std::vector<std::string> lines;
  for (const CurveFall& fall : curve_falls(read_platform(Reader(origin), root)))
    lines.push_back(origin + ":" + std::to_string(line_of(root, fall)) + ": " + fall.text());
  return lines;
}

std::vector<std::string> load_platform_warnings(const std::string& path) {
  return platform_warnings(platform_text(path), path);
}

ContentionSetting load_network(const std::string& path) {
  const Reader reader(path);
  const toml::table root = parse_toml(platform_text(path), path);
  reader.check_keys(root, "the file", {"name", "network"});
  const toml::node* node = root.get("network");
  if (!node) reader.fail(root, "there is no [network]");
  return read_contention(reader, reader.table(*node, "[network]"), "network");
}

Platform load_platform(const std::string& path) {
  Platform platform = parse_platform(platform_text(path), path);
  if (platform.name.empty()) platform.name = path;
  return platform;
}

}  // namespace rubato
