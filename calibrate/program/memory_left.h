#pragma once

#include <string>

namespace rubato {

/// The bytes that Linux can still give to this process without killing one: MemAvailable, but at
/// most the rest of the limit of its control group and of each enclosing group, version 1 or 2. The
/// page cache of a group counts as left. The largest number if no limit is known. `root` is where
/// /proc and /sys are.
unsigned long long memory_left(const std::string& root = "");

}  // namespace rubato
