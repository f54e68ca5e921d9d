#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/cost/placement.h"

namespace rubato {

/// Message lengths in ascending order, by the names of level and pattern.
using LengthList = std::map<std::pair<std::string, std::string>, std::vector<size_t>>;

/// The lengths of messages that a file of samples has times of. Errors: InputError for a file that
/// cannot be read, that has no columns level, pattern, bytes and seconds_min, or no times.
LengthList read_length_list(const std::string& file);

/// Those of one pattern; none where the list does not have it.
std::vector<size_t> lengths_of(const LengthList& list, Level level, const std::string& pattern);

}  // namespace rubato
