// The slow-down of a message by concurrent ones: k pairs of ranks run the same ping-pong at the
// same time, as a bisection of 2 k ranks; the first half of the ranks is one end of each pair.
#include "calibrate/measure/load.h"

#include <mpi.h>

#include <algorithm>
#include <string>

#include "calibrate/measure/patterns.h"

namespace rubato {
int load_series(size_t pairs) {
  int series = 0;
  for (size_t k = 1; pairs > 1; k = std::min(2 * k, pairs)) {
    ++series;
    if (k == pairs) break;
  }
  return series;
}

std::vector<Series> measure_load(const std::vector<std::pair<int, int>>& pairs,
                                 const Effort& effort, const std::function<void()>& wait) {
  const int most = static_cast<int>(pairs.size());
  std::vector<Series> all;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 1; most > 1; k = std::min(2 * k, most)) {
    int place = -1;
    for (int i = 0; i < k; ++i) {
      if (pairs[i].first == rank) place = i;
      if (pairs[i].second == rank) place = k + i;
    }
    MPI_Comm talking;
    MPI_Comm_split(MPI_COMM_WORLD, place >= 0 ? 0 : MPI_UNDEFINED, place, &talking);
    if (place >= 0) {
      const MessagePattern bisection = {PatternShape::kBisection, PatternMode::kBlocking, false};
      for (Series& series : measure_patterns(talking, {bisection}, {}, effort))
        all.push_back({"pairs_" + std::to_string(k), std::move(series.timings)});
      MPI_Comm_free(&talking);
    }
    wait();
    if (k == most) break;
  }
  return all;
}

}  // namespace rubato
