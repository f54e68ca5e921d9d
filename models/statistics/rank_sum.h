#pragma once

#include <vector>

namespace rubato {

/// Whether two samples come from one distribution: the rank-sum test of Wilcoxon, Mann and Whitney,
/// which assumes nothing about that distribution. Each figure is the probability of a result at
/// least as extreme if they do.
struct RankSum {
  double u = 0;          ///< pairs (a, b) with a > b, and half of those with a = b
  double two_sided = 1;  ///< against: they differ
  double less = 1;       ///< against: values of a are smaller
  double greater = 1;    ///< against: values of a are larger
  bool exact = false;    ///< by counting, else by the normal approximation
};

/// Without ties and for up to 66 values together the probabilities are counted, otherwise they come
/// from the normal approximation with its corrections for ties and continuity. Both samples have at
/// least one value.
RankSum rank_sum_test(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace rubato
