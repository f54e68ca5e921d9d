#pragma once

#include <string>
#include <vector>

#include "tracer/definitions.h"
#include "tracer/event_writer.h"
#include "tracer/modules.h"

namespace rubato {
inline namespace tracing {

/// Adds to the report the code places behind the recorded addresses of a process: its functions,
/// except those that `filter` excludes, and the lines that called MPI.
void name_code(const Used& used, const std::vector<Module>& modules, const std::string& filter,
               ProcessReport& report);

}  // namespace tracing
}  // namespace rubato
