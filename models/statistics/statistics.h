#pragma once

#include <vector>

namespace rubato {

/// Statistics of repeated measurements. No function takes an empty sample unless it says so.

double mean(const std::vector<double>& sample);

/// The quantile of a share between 0 (the minimum) and 1 (the maximum); linear between neighbours:
/// type 7 of Hyndman and Fan ("Sample quantiles in statistical packages", 1996), the default of R
/// and NumPy.
double quantile(std::vector<double> sample, double share);

double median(std::vector<double> sample);

/// Of the population, estimated (n - 1 below the fraction); 0 for a single value.
double standard_deviation(const std::vector<double>& sample);

/// Standard deviation of the mean: s / sqrt(n); 0 for a single value.
double standard_error(const std::vector<double>& sample);

/// A range of plausible values.
struct Interval {
  double low = 0;
  double high = 0;

  bool holds(double value) const { return low <= value && value <= high; }
};

/// Half-width of a two-sided interval in standard errors: the quantile of Student's t.
double student_t(double degrees_of_freedom, double confidence = 0.95);

/// Of the mean, for values that are normally distributed. From minus to plus infinity for a single
/// value, which says nothing about its spread.
Interval confidence_interval(const std::vector<double>& sample, double confidence = 0.95);

/// Tukey's filter as ReproMPI applies it (Hunold and Carpen-Amarie 2016, section 3.3): the values
/// from Q1 - 1.5 IQR to Q3 + 1.5 IQR, IQR = Q3 - Q1, in their order. May be given nothing.
std::vector<double> without_outliers(const std::vector<double>& sample);

/// When a measurement has been repeated often enough.
struct StopRule {
  int least = 5;    ///< repetitions, whatever they say
  int most = 1000;  ///< repetitions, whatever they say
  /// SKaMPI's rule: the standard error of the mean over the mean; 0 = not asked for.
  double relative_standard_error = 0.01;
  /// MPIBlib's rule: half the confidence interval of the mean over the mean; 0 = not asked for.
  double relative_interval = 0;
  double confidence = 0.95;
};

enum class Stop {
  kNotYet,
  kSettled,  ///< every figure that the rule asks for is small enough
  kAtLimit,  ///< it is not, but there are `most` repetitions
};

/// Whether to go on after these repetitions. May be given nothing.
Stop stop_measuring(const std::vector<double>& sample, const StopRule& rule);

}  // namespace rubato
