#pragma once

#include <nlohmann/json.hpp>

#include "replay/archive/metrics.h"
#include "replay/judge/roles.h"

namespace rubato {

/// Maximum number of cells of all counters of a page, of up to three bytes each.
inline constexpr size_t kCounterCells = 80000;
/// Maximum number of rows of a counter: ranks, or groups of ranks.
inline constexpr size_t kCounterRows = 128;

/// What the program counted outside MPI over time, for the page: the mean rank of each row in each
/// interval of the recording, packed (tools/tables/packed_timeline.h) in steps of 1/32767 of the
/// largest. `start` is that of the first interval, in seconds from the start of `measured`. null
/// without `measured` or counts.
nlohmann::ordered_json counters_for_page(const Metrics& metrics, const Roles& roles);

}  // namespace rubato
