#pragma once

#include <map>
#include <string>

#include "models/level_fit.h"
#include "tools/sample_file.h"

namespace rubato {

/// What a file of samples says about each level, ready to be fitted. Of several launches the median
/// counts, and halves are those of the launches: the first, third, ... and the others. Patterns
/// that no curve is made of are passed over. Errors: InputError that begins with `name` for an
/// unknown level.
std::map<Level, LevelSamples> sampled_levels(const SampleFile& samples, const std::string& name);

/// How many rows have a pattern that no curve is made of.
size_t rows_of_no_use(const SampleFile& samples);

}  // namespace rubato
