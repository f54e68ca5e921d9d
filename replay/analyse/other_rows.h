#pragma once

#include <array>
#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// A category of a rank's time other than compute and MPI.
struct OtherRow {
  const char* name;  ///< "Lost core"
  const char* key;   ///< "lost_core", in JSON
  double RankResult::*seconds;
};

/// Together with compute and MPI these add up to Elapsed.
inline constexpr std::array<OtherRow, 5> kOtherRows = {{
    {"Flushing", "flushing", &RankResult::flushing},
    {"Not recorded", "not_recorded", &RankResult::not_recorded},
    {"Lost core", "lost_core", &RankResult::lost_core},
    {"Before", "before", &RankResult::before},
    {"After", "after", &RankResult::after},
}};
/// The first of them lie in the rank's own window.
inline constexpr int kOtherRowsInWindow = 3;

/// Mean over ranks of the sum over each rank's threads.
double mean(const std::vector<RankResult>& ranks, double RankResult::*seconds);

/// True for MPI_Init, MPI_Init_thread and MPI_Finalize: their time is reported, but is not part of
/// elapsed or RankResult::mpi.
bool outside_elapsed(const std::string& call);

/// Mean length of the ranks' windows in seconds: compute, MPI and the rows within the window.
double mean_window(const std::vector<RankResult>& ranks);

}  // namespace rubato
