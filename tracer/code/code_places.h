#pragma once

#include <string>
#include <vector>

#include "tracer/archive/definitions.h"
#include "tracer/archive/event_writer.h"
#include "tracer/code/modules.h"

namespace rubato {
inline namespace tracing {

/// Adds to the report the code places behind the recorded addresses of a process: its functions,
/// except those that `filter` excludes, and the lines that called MPI.
void name_code(const Used& used, const std::vector<Module>& modules, const std::string& filter,
               ProcessReport& report);

}  // namespace tracing
}  // namespace rubato
