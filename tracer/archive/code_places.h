#pragma once

#include <string>
#include <vector>

#include "tracer/archive/event_writer.h"
#include "tracer/code/modules.h"
#include "tracer/layout/definitions.h"

namespace rubato {
inline namespace tracing {

/// Adds the code places of the recorded addresses of a process to the report: its functions, except
/// functions excluded by `filter`, and the lines that called MPI.
void name_code(const Used& used, const std::vector<Module>& modules, const std::string& filter,
               ProcessReport& report);

}  // namespace tracing
}  // namespace rubato
