#pragma once

#include "replay/observe/results.h"

namespace rubato {

/// Refuses impossible results: times that are negative or not finite, rows of a rank that do not
/// add up to Elapsed (unless the archive's clocks run backwards). They result from clocks that run
/// backwards or from unrealistic numbers, and make all other results doubtful. Rounding errors are
/// tolerated. Errors: InputError with the scenario, the rank and the number.
void check_numbers(const Results& results);

}  // namespace rubato
