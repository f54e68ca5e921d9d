#include "models/statistics/statistics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace rubato;

TEST_CASE("mean, median, quantiles and standard error of a small sample") {
  const std::vector<double> sample = {4, 1, 3, 2};
  CHECK(mean(sample) == 2.5);
  CHECK(median(sample) == 2.5);
  CHECK(median({3, 1, 2}) == 2);
  // Type 7: position share * (n - 1) = 0.25 * 3 = 0.75 between 1 and 2.
  CHECK(quantile(sample, 0.25) == 1.75);
  CHECK(quantile(sample, 0) == 1);
  CHECK(quantile(sample, 1) == 4);
  // Squares 2.25 + 2.25 + 0.25 + 0.25 = 5 over n - 1 = 3; s / sqrt(4).
  CHECK(standard_deviation(sample) == Approx(std::sqrt(5. / 3)));
  CHECK(standard_error(sample) == Approx(std::sqrt(5. / 3) / 2));
  CHECK(standard_error({7}) == 0);
}

TEST_CASE("the quantiles of Student's t are those of the printed tables") {
  // Two-sided 95 %: 12.706 for 1 degree of freedom, 4.303, 2.262 for 9, 2.042 for 30; 99 %: 3.250.
  CHECK(student_t(1) == Approx(12.706).margin(0.0005));
  CHECK(student_t(2) == Approx(4.303).margin(0.0005));
  CHECK(student_t(9) == Approx(2.262).margin(0.0005));
  CHECK(student_t(30) == Approx(2.042).margin(0.0005));
  CHECK(student_t(9, 0.99) == Approx(3.250).margin(0.0005));
}

TEST_CASE("a confidence interval has its stated coverage") {
  // {1, 2, 3}: mean 2, standard error 1 / sqrt(3), t of 2 degrees of freedom 4.303.
  const Interval small = confidence_interval({1, 2, 3});
  CHECK(small.low == Approx(2 - 4.303 / std::sqrt(3.)).epsilon(1e-3));
  CHECK(small.high == Approx(2 + 4.303 / std::sqrt(3.)).epsilon(1e-3));
  CHECK(confidence_interval({5}).holds(-1e300));
  // 2000 samples of ten: 95 % of them within four binomial deviations, sqrt(.95 * .05 / 2000) =
  // 0.49 %.
  for (unsigned seed = 1; seed <= 3; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(10, 2);
    int held = 0;
    for (int i = 0; i < 2000; ++i) {
      std::vector<double> sample;
      for (int k = 0; k < 10; ++k) sample.push_back(normal(random));
      held += confidence_interval(sample).holds(10);
    }
    CAPTURE(seed);
    CHECK(held / 2000. == Approx(0.95).margin(0.02));
  }
}

