#include "tools/launch/calibration_plan.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>

#include "models/base/error.h"
#include "models/base/input_file.h"
#include "models/base/units.h"
#include "models/fit/message_pattern.h"
#include "models/platform/platform_text.h"

namespace rubato {
namespace {

constexpr double kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

/// The operations that the calibrator measures: those of ReproMPI.
const std::vector<std::string>& plan_collectives() {
  static const std::vector<std::string> names = {
      "barrier",  "bcast",     "gather",     "gatherv",  "scatter",
      "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
      "reduce",   "allreduce", "scan",       "exscan",   "reduce_scatter"};
  return names;
}

/// The value of a key, which complains with its place.
class PlanValue {
 public:
  PlanValue(const std::string& origin, std::string key, const toml::node& node)
      : origin_(origin), key_(std::move(key)), node_(node) {}

  [[noreturn]] void fail(const std::string& complaint) const {
    throw InputError(
        fmt::format("{}:{}: {}: {}", origin_, node_.source().begin.line, key_, complaint));
  }

  bool is_auto() const { return node_.is_string() && *node_.value<std::string>() == "auto"; }

  bool flag() const {
    if (!node_.is_boolean()) fail("must be true or false");
    return *node_.value<bool>();
  }

  int whole(int least, int most, const std::string& or_else = "") const {
    const std::string allowed =
        fmt::format("must be {}a whole number from {} to {}", or_else, least, most);
    if (!node_.is_integer()) fail(allowed);
    const auto value = *node_.value<int64_t>();
    if (value < least || value > most) fail(allowed);
    return static_cast<int>(value);
  }

  double number(double least, double most) const {
    const std::optional<double> value =
        node_.is_number() ? node_.value<double>() : std::optional<double>{};
    if (!value || !(*value >= least && *value <= most))
      fail(fmt::format("must be a number from {} to {}", least, most));
    return *value;
  }

  std::string text() const {
    if (!node_.is_string()) fail("must be text in quotes");
    return *node_.value<std::string>();
  }

  std::string one_of(const std::vector<std::string>& words) const {
    const std::string word = text();
    if (std::find(words.begin(), words.end(), word) == words.end()) {
      fail(fmt::format("'{}' is none of {}{}", word, fmt::join(words, ", "),
                       did_you_mean(word, words)));
    }
    return word;
  }

  size_t size(double least, double most, const std::string& or_else = "") const {
    return size_of(node_, least, most, or_else);
  }

  double seconds(double least, double most, const std::string& or_else = "") const {
    const std::string allowed =
        fmt::format("must {}lie between \"{}\" and \"{}\"", or_else.empty() ? "" : "be " + or_else,
                    format_seconds(least), format_seconds(most));
    if (!node_.is_string()) fail(allowed);
    // In whole nanoseconds: "50us" is then the number that 50e-6 is.
    const double value = std::round(quantity(node_, parse_seconds) * 1e9) / 1e9;
    if (!(value >= least && value <= most)) fail(allowed);
    return value;
  }

