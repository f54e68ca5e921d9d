#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replay/study/sweep.h"

namespace rubato {

/// From where on each number matters, a sentence each: "latency matters above 20.3 ×: there the run
/// takes 1 % longer than at its best, and 10 % above 45 ×."
std::vector<std::string> sweep_findings(const Sweep& sweep);

/// These, then some of the points: a row for each of one number, rows and columns of two.
std::string sweep_text(const Sweep& sweep, int width);

/// For --json and the page: share/doc/json.md, `sweeps`.
nlohmann::ordered_json sweeps_to_json(const std::vector<Sweep>& sweeps);

/// Rows of --csv: of kind sweep, a row for each point.
std::string sweep_csv(const std::vector<Sweep>& sweeps);

}  // namespace rubato
