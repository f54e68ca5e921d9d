#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rubato {

/// What ran on the GPU streams of an archive, all together. Times are seconds.
struct KernelSums {
  struct Kernel {
    std::string name;
    uint64_t count = 0;
    double time = 0;
  };
  int streams = 0;
  uint64_t count = 0;
  double time = 0;              ///< in which a stream had a kernel, summed over streams
  std::vector<Kernel> by_name;  ///< the longest total time first
};

}  // namespace rubato
