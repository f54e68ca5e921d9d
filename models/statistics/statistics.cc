#include "models/statistics/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace rubato {

double mean(const std::vector<double>& sample) {
  assert(!sample.empty());
  return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}

double quantile(std::vector<double> sample, double share) {
  assert(!sample.empty() && share >= 0 && share <= 1);
  std::sort(sample.begin(), sample.end());
  const double position = share * static_cast<double>(sample.size() - 1);
  const size_t below = static_cast<size_t>(position);
  if (below + 1 == sample.size()) return sample.back();
  const double fraction = position - static_cast<double>(below);
  return sample[below] + fraction * (sample[below + 1] - sample[below]);
}

double median(std::vector<double> sample) {
  return quantile(std::move(sample), 0.5);
}

double standard_deviation(const std::vector<double>& sample) {
  if (sample.size() < 2) return 0;
  const double centre = mean(sample);
  double squares = 0;
  for (const double value : sample) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(sample.size() - 1));
}

double standard_error(const std::vector<double>& sample) {
  return standard_deviation(sample) / std::sqrt(static_cast<double>(sample.size()));
}

double student_t(double degrees_of_freedom, double confidence) {
  assert(degrees_of_freedom > 0 && confidence > 0 && confidence < 1);
  const boost::math::students_t distribution(degrees_of_freedom);
  return boost::math::quantile(distribution, (1 + confidence) / 2);
}

double chi_square_exceeded(double chi_square, double degrees_of_freedom) {
  return boost::math::gamma_q(degrees_of_freedom / 2, chi_square / 2);
}

Interval confidence_interval(const std::vector<double>& sample, double confidence) {
  if (sample.size() < 2) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {-kInfinity, kInfinity};
  }
  const double half =
      student_t(static_cast<double>(sample.size() - 1), confidence) * standard_error(sample);
  return {mean(sample) - half, mean(sample) + half};
}

std::vector<double> without_outliers(const std::vector<double>& sample, double factor) {
  if (sample.empty() || factor == 0) return sample;
  const double first = quantile(sample, 0.25);
  const double third = quantile(sample, 0.75);
  const double reach = factor * (third - first);
  std::vector<double> kept;
  for (const double value : sample) {
    if (value >= first - reach && value <= third + reach) kept.push_back(value);
  }
  return kept;
}

double welch_test(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) return 1;
  const double of_a = std::pow(standard_error(a), 2), of_b = std::pow(standard_error(b), 2);
  const double apart = std::abs(mean(a) - mean(b));
  if (of_a + of_b == 0) return apart == 0 ? 1 : 0;
  // Welch and Satterthwaite's degrees of freedom.
  const double freedom =
      std::pow(of_a + of_b, 2) / (of_a * of_a / static_cast<double>(a.size() - 1) +
                                  of_b * of_b / static_cast<double>(b.size() - 1));
  const boost::math::students_t distribution(freedom);
  return 2 * boost::math::cdf(complement(distribution, apart / std::sqrt(of_a + of_b)));
}

Stop stop_measuring(const std::vector<double>& sample, const StopRule& rule) {
  const int count = static_cast<int>(sample.size());
  if (count < std::max(2, rule.least)) return count >= rule.most ? Stop::kAtLimit : Stop::kNotYet;
  const double centre = std::abs(mean(sample));
  const double error = standard_error(sample);
  const bool small_error =
      rule.relative_standard_error <= 0 || error <= rule.relative_standard_error * centre;
  const bool small_interval =
      rule.relative_interval <= 0 ||
      student_t(count - 1, rule.confidence) * error <= rule.relative_interval * centre;
  if (small_error && small_interval) return Stop::kSettled;
  return count >= rule.most ? Stop::kAtLimit : Stop::kNotYet;
}

}  // namespace rubato
