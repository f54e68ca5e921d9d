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

/// Pieces of each number of processes; none where the smallest or the largest number has too few
/// samples, since others are interpolated. Adds their `terms`.
std::vector<CollectiveFormula> pieces_by_number(const std::vector<FormulaSample>& samples,
                                                size_t& terms) {
  constexpr size_t kLeastSamples = 3;  // of choose_formula()
  std::map<double, std::vector<FormulaSample>> by_processes;
  for (const FormulaSample& sample : samples) by_processes[sample.processes].push_back(sample);
  const double fewest = by_processes.begin()->first, most = by_processes.rbegin()->first;
  std::erase_if(by_processes, [&](const auto& number) {
    const bool is_between = number.first > fewest && number.first < most;
    return is_between && number.second.size() < kLeastSamples;
  });
  std::vector<CollectiveFormula> formula;
  for (const auto& [processes, own] : by_processes) {
    if (own.size() < kLeastSamples) return {};
    const std::vector<FormulaPiece> pieces = choose_pieces(own);
    std::ranges::copy(formula_of(pieces, static_cast<int>(processes)), std::back_inserter(formula));
    terms += terms_of(pieces);
  }
  return formula;
}

/// By number of processes, by payload.
using SampleTable = std::map<double, std::map<double, FormulaSample>>;

/// (Each pair is measured once.) Without numbers of processes that have less than half of the
/// payloads; empty if the smallest or the largest is one, since others are interpolated.
SampleTable sample_table(const std::vector<FormulaSample>& samples) {
  SampleTable table;
  for (const FormulaSample& sample : samples) table[sample.processes].emplace(sample.bytes, sample);
  size_t most = 0;
  for (const auto& [processes, row] : table) most = std::max(most, row.size());
  const auto is_short = [&](const auto& number) { return 2 * number.second.size() < most; };
  if (is_short(*table.begin()) || is_short(*table.rbegin())) return {};
  std::erase_if(table, is_short);
  return table;
}

/// Of times interpolated between payloads: half the rms of what each sample misses when it is left
/// out (its neighbours are then twice as far apart), beside the samples' own errors.
double error_between(const SampleTable& table) {
  double squares = 0, own = 0;
  size_t left_out = 0, all = 0;
  for (const auto& [processes, row] : table) {
    for (auto at = row.begin(); at != row.end(); ++at, ++all) {
      const double seconds = at->second.seconds;
      own += std::pow(at->second.sigma / seconds, 2);
      if (at == row.begin() || std::next(at) == row.end()) continue;
      const auto low = std::prev(at), high = std::next(at);
      const double share = (at->first - low->first) / (high->first - low->first);
      const double between = std::lerp(low->second.seconds, high->second.seconds, share);
      squares += std::pow(between / seconds - 1, 2);
      ++left_out;
    }
  }
  if (left_out == 0) return std::numeric_limits<double>::infinity();
  return std::hypot(std::sqrt(squares / static_cast<double>(left_out)) / 2,
                    std::sqrt(own / static_cast<double>(all)));
}

/// Straight lines through the samples of a number of processes, from left to right; one for several
/// where it misses none of them by more than 1 %. Lines do not fall. Below the first sample time is
/// no longer than there; beyond the last one it grows as over the last three.
void add_lines(const std::map<double, FormulaSample>& row, double uncertainty,
               std::vector<CollectiveFormula>& formula) {
  constexpr double kStraight = 0.01;
  const auto line_between = [&](const FormulaSample& from, const FormulaSample& to) {
    CollectiveFormula line;
    line.processes = static_cast<int>(from.processes);
    line.from = from.bytes;
    line.uncertainty = uncertainty;
    if (to.bytes > from.bytes)
      line.d = std::max(0.0, (to.seconds - from.seconds) / (to.bytes - from.bytes));
    line.constant = from.seconds - line.d * from.bytes;
    return line;
  };
  const auto misses = [](const CollectiveFormula& line, const FormulaSample& sample) {
    return std::abs(line.constant + line.d * sample.bytes - sample.seconds) >
           kStraight * sample.seconds;
  };
  const size_t begin_of_row = formula.size();
  for (auto first = row.begin(); std::next(first) != row.end();) {
    auto last = std::next(first);
    CollectiveFormula line = line_between(first->second, last->second);
    for (auto to = std::next(last); to != row.end(); last = to++) {
      const CollectiveFormula longer = line_between(first->second, to->second);
      if (std::any_of(std::next(first), to,
                      [&](const auto& inside) { return misses(longer, inside.second); }))
        break;
      line = longer;
    }
    formula.push_back(line);
    first = last;
  }
  const FormulaSample& end = row.rbegin()->second;
  const auto third = row.size() < 3 ? row.begin() : std::prev(row.end(), 3);
  double slope = line_between(third->second, end).d;
  if (slope == 0) slope = line_between(row.begin()->second, end).d;
  CollectiveFormula beyond = line_between(end, end);
  beyond.d = slope;
  beyond.constant = end.seconds - slope * end.bytes;
  if (formula.size() == begin_of_row || misses(formula.back(), end) ||
      std::abs(slope - formula.back().d) > kStraight * slope)
    formula.push_back(beyond);
  CollectiveFormula& lowest = formula[begin_of_row];
  if (lowest.from > 0 && lowest.constant < 0) {
    CollectiveFormula before = lowest;
    before.d = 0;
    before.constant = row.begin()->second.seconds;
    formula.insert(formula.begin() + static_cast<std::ptrdiff_t>(begin_of_row), before);
  }
  formula[begin_of_row].from = 0;
}

}  // namespace

std::vector<CollectiveFormula> platform_formula(const CollectiveFit& fit) {
  constexpr double kGood = 0.03;  // rms error
  constexpr double kMuchBetter = 0.5;
  std::vector<CollectiveFormula> best = formula_of(fit.pieces, 0);
  if (std::ranges::all_of(fit.pieces,
                          [](const FormulaPiece& piece) { return piece.rms_error <= kGood; }))
    return best;
  const auto rms = [&](const std::vector<CollectiveFormula>& formula, size_t its_terms) {
    CollectiveModel model;  // which interpolates; any operation will do
    model.of(CollectiveOp::kBcast).formula = formula;
    const auto seconds = [&](double processes, double bytes) {
      return model.seconds(CollectiveOp::kBcast, static_cast<int>(processes), bytes, {});
    };
    return relative_rms(seconds, fit.samples, its_terms);
  };
  double error = rms(best, terms_of(fit.pieces));
  size_t terms = 0;
  std::vector<CollectiveFormula> by_number = pieces_by_number(fit.samples, terms);
  if (!by_number.empty()) {
    const double its_error = rms(by_number, terms);
    if (its_error < kMuchBetter * error) {
      // Few payloads of a number hide its error.
      for (CollectiveFormula& piece : by_number)
        piece.uncertainty = std::max(piece.uncertainty, its_error);
      best = std::move(by_number);
      error = its_error;
    }
  }
  const SampleTable table = sample_table(fit.samples);
  const double between = error_between(table);
  if (!(between < error)) return best;
  std::vector<CollectiveFormula> lines;
  for (const auto& [processes, row] : table) add_lines(row, between, lines);
  return lines;
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
