#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// A column of the tables per rank: one MPI call, or several small ones combined.
struct CallColumn {
  std::string name;
  std::vector<size_t> calls;  ///< indices into Results::calls

  double time(const RankResult& rank) const;
};

/// The columns of a report, the same for all scenarios so that their tables can be compared: calls
/// in the order of Results::calls, then one column for small calls (less than a thousandth of the
/// time in every scenario, or beyond the `most` largest), then MPI_Init and MPI_Finalize, which are
/// not part of the sum. With SIZE_MAX nothing is combined.
std::vector<CallColumn> choose_call_columns(const Results& results, size_t most);

}  // namespace rubato
