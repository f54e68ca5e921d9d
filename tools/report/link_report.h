#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "replay/observe/results.h"

namespace rubato {

/// "Links on fat-tree: node 0 in 87 % busy, node 3 out 43 %; 12 of 96 flows held up, by 1.2 ms in
/// all." "" without links, or where nothing flowed. A link is busy with the bytes that it carried,
/// as a part of what it could in the elapsed time.
std::string links_line(const ScenarioResult& scenario);

/// "Contention on fat-tree costs 3.1 % (33 ms) of the elapsed time: 1.2 s in MPI_Allreduce, 0.3 s
/// in MPI_Waitall, over all ranks." "" where nothing is shared.
std::string contention_line(const Results& results, const ScenarioResult& scenario);

/// Seconds, by call (Results::calls); null where nothing is shared.
nlohmann::ordered_json contention_to_json(const std::vector<std::string>& names,
                                          const ScenarioResult& scenario);

/// Shares from 0 to 1, of the elapsed time (mean) or of a bin; null without links.
nlohmann::ordered_json links_to_json(const ScenarioResult& scenario);

/// For the page: vertices (x, y, name, node or not) and cables (ends, how busy there and back, bent
/// or not), the busiest first; null where there is no drawing.
nlohmann::ordered_json drawing_for_page(const ScenarioResult& scenario);

}  // namespace rubato
