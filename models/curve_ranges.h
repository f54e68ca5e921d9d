#pragma once

#include <string>

#include "models/level_fit.h"

namespace rubato {

/// In which ranges the numbers of a level's curves lie with 95 % confidence, as comment lines of a
/// platform file: a line per segment of what a message takes one way (o_s + T + o_r; T alone is a
/// difference) and of the gaps. "" without a curve.
std::string curve_ranges(const LevelFit& fit);

}  // namespace rubato
