#include "models/collective/collective_model.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

/// Creating and freeing handles is priced as an allgather.
std::pair<CollectiveOp, double> priced_as(CollectiveOp op, double bytes) {
  if (op == CollectiveOp::kCreateHandle || op == CollectiveOp::kDestroyHandle)
    return {CollectiveOp::kAllgather, kHandleBytes};
  return {op, bytes};
}

}  // namespace

double CollectiveFormula::operator()(int members, double bytes) const {
  const double log = std::log2(members);
  const double square = static_cast<double>(members) * members;
  const double per_byte = d + d_log_p * log + d_p * members + d_p2 * square;
  return std::max(0.0, constant + log_p * log + p * members + p2 * square + per_byte * bytes);
}

Synchronisation CollectiveModel::synchronisation(CollectiveOp op, double bytes) const {
  if (!is_rooted(op)) return rubato::synchronisation(op);
  const std::optional<double>& limit = of(op).sync_limit;
  return limit && bytes >= *limit ? Synchronisation::kAllToAll : rubato::synchronisation(op);
}

AlgorithmChoice CollectiveModel::choose(CollectiveOp op, int p, double bytes) const {
  const auto [priced, size] = priced_as(op, bytes);
  const std::vector<AlgorithmRule>& rules = of(priced).rules;
  const auto own =
      std::find_if(rules.rbegin(), rules.rend(), [p, size = size](const AlgorithmRule& rule) {
        return p >= rule.processes && size >= rule.bytes;
      });
  return own != rules.rend() ? own->choice : preset_choice(preset, priced, p, size);
}

bool CollectiveModel::is_by_formula(CollectiveOp op) const {
  return pricing == CollectivePricing::kAnalytic && !of(op).formula.empty();
}

bool CollectiveModel::is_guessed(CollectiveOp op, double bytes) const {
  const auto [priced, size] = priced_as(op, bytes);
  return !is_perfect(priced) && !is_by_formula(priced) && of(priced).rules.empty();
}

std::string CollectiveModel::describe(CollectiveOp op, int p, double bytes) const {
  const auto [priced, size] = priced_as(op, bytes);
  if (is_perfect(priced)) return "perfect";
  return is_by_formula(priced) ? "formula" : name_of(choose(priced, p, size).algorithm);
}

double CollectiveModel::seconds(CollectiveOp op, int p, double bytes, const RoundCost& cost) const {
  if (p <= 1) return 0;
  const auto [priced, size] = priced_as(op, bytes);
  if (is_perfect(priced)) return 0;
  return is_by_formula(priced) ? formula_seconds(priced, p, size, cost)
                               : seconds_of_algorithm(priced, p, size, cost);
}

double CollectiveModel::seconds_of_algorithm(CollectiveOp op, int p, double bytes,
                                             const RoundCost& cost) const {
  return algorithm_seconds(op, choose(op, p, bytes), p, bytes, cost,
                           [&](CollectiveOp part, double n) { return seconds(part, p, n, cost); });
}

double CollectiveModel::formula_value(CollectiveOp op, int p, double bytes) const {
  const std::vector<CollectiveFormula>& formula = of(op).formula;
  int fewer = formula.front().processes, more = formula.back().processes;
  for (const CollectiveFormula& piece : formula) {
    if (piece.processes <= p) fewer = piece.processes;
    if (piece.processes >= p) more = std::min(more, piece.processes);
  }
  const auto value = [&](int processes) {
    const CollectiveFormula* found = nullptr;
    for (const CollectiveFormula& piece : formula) {
      if (piece.processes == processes && (!found || bytes >= piece.from)) found = &piece;
    }
    return (*found)(processes > 0 ? processes : p, bytes);
  };
  if (fewer >= more) return value(fewer);
  const double share =
      std::log2(static_cast<double>(p) / fewer) / std::log2(static_cast<double>(more) / fewer);
  return std::lerp(value(fewer), value(more), share);
}

double CollectiveModel::formula_seconds(CollectiveOp op, int p, double bytes,
                                        const RoundCost& cost) const {
  const int most = of(op).formula_processes;
  if (most < 2 || p <= most) return formula_value(op, p, bytes);
  const double there = seconds_of_algorithm(op, most, bytes, cost);
  const double growth = there > 0 ? seconds_of_algorithm(op, p, bytes, cost) / there : 1;
  return formula_value(op, most, bytes) * std::max(1.0, growth);
}

bool CollectiveModel::has_formula(CollectiveOp op, double bytes) const {
  const auto [priced, size] = priced_as(op, bytes);
  return !is_perfect(priced) && is_by_formula(priced);
}

double CollectiveModel::stretch(CollectiveOp op, int p, double bytes, const RoundCost& cost) const {
  if (!has_formula(op, bytes)) return 1;
  CollectiveModel messages = *this;
  messages.pricing = CollectivePricing::kAlgorithm;
  const double alone = messages.seconds(op, p, bytes, cost);
  return alone > 0 ? seconds(op, p, bytes, cost) / alone : 1;
}

double CollectiveModel::departure(CollectiveOp op, int p, double bytes, bool is_root,
                                  const RoundCost& cost) const {
  if (p <= 1 || !is_rooted(op) || is_perfect(op)) return 0;
  const double seconds = departure_seconds(op, choose(op, p, bytes), p, bytes, is_root, cost);
  return is_by_formula(op) ? std::min(seconds, formula_seconds(op, p, bytes, cost)) : seconds;
}

}  // namespace rubato
