#pragma once

#include <cstdint>
#include <vector>

namespace rubato {

/// Which process has which ranks: each a block of them.
class Division {
 public:
  /// `sizes` by rank, of whatever takes time: blocks are about as large as each other. Processes
  /// beyond the ranks have none.
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

  std::vector<int> first_;        ///< by process, and the number of ranks
  std::vector<int> first_owner_;  ///< of the first of each kRanksOfEntry ranks
};

}  // namespace rubato
