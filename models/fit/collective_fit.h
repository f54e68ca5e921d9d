#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/platform/platform.h"
#include "models/statistics/formula_fit.h"

namespace rubato {

/// One collective at one number of processes and one payload: its time in each launch.
struct CollectiveTimes {
  double processes = 2;
  double bytes = 0;
  std::vector<double> seconds;  ///< a median per launch
  double relative_error = 0;    ///< of a launch's median, by its own interval; 0 = not known
};

/// From half the width of a 95 % confidence interval over the mean, as in files of samples.
inline double relative_error_of(double interval) {
  return interval / 2;
}

/// A formula for payloads from `from` on.
struct FormulaPiece {
  double from = 0;
  FormulaFit fit;
  double rms_error = 0;  ///< of its residuals, relative
};

/// The formulas for the samples of one collective.
struct CollectiveFit {
  FormulaFit whole;                  ///< Howell's: one formula for all payloads
  std::vector<FormulaPiece> pieces;  ///< in order; their number is chosen by BIC
  std::vector<FormulaSample> samples;
  bool from_launches = false;  ///< the sigmas come from launches, so Q is meaningful
};

/// The samples with their sigmas. With four launches or more: the standard error of the mean over
/// launches, but at least kLeastSigma of the time, the limit of clock and formula. With fewer: the
/// error by a launch's own interval, but at least kSigmaOfOneLaunch.
inline constexpr double kLeastSigma = 0.01;
inline constexpr double kSigmaOfOneLaunch = 0.05;
std::vector<FormulaSample> formula_samples(const std::vector<CollectiveTimes>& times);

/// Fits one collective. Errors: InputError for fewer than three samples.
CollectiveFit fit_collective(const std::vector<CollectiveTimes>& times);

/// A piecewise formula: the payloads are cut where a protocol or algorithm changes, by dynamic
/// programming with BIC as the price (collective_fit.cc). Errors: as choose_formula.
std::vector<FormulaPiece> choose_pieces(const std::vector<FormulaSample>& samples);

/// Numbers of processes that a formula needs to show its growth with them.
inline constexpr int kLeastProcessCounts = 3;
bool covers_processes(const CollectiveFit& fit);

/// The pieces with their uncertainty, for a platform file. Where one formula of all numbers of
/// processes misses some payloads by more than 3 %, as libraries choose algorithms by both, each
/// number has pieces of its own, if these are twice as good; their uncertainty is then at least
/// that of all of them together. Where interpolation between the samples errs less, lines through
/// the samples.
std::vector<CollectiveFormula> platform_formula(const CollectiveFit& fit);

/// The measured collectives of a platform: their times, and the payload from which on the members
/// of rooted ones synchronise with each other.
struct MeasuredCollectives {
  std::map<CollectiveOp, std::vector<CollectiveTimes>> times;
  std::map<CollectiveOp, double> held_from;
  std::map<CollectiveOp, Level> level;  ///< between which ranks
};

/// Fits all collectives that have enough samples.
std::map<CollectiveOp, CollectiveFit> fit_collectives(const MeasuredCollectives& measured);

/// Adds limits to a platform, and the algorithms that explain the measured times
/// (models/fit/algorithm_fit.h), or else the formulas with enough numbers of processes. Formulas
/// are valid up to the measured number of processes. [measured] lists the choice for each.
void add_collectives(Platform& platform, const std::map<CollectiveOp, CollectiveFit>& fits,
                     const MeasuredCollectives& measured);

}  // namespace rubato
