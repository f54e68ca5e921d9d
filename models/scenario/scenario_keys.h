#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "models/scenario/scenario_change.h"

// The keys of changes: KEY=VALUE, KEY*FACTOR and KEY/FACTOR in `--on MACHINE:CHANGE,...`, one row
// each. Parsing, help and completion of shells are loops over these rows.

namespace rubato {

struct ScenarioKey {
  const char* example;    ///< "cpu*1.5"
  const char* doc;        ///< half a line for `rubato help scenarios`
  bool is_for_recording;  ///< also of measured and undisturbed, whose durations are recorded
  /// The names, as far as they can be listed, for completion and for suggestions.
  std::vector<std::string> (*names)();
  /// True for keys of this row that are not listed; null: there are none.
  bool (*also)(const std::string& key);
  /// Applies the change. `text`: of the whole scenario, for errors; `presets`: see
  /// parse_scenario(). Throws: UsageError for the change, InputError for its value or file.
  void (*apply)(Scenario& scenario, const std::string& text, const Change& change,
                const std::string& presets);
};

/// In the order in which help lists them; the first row that knows a key applies it.
std::span<const ScenarioKey> scenario_key_rows();

/// Applies a change by its row. Throws: UsageError; InputError for a bad file.
void apply_change(Scenario& scenario, const std::string& text, const Change& change,
                  const std::string& presets);

/// Refuses a factor on a quantity that the machine does not have. Throws: UsageError.
void refuse_idle(const Scenario& scenario, const std::string& text, const Change& change);
/// Refuses an algorithm if collectives cost only their synchronisation. Throws: UsageError.
void refuse_idle_algorithms(const Scenario& scenario, const std::string& text,
                            const std::vector<Change>& changes);

}  // namespace rubato
