#pragma once

#include <string>
#include <vector>

#include "replay/judge/roles.h"
#include "replay/study/intervals.h"
#include "tools/format/numbers.h"

namespace rubato {

/// nullptr if scenario `number` has none.
const ElapsedInterval* interval_of(const Intervals& intervals, size_t number);

/// " (2.41–2.47)" in `unit`, with as many digits as its width justifies; "" without an interval.
std::string show_interval(const Intervals& intervals, size_t number, const TimeUnit& unit);

/// A line for each group of scenarios whose intervals all overlap; `measured` has width 0.
/// Scenarios with the same platform file share its errors and are not compared.
std::vector<std::string> not_told_apart(const Roles& roles, const Intervals& intervals);

}  // namespace rubato
