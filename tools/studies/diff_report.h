#pragma once

#include <string>

#include "replay/compare/run_difference.h"

namespace rubato {

/// One side of `rubato diff`.
struct DiffSide {
  std::string archive;
  std::string scenario;
  double elapsed = 0;  ///< seconds
};

struct DiffResults {
  DiffSide predicted, measured;
  double threshold = 0;  ///< drift to report, seconds
  RunDifference difference;
};

/// The output of `rubato diff`.
std::string diff_text(const DiffResults& results, int width);

/// The contents of the file of --json: share/doc/json.md.
std::string diff_json(const DiffResults& results);

}  // namespace rubato
