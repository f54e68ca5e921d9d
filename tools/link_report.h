#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "replay/observe/results.h"

namespace rubato {

/// "Links on fat-tree: node 0 in 87 % busy, node 3 out 43 %; 12 of 96 flows held up, by 1.2 ms in
/// all." "" without links, or where nothing flowed. A link is busy with the bytes that it carried,
/// as a part of what it could in the elapsed time.
std::string links_line(const ScenarioResult& scenario);

/// Shares from 0 to 1, of the elapsed time (mean) or of a bin; null without links.
nlohmann::ordered_json links_to_json(const ScenarioResult& scenario);

}  // namespace rubato
