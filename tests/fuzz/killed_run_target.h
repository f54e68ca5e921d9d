// The target 'killed': what a killed program left, for `rubato recover`.
//
// An input is a byte, and then files in a row (target_parts.h): journals and INCOMPLETE as they
// are, and of each
// *.records a part for each of its segments, in their order, without the zeros at its end. Where
// the first byte is not 'k' (keep), complete segments get the checksum that is right, so that what
// is behind it is reached.
#pragma once

#include <string>
#include <vector>

/// Throws, besides what all targets throw, where the archive that was written cannot be replayed,
/// and where half of one is left behind.
void read_killed_run(const std::string& bytes);
std::vector<std::string> killed_run_seeds(const std::string& share);
