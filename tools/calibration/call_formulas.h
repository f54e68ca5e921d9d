#pragma once

#include <string>
#include <vector>

#include "models/fit/collective_fit.h"
#include "tools/files/sample_file.h"

namespace rubato {

/// A call or pattern with its formula.
struct FittedCall {
  std::string name;  ///< "node pingpong", "bcast"
  CollectiveFit fit;
};

/// The collectives in a sample file. Collectives measured both within and between nodes are taken
/// from between nodes; held_from is the least of several launches.
MeasuredCollectives sampled_collectives(const SampleFile& samples);

/// A formula in d for every message pattern with enough samples, then the formulas in p and d of
/// collectives. `of_loops`: the statistic that represents message loops.
std::vector<FittedCall> fit_calls(const SampleFile& samples,
                                  const std::map<CollectiveOp, CollectiveFit>& collectives,
                                  OfLoops of_loops);

/// Howell's table for one MPI library, with an explanation of Q.
std::string formula_report(const std::vector<FittedCall>& calls, const std::string& library,
                           int page_width);

}  // namespace rubato
