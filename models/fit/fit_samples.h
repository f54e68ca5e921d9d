#pragma once

#include <Eigen/Core>
#include <vector>

#include "models/fit/fit.h"

namespace rubato {

/// Samples of a curve as arrays, sorted by size, with weights scaled to a mean of 1. Shared by both
/// ways of fitting.
struct SampleArrays {
  Eigen::ArrayXd bytes, seconds, weight;

  int count() const { return static_cast<int>(bytes.size()); }
};

/// Errors: InputError for fewer than two sizes or a time that is not greater than 0.
SampleArrays prepare_samples(std::vector<FitSample> samples);

/// The criterion of a curve with so many parameters and the weighted sum of squared relative
/// residuals `rss`: the least wins. fit.cc explains it.
double fit_criterion(double rss, int parameters, int samples, const FitOptions& options);

/// The relative standard error of a sample for intervals: that of the residuals, but at least the
/// known one.
double noise_of_fit(double rss, int parameters, int samples, const FitOptions& options);

/// A curve that minimises the misfit of `samples`, by continuous kinks; see continuous_fit.cc.
SegmentedFit fit_continuous(const SampleArrays& samples, const FitOptions& options);

}  // namespace rubato
