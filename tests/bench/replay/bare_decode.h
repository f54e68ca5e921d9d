#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// The locations defined in the archive with this anchor file, in its order. Ends the program with
/// a message if it cannot be read.
std::vector<uint64_t> locations_of(const std::string& anchor);

/// Reads all records of these locations with libotf2, one location after the other, with callbacks
/// that only count: what no reader of the archive can go below. Returns how many there were.
uint64_t decode_bare(const std::string& anchor, const std::vector<uint64_t>& locations);