  /// Three sizes or more, ascending: of an array, or evenly spaced by a table of from, to and step.
  /// None for a text.
  std::vector<size_t> lengths() const {
    constexpr size_t kMostLengths = 200;
    std::vector<size_t> all;
    if (node_.is_string()) return all;
    if (const toml::table* const range = node_.as_table()) {
      size_t ends[3];
      for (int i = 0; i < 3; ++i) {
        const toml::node* const node = range->get(i == 0 ? "from" : i == 1 ? "to" : "step");
        if (!node || range->size() != 3)
          fail("must have from, to and step: { from = \"0B\", to = \"8KiB\", step = \"64B\" }");
        ends[i] = size_of(*node, i < 2 ? 0 : 1, kGiB, "");
      }
      for (size_t n = ends[0]; n <= ends[1] && all.size() <= kMostLengths; n += ends[2])
        all.push_back(n);
    } else if (!node_.is_array()) {
      fail("must be a file, sizes in an array, or from, to and step");
    } else {
      all = sizes(0, kGiB);
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
    if (all.size() < 3 || all.size() > kMostLengths)
      fail(fmt::format("must be 3 to {} different lengths", kMostLengths));
    return all;
  }

  /// Sizes in an array, or one.
  std::vector<size_t> sizes(double least, double most) const {
    if (!node_.is_array()) return {size(least, most, "\"auto\" or sizes that ")};
    std::vector<size_t> all;
    for (const toml::node& item : *node_.as_array()) all.push_back(size_of(item, least, most, ""));
    if (all.empty()) fail("must have at least one size, or be \"auto\"");
    return all;
  }

  /// Names with commas, of an array or of such a text; "none" where it has none.
  std::string list() const {
    if (!node_.is_array()) {
      if (!node_.is_string()) fail("must be names: a text with commas, or an array of texts");
      return text();
    }
    std::string names;
    for (const toml::node& item : *node_.as_array()) {
      if (!item.is_string()) fail("must be names: a text with commas, or an array of texts");
      names += (names.empty() ? "" : ",") + *item.value<std::string>();
    }
    return names.empty() ? "none" : names;
  }

 private:
  double quantity(const toml::node& node,
                  const std::function<double(const std::string&)>& parse) const {
    try {
      return parse(*node.value<std::string>());
    } catch (const InputError& error) {
      fail(error.what());
    }
  }

  size_t size_of(const toml::node& node, double least, double most,
                 const std::string& or_else) const {
    const std::string allowed =
        fmt::format("must {}lie between \"{}\" and \"{}\"", or_else.empty() ? "" : "be " + or_else,
                    format_bytes(least), format_bytes(most));
    if (!node.is_string()) fail(allowed);
    const double value = quantity(node, parse_bytes);
    if (!(value >= least && value <= most)) fail(allowed);
    return static_cast<size_t>(value);
  }

  const std::string& origin_;
  std::string key_;
  const toml::node& node_;
};

std::string checked_patterns(const PlanValue& value) {
  const std::string list = value.list();
  try {
    parse_patterns(list);
  } catch (const UsageError& error) {
    value.fail(error.what());
  }
  return list;
}

std::string checked_collectives(const PlanValue& value) {
  const std::string list = value.list();
  if (list == "all" || list == "none") return list;
  const std::vector<std::string>& known = plan_collectives();
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    value.fail(fmt::format("'{}' is none of {}, all, none{}", word, fmt::join(known, ", "),
                           did_you_mean(word, known)));
  }
  return list;
}

std::vector<size_t> checked_sizes(const PlanValue& value) {
  if (value.is_auto()) return {};
  // Of the 64 MiB that a rank has for both buffers of a call.
  const std::vector<size_t> sizes = value.sizes(8, 32 * kMiB);
  const auto odd = std::find_if(sizes.begin(), sizes.end(), [](size_t n) { return n % 8 != 0; });
  if (odd != sizes.end())
    value.fail(fmt::format("must be multiples of 8B, a double, and {}B is not", *odd));
  return sizes;
}

std::string quoted_size(size_t bytes) {
  return quoted(format_bytes(static_cast<double>(bytes)));
}

std::string quoted_sizes(const std::vector<size_t>& sizes) {
  std::vector<std::string> texts;
  for (const size_t bytes : sizes) texts.push_back(quoted_size(bytes));
  return texts.empty() ? quoted("auto") : fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string number_or_auto(int number) {
  return number == 0 ? quoted("auto") : fmt::format("{}", number);
}

/// A key of the plan: how it is read, and its value as TOML.
struct PlanKey {
  const char* name;
  void (*read)(const PlanValue&, CalibrationPlan&);
  std::string (*text)(const CalibrationPlan&);
};

constexpr int kManyLaunches = 10000, kManyRepetitions = 1'000'000, kLargestSeed = 1'000'000'000;

const std::vector<PlanKey>& plan_keys() {
  using Value = PlanValue;
  using Plan = CalibrationPlan;
  static const std::vector<PlanKey> keys = {
      {"max_size", [](const Value& v, Plan& p) { p.max_size = v.size(kKiB, kGiB); },
       [](const Plan& p) { return quoted_size(p.max_size); }},
      {"time",
       [](const Value& v, Plan& p) {
         p.time = v.one_of({"min", "median"});
       },
       [](const Plan& p) { return quoted(p.time); }},
      {"patterns", [](const Value& v, Plan& p) { p.patterns = checked_patterns(v); },
       [](const Plan& p) { return quoted(p.patterns); }},
      {"partners", [](const Value& v, Plan& p) { p.partners = v.text(); },
       [](const Plan& p) { return quoted(p.partners); }},
      {"adaptive_patterns", [](const Value& v, Plan& p) { p.adaptive_patterns = v.flag(); },
       [](const Plan& p) { return fmt::format("{}", p.adaptive_patterns); }},
      {"lengths",
       [](const Value& v, Plan& p) {
         p.length_list = v.lengths();
         if (p.length_list.empty()) p.lengths = v.text();
       },
       [](const Plan& p) {
         return p.length_list.empty() ? quoted(p.lengths) : quoted_sizes(p.length_list);
       }},
      {"loop", [](const Value& v, Plan& p) { p.loop = v.seconds(1e-6, 1); },
       [](const Plan& p) { return quoted(format_seconds(p.loop, 12)); }},
      {"threshold", [](const Value& v, Plan& p) { p.threshold = v.number(0.001, 1); },
       [](const Plan& p) { return fmt::format("{}", p.threshold); }},
      {"separation", [](const Value& v, Plan& p) { p.separation = v.size(1, kMiB); },
       [](const Plan& p) { return quoted_size(p.separation); }},
      {"cold_buffer",
       [](const Value& v, Plan& p) {
         p.cold_buffer = v.is_auto() ? 0 : v.size(64 * kKiB, 16 * kGiB, "\"auto\" or ");
       },
       [](const Plan& p) { return p.cold_buffer ? quoted_size(p.cold_buffer) : quoted("auto"); }},
      {"collectives", [](const Value& v, Plan& p) { p.collectives = checked_collectives(v); },
       [](const Plan& p) { return quoted(p.collectives); }},
      {"collective_sizes", [](const Value& v, Plan& p) { p.collective_sizes = checked_sizes(v); },
       [](const Plan& p) { return quoted_sizes(p.collective_sizes); }},
      {"collective_repetitions",
       [](const Value& v, Plan& p) {
         p.collective_repetitions = v.is_auto() ? 0 : v.whole(1, kManyRepetitions, "\"auto\" or ");
       },
       [](const Plan& p) { return number_or_auto(p.collective_repetitions); }},
      {"tukey_factor", [](const Value& v, Plan& p) { p.tukey_factor = v.number(0, 100); },
       [](const Plan& p) { return fmt::format("{}", p.tukey_factor); }},
      {"cold_collectives", [](const Value& v, Plan& p) { p.cold_collectives = v.flag(); },
       [](const Plan& p) { return fmt::format("{}", p.cold_collectives); }},
      {"sync",
       [](const Value& v, Plan& p) {
         p.sync = v.one_of({"auto", "barrier", "window"});
       },
       [](const Plan& p) { return quoted(p.sync); }},
      {"window",
       [](const Value& v, Plan& p) {
         p.window = v.is_auto() ? 0 : v.seconds(1e-6, 1, "\"auto\" or ");
       },
       [](const Plan& p) { return quoted(p.window > 0 ? format_seconds(p.window, 12) : "auto"); }},
      {"clock",
       [](const Value& v, Plan& p) {
         p.clock = v.one_of({"jk", "hca", "hca2", "hca3"});
       },
       [](const Plan& p) { return quoted(p.clock); }},
      {"launches",
       [](const Value& v, Plan& p) {
         p.launches = v.is_auto() ? 0 : v.whole(1, kManyLaunches, "\"auto\" or ");
       },
       [](const Plan& p) { return number_or_auto(p.launches); }},
      {"seed", [](const Value& v, Plan& p) { p.seed = v.whole(0, kLargestSeed); },
       [](const Plan& p) { return fmt::format("{}", p.seed); }},
      {"segments", [](const Value& v, Plan& p) { p.segments = v.whole(1, kMostSegments); },
       [](const Plan& p) { return fmt::format("{}", p.segments); }},
      {"digits", [](const Value& v, Plan& p) { p.digits = v.whole(kLeastDigits, kMostDigits); },
       [](const Plan& p) { return fmt::format("{}", p.digits); }},
  };
  return keys;
}

}  // namespace

CalibrationPlan parse_calibration_plan(const std::string& text, const std::string& origin) {
  // Several times what `rubato help plan` prints. The parser takes dotted keys apart by recursion,
  // for which longer ones have no stack.
  constexpr size_t kMostBytes = 16 << 10;
  if (text.size() > kMostBytes)
    throw InputError(fmt::format("{}: larger than 16KiB; 'rubato help plan' shows one", origin));
  toml::table table;
  try {
    table = toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw InputError(
        fmt::format("{}:{}: {}", origin, error.source().begin.line, error.description()));
  }
  CalibrationPlan plan;
  const std::vector<PlanKey>& keys = plan_keys();
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto found = std::find_if(keys.begin(), keys.end(),
                                    [&](const PlanKey& one) { return one.name == name; });
    if (found == keys.end()) {
      std::vector<std::string> known;
      for (const PlanKey& one : keys) known.emplace_back(one.name);
      throw InputError(fmt::format("{}:{}: a plan has no key '{}'{}; 'rubato help plan' has them",
                                   origin, key.source().begin.line, name,
                                   did_you_mean(name, known)));
    }
    found->read({origin, name, node}, plan);
  }
  if (!plan.length_list.empty() && plan.length_list.back() > plan.max_size) {
    throw InputError(fmt::format("{}: lengths: {} is longer than max_size, {}", origin,
                                 quoted_size(plan.length_list.back()), quoted_size(plan.max_size)));
  }
  const std::vector<MessagePattern> patterns = parse_patterns(plan.patterns);
  if ((!patterns.empty() && patterns.back().shape == PatternShape::kPartners) ==
      plan.partners.empty()) {
    throw InputError(
        origin + (plan.partners.empty()
                      ? ": patterns: those of partners need the key partners, a file"
                      : ": partners: no pattern uses them; patterns need partners_nonblocking"));
  }
  const std::filesystem::path folder = std::filesystem::path(origin).parent_path();
  for (std::string* const file : {&plan.lengths, &plan.partners})
    if (!file->empty()) *file = (folder / *file).string();
  return plan;
}

CalibrationPlan load_calibration_plan(const std::string& path) {
  constexpr size_t kMostBytes = 1 << 20;
  return parse_calibration_plan(text_of_file(path, "a plan of a calibration", kMostBytes), path);
}

std::vector<std::string> changed_keys(const CalibrationPlan& plan) {
  std::vector<std::string> lines;
  for (const PlanKey& key : plan_keys()) {
    const std::string text = key.text(plan);
    if (text != key.text({})) lines.push_back(fmt::format("{} = {}", key.name, text));
  }
  return lines;
}

std::vector<std::string> calibrator_words(const CalibrationPlan& plan) {
  const std::string collectives = plan.collectives == "all"
                                      ? fmt::format("{}", fmt::join(plan_collectives(), ","))
                                  : plan.collectives == "none" ? ""
                                                               : plan.collectives;
  std::vector<std::string> words = {
      "--collectives=" + collectives,
      "--time=" + plan.time,
      "--sync=" + plan.sync,
      fmt::format("--max-bytes={}", plan.max_size),
      "--patterns=" + plan.patterns,
      fmt::format("--seed={}", plan.seed),
      fmt::format("--loop-seconds={}", plan.loop),
      fmt::format("--threshold={}", plan.threshold),
      fmt::format("--separation={}", plan.separation),
      fmt::format("--cold-bytes={}", plan.cold_buffer),
      fmt::format("--listed-lengths={}", fmt::join(plan.length_list, ",")),
      fmt::format("--tukey-factor={}", plan.tukey_factor),
      fmt::format("--window={}", plan.window),
      "--clock=" + plan.clock,
      fmt::format("--collective-bytes={}", fmt::join(plan.collective_sizes, ",")),
      fmt::format("--collective-repetitions={}", plan.collective_repetitions)};
  if (plan.cold_collectives) words.push_back("--cold-collectives");
  if (plan.adaptive_patterns) words.push_back("--adaptive-patterns");
  if (!plan.lengths.empty()) words.push_back("--lengths=" + plan.lengths);
  if (!plan.partners.empty()) words.push_back("--partners=" + plan.partners);
  return words;
}

}  // namespace rubato
