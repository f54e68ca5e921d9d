#pragma once

#include <string>
#include <vector>

#include "models/statistics/rank_sum.h"

namespace rubato {

/// One measured time of an operation at one size.
struct Observation {
  std::string operation;
  double bytes = 0;
  int launch = 0;  ///< which start of the MPI program it comes from
  double seconds = 0;
};

/// One operation at one size, measured in two places.
struct CellComparison {
  std::string operation;
  double bytes = 0;
  std::vector<double> a, b;  ///< seconds, one per launch
  double median_a = 0;
  double median_b = 0;
  /// `less`: a is faster; `greater`: b is. No p is below the least that the number of launches
  /// allows.
  RankSum test;
  /// The least possible two-sided p: all of a faster than all of b. One-sided it is half of that.
  double least_p = 1;
  double welch_p = 1;  ///< of welch_test(), which assumes that times of launches are normal

  double ratio() const { return median_b / median_a; }
};

struct Comparison {
  std::vector<CellComparison> cells;  ///< by operation as they first occur in a, then by size
  int launches_a = 0;                 ///< of the cell with the most
  int launches_b = 0;
  int only_in_a = 0;  ///< cells that the other side lacks
  int only_in_b = 0;

  /// Cells whose two-sided p is at most `level`.
  int differing(double level) const;
  /// Cells with too few launches for a p of `level`, whatever their times.
  int with_too_few(double level) const;
};

/// ReproMPI's comparison (Hunold and Carpen-Amarie 2016, Algorithm 3 and section 5.2): the times of
/// a cell and launch are filtered by Tukey's filter and reduced to their median; Wilcoxon's
/// rank-sum test compares the medians of the launches. The launch is the unit of repetition,
/// because times inside one launch are more alike than times of two.
Comparison compare(const std::vector<Observation>& a, const std::vector<Observation>& b);

/// "***" for p <= 0.001, "**" for p <= 0.01, "*" for p <= 0.05, else "".
const char* asterisks(double p);

}  // namespace rubato
