#pragma once

// MPInside's five tables (paper, section 3.2), by rank and call, as numbers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replay/analyse/scenario_profile.h"
#include "tools/format/table.h"
#include "tools/tables/call_columns.h"

namespace rubato {

/// A column of a table by rank.
struct NumberColumn {
  std::string name;
  std::vector<double> values;  ///< by rank
};

struct RankTable {
  std::string title;   ///< "bytes sent"
  As as = As::kCount;  ///< or seconds, or bytes
  std::vector<NumberColumn> columns;
  size_t outside = 0;  ///< number of last columns that are outside of Elapsed
};

/// The calls that ranks make inside their windows, in the order of ScenarioProfile::calls; calls
/// with less than a thousandth of all time, or beyond the dozen largest, form one last group. With
/// `all` each call has its own group.
std::vector<CallColumn> call_groups(const ScenarioProfile& profile, bool all);
/// The waits alone.
RankTable wait_table(const ScenarioProfile& profile);

/// The tables time (compute, calls, overhead, the other categories that are not 0, then calls
/// marked as outside of the window), bytes sent, sends, bytes received, receives. `groups`: the
/// calls of the first table; the others have a column for each call that transfers data.
std::vector<RankTable> rank_tables(const ScenarioProfile& profile,
                                   const std::vector<CallColumn>& groups);

}  // namespace rubato
