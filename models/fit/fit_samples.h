#pragma once

#include <Eigen/Core>
#include <vector>

#include "models/fit/fit.h"

namespace rubato {

/// Samples of a curve as arrays, sorted by size, the weights scaled to a mean of 1. What the ways
/// of fitting share.
struct SampleArrays {
  Eigen::ArrayXd bytes, seconds, weight;

  int count() const { return static_cast<int>(bytes.size()); }
};

/// Errors: InputError for fewer than two sizes or a time that is not greater than 0.
SampleArrays prepare_samples(std::vector<FitSample> samples);

/// What a curve of so many parameters costs that leaves the weighted sum of squared relative
/// residuals `rss`: the least is chosen. fit.cc explains it.
double fit_criterion(double rss, int parameters, int samples, const FitOptions& options);

/// The relative standard error of a sample that intervals are made with: that of the residuals, and
/// not less than what is known.
double noise_of_fit(double rss, int parameters, int samples, const FitOptions& options);

/// A curve that minimises the misfit of `samples`, by continuous kinks; see continuous_fit.cc.
SegmentedFit fit_continuous(const SampleArrays& samples, const FitOptions& options);

}  // namespace rubato
