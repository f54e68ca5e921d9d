#pragma once

#include <array>

#include "replay/observe/results.h"

namespace rubato {

/// A row of a rank beside compute and MPI.
struct OtherRow {
  const char* name;  ///< "Lost core"
  const char* key;   ///< "lost_core", in JSON
  double RankResult::*seconds;
};

/// With compute and MPI these add up to Elapsed.
inline constexpr std::array<OtherRow, 5> kOtherRows = {{
    {"Flushing", "flushing", &RankResult::flushing},
    {"Not recorded", "not_recorded", &RankResult::not_recorded},
    {"Lost core", "lost_core", &RankResult::lost_core},
    {"Before", "before", &RankResult::before},
    {"After", "after", &RankResult::after},
}};
/// The first of them lie in the rank's own window.
inline constexpr int kOtherRowsInWindow = 3;

/// Mean over ranks, of all their threads together.
double mean(const std::vector<RankResult>& ranks, double RankResult::*seconds);

/// Seconds of the window of the mean rank: compute, MPI and the rows in it.
double mean_window(const std::vector<RankResult>& ranks);

}  // namespace rubato
