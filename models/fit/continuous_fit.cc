// A curve without steps: y(n) rises from a at 0 bytes with slope b_1 up to the knot k_1, then with
// b_2 up to k_2, and so on. With r_j(n), how many of the n bytes lie in segment j,
//
//   y(n) = a + sum over j of b_j r_j(n),      a, b_j >= 0,
//
// is linear in a and b for given knots, and the misfit is that of fit.cc. A knot moves the whole
// curve beyond it, so segments cannot be fitted separately and joined by dynamic programming, as
// fit.cc does. Instead k segments become k + 1 by the best place for one more knot among the sizes
// of the samples and three places between neighbours; then each knot in turn moves to its best
// place until none moves, and finally between those places. The number of segments is chosen by the
// criterion of fit.cc; the 2 K parameters are a, the slopes and the knots.
//
// Intervals come from the derivatives of y by all parameters, knots included (Muggeo, "Estimating
// regression models with unknown break-points", Statistics in Medicine 22, 2003).
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "models/fit/fit_samples.h"
#include "models/fit/least_squares.h"

namespace rubato {
namespace {

constexpr int kSweeps = 20;       // of moving knots; two or three are enough
constexpr int kGoldenSteps = 30;  // each takes 38 % of the range away
constexpr double kGolden = 0.6180339887498949;

using Knots = std::vector<double>;

struct Solution {
  Knots knots;
  Eigen::VectorXd parameters;  ///< a, b_1 ... b_K
  double rss = std::numeric_limits<double>::infinity();
};

double knot_before(const Knots& knots, size_t segment) {
  return segment == 0 ? 0 : knots[segment - 1];
}

double knot_behind(const Knots& knots, size_t segment) {
  return segment == knots.size() ? std::numeric_limits<double>::infinity() : knots[segment];
}

/// Columns 1, r_1(n), ... divided by t, times the root of the weight: least squares of relative
/// errors.
Eigen::MatrixXd design_of(const SampleArrays& samples, const Knots& knots) {
  Eigen::MatrixXd design(samples.count(), static_cast<Eigen::Index>(knots.size()) + 2);
  const Eigen::ArrayXd factor = samples.weight.sqrt() / samples.seconds;
  design.col(0) = factor.matrix();
  for (size_t j = 0; j <= knots.size(); ++j) {
    const Eigen::ArrayXd bytes =
        samples.bytes.max(knot_before(knots, j)).min(knot_behind(knots, j)) - knot_before(knots, j);
    design.col(static_cast<Eigen::Index>(j) + 1) = (factor * bytes).matrix();
  }
  return design;
}

/// The best curve with these knots. Parameters that would be negative are left out, the worst
/// first.
Solution solve(const SampleArrays& samples, const Knots& knots) {
  const Eigen::MatrixXd design = design_of(samples, knots);
  const Eigen::VectorXd lengths = design.colwise().norm().cwiseMax(1e-300);
  const Eigen::VectorXd root = samples.weight.sqrt().matrix();
  std::vector<Eigen::Index> used;
  for (Eigen::Index c = 0; c < design.cols(); ++c) used.push_back(c);
  Solution solution{knots, Eigen::VectorXd::Zero(design.cols()), 0};
  while (!used.empty()) {
    Eigen::MatrixXd part(design.rows(), static_cast<Eigen::Index>(used.size()));
    for (size_t c = 0; c < used.size(); ++c) {
      part.col(static_cast<Eigen::Index>(c)) = design.col(used[c]) / lengths(used[c]);
    }
    const Eigen::VectorXd x = least_squares(part, root);
    Eigen::Index worst = 0;
    if (x.minCoeff(&worst) >= 0) {
      for (size_t c = 0; c < used.size(); ++c) {
        solution.parameters(used[c]) = x(static_cast<Eigen::Index>(c)) / lengths(used[c]);
      }
      break;
    }
    used.erase(used.begin() + worst);
  }
  solution.rss = (root - design * solution.parameters).squaredNorm();
  return solution;
}

/// Where knots may be: at sizes of samples and between them, as long as every segment has
/// min_samples.
class Places {
 public:
  Places(const SampleArrays& samples, const FitOptions& options)
      : samples_(samples), options_(options) {
    for (int i = 0; i + 1 < samples.count(); ++i) {
      const double low = samples.bytes(i), high = samples.bytes(i + 1);
      if (high == low) continue;
      for (int part = 0; part < 4; ++part) all_.push_back(low + part * (high - low) / 4);
    }
  }

