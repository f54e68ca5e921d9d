#pragma once

#include <string>
#include <vector>

#include "tools/sample_file.h"

namespace rubato {

/// ReproMPI's table (Algorithm 3): for each operation and some of its sizes the median and the mean
/// over launches, their relative standard error, and each launch. `of_loops`: the statistic of
/// message loops that represents a launch.
std::string launch_table(const std::vector<SampleRow>& rows, OfLoops of_loops, int page_width);

}  // namespace rubato
