#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/collective/collective_model.h"

namespace rubato {

/// How a term of a formula grows with the number of processes p.
enum class Growth : uint8_t { kConstant, kLogP, kP, kPSquared };

/// One term: 1, log2 p, p or p^2, or that times the d bytes of a message.
struct FormulaTerm {
  Growth growth = Growth::kConstant;
  bool per_byte = false;

  bool operator==(const FormulaTerm&) const = default;
  double operator()(double processes, double bytes) const;
  /// "log(p)*d" as in Howell's table; "" for the constant.
  std::string name() const;
};

/// All eight.
const std::vector<FormulaTerm>& all_terms();

/// The time of a call on `processes` processes with `bytes` of data.
struct FormulaSample {
  double processes = 1;
  double bytes = 0;
  double seconds = 0;
  double sigma = 0;  ///< standard error of `seconds`, greater than 0
};

/// The mean over launches with its standard error. With few launches the standard error is itself
/// uncertain, so it is enlarged to keep the expected sum of squares of a fit right (t^2 with v
/// degrees of freedom is v / (v - 2) on average). Errors: InputError for fewer than four launches,
/// or for launches that are all equal.
FormulaSample sample_of_launches(double processes, double bytes,
                                 const std::vector<double>& seconds);

struct FittedTerm {
  FormulaTerm term;
  double coefficient = 0;     ///< seconds, or seconds per byte
  double standard_error = 0;  ///< from the sigmas of the samples
};

/// Seconds as a sum of terms.
struct FormulaFit {
  std::vector<FittedTerm> terms;
  double chi_square = 0;
  int degrees_of_freedom = 0;
  /// Q: the probability that samples of this very formula lie as far from their fit, or further.
  /// Below 0.01 the formula is wrong or the sigmas are too small; above 0.99 they are too large.
  double goodness = 0;
  double criterion = 0;  ///< BIC; less is better among formulas for the same samples

  double operator()(double processes, double bytes) const;
};

/// The least-squares formula of exactly these terms. Errors: InputError when the samples are too
/// few, or do not distinguish the terms (one number of processes for log p and p).
FormulaFit fit_formula(const std::vector<FormulaSample>& samples,
                       const std::vector<FormulaTerm>& terms);

/// The physical formula of some of these terms that BIC prefers (formula_fit.cc explains
/// "physical"). Errors: InputError for fewer than three samples.
FormulaFit choose_formula(const std::vector<FormulaSample>& samples,
                          const std::vector<FormulaTerm>& candidates = all_terms());

/// The formula for a platform file.
CollectiveFormula collective_formula(const FormulaFit& fit);

/// "(5000 ± 20) + (30.1 ± 0.2)*d", in microseconds.
std::string format_formula(const FormulaFit& fit);

/// Howell's table: function, time in microseconds, goodness of fit; "-" if that is undefined.
std::string format_formula_table(const std::vector<std::pair<std::string, FormulaFit>>& fits);

}  // namespace rubato
