#pragma once

#include <string>
#include <vector>

namespace rubato {

/// Times of a fixed amount of work, repeated (the Fixed Work Quantum benchmark of Sottile and
/// Minnich, 2004): disturbances by the system show as longer times.
struct NoiseSummary {
  double least = 0, mean = 0, most = 0;  ///< seconds
  double lost = 0;                       ///< share of the time beyond the least: 1 - least / mean
};

NoiseSummary summarise_noise(const std::vector<double>& quanta);

/// The noise of all ranks in words: of the rank that lost most; the longest quantum of all. "" if
/// nothing was repeated.
std::string noise_text(const std::vector<NoiseSummary>& noise);

}  // namespace rubato
