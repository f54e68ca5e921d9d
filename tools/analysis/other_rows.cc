#include "tools/analysis/other_rows.h"

namespace rubato {

double mean(const std::vector<RankResult>& ranks, double RankResult::*seconds) {
  if (ranks.empty()) return 0;
  double sum = 0;
  for (const RankResult& rank : ranks) sum += rank.*seconds;
  return sum / static_cast<double>(ranks.size());
}

double mean_window(const std::vector<RankResult>& ranks) {
  double window = mean(ranks, &RankResult::compute) + mean(ranks, &RankResult::mpi);
  for (int i = 0; i < kOtherRowsInWindow; ++i) window += mean(ranks, kOtherRows[i].seconds);
  return window;
}

}  // namespace rubato
