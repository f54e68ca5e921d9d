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

const CollectiveFormula* CollectiveModel::formula_for(CollectiveOp op, double bytes) const {
  if (pricing != CollectivePricing::kAnalytic) return nullptr;
  const CollectiveFormula* formula = nullptr;
  for (const CollectiveFormula& piece : of(op).formula) {
    if (!formula || bytes >= piece.from) formula = &piece;
  }
  return formula;
}

bool CollectiveModel::is_guessed(CollectiveOp op, double bytes) const {
  const auto [priced, size] = priced_as(op, bytes);
  return !is_perfect(priced) && !formula_for(priced, size) && of(priced).rules.empty();
}

std::string CollectiveModel::describe(CollectiveOp op, int p, double bytes) const {
  const auto [priced, size] = priced_as(op, bytes);
  if (is_perfect(priced)) return "perfect";
  return formula_for(priced, size) ? "formula" : name_of(choose(priced, p, size).algorithm);
}

double CollectiveModel::seconds(CollectiveOp op, int p, double bytes, const RoundCost& cost) const {
  if (p <= 1) return 0;
  const auto [priced, size] = priced_as(op, bytes);
  if (is_perfect(priced)) return 0;
  return formula_for(priced, size) ? formula_seconds(priced, p, size, cost)
                                   : seconds_of_algorithm(priced, p, size, cost);
}

double CollectiveModel::seconds_of_algorithm(CollectiveOp op, int p, double bytes,
                                             const RoundCost& cost) const {
  return algorithm_seconds(op, choose(op, p, bytes), p, bytes, cost,
                           [&](CollectiveOp part, double n) { return seconds(part, p, n, cost); });
}

double CollectiveModel::formula_value(CollectiveOp op, int p, double bytes) const {
  const CollectiveFormula *fewer = nullptr, *more = nullptr;  // members than p, or as many
  for (const CollectiveFormula& piece : of(op).formula) {
    const CollectiveFormula*& known = piece.processes <= p ? fewer : more;
    if (&known == &more && more && piece.processes > more->processes) break;
    if (!known || piece.processes > known->processes || bytes >= piece.from) known = &piece;
  }
  const auto value = [&](const CollectiveFormula& piece) {
    return piece(piece.processes > 0 ? piece.processes : p, bytes);
  };
  if (!fewer) return value(*more);
  if (!more || fewer->processes == 0 || fewer->processes == p) return value(*fewer);
  const double share = std::log2(static_cast<double>(p) / fewer->processes) /
                       std::log2(static_cast<double>(more->processes) / fewer->processes);
  return std::lerp(value(*fewer), value(*more), share);
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
  return !is_perfect(priced) && formula_for(priced, size);
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
  return formula_for(op, bytes) ? std::min(seconds, formula_seconds(op, p, bytes, cost)) : seconds;
}

}  // namespace rubato
