// Straight segments through measured times, and how many of them.
//
// A segment holds neighbouring samples (n_i, t_i). Its line minimises the *relative* squared error
//
//   rss = sum_i w_i ((a + b n_i) / t_i - 1)^2        subject to b >= 0 and a + b * from >= 0,
//
// so that 300 ns and 90 us count alike. For K segments dynamic programming finds the breakpoints
// with the least total rss: best[k][j], the first j samples in k segments, is the minimum over i of
// best[k-1][i] + rss(i..j). K is then chosen with the price of Liu, Wu and Zidek ("On segmented
// multivariate regression", Statistica Sinica 7, 1997) for its p = 3 K - 1 parameters: intercepts,
// slopes and breakpoints. A segment must gain more than with Schwarz's log N, because the best of
// many positions of a breakpoint always fits some noise. For relative errors of unknown size K
// minimises
//
//   log(rss_K / (N - p) + floor^2) + p * 0.299 (log N)^2.1 / N
//
// and for errors known to be sigma
//
//   rss_K / sigma^2 + p * 0.299 (log N)^2.1.
//
// The second is better if a library's time has fine structure (a sawtooth of 8 % every few cache
// lines in Open MPI's shared memory): the first treats that as noise and never fits it.
//
// The options bound K: a curve that needs more is approximated by the best K segments, and the
// larger residuals are its stated error.
//
// A line that grows by less than the fourth digit over its samples is written as a constant.
//
// Four rules prevent segments that fit noise: this price; `min_samples`; a deviation in the middle
// needs two breakpoints; and the floor. The one exception from `min_samples` is 0 bytes, which may
// be a segment alone: libraries treat empty messages differently (mpptest's "sharp drop in latency
// for zero bytes"). The last segment spans at least a factor of two in size, because everything
// beyond the largest sample extrapolates it. Outliers are not treated here: the measurement repeats
// lengths that deviate from their neighbours.
//
// Intervals: of a line, those of least squares with the noise of all residuals (or the known noise,
// if that is more); of a breakpoint, the places with nearly the same likelihood.
//
// Between the last sample of one segment and the first of the next, the new segment starts where
// the two lines cross, if they do so there (a kink), and at its first sample otherwise (a step).
#include "models/fit/fit.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/error.h"
#include "models/statistics/least_squares.h"

namespace rubato {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Twice the logarithm of the likelihood that a place for a breakpoint may be worse than the best
// one and still belong to the 95 % interval: Hansen, "Sample splitting and threshold estimation",
// Econometrica 68, 2000, table I.
constexpr double kBreakpointLikelihood = 7.35;

// Liu, Wu and Zidek's recommended constants.
constexpr double kPrice = 0.299;
constexpr double kPriceExponent = 2.1;

constexpr double kFlat = 5e-4;  // growth of a constant, relative: half of the fourth digit

/// Samples of a curve as arrays, sorted by size, with weights scaled to a mean of 1.
struct SampleArrays {
  Eigen::ArrayXd bytes, seconds, weight;

