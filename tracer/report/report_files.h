#pragma once

#include <string>

#include "tracer/report/rank_report.h"

namespace rubato {
inline namespace tracing {

/// Writes the tables and the page into a new directory, which appears under its name when it is
/// complete: the first free one of numbered_output(). Returns it; empty, with errno, if that fails,
/// and nothing is left.
std::string write_report_files(const JobReport& job, const std::string& directory);

}  // namespace tracing
}  // namespace rubato
