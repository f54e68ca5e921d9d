#pragma once

// The counters and gauges of an archive (rubato trace --counters, metrics of other tracers).

#include <nlohmann/json.hpp>
#include <string>

#include "replay/archive/metrics.h"
#include "tools/profile/profile_report.h"

namespace rubato {

/// The metrics of a recorded run; none for formats other than OTF2.
Metrics metrics_of(const std::string& path, bool ignore_offsets);

/// Tables by rank and by place, with `all` of every rank and call path; "" without metrics.
std::string counters_text(const Metrics& metrics, int width, bool all);
/// Rows of the CSV file.
void counters_csv(const Metrics& metrics, const TextSink& write);
/// null without metrics.
nlohmann::ordered_json counters_to_json(const Metrics& metrics);

}  // namespace rubato
