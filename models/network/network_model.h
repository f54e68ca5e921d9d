#pragma once

// The kinds of networks that a platform file can select under [contention]: the distances of nodes,
// and the interference of flows. Each is one file of models/topologies that defines a NetworkModel,
// and one word in its CMakeLists.txt; keys of platform files, parameters of `--on` and their
// documentation follow from it. Programs built on the library add their own models with
// add_network_model(): share/examples/ has one.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/network/network.h"
#include "models/placement/distances.h"
#include "models/placement/placement.h"

namespace rubato {

struct ContentionSetting;
class Topology;

/// A number that a model takes: a key of [contention], and `contention.KEY` of `--on`.
struct NetworkKey {
  enum class Kind : uint8_t {
    kRatio,      ///< a number above 0
    kCount,      ///< a whole number above 0
    kSeconds,    ///< with its unit; at least 0
    kBandwidth,  ///< with its unit; bytes per second
    kShare,      ///< "30%"; from 0 to below 1
    kCounts,     ///< whole numbers above 0: [4, 2] in a file, 4x2 in a scenario
    kWord,       ///< one of `words`
    kLines,      ///< texts: an array in a file
    kFile,       ///< a path, in a file as seen from its folder; NetworkModel::load reads it
  };
  const char* name;
  Kind kind;
  const char* doc;                      ///< half a line
  std::optional<double> usual = {};     ///< default value; none: no limit
  const char* short_name = "";          ///< in `--on`, instead of contention.NAME
  std::vector<std::string> words = {};  ///< of a kWord, the usual one first

  /// False of kinds whose values are text.
  bool is_number() const { return kind < Kind::kCounts; }
};

/// A kind of network.
struct NetworkModel {
  const char* name;  ///< `model = "NAME"`
  const char* doc;   ///< a line
  std::vector<NetworkKey> keys;
  /// A network at rest. `ticks_per_second` converts seconds to the times of flows. Without it, or
  /// where it returns nullptr, flows share nothing; then nothing needs the order of time.
  std::unique_ptr<Network> (*make)(const ContentionSetting& setting, const Placement& placement,
                                   double ticks_per_second);
  /// Costs of pairs of ranks beyond their level, with and without contention; nullptr: none. Errors
  /// (also of `make`): InputError where the setting does not fit the placement.
  std::unique_ptr<Distances> (*distances)(const ContentionSetting& setting,
                                          const Placement& placement) = nullptr;
  /// How many nodes a network of this setting has; nullptr: as many as the run.
  int (*nodes)(const ContentionSetting& setting) = nullptr;
  /// Reads the file of a key of kind kFile. Errors: InputError with file and line.
  std::shared_ptr<const Topology> (*load)(const std::string& path) = nullptr;
  /// Links have bandwidths and latencies of their own, which changes of a scenario do not reach.
  bool has_own_links = false;

  /// The key of this name or short name; nullptr if there is none.
  const NetworkKey* key(const std::string& name) const;
};

/// The [contention] of a platform file.
struct ContentionSetting {
  const NetworkModel* model = nullptr;       ///< nullptr: transfers share nothing
  std::map<std::string, double> numbers;     ///< by key, as far as given
  std::map<std::string, std::string> texts;  ///< likewise, of the other kinds: 4x2; lines
  std::array<bool, kLevels> levels = {false, false, false, true};  ///< levels that take part
  std::shared_ptr<const Topology> loaded;                          ///< of a key of kind kFile
  bool flows_alone = false;  ///< each flow as if it were the only one

  /// The value of a key of the model, or its usual one; none: no limit.
  std::optional<double> number(const std::string& key) const;
  /// The value of a key of kind kCounts; empty: not given.
  std::vector<int> counts(const std::string& key) const;
  /// The value of a key of kind kLines; empty: not given.
  std::vector<std::string> lines(const std::string& key) const;
  /// The value of a key of kind kWord.
  std::string word(const std::string& key) const;
  /// Selects another model, or none; the values are cleared.
  void set_model(const NetworkModel* other);
  /// Sets a key of the model to what parse_network_number() or parse_network_text() takes, and
  /// loads a file. Errors: theirs.
  void set(const NetworkKey& key, const std::string& value);
  bool is(const char* name) const { return model && std::string(model->name) == name; }
  /// See NetworkModel; nullptr without a model. Distances are checked().
  std::unique_ptr<Network> make_network(const Placement& placement, double ticks_per_second) const;
  std::unique_ptr<Distances> make_distances(const Placement& placement) const;

  bool operator==(const ContentionSetting& other) const {
    return model == other.model && numbers == other.numbers && texts == other.texts &&
           levels == other.levels && flows_alone == other.flows_alone;
  }
};

/// All models, those of Rubato first.
const std::vector<const NetworkModel*>& network_models();
/// The model of this name; nullptr if there is none.
const NetworkModel* network_model(const std::string& name);
/// Registers one more model, which must outlive all uses. Not while replays run.
void add_network_model(const NetworkModel& model);

/// The value of a key as platform files and scenarios write it. Errors: InputError that names the
/// expected form.
double parse_network_number(const NetworkKey& key, const std::string& text);
/// Likewise of a key whose value is text.
std::string parse_network_text(const NetworkKey& key, const std::string& text);
std::string format_network_number(const NetworkKey& key, double value);
/// "30%" or "0.3": from 0 to below 1. Errors: InputError.
double parse_share(const std::string& text);

}  // namespace rubato
