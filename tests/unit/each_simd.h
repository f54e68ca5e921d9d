#pragma once

#include <vector>

#include "replay/replay_wide.h"
#include "replay/results.h"

namespace rubato {

/// What `run` gives with each of the instructions that this processor has for lanes.
template <typename Run>
auto with_each_simd(Run run) {
  const Simd before = simd_in_use;
  std::vector<decltype(run())> all;
  for (const Simd simd : {Simd::kAny, Simd::kAvx2, Simd::kAvx512}) {
    if (simd > widest_simd()) continue;
    simd_in_use = simd;
    all.push_back(run());
  }
  simd_in_use = before;
  return all;
}

}  // namespace rubato
