#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "replay/analyse/place_summary.h"

namespace rubato {

/// The critical path in a sentence.
std::string path_line(const CauseSummary& causes);

/// The critical path, waits by pattern and call, and the ranks that cause them, for a terminal.
std::string causes_text(const CauseSummary& causes, int width);

/// The keys "waits", "direct", "roots" and "path" (share/doc/profile.md).
nlohmann::ordered_json causes_to_json(const CauseSummary& causes);

/// The key of a pattern: "late_sender", ...
std::string pattern_key(WaitPattern pattern);

}  // namespace rubato
