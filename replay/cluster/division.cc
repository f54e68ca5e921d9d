#include "replay/cluster/division.h"

#include <algorithm>

namespace rubato {

Division::Division(const std::vector<uint64_t>& sizes, int processes) {
  std::vector<double> sum = {0};
  // (A rank without records must be run, too.)
  for (const uint64_t size : sizes) sum.push_back(sum.back() + static_cast<double>(size) + 1);
  first_.push_back(0);
  for (int process = 1; process < processes; ++process) {
    const double until = sum.back() * process / processes;
    // The nearer of the two ends.
    auto at = std::lower_bound(sum.begin(), sum.end(), until);
    if (at != sum.begin() && until - *(at - 1) < *at - until) --at;
    first_.push_back(std::max(first_.back(), static_cast<int>(at - sum.begin())));
  }
  first_.push_back(static_cast<int>(sizes.size()));
  int process = 0;
  for (int rank = 0; rank < first_.back(); rank += kRanksOfEntry) {
    while (rank >= first_[process + 1]) ++process;
    first_owner_.push_back(process);
  }
}

}  // namespace rubato
