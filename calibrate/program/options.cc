#include "calibrate/program/options.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "models/base/error.h"

namespace rubato {
namespace {

std::vector<std::string> words_in(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

std::vector<size_t> sizes_in(const std::string& list) {
  std::vector<size_t> sizes;
  for (const std::string& word : words_in(list)) sizes.push_back(std::stoull(word));
  return sizes;
}

/// The value of the enumeration whose name is `word`, the index in `names`.
template <typename Enum, typename Names>
Enum named(const Names& names, const std::string& word) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) throw UsageError("'" + word + "' is not understood");
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

Options read_options(int argc, char** argv) {
  Options options;
  std::map<std::string, std::string> values;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = std::min(word.find('='), word.size());
    const std::string value = equals < word.size() ? word.substr(equals + 1) : "";
    values[word.substr(0, equals)] = value;
    if (word.starts_with("--then=")) options.then.push_back(value);
  }
  if (!values.count("--csv"))
    throw UsageError("this program is started by 'rubato calibrate -o FILE'");
  options.csv = values["--csv"];
  options.raw = values["--raw"];
  options.toml = values["--toml"];
  options.html = values["--html"];
  options.command = values["--command"];
  options.lengths = values["--lengths"];
  options.partners = values["--partners"];
  options.quick = values.count("--quick") > 0;
  options.force = values.count("--force") > 0;
  if (values.count("--seconds")) options.seconds = std::stod(values["--seconds"]);
  options.of_loops = of_loops_named(values["--time"]);
  options.max_bytes = std::stoull(values["--max-bytes"]);
  options.launch = std::stoi(values["--launch"]);
  options.seed = static_cast<unsigned>(options.launch);
  if (values.count("--seed")) options.seed += static_cast<unsigned>(std::stoul(values["--seed"]));
  if (values.count("--cold-bytes")) options.cold_bytes = std::stoull(values["--cold-bytes"]);
  if (values.count("--loop-seconds")) options.loop_seconds = std::stod(values["--loop-seconds"]);
  if (values.count("--threshold")) options.threshold = std::stod(values["--threshold"]);
  if (values.count("--separation")) options.separation = std::stoull(values["--separation"]);
  options.patterns = parse_patterns(values["--patterns"]);
  options.adaptive_patterns = values.count("--adaptive-patterns") > 0;
  for (const std::string& word : words_in(values["--levels"]))
    options.levels.push_back(named<Level>(kLevelNames, word));
  options.collectives.pace.quick = options.quick;
  if (values["--sync"] != "auto")
    options.sync = named<ProcessSync>(kProcessSyncNames, values["--sync"]);
  for (const std::string& word : words_in(values["--collectives"])) {
    const auto op = collective_named(word);
    if (!op) throw UsageError("'" + word + "' is no collective operation");
    options.collectives.operations.push_back(*op);
  }
  options.collectives.lengths = sizes_in(values["--collective-bytes"]);
  if (values.count("--collective-repetitions"))
    options.collectives.repetitions = std::stoi(values["--collective-repetitions"]);
  options.listed = sizes_in(values["--listed-lengths"]);
  options.cold_collectives = values.count("--cold-collectives") > 0;
  if (values.count("--tukey-factor"))
    options.collectives.tukey_factor = std::stod(values["--tukey-factor"]);
  if (values.count("--window")) options.collectives.window = std::stod(values["--window"]);
  if (values.count("--clock"))
    options.collectives.clock = named<ClockMethod>(kClockMethodNames, values["--clock"]);
  return options;
}

}  // namespace rubato
