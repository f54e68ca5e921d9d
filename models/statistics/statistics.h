#pragma once

#include <vector>

namespace rubato {

/// Statistics of repeated measurements. Samples must not be empty unless documented otherwise.

double mean(const std::vector<double>& sample);

/// The quantile of a share between 0 (the minimum) and 1 (the maximum); linear between neighbours:
/// type 7 of Hyndman and Fan ("Sample quantiles in statistical packages", 1996), the default of R
/// and NumPy.
double quantile(std::vector<double> sample, double share);

double median(std::vector<double> sample);

/// Estimate for the population (with n - 1 in the denominator); 0 for a single value.
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

/// The probability of a larger chi^2 by chance: Q(degrees_of_freedom / 2, chi_square / 2), Q being
/// the regularised incomplete gamma function.
double chi_square_exceeded(double chi_square, double degrees_of_freedom);

/// Confidence interval of the mean, for normally distributed values. From minus to plus infinity
/// for a single value, whose spread is unknown.
Interval confidence_interval(const std::vector<double>& sample, double confidence = 0.95);

/// Tukey's filter as ReproMPI applies it (Hunold and Carpen-Amarie 2016, section 3.3): the values
/// from Q1 - factor IQR to Q3 + factor IQR, IQR = Q3 - Q1, in their order; with a factor of 0 all
/// of them. The sample may be empty.
inline constexpr double kTukeyFactor = 1.5;
std::vector<double> without_outliers(const std::vector<double>& sample,
                                     double factor = kTukeyFactor);

/// Welch's t-test (Biometrika 34, 1947): the probability, two-sided, of means as far apart if both
/// samples are normal, with one mean and any variances; 1 for a sample of fewer than two values.
double welch_test(const std::vector<double>& a, const std::vector<double>& b);

/// When a measurement has been repeated often enough.
struct StopRule {
  int least = 5;    ///< minimum number of repetitions
  int most = 1000;  ///< maximum number of repetitions
  /// SKaMPI's rule: the standard error of the mean over the mean; 0 = not used.
  double relative_standard_error = 0.01;
  /// MPIBlib's rule: half the confidence interval of the mean over the mean; 0 = not used.
  double relative_interval = 0;
  double confidence = 0.95;
};

enum class Stop {
  kNotYet,
  kSettled,  ///< all figures of the rule are small enough
  kAtLimit,  ///< they are not, but there are `most` repetitions
};

/// Whether to continue after these repetitions. The sample may be empty.
Stop stop_measuring(const std::vector<double>& sample, const StopRule& rule);

}  // namespace rubato
