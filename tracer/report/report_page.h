#pragma once

#include <string>

#include "tracer/report/rank_report.h"

namespace rubato {
inline namespace tracing {

/// The report as a page that needs no other file.
std::string report_page(const JobReport& job);

/// What the report does not say, and why; one sentence each.
std::vector<std::string> report_notes(const JobReport& job);

}  // namespace tracing
}  // namespace rubato