TEST_CASE("Tukey's filter takes what lies more than 1.5 IQR outside the quartiles") {
  // 1..9: Q1 = 3, Q3 = 7, so values from 3 - 6 = -3 to 7 + 6 = 13 stay. A tenth value shifts the
  // quartiles: of {1..9, 100} they are 3.25 and 7.75, reach 6.75, the upper fence 14.5.
  CHECK(without_outliers({1, 2, 3, 4, 5, 6, 7, 8, 9}).size() == 9);
  CHECK(without_outliers({9, 2, 3, 4, 100, 5, 6, 7, 8, 1}) ==
        std::vector<double>{9, 2, 3, 4, 5, 6, 7, 8, 1});
  CHECK(without_outliers({9, 2, 3, 4, 14.5, 5, 6, 7, 8, 1}).size() == 10);  // on the fence
  // The lower side too: quartiles of {-100, 1..9} are 2.25 and 6.75, the lower fence -4.5.
  CHECK(without_outliers({-100, 1, 2, 3, 4, 5, 6, 7, 8, 9}).front() == 1);
  // With a factor of 3 the upper fence of {1..9, 100} is 7.75 + 13.5 = 21.25, with 25 it is 120.25.
  CHECK(without_outliers({1, 2, 3, 4, 5, 6, 7, 8, 9, 21}, 3).size() == 10);
  CHECK(without_outliers({1, 2, 3, 4, 5, 6, 7, 8, 9, 22}, 3).size() == 9);
  CHECK(without_outliers({1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, 25).size() == 10);
  CHECK(without_outliers({1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, 0).size() == 10);  // no filter
  CHECK(without_outliers({}).empty());
  CHECK(without_outliers({3}) == std::vector<double>{3});
}

TEST_CASE("Welch's t-test of small samples is that of the printed tables") {
  // {1, 2, 3} and {4, 5, 6}: means 3 apart, variances 1, so t = 3 / sqrt(2 / 3) = 3.674 with
  // (2/3)^2 / (2 (1/3)^2 / 2) = 4 degrees of freedom. For 4, two-sided, exactly:
  // p = 1 - x (6 + t^2) / (4 + t^2) with x = t / sqrt(4 + t^2); t^2 = 13.5: x = 0.87831,
  // p = 1 - 0.87831 * 19.5 / 17.5 = 0.021312.
  CHECK(welch_test({1, 2, 3}, {4, 5, 6}) == Approx(0.021312).epsilon(1e-4));
  CHECK(welch_test({4, 5, 6}, {1, 2, 3}) == Approx(0.021312).epsilon(1e-4));
  // Unequal variances: {0, 2} (mean 1, variance 2, s^2 / n = 1) and {3, 3, 3, 3} (0): 2 / 1, with
  // 1^2 / (1^2 / 1) = 1 degree of freedom, Cauchy: p = 1 - 2 / pi * atan(2) = 0.295167.
  CHECK(welch_test({0, 2}, {3, 3, 3, 3}) == Approx(0.295167).epsilon(1e-5));
  // The critical values of the tables: 2.776 for 4 degrees of freedom is 5 %. {0, 1, 2} plus 2.776
  // standard errors of sqrt(2 / 3).
  const double shift = 2.776 * std::sqrt(2. / 3);
  CHECK(welch_test({0, 1, 2}, {shift, 1 + shift, 2 + shift}) == Approx(0.05).epsilon(1e-3));
  CHECK(welch_test({1, 2}, {1, 2}) == 1);
  CHECK(welch_test({1}, {2, 3}) == 1);     // no variance is known
  CHECK(welch_test({1, 1}, {2, 2}) == 0);  // apart without any spread
  CHECK(welch_test({1, 1}, {1, 1}) == 1);
}

TEST_CASE("measuring stops when the relative standard error is small, or at the limit") {
  StopRule rule;
  rule.least = 3;
  rule.most = 6;
  rule.relative_standard_error = 0.05;
  CHECK(stop_measuring({}, rule) == Stop::kNotYet);
  CHECK(stop_measuring({1, 1}, rule) == Stop::kNotYet);  // fewer than the least
  CHECK(stop_measuring({1, 1, 1}, rule) == Stop::kSettled);
  // {90, 100, 110}: s = 10, 10 / sqrt(3) = 5.77, 5.77 % of the mean.
  CHECK(stop_measuring({90, 100, 110}, rule) == Stop::kNotYet);
  // Twice the same: s = sqrt(400 / 5) = 8.94, / sqrt(6) = 3.65 %.
  CHECK(stop_measuring({90, 100, 110, 90, 100, 110}, rule) == Stop::kSettled);
  CHECK(stop_measuring({50, 100, 150, 50, 100, 150}, rule) == Stop::kAtLimit);
  // MPIBlib's: t of 5 degrees of freedom is 2.571, half the interval 9.39 % of the mean.
  rule.relative_standard_error = 0;
  rule.relative_interval = 0.095;
  CHECK(stop_measuring({90, 100, 110, 90, 100, 110}, rule) == Stop::kSettled);
  rule.relative_interval = 0.093;
  CHECK(stop_measuring({90, 100, 110, 90, 100, 110}, rule) == Stop::kAtLimit);
}
