#include "calibrate/options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "models/error.h"

namespace rubato {
namespace {

/// Where `word` stands among `names`.
template <size_t N>
int index_in(const std::array<const char*, N>& names, const std::string& word) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) throw UsageError("'" + word + "' is not understood");
  return static_cast<int>(found - names.begin());
}

/// Of a list with commas.
std::vector<CollectiveOp> operations_in(const std::string& list) {
  std::vector<CollectiveOp> operations;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const std::optional<CollectiveOp> op = collective_named(word);
    if (!op) throw UsageError("'" + word + "' is no collective operation");
    operations.push_back(*op);
  }
  return operations;
}

/// Of a list with commas.
std::vector<Level> levels_in(const std::string& list) {
  std::vector<Level> levels;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');)
    levels.push_back(static_cast<Level>(index_in(kLevelNames, word)));
  return levels;
}

}  // namespace

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "--toml")
      options.toml = value;
    else if (key == "--csv")
      options.csv = value;
    else if (key == "--name")
      options.name = value;
    else if (key == "--command")
      options.command = value;
    else if (key == "--html")
      options.html = value;
    else if (key == "--rubato")
      options.rubato = value;
    else if (key == "--quick")
      options.quick = options.collectives.pace.quick = true;
    else if (key == "--seconds")
      options.seconds = std::stod(value);
    else if (key == "--force")
      options.force = true;
    else if (key == "--time")
      options.of_loops = of_loops_named(value);
    else if (key == "--max-bytes")
      options.max_bytes = std::stoull(value);
    else if (key == "--seed")
      options.seed = static_cast<unsigned>(std::stoul(value));
    else if (key == "--collectives")
      options.collectives.operations = operations_in(value);
    else if (key == "--sync")
      options.collectives.sync = static_cast<ProcessSync>(index_in(kProcessSyncNames, value));
    else if (key == "--clock")
      options.collectives.clock = static_cast<ClockMethod>(index_in(kClockMethodNames, value));
    else if (key == "--lengths")
      options.lengths = value;
    else if (key == "--launch")
      options.launch = std::stoi(value);
    else if (key == "--patterns")
      options.patterns = parse_patterns(value);
    else if (key == "--levels")
      options.levels = levels_in(value);
    else if (key == "--stress")
      options.stress = std::stod(value);
    else
      throw UsageError("'" + word + "' is not understood; 'rubato calibrate' starts this program");
  }
  if (options.stress > 0) return options;
  if (options.toml.empty() || options.csv.empty()) {
    throw UsageError("this program is started by 'rubato calibrate -o FILE'");
  }
  return options;
}

}  // namespace rubato
