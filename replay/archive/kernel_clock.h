#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/archive/archive.h"
#include "replay/trace/kernel_sums.h"

namespace rubato {

/// Sums up the kernels of GPU streams, one stream after the other, from the enters and leaves of
/// their regions. Some tracers write kernels that overlap; the time of a stream counts once.
class KernelClock {
 public:
  // Times in ticks.
  void enter(uint32_t region, double time);
  void leave(uint32_t region, double time);
  /// No more records of this stream. A kernel without a leave counts up to the last record.
  void end_stream();

  KernelSums sums(const Archive& archive) const;

 private:
  std::unordered_map<uint32_t, KernelSums::Kernel> by_region_;  ///< in ticks, without names
  std::vector<std::pair<uint32_t, double>> open_;               ///< regions with their enters
  double begin_ = 0;                                            ///< enter of the first one of open_
  double last_ = 0;                                             ///< time of the last record
  double ticks_ = 0;
  int streams_ = 0;
};

}  // namespace rubato
