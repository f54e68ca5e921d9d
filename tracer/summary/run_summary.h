#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tracer/record/time_sums.h"

/// The line of `rubato trace --summary` at the end of a run.
namespace rubato {
inline namespace tracing {

/// Where the time of one rank went, in seconds; of all its threads together.
struct RankTimes {
  double start = 0;         ///< MPI_Init was left, on the clock that all ranks are compared by
  double end = 0;           ///< MPI_Finalize was entered
  double window = 0;        ///< from start to end, less what was not recorded
  double compute = 0;       ///< of that neither in MPI nor lost
  double stolen = 0;        ///< could run but had no core
  double not_recorded = 0;  ///< recording was switched off
  uint64_t threads = 0;     ///< that have records
  bool stopped = false;     ///< recording ended before the program did
  std::map<unsigned, double> calls;  ///< time in MPI calls by CallId

  /// Adds a thread; the first one is the main thread. `per_second`: ticks of its clock.
  void add(const TimeSums& sums, double per_second);

  std::string pack() const;
  static RankTimes unpack(const std::string& bytes);
};

/// "summary: 4 ranks, elapsed 12.3 s, 34 % of it in MPI (MPI_Allreduce 20 %, MPI_Wait 9 %, MPI_Recv
/// 3 %), load balance 93 %". Elapsed is from the first rank that left MPI_Init to the last one that
/// entered MPI_Finalize, shares are of the sum of the ranks' windows, and load balance is mean over
/// largest compute, as in POP's metrics (replay/judge/efficiency.h); it is left out where several
/// threads of a rank call MPI. Clauses follow for time without a core and for what was not
/// recorded.
std::string summary_line(const std::vector<RankTimes>& ranks,
                         const std::vector<std::string>& call_names);

}  // namespace tracing
}  // namespace rubato
