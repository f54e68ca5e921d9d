#pragma once

#include <cstdint>
#include <vector>

#include "replay/observe/results.h"
#include "replay/trace/function_times.h"
#include "replay/trace/trace.h"

namespace rubato {

/// By function: the first one with the same name, file and line.
std::vector<uint32_t> alike_functions(const std::vector<FunctionName>& names);

/// Sets `functions`, those with compute in the order of `names`, and `call_paths`, callers before
/// callees. `overhead`: seconds that recording one enter or leave took; subtracted from the
/// function and, in inclusive times, also from its callers. Functions with equal name, file and
/// line are one.
void add_function_results(const std::vector<FunctionName>& names, const FunctionTotals& totals,
                          const TraceDefinitions& trace, double overhead, Results& results);

}  // namespace rubato
