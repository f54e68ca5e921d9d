#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replay/analyse/site_summary.h"

namespace rubato {

/// "main (app.c:28) > assemble (app.c:22) > exchange (app.c:17)"; "" if not recorded.
std::string path_text(const SiteRow& row);

/// Tables for a terminal: calls by call site or path; "" for no rows.
std::string sites_text(const std::vector<SiteRow>& rows, const std::string& scenario, int width);
/// The sites whose times differ by 0.1 % of all, the largest difference first.
std::string site_errors_text(const std::vector<SiteRow>& recorded,
                             const std::vector<SiteRow>& predicted, int width);

/// The keys "call_sites" and "samples" (share/doc/profile.md).
nlohmann::ordered_json sites_to_json(const std::vector<SiteRow>& rows);
nlohmann::ordered_json sampled_to_json(const std::vector<SampledFunction>& rows);

}  // namespace rubato
