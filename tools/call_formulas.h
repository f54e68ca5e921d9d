#pragma once

#include <string>
#include <vector>

#include "models/fit/collective_fit.h"
#include "tools/sample_file.h"

namespace rubato {

/// A call or pattern with the formula that describes it.
struct FittedCall {
  std::string name;  ///< "node pingpong", "bcast"
  CollectiveFit fit;
};

/// The collectives in a file of samples. Of those measured on nodes and between them, those between
/// them. Of several launches the least limit counts.
MeasuredCollectives sampled_collectives(const SampleFile& samples);

/// A formula in d for every pattern of messages that has enough samples, then those in p and d of
/// collectives. What counts of the loops of messages is said by `of_loops`.
std::vector<FittedCall> fit_calls(const SampleFile& samples,
                                  const std::map<CollectiveOp, CollectiveFit>& collectives,
                                  OfLoops of_loops);

/// Howell's table for one MPI library, and what its Q rests on.
std::string formula_report(const std::vector<FittedCall>& calls, const std::string& library,
                           int page_width);

}  // namespace rubato
