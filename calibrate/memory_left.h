#pragma once

#include <string>

namespace rubato {

/// The bytes that Linux can still give to this process without killing one: MemAvailable, and no
/// more than what its control group has left, and each group that holds that one, of version 1
/// or 2. A group can give up its page cache, so that counts as left. As many as there are numbers
/// where nothing says. `root` is where /proc and /sys are.
unsigned long long memory_left(const std::string& root = "");

}  // namespace rubato
