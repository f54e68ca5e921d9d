// Howell's method ("Approaches to parallel performance prediction", PhD thesis, Edinburgh 1996, and
// the page "Microbenchmarking"): the time of each MPI call as a formula in the number of processes
// p and the bytes of data d, with the goodness of the fit beside it.
//
//   t(p, d) = sum over terms of c_k f_k(p, d),    f from {1, log2 p, p, p^2} x {1, d}
//
// The coefficients minimise chi^2 = sum of ((t_i - t(p_i, d_i)) / sigma_i)^2; their covariance is
// (X^T W X)^-1 with W = diag(1 / sigma^2). With N samples and K terms
//
//   Q = Gamma(v / 2, chi^2 / 2) / Gamma(v / 2),    v = N - K.
//
// Which terms: all subsets are tried (255 for eight candidates), and the least
//
//   BIC = chi^2 + K log N
//
// is chosen. Not AICc: its price of 2 for a term admits one superfluous term in six, P(chi^2_1 > 2)
// = 0.16, but the purpose here is to find the form of the formula. The price log N is 3.7 for 40
// samples (0.05, and half of those terms have the wrong sign) and grows with N.
//
// Physical: time does not fall with p or d. Terms that grow with p have coefficients >= 0. The
// constant beside them may be negative, since algorithms have p - 1 rounds, as long as the sum is
// not negative at p = 2, the least number of processes; likewise for the terms with d. A
// least-squares problem with c_k >= 0 has its solution where some c_k are 0 and the others solve
// the problem without bounds. So subsets with an unphysical solution can be skipped: a smaller
// subset represents them.
#include "models/statistics/formula_fit.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "models/base/error.h"
#include "models/base/number_text.h"
#include "models/statistics/least_squares.h"
#include "models/statistics/statistics.h"

