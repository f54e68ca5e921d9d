#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "replay/observe/results.h"

namespace rubato {

/// "Busiest links on fat-tree: node 0 in 87 % busy, node 3 out 43 %; 12 of 96 flows were slowed
/// down, by 1.2 ms on average." "" without links or flows. A link's utilisation is the bytes that
/// it carried over its capacity in the elapsed time.
std::string links_line(const ScenarioResult& scenario);

/// "Contention on fat-tree costs 3.1 % (33 ms) of the elapsed time: 1.2 s in MPI_Allreduce, 0.3 s
/// in MPI_Waitall, over all ranks." "" without shared links.
std::string contention_line(const Results& results, const ScenarioResult& scenario);

/// Seconds, by call (Results::calls); null without shared links.
nlohmann::ordered_json contention_to_json(const std::vector<std::string>& names,
                                          const ScenarioResult& scenario);

/// Utilisations from 0 to 1, over the elapsed time (mean) or per bin; null without links.
nlohmann::ordered_json links_to_json(const ScenarioResult& scenario);

/// For the page: vertices (x, y, name, is a node) and cables (ends, utilisation in both directions,
/// is bent), busiest first; null without a drawing.
nlohmann::ordered_json drawing_for_page(const ScenarioResult& scenario);

}  // namespace rubato
