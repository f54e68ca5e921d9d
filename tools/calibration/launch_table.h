#pragma once

#include <string>
#include <vector>

#include "tools/files/sample_file.h"

namespace rubato {

/// The times of each operation at some of its sizes. Of several launches, ReproMPI's table
/// (Algorithm 3): the median and the mean over launches, their relative standard error, and each
/// launch. `of_loops`: the statistic of message loops that represents a launch.
std::string sample_table(const std::vector<SampleRow>& rows, OfLoops of_loops, int page_width);

}  // namespace rubato
