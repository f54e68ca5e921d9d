#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/placement/placement.h"

namespace rubato {

/// Message lengths in ascending order, by the names of level and pattern.
using LengthList = std::map<std::pair<std::string, std::string>, std::vector<size_t>>;

/// The lengths of messages with times in a file of samples. Errors: InputError for a file that
/// cannot be read, or that lacks times or the columns level, pattern, bytes and seconds_min.
LengthList read_length_list(const std::string& file);

/// The lengths of one pattern; empty if the list lacks it.
std::vector<size_t> lengths_of(const LengthList& list, Level level, const std::string& pattern);

}  // namespace rubato
