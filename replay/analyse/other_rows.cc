#include "replay/analyse/other_rows.h"

namespace rubato {

double mean(const std::vector<RankResult>& ranks, double RankResult::*seconds) {
  if (ranks.empty()) return 0;
  double sum = 0;
  for (const RankResult& rank : ranks) sum += rank.*seconds;
  return sum / static_cast<double>(ranks.size());
}

bool outside_elapsed(const std::string& call) {
  return call == "MPI_Init" || call == "MPI_Init_thread" || call == "MPI_Finalize";
}

double mean_window(const std::vector<RankResult>& ranks) {
  double window = mean(ranks, &RankResult::compute) + mean(ranks, &RankResult::mpi);
  for (int i = 0; i < kOtherRowsInWindow; ++i) window += mean(ranks, kOtherRows[i].seconds);
  return window;
}

}  // namespace rubato
