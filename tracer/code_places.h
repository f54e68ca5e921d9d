#pragma once

#include <string>
#include <vector>

#include "tracer/definitions.h"
#include "tracer/event_writer.h"
#include "tracer/modules.h"

namespace rubato {

/// Puts into the report what lies behind the addresses that a process recorded: its functions, but
/// for those that the rules of `filter` leave out, and the lines that it called MPI from.
void name_code(const Used& used, const std::vector<Module>& modules, const std::string& filter,
               ProcessReport& report);

}  // namespace rubato
