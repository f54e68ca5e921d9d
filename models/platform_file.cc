#include "models/platform_file.h"

#include <toml++/toml.h>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "models/error.h"
#include "models/units.h"

namespace rubato {
namespace {

/// One file being read: turns TOML nodes into numbers, and complaints into file:line messages.
class Reader {
 public:
  explicit Reader(std::string origin) : origin_(std::move(origin)) {}

  [[noreturn]] void fail(const toml::node& node, const std::string& message) const {
    throw InputError(origin_ + ":" + std::to_string(node.source().begin.line) + ": " + message);
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

  /// A quantity with its unit, by one of the parsers of models/units.h.
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

/// A curve given as segments (a list) or as a constant time (text).
TransferCurve read_segments(const Reader& reader, const toml::node& node, const std::string& what) {
  if (node.is_string()) {
    return TransferCurve({Segment{0, reader.quantity(node, what, parse_seconds), 0, 0}});
  }
  std::vector<Segment> segments;
  for (const toml::node& item : reader.array(node, what)) {
    const toml::table& entry = reader.table(item, "an entry of " + what);
    reader.check_keys(entry, "an entry of " + what,
                      {"from", "latency", "bandwidth", "uncertainty"});
    Segment segment;
    segment.from = reader.required(entry, "from", what, parse_bytes);
    segment.intercept = reader.required(entry, "latency", what, parse_seconds);
    segment.per_byte = 1 / reader.required(entry, "bandwidth", what, parse_bandwidth);
    if (const toml::node* uncertainty = entry.get("uncertainty")) {
      const auto value = uncertainty->value<double>();
      if (!value || !(*value >= 0)) reader.fail(*uncertainty, "uncertainty must be a number >= 0");
      segment.uncertainty = *value;
    }
    segments.push_back(segment);
  }
  try {
    return TransferCurve(std::move(segments));
  } catch (const InputError& error) {
    reader.fail(node, what + ": " + error.what());
  }
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
  try {
    return TransferCurve(std::move(segments));
  } catch (const InputError& error) {
    reader.fail(node, what + ": " + error.what());
  }
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
  reader.check_keys(table, "[" + where + "]",
                    {"transfer", "points", "protocol", "send_overhead", "receive_overhead", "gap"});
  LevelModel level;
  const toml::node* transfer = table.get("transfer");
  const toml::node* points = table.get("points");
  if (!transfer == !points)
    reader.fail(table, "[" + where + "] needs 'transfer' or 'points', one of them");
  level.transfer = transfer ? read_segments(reader, *transfer, where + ".transfer")
                            : read_points(reader, *points, where + ".points");
  if (const auto* node = table.get("protocol"))
    level.protocols = read_protocols(reader, *node, where + ".protocol");
  if (const auto* node = table.get("send_overhead"))
    level.send_overhead = read_segments(reader, *node, where + ".send_overhead");
  if (const auto* node = table.get("receive_overhead"))
    level.receive_overhead = read_segments(reader, *node, where + ".receive_overhead");
  if (const auto* node = table.get("gap")) level.gap = read_segments(reader, *node, where + ".gap");
  return level;
}

Platform read_platform(const Reader& reader, const toml::table& root) {
  reader.check_keys(root, "the file", {"format", "name", "level", "collectives", "measured"});
  const toml::node* format = root.get("format");
  if (!format) reader.fail(root, "'format = 1' is missing; is this a platform file?");
  if (format->value<int>() != 1) reader.fail(*format, "this version reads format 1 only");

  Platform platform;
  if (const auto* name = root.get("name")) platform.name = reader.text(*name, "'name'");
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
  if (const auto* node = root.get("collectives")) {
    const toml::table& table = reader.table(*node, "[collectives]");
    reader.check_keys(table, "[collectives]", {"model", "reduction_bandwidth"});
    if (const auto* model = table.get("model")) {
      const std::string name = reader.text(*model, "collectives.model");
      if (name != "analytic" && name != "perfect") {
        reader.fail(*model, "collectives.model '" + name +
                                "' is not known; use \"analytic\" or \"perfect\"");
      }
      platform.collectives_perfect = name == "perfect";
    }
    if (const auto* bandwidth = table.get("reduction_bandwidth")) {
      platform.reduction_bandwidth =
          reader.quantity(*bandwidth, "collectives.reduction_bandwidth", parse_bandwidth);
    }
  }
  if (const auto* node = root.get("measured")) {
    for (const auto& [key, value] : reader.table(*node, "[measured]")) {
      platform.measured[std::string(key.str())] =
          reader.text(value, "measured." + std::string(key.str()));
    }
  }
  return platform;
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

void write_curve(std::ostream& out, const char* key, const TransferCurve& curve) {
  out << key << " = [\n";
  for (const Segment& segment : curve.segments()) {
    const double bandwidth =
        segment.per_byte > 0 ? 1 / segment.per_byte : std::numeric_limits<double>::infinity();
    out << "  { from = \"" << format_bytes(segment.from) << "\", latency = \""
        << format_seconds(segment.intercept) << "\", bandwidth = \"" << format_bandwidth(bandwidth)
        << '"';
    if (segment.uncertainty > 0) {
      std::ostringstream uncertainty;
      uncertainty.precision(3);
      uncertainty << std::fixed << segment.uncertainty;
      out << ", uncertainty = " << uncertainty.str();
    }
    out << " },\n";
  }
  out << "]\n";
}

void write_level(std::ostream& out, int index, const LevelModel& level) {
  constexpr const char* meaning[] = {"a rank to itself", "two ranks on one node",
                                     "two ranks on different nodes"};
  out << "\n[level." << kLevelNames[index] << "]  # " << meaning[index] << "\n";
  out << "# One way, without overheads: latency + n / bandwidth, from the given size up.\n";
  write_curve(out, "transfer", level.transfer);
  if (!level.protocols.empty()) {
    out << "# eager: the sender does not wait; async: data flows once both sides have posted; "
           "pull:\n"
           "# and the receiver is inside MPI after that; push: likewise, and then the sender.\n";
    out << "protocol = [\n";
    for (const ProtocolSegment& segment : level.protocols) {
      out << "  { from = \"" << format_bytes(segment.from) << "\", kind = \""
          << kProtocolNames[static_cast<int>(segment.protocol)] << "\" },\n";
    }
    out << "]\n";
  }
  if (!level.send_overhead.empty()) write_curve(out, "send_overhead", level.send_overhead);
  if (!level.receive_overhead.empty()) write_curve(out, "receive_overhead", level.receive_overhead);
  if (level.gap) {
    out << "# How long a message occupies the port of a rank.\n";
    write_curve(out, "gap", *level.gap);
  }
}

}  // namespace

Platform parse_platform(const std::string& text, const std::string& origin) {
  const Reader reader(origin);
  toml::table root;
  try {
    root = toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw InputError(origin + ":" + std::to_string(error.source().begin.line) + ": " +
                     std::string(error.description()));
  }
  return read_platform(reader, root);
}

Platform load_platform(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(path + ": cannot be read; is it the platform file you meant?");
  std::ostringstream text;
  text << file.rdbuf();
  Platform platform = parse_platform(text.str(), path);
  if (platform.name.empty()) platform.name = path;
  return platform;
}

std::string format_platform(const Platform& platform) {
  std::ostringstream out;
  out << "# Rubato platform file: what a message costs on this machine. Edit at will; every "
         "quantity\n"
         "# carries its unit. The format is explained in share/doc/platform-files.md.\n"
         "format = 1\n";
  out << "name = " << quoted(platform.name) << "\n";
  for (int i = 0; i < kLevels; ++i) {
    if (platform.levels[i]) write_level(out, i, *platform.levels[i]);
  }
  if (platform.collectives_perfect || platform.reduction_bandwidth) {
    out << "\n[collectives]\nmodel = \"" << (platform.collectives_perfect ? "perfect" : "analytic")
        << "\"\n";
    if (platform.reduction_bandwidth) {
      out << "reduction_bandwidth = \"" << format_bandwidth(*platform.reduction_bandwidth)
          << "\"\n";
    }
  }
  if (!platform.measured.empty()) {
    out << "\n[measured]  # how the numbers were obtained\n";
    for (const auto& [key, value] : platform.measured) out << key << " = " << quoted(value) << "\n";
  }
  return out.str();
}

}  // namespace rubato
