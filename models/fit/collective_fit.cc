// Formulas of collectives from their samples. Howell fits one formula to all payloads. Libraries
// change their protocol and algorithm with the payload, so one formula is wrong by large factors
// somewhere, and a platform file gets several, each for a range of payloads. With pieces j and
// payloads sorted, the cut that minimises
//
//   sum over pieces of (chi^2_j + K_j log N) + (pieces - 1) log N
//
// is found by dynamic programming over the payloads (a cut is one more parameter). A piece has at
// least kLeastPayloads payloads to show its growth. N is the number of all samples, so pieces and
// terms have the same price everywhere.
#include "models/fit/collective_fit.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "models/base/error.h"
#include "models/fit/algorithm_fit.h"
#include "models/statistics/statistics.h"

namespace rubato {
namespace {

constexpr size_t kLeastPayloads = 2;
constexpr size_t kMostPieces = 4;

/// The terms that can be distinguished with the samples' numbers of processes and payloads.
std::vector<FormulaTerm> tellable_terms(const std::vector<FormulaSample>& samples) {
  std::set<double> processes, payloads;
  for (const FormulaSample& sample : samples) {
    processes.insert(sample.processes);
    payloads.insert(sample.bytes);
  }
  std::vector<FormulaTerm> terms;
  for (const FormulaTerm& term : all_terms()) {
    if (term.per_byte && payloads.size() < 2) continue;
    if (term.growth != Growth::kConstant && processes.size() < 2) continue;
    // Two numbers of processes show that time grows, not how: the usual term p is assumed.
    if (processes.size() == 2 && (term.growth == Growth::kLogP || term.growth == Growth::kPSquared))
      continue;
    terms.push_back(term);
  }
  return terms;
}

/// Of predicted seconds, by processes and payload; `terms`: taken from the degrees of freedom.
/// Infinite if none are left.
template <typename Predicted>
double relative_rms(const Predicted& predicted, const std::vector<FormulaSample>& samples,
                    size_t terms = 0) {
  if (samples.size() <= terms) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const FormulaSample& s : samples) {
    const double error = predicted(s.processes, s.bytes) / s.seconds - 1;
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(samples.size() - terms));
}

std::optional<FormulaFit> try_formula(const std::vector<FormulaSample>& samples) {
  try {
    return choose_formula(samples, tellable_terms(samples));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<FormulaSample> formula_samples(const std::vector<CollectiveTimes>& times) {
  std::vector<FormulaSample> samples;
  for (const CollectiveTimes& t : times) {
    const double spread = standard_deviation(t.seconds);
    FormulaSample sample{t.processes, t.bytes, mean(t.seconds), 0};
    if (t.seconds.size() >= 4 && spread > 0) {
      sample = sample_of_launches(t.processes, t.bytes, t.seconds);
      sample.sigma = std::max(sample.sigma, kLeastSigma * sample.seconds);
    } else {
      const double own = std::max(t.relative_error, kSigmaOfOneLaunch) * sample.seconds;
      sample.sigma = std::max(own, standard_error(t.seconds));
    }
    samples.push_back(sample);
  }
  return samples;
}

std::vector<FormulaPiece> choose_pieces(const std::vector<FormulaSample>& samples) {
  std::map<double, std::vector<FormulaSample>> by_payload;
  for (const FormulaSample& sample : samples) by_payload[sample.bytes].push_back(sample);
  std::vector<double> payloads;
  for (const auto& [bytes, of_payload] : by_payload) payloads.push_back(bytes);
  const size_t count = payloads.size();
  const double price = std::log(static_cast<double>(samples.size()));

  /// The best description of the payloads before an index by a number of pieces.
  struct Best {
    double criterion = std::numeric_limits<double>::infinity();
    size_t first = 0;  // payload of the last piece
    std::optional<FormulaFit> fit;
  };
  std::vector<std::vector<Best>> best(kMostPieces + 1, std::vector<Best>(count + 1));
  best[0][0].criterion = -price;  // the first piece needs no cut
  for (size_t first = 0; first < count; ++first) {
    std::vector<FormulaSample> piece;
    for (size_t end = first + 1; end <= count; ++end) {
      const auto& more = by_payload[payloads[end - 1]];
      piece.insert(piece.end(), more.begin(), more.end());
      const bool whole = first == 0 && end == count;
      const bool reachable = std::any_of(best.begin(), best.end() - 1, [&](const auto& row) {
        return std::isfinite(row[first].criterion);
      });
      if (!reachable || (end - first < kLeastPayloads && !whole)) continue;
      const std::optional<FormulaFit> fit = try_formula(piece);
      if (!fit) continue;
      const double own = fit->chi_square + static_cast<double>(fit->terms.size()) * price + price;
      for (size_t pieces = 0; pieces < kMostPieces; ++pieces) {
        const double criterion = best[pieces][first].criterion + own;
        Best& known = best[pieces + 1][end];
        if (criterion < known.criterion) known = {criterion, first, fit};
      }
    }
  }
  size_t pieces = 1;
  for (size_t k = 2; k <= kMostPieces; ++k) {
    if (best[k][count].criterion < best[pieces][count].criterion) pieces = k;
  }
  if (!std::isfinite(best[pieces][count].criterion)) {
    throw InputError("no formula fits these samples: there are too few");
  }
  std::vector<FormulaPiece> chosen;
  for (size_t end = count; pieces > 0; --pieces) {
    const Best& last = best[pieces][end];
    std::vector<FormulaSample> own;
    for (size_t i = last.first; i < end; ++i) {
      const auto& more = by_payload[payloads[i]];
      own.insert(own.end(), more.begin(), more.end());
    }
    chosen.push_back(
        {last.first == 0 ? 0 : payloads[last.first], *last.fit, relative_rms(*last.fit, own)});
    end = last.first;
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

CollectiveFit fit_collective(const std::vector<CollectiveTimes>& times) {
  CollectiveFit fit;
  fit.samples = formula_samples(times);
  fit.from_launches = std::all_of(times.begin(), times.end(),
                                  [](const CollectiveTimes& t) { return t.seconds.size() >= 4; });
  fit.whole = choose_formula(fit.samples, tellable_terms(fit.samples));
  fit.pieces = choose_pieces(fit.samples);
  return fit;
}

bool covers_processes(const CollectiveFit& fit) {
  std::set<double> processes;
  for (const FormulaSample& sample : fit.samples) processes.insert(sample.processes);
  return static_cast<int>(processes.size()) >= kLeastProcessCounts;
}

namespace {

std::vector<CollectiveFormula> formula_of(const std::vector<FormulaPiece>& pieces, int processes) {
  std::vector<CollectiveFormula> formula;
  for (const FormulaPiece& piece : pieces) {
    CollectiveFormula one = collective_formula(piece.fit);
    one.processes = processes;
    one.from = piece.from;
    one.uncertainty = piece.rms_error;
    formula.push_back(one);
  }
  return formula;
}

size_t terms_of(const std::vector<FormulaPiece>& pieces) {
  size_t terms = 0;
  for (const FormulaPiece& piece : pieces) terms += piece.fit.terms.size();
  return terms;
}

}  // namespace

std::vector<CollectiveFormula> platform_formula(const CollectiveFit& fit) {
  constexpr double kGood = 0.03;       // rms error
  constexpr size_t kLeastSamples = 3;  // of choose_formula()
  std::vector<CollectiveFormula> common = formula_of(fit.pieces, 0);
  if (std::ranges::all_of(fit.pieces,
                          [](const FormulaPiece& piece) { return piece.rms_error <= kGood; }))
    return common;
  std::map<double, std::vector<FormulaSample>> by_processes;
  for (const FormulaSample& sample : fit.samples) by_processes[sample.processes].push_back(sample);
  // Others are interpolated, so the smallest and the largest number must have pieces.
  std::erase_if(by_processes, [&](const auto& number) {
    const bool is_between =
        number.first > by_processes.begin()->first && number.first < by_processes.rbegin()->first;
    return is_between && number.second.size() < kLeastSamples;
  });
  std::vector<CollectiveFormula> by_number;
  size_t terms = 0;
  for (const auto& [processes, samples] : by_processes) {
    if (samples.size() < kLeastSamples) return common;
    const std::vector<FormulaPiece> pieces = choose_pieces(samples);
    std::ranges::copy(formula_of(pieces, static_cast<int>(processes)),
                      std::back_inserter(by_number));
    terms += terms_of(pieces);
  }
  const auto rms = [&](const std::vector<CollectiveFormula>& formula, size_t its_terms) {
    CollectiveModel model;  // which interpolates; any operation will do
    model.of(CollectiveOp::kBcast).formula = formula;
    const auto seconds = [&](double processes, double bytes) {
      return model.seconds(CollectiveOp::kBcast, static_cast<int>(processes), bytes, {});
    };
    return relative_rms(seconds, fit.samples, its_terms);
  };
  const double error = rms(by_number, terms);
  if (!(error < rms(common, terms_of(fit.pieces)) / 2)) return common;
  // Few payloads of a number hide its error.
  for (CollectiveFormula& piece : by_number) piece.uncertainty = std::max(piece.uncertainty, error);
  return by_number;
}

std::map<CollectiveOp, CollectiveFit> fit_collectives(const MeasuredCollectives& measured) {
  std::map<CollectiveOp, CollectiveFit> fits;
  for (const auto& [op, times] : measured.times) {
    try {
      fits.emplace(op, fit_collective(times));
    } catch (const InputError&) {
      // Too few: the algorithms of the preset are used.
    }
  }
  return fits;
}

namespace {

int most_processes(const std::vector<CollectiveTimes>& times) {
  double most = 0;
  for (const CollectiveTimes& one : times) most = std::max(most, one.processes);
  return static_cast<int>(most);
}

}  // namespace

void add_collectives(Platform& platform, const std::map<CollectiveOp, CollectiveFit>& fits,
                     const MeasuredCollectives& measured) {
  int without_formula = 0;
  std::string explained, by_formula;
  // An allreduce may consist of a reduce and a bcast, so these are known first.
  std::vector<CollectiveOp> order;
  for (const auto& [op, times] : measured.times) order.push_back(op);
  std::stable_partition(order.begin(), order.end(),
                        [](CollectiveOp op) { return op != CollectiveOp::kAllreduce; });
  for (const CollectiveOp op : order) {
    const std::vector<CollectiveTimes>& times = measured.times.at(op);
    const auto level = measured.level.find(op);
    if (level != measured.level.end()) {
      if (auto algorithms = explain_collective(op, times, level->second, platform)) {
        platform.collectives.of(op).rules = std::move(algorithms->rules);
        explained += (explained.empty() ? "" : ", ") + name_of(op);
        continue;
      }
    }
    const auto fit = fits.find(op);
    if (fit != fits.end() && covers_processes(fit->second)) {
      platform.collectives.of(op).formula = platform_formula(fit->second);
      platform.collectives.of(op).formula_processes = most_processes(times);
      by_formula += (by_formula.empty() ? "" : ", ") + name_of(op);
      if (platform.collectives.of(op).formula.front().processes > 0)
        by_formula += " (each number of processes)";
    } else {
      ++without_formula;
    }
  }
  for (const auto& [op, bytes] : measured.held_from) platform.collectives.of(op).sync_limit = bytes;
  if (!explained.empty()) platform.measured["collectives_by_algorithm"] = explained;
  if (!by_formula.empty()) platform.measured["collectives_by_formula"] = by_formula;
  if (without_formula) {
    platform.measured["collectives_without_formula"] =
        std::to_string(without_formula) + ": formulas need " + std::to_string(kLeastProcessCounts) +
        " numbers of processes, so four ranks or more";
  }
}

}  // namespace rubato
