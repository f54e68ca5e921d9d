#pragma once

#include <string>
#include <vector>

#include "tools/files/sample_file.h"

namespace rubato {

/// Tables of the times of each operation at some sizes. With several launches, ReproMPI's table
/// (Algorithm 3): the median and mean over launches, the relative standard error, and each launch.
/// `of_loops`: the statistic of message loops that represents a launch.
std::string sample_table(const std::vector<SampleRow>& rows, OfLoops of_loops, int page_width);

}  // namespace rubato