namespace rubato {
namespace {

// Normalised columns that are this close to linear dependence cannot be distinguished.
constexpr double kDependent = 1e-9;
// A smaller improvement of the criterion is a rounding error: the simpler formula stays.
constexpr double kBetter = 1e-6;

void check(const std::vector<FormulaSample>& samples) {
  for (const FormulaSample& s : samples) {
    if (s.processes >= 1 && s.bytes >= 0 && std::isfinite(s.seconds) && s.sigma > 0) continue;
    throw InputError("a formula cannot be fitted: the sample at p = " +
                     std::to_string(static_cast<long long>(s.processes)) +
                     ", d = " + std::to_string(static_cast<long long>(s.bytes)) +
                     " has no time or no standard error greater than 0");
  }
}

/// Absent when the samples do not determine the coefficients.
std::optional<FormulaFit> solve(const std::vector<FormulaSample>& samples,
                                const std::vector<FormulaTerm>& terms) {
  const Eigen::Index rows = static_cast<Eigen::Index>(samples.size());
  const Eigen::Index columns = static_cast<Eigen::Index>(terms.size());
  if (rows <= columns) return std::nullopt;
  Eigen::MatrixXd design(rows, columns);
  Eigen::VectorXd times(rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const FormulaSample& s = samples[static_cast<size_t>(i)];
    times(i) = s.seconds / s.sigma;
    for (Eigen::Index k = 0; k < columns; ++k) {
      design(i, k) = terms[static_cast<size_t>(k)](s.processes, s.bytes) / s.sigma;
    }
  }
  // Seconds and seconds per byte differ by nine orders: columns of length 1 keep the solver exact.
  const Eigen::VectorXd lengths = design.colwise().norm();
  if ((lengths.array() <= 0).any()) return std::nullopt;
  design.array().rowwise() /= lengths.transpose().array();
  const auto found = determined_least_squares(design, times, kDependent);
  if (!found) return std::nullopt;
  const Eigen::VectorXd& solution = *found;
  const Eigen::MatrixXd covariance = inverse_of_squares(design);

  FormulaFit fit;
  for (Eigen::Index k = 0; k < columns; ++k) {
    fit.terms.push_back({terms[static_cast<size_t>(k)], solution(k) / lengths(k),
                         std::sqrt(covariance(k, k)) / lengths(k)});
  }
  fit.chi_square = (times - design * solution).squaredNorm();
  fit.degrees_of_freedom = static_cast<int>(rows - columns);
  fit.goodness = chi_square_exceeded(fit.chi_square, fit.degrees_of_freedom);
  fit.criterion = fit.chi_square + static_cast<double>(columns) * std::log(rows);
  return fit;
}

bool is_physical(const FormulaFit& fit) {
  std::array<double, 2> at_two_processes = {0, 0};  // without d, with d
  for (const FittedTerm& fitted : fit.terms) {
    if (fitted.coefficient < 0 && fitted.term.growth != Growth::kConstant) return false;
    at_two_processes[fitted.term.per_byte] += fitted.coefficient * fitted.term(2, 1);
  }
  return at_two_processes[0] >= 0 && at_two_processes[1] >= 0;
}

/// A coefficient in microseconds with its error: two digits of the error, and as many decimals;
/// small ones (times per byte) with a power of ten.
std::string with_error(double coefficient, double error) {
  coefficient *= 1e6;
  error *= 1e6;
  const double size = std::max(std::abs(coefficient), error);
  const int power = size > 0 && size < 1e-3 ? static_cast<int>(std::floor(std::log10(size))) : 0;
  coefficient /= std::pow(10, power);
  error /= std::pow(10, power);
  const double digits = error > 0 ? 1 - std::floor(std::log10(error)) : 6;
  const int decimals = static_cast<int>(std::clamp(digits, 0.0, 12.0));
  return "(" + fixed_text(coefficient, decimals) + " ± " + fixed_text(error, decimals) + ")" +
         (power ? "e" + std::to_string(power) : "");
}

}  // namespace

double FormulaTerm::operator()(double processes, double bytes) const {
  double value = per_byte ? bytes : 1;
  switch (growth) {
    case Growth::kConstant:
      break;
    case Growth::kLogP:
      value *= std::log2(processes);
      break;
    case Growth::kP:
      value *= processes;
      break;
    case Growth::kPSquared:
      value *= processes * processes;
      break;
  }
  return value;
}

std::string FormulaTerm::name() const {
  static constexpr std::array<const char*, 4> kNames = {"", "log(p)", "p", "p^2"};
  const std::string grows = kNames[static_cast<size_t>(growth)];
  if (!per_byte) return grows;
  return grows.empty() ? "d" : grows + "*d";
}

// The simplest first: if the samples do not distinguish two formulas, the first one is chosen.
const std::vector<FormulaTerm>& all_terms() {
  static const std::vector<FormulaTerm> terms = {
      {Growth::kConstant, false}, {Growth::kConstant, true}, {Growth::kLogP, false},
      {Growth::kLogP, true},      {Growth::kP, false},       {Growth::kP, true},
      {Growth::kPSquared, false}, {Growth::kPSquared, true}};
  return terms;
}

FormulaSample sample_of_launches(double processes, double bytes,
                                 const std::vector<double>& seconds) {
  const std::string at = " at p = " + std::to_string(static_cast<long long>(processes)) +
                         ", d = " + std::to_string(static_cast<long long>(bytes));
  if (seconds.size() < 4) {
    throw InputError("a formula needs at least four launches" + at + "; there are " +
                     std::to_string(seconds.size()));
  }
  const double error = standard_error(seconds);
  if (!(error > 0)) {
    throw InputError("all launches took the same time" + at +
                     ", so nothing says how certain it is");
  }
  const double freedom = static_cast<double>(seconds.size() - 1);
  return {processes, bytes, mean(seconds), error * std::sqrt(freedom / (freedom - 2))};
}

double FormulaFit::operator()(double processes, double bytes) const {
  double seconds = 0;
  for (const FittedTerm& fitted : terms)
    seconds += fitted.coefficient * fitted.term(processes, bytes);
  return seconds;
}

FormulaFit fit_formula(const std::vector<FormulaSample>& samples,
                       const std::vector<FormulaTerm>& terms) {
  check(samples);
  if (samples.size() <= terms.size() || terms.empty()) {
    throw InputError("a formula of " + std::to_string(terms.size()) +
                     " terms needs more samples than that, and at least one term; there are " +
                     std::to_string(samples.size()) + " samples");
  }
  const std::optional<FormulaFit> fit = solve(samples, terms);
  if (fit) return *fit;
  std::vector<std::string> names;
  for (const FormulaTerm& term : terms) names.push_back(term.name().empty() ? "1" : term.name());
  throw InputError("these samples cannot tell the terms " + quoted_list(names) +
                   " apart; measure more numbers of processes or sizes");
}

FormulaFit choose_formula(const std::vector<FormulaSample>& samples,
                          const std::vector<FormulaTerm>& candidates) {
  check(samples);
  if (samples.size() < 3) {
    throw InputError("a formula cannot be chosen from " + std::to_string(samples.size()) +
                     " samples; it needs at least three");
  }
  std::optional<FormulaFit> best;
  for (unsigned subset = 1; subset < 1u << candidates.size(); ++subset) {
    std::vector<FormulaTerm> terms;
    for (size_t k = 0; k < candidates.size(); ++k) {
      if (subset >> k & 1) terms.push_back(candidates[k]);
    }
    const std::optional<FormulaFit> fit = solve(samples, terms);
    if (!fit || !is_physical(*fit)) continue;
    if (!best || fit->criterion < best->criterion - kBetter) best = fit;
  }
  if (!best) throw InputError("no formula fits these samples: their times are not positive");
  return *best;
}

CollectiveFormula collective_formula(const FormulaFit& fit) {
  CollectiveFormula formula;
  for (const FittedTerm& fitted : fit.terms) {
    const bool d = fitted.term.per_byte;
    switch (fitted.term.growth) {
      case Growth::kConstant:
        (d ? formula.d : formula.constant) = fitted.coefficient;
        break;
      case Growth::kLogP:
        (d ? formula.d_log_p : formula.log_p) = fitted.coefficient;
        break;
      case Growth::kP:
        (d ? formula.d_p : formula.p) = fitted.coefficient;
        break;
      case Growth::kPSquared:
        (d ? formula.d_p2 : formula.p2) = fitted.coefficient;
        break;
    }
  }
  return formula;
}

std::string format_formula(const FormulaFit& fit) {
  std::string text;
  for (const FittedTerm& fitted : fit.terms) {
    const std::string name = fitted.term.name();
    text += (text.empty() ? "" : " + ") + with_error(fitted.coefficient, fitted.standard_error) +
            (name.empty() ? "" : "*" + name);
  }
  return text;
}

std::string format_formula_table(const std::vector<std::pair<std::string, FormulaFit>>& fits) {
  // "±" is two bytes and one column.
  const auto width = [](const std::string& text) {
    return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  };
  const std::string head = "MPI Function", times = "Time (us)";
  ptrdiff_t widest_name = width(head), widest_formula = width(times);
  for (const auto& [name, fit] : fits) {
    widest_name = std::max(widest_name, width(name));
    widest_formula = std::max(widest_formula, width(format_formula(fit)));
  }
  const auto padded = [&](const std::string& text, ptrdiff_t columns) {
    return text + std::string(static_cast<size_t>(columns - width(text)) + 2, ' ');
  };
  std::string table =
      padded(head, widest_name) + padded(times, widest_formula) + "Goodness of fit (Q)\n";
  for (const auto& [name, fit] : fits) {
    table += padded(name, widest_name) + padded(format_formula(fit), widest_formula) +
             (std::isnan(fit.goodness) ? "-" : general_text(fit.goodness, 2)) + "\n";
  }
  return table;
}

}  // namespace rubato
