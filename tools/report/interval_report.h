#pragma once

#include <optional>
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

/// half_of_ratio() of scenario `number` to the reference; nothing if it is not known. `measured`
/// has width 0.
std::optional<double> half_of_ratio(const Roles& roles, const Intervals& intervals, size_t number);

/// A line for each group of scenarios whose ratios may all be 1; `measured` has width 0.
std::vector<std::string> not_told_apart(const Roles& roles, const Intervals& intervals);

}  // namespace rubato
