#pragma once

// The timeline of a scenario as text for the page, which share/report/timeline_data.js reads.
//
// Numbers are written in digits of 5 bits, the lowest first, as one of 64 letters each; all but the
// last digit of a number have 32 added. A part is
//
//     4 × state + 2 × (several calls or none in place of one) + (not the first of its piece),
//     its calls, in that case,
//     its length in units
//
// Borders of pieces are rounded to units, so that lengths add up exactly.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "replay/analyse/timeline_pieces.h"
#include "replay/analyse/traffic_picture.h"
#include "replay/observe/critical_path.h"

namespace rubato {

/// Appends a number.
void pack(std::string& text, uint64_t number);

/// A timeline in at most `bytes`: all parts, or combined ones; an empty object if not even one
/// piece per timeline fits. Combines `pieces` further if needed.
nlohmann::ordered_json packed_pieces(TimelinePieces& pieces, const EventSource& source,
                                     size_t bytes);

/// Messages as: sending timeline, receiving timeline, sent after the previous message, received
/// after sent, in units of `unit` seconds.
std::string packed_messages(const std::vector<DrawnMessage>& messages, double unit);

/// The critical path of a run from `begin`, the end first, in units of `unit` ticks: timeline, end
/// before the begin of the previous piece (the first: before the end of the run), length. Empty if
/// it would have more than `bytes`.
std::string packed_path(const CriticalPath& path, double begin, double elapsed, double unit,
                        size_t bytes);

}  // namespace rubato
