#pragma once

#include <cstdint>
#include <vector>

namespace rubato {

/// Assigns a contiguous block of ranks to each process.
class Division {
 public:
  /// `sizes`: the cost of each rank; blocks have about equal sums. Processes beyond the number of
  /// ranks have none.
  Division(const std::vector<uint64_t>& sizes, int processes);

  int processes() const { return static_cast<int>(first_.size()) - 1; }
  int first(int process) const { return first_[process]; }
  int end(int process) const { return first_[process + 1]; }
  int owner(int rank) const {
    int process = first_owner_[rank / kRanksOfEntry];
    while (rank >= first_[process + 1]) ++process;
    return process;
  }

 private:
  static constexpr int kRanksOfEntry = 64;

  std::vector<int> first_;        ///< by process; last: the number of ranks
  std::vector<int> first_owner_;  ///< of the first of each kRanksOfEntry ranks
};

}  // namespace rubato