  int count() const { return static_cast<int>(bytes.size()); }
};

/// `input`: in ascending order. Errors: InputError for fewer than two sizes or a time that is not
/// greater than 0.
SampleArrays arrays_of(const std::vector<FitSample>& input) {
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

/// The criterion of a curve with this number of parameters and the weighted sum of squared relative
/// residuals `rss`: the least is best.
double fit_criterion(double rss, int parameters, int samples, const FitOptions& options) {
  const double price = parameters * kPrice * std::pow(std::log(samples), kPriceExponent);
  const double floor = options.noise_floor * options.noise_floor;
  return options.noise > 0
             ? rss / std::max(floor, options.noise * options.noise) + price
             : std::log(rss / std::max(1, samples - parameters) + floor) + price / samples;
}

/// The relative standard error of a sample for intervals: that of the residuals, but at least the
/// known one.
double noise_of_fit(double rss, int parameters, int samples, const FitOptions& options) {
  return std::max(options.noise, std::sqrt(rss / std::max(1, samples - parameters)));
}

struct Line {
  double intercept = 0;
  double per_byte = 0;
  double rss = 0;  ///< weighted sum of squared relative residuals
};

double rss_of(const Eigen::ArrayXd& n, const Eigen::ArrayXd& t, const Eigen::ArrayXd& w, double a,
              double b) {
  return (w * ((a + b * n) / t - 1).square()).sum();
}

/// The best line through the samples first..last (inclusive), not negative at `from` bytes and
/// beyond.
Line fit_line(const SampleArrays& samples, int first, int last, double from) {
  const int count = last - first + 1;
  const Eigen::ArrayXd n = samples.bytes.segment(first, count);
  const Eigen::ArrayXd t = samples.seconds.segment(first, count);
  const Eigen::ArrayXd w = samples.weight.segment(first, count);
  const Eigen::ArrayXd root = w.sqrt();

  Line line;
  const double scale =
      std::max(1.0, n.maxCoeff());  // both columns of a size: a well-conditioned QR
  const bool one_size = n.maxCoeff() == n.minCoeff();
  if (!one_size) {
    Eigen::MatrixXd design(count, 2);
    design.col(0) = (root / t).matrix();
    design.col(1) = (root * n / scale / t).matrix();
    const Eigen::VectorXd x = least_squares(design, root.matrix());
    line.intercept = x(0);
    line.per_byte = x(1) / scale;
  }
  if (one_size || line.per_byte * (n.maxCoeff() - n.minCoeff()) < kFlat * t.minCoeff()) {
    // The constant with the least relative error.
    line.intercept = (w / t).sum() / (w / t.square()).sum();
    line.per_byte = 0;
  }
  if (line.intercept + line.per_byte * from < 0) {  // the line through (from, 0)
    const Eigen::ArrayXd ratio = (n - from) / t;
    line.per_byte = (w * ratio).sum() / (w * ratio.square()).sum();
    line.intercept = -line.per_byte * from;
  }
  line.rss = rss_of(n, t, w, line.intercept, line.per_byte);
  return line;
}

/// The prescribed begin, if any, of a segment whose first sample is `first`: between that and the
/// sample before.
std::optional<double> given_border(const SampleArrays& samples, int first,
                                   const FitOptions& options) {
  if (first == 0 || !options.borders) return std::nullopt;
  for (const double border : *options.borders) {
    if (samples.bytes(first - 1) < border && border <= samples.bytes(first)) return border;
  }
  return std::nullopt;
}

/// lines[i][j - i]: the best line through samples i..j; empty where a segment must not be.
class SegmentTable {
 public:
  SegmentTable(const SampleArrays& samples, const FitOptions& options) : lines_(samples.count()) {
    const int count = samples.count();
    const int least = std::min(options.min_samples, count);
    for (int i = 0; i < count; ++i) {
      const std::optional<double> border = given_border(samples, i, options);
      const bool may_start =
          i == 0 || (samples.bytes(i) > samples.bytes(i - 1) && (border || !options.borders));
      const double from = i == 0 ? 0 : border.value_or(samples.bytes(i));
      for (int j = i; j < count; ++j) {
        const bool may_end = j == count - 1 ? i == 0 || samples.bytes(j) >= 2 * samples.bytes(i)
                                            : samples.bytes(j + 1) > samples.bytes(j);
        Line line;
        line.rss = kInfinity;
        const bool empty_message = i == 0 && samples.bytes(j) == 0;
        if (may_start && may_end && (j - i + 1 >= least || empty_message)) {
          line = fit_line(samples, i, j, from);
        }
        lines_[i].push_back(line);
      }
    }
  }
  const Line& at(int first, int last) const { return lines_[first][last - first]; }

 private:
  std::vector<std::vector<Line>> lines_;
};

/// The first sample of each segment, for the number of segments that the criterion prefers.
std::vector<int> choose_breakpoints(const SegmentTable& table, int count,
                                    const FitOptions& options) {
  const int most = std::max(1, std::min(options.max_segments, count / options.min_samples + 1));
  // best[k][j]: least rss of the first j samples in k segments; start[k][j]: where the last one
  // begins.
  std::vector<std::vector<double>> best(most + 1, std::vector<double>(count + 1, kInfinity));
  std::vector<std::vector<int>> start(most + 1, std::vector<int>(count + 1, 0));
  best[0][0] = 0;
  for (int k = 1; k <= most; ++k) {
    for (int j = 1; j <= count; ++j) {
      for (int i = 0; i < j; ++i) {
        const double rss = best[k - 1][i] + table.at(i, j - 1).rss;
        if (rss < best[k][j]) {
          best[k][j] = rss;
          start[k][j] = i;
        }
      }
    }
  }
  int chosen = 1;
  double least = kInfinity;
  for (int k = 1; k <= most; ++k) {
    const double criterion = fit_criterion(best[k][count], 3 * k - 1, count, options);
    if (criterion < least) {
      least = criterion;
      chosen = k;
    }
  }
  std::vector<int> firsts(chosen);
  for (int k = chosen, end = count; k > 0; --k) {
    firsts[k - 1] = start[k][end];
    end = start[k][end];
  }
  return firsts;
}

/// The breakpoint between `left`, whose samples end at `left_bytes`, and `right`, whose samples
/// begin at `right_bytes`.
double breakpoint(const Line& left, const Line& right, double left_bytes, double right_bytes) {
  double crossing = std::round((left.intercept - right.intercept) /
                               (right.per_byte - left.per_byte));  // whole bytes; may be inf, nan
  // A byte before the crossing a steep line may be negative.
  if (right.intercept + right.per_byte * crossing < 0) ++crossing;
  return crossing > left_bytes && crossing < right_bytes ? crossing : right_bytes;
}

/// The range of the breakpoint before sample `first`, with its neighbours fixed: all places that
/// are nearly as likely as the best.
Interval breakpoint_interval(const SegmentTable& table, const SampleArrays& samples, int left,
                             int first, int last, double noise) {
  const double least = table.at(left, first - 1).rss + table.at(first, last).rss;
  const double most = least + kBreakpointLikelihood * noise * noise;
  const auto may_be = [&](int place) {
    return table.at(left, place - 1).rss + table.at(place, last).rss <= most;
  };
  // No breakpoint lies between samples of one size; such a place does not end the search.
  int low = first, high = first;
  for (int place = first - 1; place > left; --place) {
    if (may_be(place)) low = place;
  }
  for (int place = first + 1; place <= last; ++place) {
    if (may_be(place)) high = place;
  }
  return {samples.bytes(low - 1), samples.bytes(high)};
}

/// Intervals of the line through the samples first..last: `quantile` standard errors to both sides,
/// not below 0 unless the number is (an intercept behind the first segment).
/// A slope or an intercept at its bound keeps the standard errors of the line without bounds.
void line_intervals(const SampleArrays& samples, int first, int last, const Line& line,
                    double noise, double quantile, SegmentIntervals& intervals) {
  const int count = last - first + 1;
  const Eigen::ArrayXd t = samples.seconds.segment(first, count);
  const Eigen::ArrayXd root = samples.weight.segment(first, count).sqrt() / t;
  const Eigen::ArrayXd n = samples.bytes.segment(first, count);
  const double scale = std::max(1.0, n.maxCoeff());
  const auto around = [](double value, double half) {
    return Interval{value < 0 ? value - half : std::max(0.0, value - half), value + half};
  };
  if (n.maxCoeff() == n.minCoeff()) {  // nothing is known of the slope
    intervals.intercept = around(line.intercept, quantile * noise / root.matrix().norm());
    intervals.per_byte = {0, n(0) == 0 ? kInfinity : intervals.intercept.high / n(0)};
    return;
  }
  Eigen::MatrixX2d design(count, 2);
  design.col(0) = root.matrix();
  design.col(1) = (root * n / scale).matrix();
  const Eigen::Matrix2d squares = design.transpose() * design;
  const double of_inverse = 1 / (squares(0, 0) * squares(1, 1) - squares(1, 0) * squares(0, 1));
  const auto error = [&](double square) { return std::sqrt(square * of_inverse * noise * noise); };
  intervals.intercept = around(line.intercept, quantile * error(squares(1, 1)));
  intervals.per_byte = around(line.per_byte, quantile * error(squares(0, 0)) / scale);
}

/// The curve whose segments follow each other freely.
SegmentedFit fit_arrays(const SampleArrays& samples, const FitOptions& options) {
  const int count = samples.count();
  const SegmentTable table(samples, options);
  const std::vector<int> firsts = choose_breakpoints(table, count, options);

  double all = 0;
  for (size_t k = 0; k < firsts.size(); ++k) {
    all += table.at(firsts[k], k + 1 < firsts.size() ? firsts[k + 1] - 1 : count - 1).rss;
  }
  const int parameters = 3 * static_cast<int>(firsts.size()) - 1;
  const double noise = noise_of_fit(all, parameters, count, options);
  const double quantile = student_t(std::max(1, count - parameters));

  SegmentedFit fit;
  double rss = 0;
  for (size_t k = 0; k < firsts.size(); ++k) {
    const int first = firsts[k];
    const int last = k + 1 < firsts.size() ? firsts[k + 1] - 1 : count - 1;
    const Line& line = table.at(first, last);
    Segment segment;
    if (k > 0) {
      const std::optional<double> border = given_border(samples, first, options);
      segment.from = border ? *border
                            : breakpoint(table.at(firsts[k - 1], first - 1), line,
                                         samples.bytes(first - 1), samples.bytes(first));
    }
    segment.intercept = line.intercept;
    segment.per_byte = line.per_byte;
    // The line has two parameters.
    segment.uncertainty = std::sqrt(line.rss / std::max(1, last - first - 1));
    fit.segments.push_back(segment);
    SegmentIntervals intervals;
    line_intervals(samples, first, last, line, noise, quantile, intervals);
    if (k > 0) {
      intervals.from = breakpoint_interval(table, samples, firsts[k - 1], first, last, noise);
    }
    fit.intervals.push_back(intervals);
    rss += line.rss;
  }
  fit.rms_error = std::sqrt(rss / count);
  for (int i = 0; i < count; ++i) {
    fit.max_error =
        std::max(fit.max_error, std::abs(fit(samples.bytes(i)) / samples.seconds(i) - 1));
  }
  return fit;
}

}  // namespace

double SegmentedFit::operator()(double bytes) const {
  const Segment* holds = &segments.front();
  for (const Segment& segment : segments) {
    if (segment.from <= bytes) holds = &segment;
  }
  return holds->intercept + bytes * holds->per_byte;
}

SegmentedFit fit_segments(std::vector<FitSample> input, const FitOptions& options) {
  std::sort(input.begin(), input.end(), [](const FitSample& a, const FitSample& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
  });
  SegmentedFit fit = fit_arrays(arrays_of(input), options);
  fit.samples = std::move(input);
  return fit;
}

}  // namespace rubato
