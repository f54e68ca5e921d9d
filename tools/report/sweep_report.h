#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replay/study/sweep.h"

namespace rubato {

/// The range in which each parameter matters, a sentence each: "latency matters above 20.3 ×: there
/// the run takes 1 % longer than at its best, and 10 % above 45 ×."
std::vector<std::string> sweep_findings(const Sweep& sweep);

/// The findings, then a table of some points: rows for one parameter, rows and columns for two.
std::string sweep_text(const Sweep& sweep, int width);

/// For --json and the page: share/doc/json.md, `sweeps`.
nlohmann::ordered_json sweeps_to_json(const std::vector<Sweep>& sweeps);

/// Rows of --csv: of kind sweep, a row for each point.
std::string sweep_csv(const std::vector<Sweep>& sweeps);

}  // namespace rubato
