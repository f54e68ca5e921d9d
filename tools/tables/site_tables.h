#pragma once

#include <string>
#include <vector>

#include "replay/analyse/site_summary.h"
#include "tools/format/table.h"

namespace rubato {

/// "MPI_Send: main (app.c:28) > assemble (app.c:22) > exchange (app.c:17)"; the call alone if its
/// path is not recorded.
std::string site_name(const SiteRow& row);

/// "call_sites" and "samples" of share/doc/profile.md.
Table site_table(const std::vector<SiteRow>& rows);
Table sampled_table(const std::vector<SampledFunction>& rows);

/// Calls by call site or path for a terminal; "" for no rows.
std::string sites_text(const std::vector<SiteRow>& rows, const std::string& scenario, int width);
/// The sites whose times differ by 0.1 % of all, the largest difference first.
std::string site_errors_text(const std::vector<SiteRow>& recorded,
                             const std::vector<SiteRow>& predicted, int width);

}  // namespace rubato
