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

/// The collectives in a file of samples. If some were measured on nodes and between nodes, those
/// between nodes count; of several launches the least limit.
MeasuredCollectives sampled_collectives(const SampleFile& samples);

/// A formula in d for every message pattern with enough samples, then formulas in p and d of
/// collectives. `of_loops`: the statistic of message loops that counts.
std::vector<FittedCall> fit_calls(const SampleFile& samples,
                                  const std::map<CollectiveOp, CollectiveFit>& collectives,
                                  OfLoops of_loops);

/// Howell's table for one MPI library, and the basis of its Q.
std::string formula_report(const std::vector<FittedCall>& calls, const std::string& library,
                           int page_width);

}  // namespace rubato
