#pragma once

#include <string>
#include <vector>

#include "tools/sample_file.h"

namespace rubato {

/// ReproMPI's table (Algorithm 3): for each operation and some of its sizes the median and the mean
/// over launches, their relative standard error, and each launch by itself. Of messages `of_loops`
/// says what stands for a launch.
std::string launch_table(const std::vector<SampleRow>& rows, OfLoops of_loops, int page_width);

}  // namespace rubato
