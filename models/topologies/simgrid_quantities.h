#pragma once

#include <string>
#include <vector>

namespace rubato::simgrid {

// Quantities in the notation of SimGrid's files. Errors: InputError with the expected form.

/// "10us". Without a unit seconds, as SimGrid takes them.
double seconds(const std::string& text);
/// "1.25GBps", "10Gbps", "1MiBps". Without a unit bytes per second.
double bandwidth(const std::string& text);
/// "4,2": whole numbers above 0.
std::vector<int> counts(const std::string& text);
/// "0-3,7" as 0 1 2 3 7: at most a million.
std::vector<std::string> radicals(const std::string& text);

}  // namespace rubato::simgrid
