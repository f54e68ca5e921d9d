#pragma once

#include <functional>
#include <string>

#include "tracer/report/rank_report.h"

/// The file of sums of a run without a trace: JSON (share/doc/schemas/sums.schema.json), which
/// `rubato profile` shows (tools/profile/run_sums.h).
namespace rubato {
inline namespace tracing {

/// The text of the file, in parts: the head, each rank, the end. `write` returns false to stop.
/// False if it did.
bool sums_text(const JobReport& job, const std::function<bool(const std::string&)>& write);

/// Writes the file. It appears under its name when it is complete: the first free one of
/// numbered_output(). Returns that name; empty, with errno, if that fails, and nothing is left.
std::string write_sums_file(const JobReport& job, const std::string& file);

}  // namespace tracing
}  // namespace rubato
