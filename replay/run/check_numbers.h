#pragma once

#include "replay/observe/results.h"

namespace rubato {

/// Refuses results that no run has: times that are negative or not finite, rows of a rank that do
/// not add up to Elapsed (where no time of the archive runs backwards). They follow from times of
/// the archive that run backwards or from numbers beyond all machines, and nothing else in the
/// results could be believed. Rounding is allowed for. Errors: InputError that names the scenario,
/// the rank and the number.
void check_numbers(const Results& results);

}  // namespace rubato
