#include "models/fit/fit_samples.h"

#include <algorithm>
#include <cmath>

#include "models/error.h"

namespace rubato {
namespace {

// Liu, Wu and Zidek's recommended constants.
constexpr double kPrice = 0.299;
constexpr double kPriceExponent = 2.1;

}  // namespace

SampleArrays prepare_samples(std::vector<FitSample> input) {
  std::sort(input.begin(), input.end(), [](const FitSample& a, const FitSample& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
  });
  const int count = static_cast<int>(input.size());
  SampleArrays samples{Eigen::ArrayXd(count), Eigen::ArrayXd(count), Eigen::ArrayXd(count)};
  for (int i = 0; i < count; ++i) {
    const FitSample& sample = input[i];
    if (!(sample.seconds > 0) || !std::isfinite(sample.seconds)) {
      throw InputError("a curve cannot be fitted: the time for " +
                       std::to_string(static_cast<long long>(sample.bytes)) +
                       " bytes is not greater than 0");
    }
    samples.bytes(i) = sample.bytes;
    samples.seconds(i) = sample.seconds;
    samples.weight(i) = sample.weight;
  }
  if (count < 2 || samples.bytes(0) == samples.bytes(count - 1)) {
    throw InputError("a curve cannot be fitted: it needs samples of at least two sizes");
  }
  samples.weight *= count / samples.weight.sum();
  return samples;
}

double fit_criterion(double rss, int parameters, int samples, const FitOptions& options) {
  const double price = parameters * kPrice * std::pow(std::log(samples), kPriceExponent);
  const double floor = options.noise_floor * options.noise_floor;
  return options.noise > 0
             ? rss / std::max(floor, options.noise * options.noise) + price
             : std::log(rss / std::max(1, samples - parameters) + floor) + price / samples;
}

double noise_of_fit(double rss, int parameters, int samples, const FitOptions& options) {
  return std::max(options.noise, std::sqrt(rss / std::max(1, samples - parameters)));
}

}  // namespace rubato
