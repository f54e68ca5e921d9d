// Platform files are written here; platform_file.cc reads them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

#include "models/cost/platform_file.h"
#include "models/cost/platform_text.h"
#include "models/units.h"

namespace rubato {
namespace {

void write_uncertainty(std::ostream& out, double value) {
  if (value < 0.0005) return;  // 0.000, as good as not known
  std::ostringstream uncertainty;
  uncertainty.precision(3);
  uncertainty << std::fixed << value;
  out << ", uncertainty = " << uncertainty.str();
}

/// How many significant digits the two numbers of a segment need, so that their sum where it begins
/// has six, or is right to a millionth of a nanosecond: a steep one is far below 0 at no bytes, and
/// its numbers cancel.
int digits_of(const Segment& segment) {
  constexpr int kDigits = 6, kMost = 15;
  constexpr double kLeast = 1e-9;
  const double start = segment.intercept + segment.from * segment.per_byte;
  const double cancelled = std::abs(segment.intercept) / std::max(std::abs(start), kLeast);
  if (!(cancelled > 1)) return kDigits;
  return static_cast<int>(std::min<double>(kMost, kDigits + std::ceil(std::log10(cancelled))));
}

void write_curve(std::ostream& out, const char* key, const TransferCurve& curve) {
  out << key << " = [\n";
  for (const Segment& segment : curve.segments()) {
    const int digits = digits_of(segment);
    const double bandwidth =
        segment.per_byte > 0 ? 1 / segment.per_byte : std::numeric_limits<double>::infinity();
    out << "  { from = \"" << format_bytes(segment.from) << "\", latency = \""
        << format_seconds(segment.intercept, digits) << "\", bandwidth = \""
        << format_bandwidth(bandwidth, digits) << '"';
    write_uncertainty(out, segment.uncertainty);
    out << " },\n";
  }
  out << "]\n";
}

void write_level(std::ostream& out, int index, const LevelModel& level) {
  constexpr std::array<const char*, kLevels> meaning = {
      "a rank to itself", "two ranks on one socket", "two ranks on one node",
      "two ranks on different nodes"};
  out << "\n[level." << kLevelNames[index] << "]  # " << meaning[static_cast<size_t>(index)]
      << "\n";
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
  if (!level.send_overhead.empty() || !level.receive_overhead.empty())
    out << "# Processor time at the two ends; unexpected: the message was there before its "
           "receive.\n";
  if (!level.send_overhead.empty()) write_curve(out, "send_overhead", level.send_overhead);
  if (!level.receive_overhead.empty()) write_curve(out, "receive_overhead", level.receive_overhead);
  if (level.unexpected_overhead)
    write_curve(out, "unexpected_overhead", *level.unexpected_overhead);
  if (level.gap) {
    out << "# How long a message occupies the port of a rank.\n";
    write_curve(out, "gap", *level.gap);
  }
  if (level.burst_gap) {
    out << "# Likewise of each message behind one that is not complete: in bursts.\n";
    write_curve(out, "burst_gap", *level.burst_gap);
  }
  if (!level.crossing_delay.empty()) {
    out << "# How much longer a message takes whose receiver sends at the same time.\n";
    write_curve(out, "crossing_delay", level.crossing_delay);
  }
}

void write_rule(std::ostream& out, const AlgorithmRule& rule) {
  out << "  { ";
  if (rule.processes > 2) out << "processes = " << rule.processes << ", ";
  out << "from = \"" << format_bytes(rule.bytes) << "\", name = \""
      << name_of(rule.choice.algorithm) << '"';
  if (rule.choice.segment > 0) out << ", segment = \"" << format_bytes(rule.choice.segment) << '"';
  out << " },\n";
}

void write_operation(std::ostream& out, const char* name, const OperationModel& operation) {
  if (operation.rules.empty() && operation.formula.empty() && !operation.sync_limit) return;
  out << "\n[collectives." << name << "]\n";
  if (operation.sync_limit)
    out << "sync_limit = \"" << format_bytes(*operation.sync_limit) << "\"\n";
  if (!operation.rules.empty()) {
    out << "algorithm = [\n";
    for (const AlgorithmRule& rule : operation.rules) write_rule(out, rule);
    out << "]\n";
  }
  if (!operation.formula.empty()) {
    out << "formula = [\n";
    for (const CollectiveFormula& piece : operation.formula) {
      out << "  { from = \"" << format_bytes(piece.from) << '"';
      for (const auto& [key, term] : kFormulaTerms) {
        if (piece.*term != 0) out << ", " << key << " = \"" << format_seconds(piece.*term) << '"';
      }
      write_uncertainty(out, piece.uncertainty);
      out << " },\n";
    }
    out << "]\n";
  }
}

void write_collectives(std::ostream& out, const Platform& platform) {
  const CollectiveModel& model = platform.collectives;
  out << "\n[collectives]\nmodel = \"" << kCollectivePricingNames[static_cast<int>(model.pricing)]
      << "\"\npreset = \"" << kCollectivePresetNames[static_cast<int>(model.preset)]
      << "\"  # whose choice of algorithms: openmpi or mpich\n";
  if (platform.reduction_bandwidth) {
    out << "reduction_bandwidth = \"" << format_bandwidth(*platform.reduction_bandwidth) << "\"\n";
  }
  for (int i = 0; i < kCollectiveOps; ++i)
    write_operation(out, kCollectiveNames[i], model.operations[i]);
}

std::string listed(const std::vector<int>& counts) {
  std::string text;
  for (const int count : counts) text += (text.empty() ? "[" : ", ") + std::to_string(count);
  return text + "]";
}

void write_contention(std::ostream& out, const ContentionSetting& setting) {
  if (!setting.model) return;
  out << "\n[contention]\nmodel = \"" << setting.model->name << "\"\n";
  out << "levels = [";
  const char* separator = "";
  for (int i = 0; i < kLevels; ++i) {
    if (!setting.levels[i]) continue;
    out << separator << '"' << kLevelNames[i] << '"';
    separator = ", ";
  }
  out << "]\n";
  for (const NetworkKey& key : setting.model->keys) {
    const auto text_value = setting.texts.find(key.name);
    if (text_value != setting.texts.end()) {
      out << key.name << " = ";
      if (key.kind == NetworkKey::Kind::kCounts) {
        out << listed(setting.counts(key.name)) << "\n";
      } else if (key.kind == NetworkKey::Kind::kLines) {
        out << "[\n";
        for (const std::string& line : setting.lines(key.name))
          out << "  " << quoted(line) << ",\n";
        out << "]\n";
      } else {
        out << quoted(text_value->second) << "\n";
      }
      continue;
    }
    const auto value = setting.number(key.name);
    if (!value) continue;
    const bool is_quantity =
        key.kind == NetworkKey::Kind::kSeconds || key.kind == NetworkKey::Kind::kBandwidth;
    const std::string text = format_network_number(key, *value);
    out << key.name << " = " << (is_quantity ? quoted(text) : text) << "\n";
  }
}

}  // namespace

std::string format_platform(const Platform& platform, const PlatformComments& comments) {
  std::ostringstream out;
  out << "# Rubato platform file: what a message costs on this machine. Edit at will; every "
         "quantity\n"
         "# carries its unit. The format is explained in share/doc/platform-files.md.\n"
         "format = 1\n";
  out << "name = " << quoted(platform.name) << "\n";
  for (int i = 0; i < kLevels; ++i) {
    if (platform.levels[i]) write_level(out, i, *platform.levels[i]);
    out << comments.levels[static_cast<size_t>(i)];
  }
  if (platform.copy) {
    out << "\n[memory]\n# What a rank takes to copy: a buffered send does so.\n";
    write_curve(out, "copy", *platform.copy);
  }
  out << comments.memory;
  write_collectives(out, platform);
  write_contention(out, platform.contention);
  out << comments.contention;
  if (!platform.measured.empty()) {
    out << "\n[measured]  # how the numbers were obtained\n";
    for (const auto& [key, value] : platform.measured) out << key << " = " << quoted(value) << "\n";
  }
  return out.str();
}

}  // namespace rubato
