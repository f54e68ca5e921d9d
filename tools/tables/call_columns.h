#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// A column or row of a table: one MPI call, or several small ones combined.
struct CallColumn {
  std::string name;
  std::vector<size_t> calls;  ///< indices into Results::calls or ScenarioProfile::calls

  double time(const RankResult& rank) const;
};

/// A column for each of the calls `used`, in their order, with `sizes` by call: those below
/// `least`, or beyond the `most` largest, form one last column. With SIZE_MAX nothing is combined.
std::vector<CallColumn> grouped_calls(const std::vector<std::string>& names,
                                      const std::vector<size_t>& used,
                                      const std::vector<double>& sizes, double least, size_t most);

/// The columns of a report, the same for all scenarios so that their tables can be compared: calls
/// in the order of Results::calls, then one column for small calls (less than a thousandth of the
/// time in every scenario, or beyond the `most` largest), then MPI_Init and MPI_Finalize, which are
/// not part of the sum. With SIZE_MAX nothing is combined.
std::vector<CallColumn> choose_call_columns(const Results& results, size_t most);

}  // namespace rubato
