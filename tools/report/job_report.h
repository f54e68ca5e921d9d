#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// "Other jobs on fat-tree cost 3.1 % (33 ms) of the elapsed time.", and for each other job "...
/// takes 3.21 s there, on nodes 64-127, from 2 s on."; empty without other jobs.
std::vector<std::string> job_lines(const ScenarioResult& scenario);

/// For each job: archive, ranks, nodes, start and elapsed seconds.
nlohmann::ordered_json jobs_to_json(const ScenarioResult& scenario);

/// "0-3+8-32/4": ascending numbers in the syntax of nodes=.
std::string nodes_text(const std::vector<int>& nodes);

}  // namespace rubato