  const std::vector<double>& all() const { return all_; }

  bool allowed(const Knots& knots) const {
    for (size_t j = 0; j <= knots.size(); ++j) {
      const auto inside =
          samples_.bytes >= knot_before(knots, j) && samples_.bytes <= knot_behind(knots, j);
      if (inside.count() < options_.min_samples) return false;
    }
    // Everything beyond the largest sample extrapolates the last segment.
    return knots.empty() || samples_.bytes(samples_.count() - 1) >= 2 * knots.back();
  }

 private:
  const SampleArrays& samples_;
  const FitOptions& options_;
  std::vector<double> all_;
};

/// `solution` with knot k where it is best; true when that is another place.
bool move_knot(const SampleArrays& samples, const Places& places, size_t k, Solution& solution) {
  bool moved = false;
  const double low = knot_before(solution.knots, k), high = knot_behind(solution.knots, k + 1);
  for (const double place : places.all()) {
    if (place <= low || place >= high) continue;
    Knots knots = solution.knots;
    knots[k] = place;
    if (!places.allowed(knots)) continue;
    Solution other = solve(samples, knots);
    if (other.rss >= solution.rss * (1 - 1e-12)) continue;
    solution = std::move(other);
    moved = true;
  }
  return moved;
}

/// Knot k between the places next to it, by golden section.
void settle_knot(const SampleArrays& samples, const Places& places, size_t k, Solution& solution) {
  const auto here = std::lower_bound(places.all().begin(), places.all().end(), solution.knots[k]);
  if (here == places.all().begin() || here == places.all().end()) return;
  double low = *(here - 1);
  double high = here + 1 == places.all().end() ? *here : *(here + 1);
  const auto at = [&](double place) {
    Knots knots = solution.knots;
    knots[k] = place;
    return solve(samples, knots);
  };
  for (int step = 0; step < kGoldenSteps; ++step) {
    const double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
    (at(left).rss < at(right).rss ? high : low) = at(left).rss < at(right).rss ? right : left;
  }
  Solution other = at((low + high) / 2);
  if (other.rss < solution.rss && places.allowed(other.knots)) solution = std::move(other);
}

/// The best curve with one knot more, or one without knots that costs infinitely much.
Solution with_another_knot(const SampleArrays& samples, const Places& places,
                           const Solution& solution) {
  Solution best;
  for (const double place : places.all()) {
    Knots knots = solution.knots;
    if (place <= 0 || std::find(knots.begin(), knots.end(), place) != knots.end()) continue;
    knots.insert(std::upper_bound(knots.begin(), knots.end(), place), place);
    if (!places.allowed(knots)) continue;
    Solution other = solve(samples, knots);
    if (other.rss < best.rss) best = std::move(other);
  }
  bool moved = std::isfinite(best.rss);
  for (int sweep = 0; moved && sweep < kSweeps; ++sweep) {
    moved = false;
    for (size_t k = 0; k < best.knots.size(); ++k) moved |= move_knot(samples, places, k, best);
  }
  return best;
}

/// Standard errors to both sides of every number of the curve.
std::vector<SegmentIntervals> intervals_of(const SampleArrays& samples, const Solution& solution,
                                           double noise, const SegmentedFit& fit) {
  const Knots& knots = solution.knots;
  const Eigen::Index slopes = static_cast<Eigen::Index>(knots.size()) + 1;
  const Eigen::Index all = 2 * slopes;  // a, slopes, knots
  Eigen::MatrixXd jacobian(samples.count(), all);
  jacobian.leftCols(slopes + 1) = design_of(samples, knots);
  const Eigen::ArrayXd factor = samples.weight.sqrt() / samples.seconds;
  const auto slope = [&](Eigen::Index j) { return solution.parameters(1 + j); };
  for (Eigen::Index k = 0; k + 1 < slopes; ++k) {
    const double knot = knots[static_cast<size_t>(k)];
    const Eigen::ArrayXd beyond = (samples.bytes > knot).cast<double>();
    jacobian.col(slopes + 1 + k) = (factor * beyond * (slope(k) - slope(k + 1))).matrix();
  }
  const Eigen::VectorXd lengths = jacobian.colwise().norm().cwiseMax(1e-300);
  jacobian.array().rowwise() /= lengths.transpose().array();
  const Eigen::MatrixXd inverse = inverse_of_squares(jacobian);
  const Eigen::MatrixXd covariance =
      noise * noise * (inverse.array() / (lengths * lengths.transpose()).array()).matrix();

  const double quantile =
      student_t(static_cast<double>(std::max<Eigen::Index>(1, samples.count() - all)));
  const auto around = [&](double value, const Eigen::VectorXd& gradient) {
    const double half = quantile * std::sqrt(std::max(0.0, gradient.dot(covariance * gradient)));
    return Interval{value - half, value + half};
  };
  std::vector<SegmentIntervals> intervals;
  // intercept_j = a + sum over i < j of (b_i - b_{i+1}) k_i
  Eigen::VectorXd of_intercept = Eigen::VectorXd::Unit(all, 0);
  for (Eigen::Index j = 0; j < slopes; ++j) {
    const Segment& segment = fit.segments[static_cast<size_t>(j)];
    SegmentIntervals of_segment;
    if (j > 0) {
      const double knot = knots[static_cast<size_t>(j - 1)];
      of_intercept(j) += knot;
      of_intercept(j + 1) -= knot;
      of_intercept(slopes + j) += slope(j - 1) - slope(j);
      of_segment.from = around(segment.from, Eigen::VectorXd::Unit(all, slopes + j));
      of_segment.from.low = std::max(0.0, of_segment.from.low);
    }
    of_segment.intercept = around(segment.intercept, of_intercept);
    of_segment.per_byte = around(segment.per_byte, Eigen::VectorXd::Unit(all, 1 + j));
    of_segment.per_byte.low = std::max(0.0, of_segment.per_byte.low);
    intervals.push_back(of_segment);
  }
  return intervals;
}

SegmentedFit curve_of(const SampleArrays& samples, const Solution& solution,
                      const FitOptions& options) {
  SegmentedFit fit;
  double intercept = solution.parameters(0);
  const Eigen::ArrayXd residuals =
      (design_of(samples, solution.knots) * solution.parameters).array() - samples.weight.sqrt();
  for (size_t j = 0; j <= solution.knots.size(); ++j) {
    const double per_byte = solution.parameters(1 + static_cast<Eigen::Index>(j));
    const double from = knot_before(solution.knots, j);
    if (j > 0) intercept += (fit.segments.back().per_byte - per_byte) * from;
    const Eigen::ArrayXd inside =
        (samples.bytes >= from && samples.bytes < knot_behind(solution.knots, j)).cast<double>();
    const double freedom = std::max(1.0, inside.sum() - 2);
    fit.segments.push_back(
        {from, intercept, per_byte, std::sqrt((inside * residuals.square()).sum() / freedom)});
  }
  const int parameters = 2 * static_cast<int>(fit.segments.size());
  const double noise = noise_of_fit(solution.rss, parameters, samples.count(), options);
  fit.intervals = intervals_of(samples, solution, noise, fit);
  fit.rms_error = std::sqrt(solution.rss / samples.count());
  fit.max_error = (residuals / samples.weight.sqrt()).abs().maxCoeff();
  return fit;
}

}  // namespace

SegmentedFit fit_continuous(const SampleArrays& samples, const FitOptions& options) {
  const Places places(samples, options);
  Solution solution = solve(samples, {});
  Solution chosen = solution;
  double least = fit_criterion(solution.rss, 2, samples.count(), options);
  for (int segments = 2; segments <= options.max_segments; ++segments) {
    solution = with_another_knot(samples, places, solution);
    if (!std::isfinite(solution.rss)) break;
    const double criterion = fit_criterion(solution.rss, 2 * segments, samples.count(), options);
    if (criterion < least) {
      least = criterion;
      chosen = solution;
    } else if (segments >= static_cast<int>(chosen.knots.size()) + 4) {
      break;  // three more knots in a row did not pay
    }
  }
  for (size_t k = 0; k < chosen.knots.size(); ++k) settle_knot(samples, places, k, chosen);
  return curve_of(samples, chosen, options);
}

}  // namespace rubato
