// Platform files are written here; platform_file.cc reads them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <string_view>

#include "models/base/number_text.h"
#include "models/base/units.h"
#include "models/platform/level_curves.h"
#include "models/platform/platform_file.h"
#include "models/platform/platform_text.h"

namespace rubato {
namespace {

void write_uncertainty(std::ostream& out, double value) {
  if (!(value >= 0.0005)) return;  // would print as 0.000, which means unknown; or NaN
  out << ", uncertainty = " << fixed_text(std::min(value, kMostUncertainty), 3);
}

/// Writes curves and quantities with a number of significant digits.
class Writer {
 public:
  Writer(std::ostream& out, int digits) : out_(out), digits_(digits) {}

  std::string seconds(double value) const { return '"' + format_seconds(value, digits_) + '"'; }
  std::string bandwidth(double value) const { return '"' + format_bandwidth(value, digits_) + '"'; }

  /// A piece with a negative intercept is given by its time at `from`, so that no number is
  /// negative and no digits cancel.
  void curve(const char* key, const TransferCurve& curve) const {
    out_ << key << " = [\n";
    const std::vector<Segment>& segments = curve.segments();
    for (size_t i = 0; i < segments.size(); ++i) {
      const Segment segment =
          flattened(segments[i], i + 1 < segments.size() ? &segments[i + 1] : nullptr);
      out_ << "  { from = \"" << format_bytes(segment.from) << '"';
      if (segment.intercept < 0) {
        const double start = segment.intercept + segment.from * segment.per_byte;
        out_ << ", time = " << seconds(std::max(0.0, start));
      } else {
        out_ << ", latency = " << seconds(segment.intercept);
      }
      out_ << ", bandwidth = "
           << bandwidth(segment.per_byte > 0 ? 1 / segment.per_byte
                                             : std::numeric_limits<double>::infinity());
      write_uncertainty(out_, segment.uncertainty);
      out_ << " },\n";
    }
    out_ << "]\n";
  }

 private:
  /// A piece that grows by less than the printed digits becomes a constant.
  Segment flattened(const Segment& segment, const Segment* next) const {
    if (!next) return segment;
    const double start = segment.intercept + segment.from * segment.per_byte;
    const double growth = (next->from - segment.from) * segment.per_byte;
    if (growth > start * std::pow(10, 1 - digits_) / 2) return segment;
    return {segment.from, start + growth / 2, 0, segment.uncertainty};
  }

  std::ostream& out_;
  int digits_;
};

void write_protocols(std::ostream& out, const LevelModel& level) {
  if (level.protocols.empty()) return;
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

void write_level(std::ostream& out, const Writer& writer, int index, const LevelModel& level) {
  constexpr std::array<const char*, kLevels> meaning = {
      "a rank to itself", "two ranks on one socket", "two ranks on one node",
      "two ranks on different nodes"};
  out << "\n[level." << kLevelNames[index] << "]  # " << meaning[static_cast<size_t>(index)]
      << "\n";
  std::string_view above;
  for (const LevelCurve& curve : level_curves()) {
    const bool is_transfer = &curve == &level_curves().front();  // a level without one is free
    const TransferCurve* found = is_transfer ? &level.transfer : curve.find(level);
    if (!found) continue;
    if (curve.comment != above && *curve.comment) out << "# " << curve.comment << "\n";
    above = curve.comment;
    writer.curve(curve.key, *found);
    if (is_transfer) write_protocols(out, level);
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

void write_operation(std::ostream& out, const Writer& writer, const char* name,
                     const OperationModel& operation) {
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
    if (operation.formula_processes > 0)
      out << "formula_processes = " << operation.formula_processes
          << "  # at most, when measured\n";
    out << "formula = [\n";
    for (const CollectiveFormula& piece : operation.formula) {
      out << "  { ";
      if (piece.processes > 0) out << "processes = " << piece.processes << ", ";
      out << "from = \"" << format_bytes(piece.from) << '"';
      // Terms of both signs cancel, and digits are lost.
      const bool cancels = std::any_of(std::begin(kFormulaTerms), std::end(kFormulaTerms),
                                       [&](const auto& term) { return piece.*term.second < 0; });
      const Writer exact(out, kAllDigits);
      for (const auto& [key, term] : kFormulaTerms) {
        if (piece.*term != 0)
          out << ", " << key << " = " << (cancels ? exact : writer).seconds(piece.*term);
      }
      write_uncertainty(out, piece.uncertainty);
      out << " },\n";
    }
    out << "]\n";
  }
}

void write_collectives(std::ostream& out, const Writer& writer, const Platform& platform) {
  const CollectiveModel& model = platform.collectives;
  out << "\n[collectives]\nmodel = \"" << kCollectivePricingNames[static_cast<int>(model.pricing)]
      << "\"\npreset = \"" << kCollectivePresetNames[static_cast<int>(model.preset)]
      << "\"  # whose choice of algorithms: openmpi or mpich\n";
  if (platform.reduction_bandwidth) {
    out << "reduction_bandwidth = " << writer.bandwidth(*platform.reduction_bandwidth) << "\n";
  }
  for (int i = 0; i < kCollectiveOps; ++i)
    write_operation(out, writer, kCollectiveNames[i], model.operations[i]);
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

std::string format_platform(const Platform& platform, const PlatformComments& comments,
                            int digits) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  const Writer writer(out, digits);
  out << "# Rubato platform file: what a message costs on this machine. Edit at will; every "
         "quantity\n"
         "# carries its unit. The format is explained in share/doc/platform-files.md.\n"
         "format = 1\n";
  out << "name = " << quoted(platform.name) << "\n";
  if (!platform.grade.empty())
    out << "grade = " << quoted(platform.grade) << "  # what was wrong when it was calibrated\n";
  if (platform.model_error) {
    out << "model_error = " << general_text(*platform.model_error, 3)
        << "  # relative standard error of message costs, for what the model leaves out\n";
  }
  for (int i = 0; i < kLevels; ++i) {
    if (platform.levels[i]) write_level(out, writer, i, *platform.levels[i]);
    out << comments.levels[static_cast<size_t>(i)];
  }
  if (platform.copy || platform.packing) out << "\n[memory]\n";
  if (platform.copy) {
    out << "# What a rank takes to copy: a buffered send does so.\n";
    writer.curve("copy", *platform.copy);
  }
  if (platform.packing) {
    out << "# What it takes beyond that to pack or unpack a block of data with holes.\n";
    writer.curve("packing", *platform.packing);
  }
  out << comments.memory;
  write_collectives(out, writer, platform);
  write_contention(out, platform.contention);
  out << comments.contention;
  if (!platform.measured.empty()) {
    out << "\n[measured]  # how the numbers were obtained\n";
    for (const auto& [key, value] : platform.measured) out << key << " = " << quoted(value) << "\n";
  }
  return out.str();
}

}  // namespace rubato
