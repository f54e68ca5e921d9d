#pragma once

#include <string>
#include <vector>

#include "replay/study/sweep.h"

namespace rubato {

/// "latency=0.1..100" or two of them, "latency=0.1..100/61,bandwidth=0.1..10": with a number of
/// points, by default 31 for a curve (ten in each of three decades) and 13 per side of a map.
/// Errors: UsageError.
std::vector<SweepAxis> parse_sweep(const std::string& text);

}  // namespace rubato
