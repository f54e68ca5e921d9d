#pragma once

#include <string>
#include <vector>

#include "replay/intervals.h"
#include "replay/observe/results.h"
#include "tools/numbers.h"

namespace rubato {

/// nullptr where scenario `number` has none.
const ElapsedInterval* interval_of(const Intervals& intervals, size_t number);

/// " (2.41–2.47)" in `unit`, with as many digits as the width deserves; "" where there is none.
std::string show_interval(const Intervals& intervals, size_t number, const TimeUnit& unit);

/// A line for each two scenarios whose intervals overlap, `measured` being one of no width. Those
/// of one platform file are off together, so nothing is said of them.
std::vector<std::string> not_told_apart(const std::vector<ScenarioResult>& scenarios,
                                        const Intervals& intervals);

}  // namespace rubato
