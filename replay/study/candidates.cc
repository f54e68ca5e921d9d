#include "replay/study/candidates.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <sstream>

#include "models/base/error.h"

namespace rubato {
namespace {

constexpr double kLeastImbalance = 0.01;  ///< relative to the longest compute of a rank

/// A number of a scenario with four digits, so that the replay uses exactly the number in the text.
std::string text_of(double number) {
  std::ostringstream text;
  text.precision(4);
  text << number;
  return text.str();
}

/// Indices of the largest `most` entries of both lists, taken in turn.
std::vector<size_t> largest_of(const std::vector<double>& first, const std::vector<double>& second,
                               size_t most) {
  std::vector<size_t> chosen;
  std::vector<std::vector<size_t>> orders;
  for (const std::vector<double>* amounts : {&first, &second}) {
    std::vector<size_t> order(amounts->size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return (*amounts)[a] > (*amounts)[b]; });
    orders.push_back(std::move(order));
  }
  std::set<size_t> taken;
  for (size_t i = 0; i < first.size(); ++i) {
    for (const std::vector<size_t>& order : orders) {
      if (chosen.size() == most) return chosen;
      if (taken.insert(order[i]).second) chosen.push_back(order[i]);
    }
  }
  return chosen;
}

}  // namespace

Candidates CandidateFinder::find() {
  add_functions();
  add_ranks();
  add_change(CandidateKind::kProcessors, "", "cpu*2");
  add_balance();
  if (scenario_->base != "perfect") add_perfect();
  if (scenario_->basis == Basis::kModel && scenario_->base != "perfect") {
    add_levels();
    add_collectives();
    add_placements();
  }
  return std::move(found_);
}

void CandidateFinder::add(CandidateKind kind, const std::string& name, const std::string& text) {
  found_.list.push_back({kind, name, text, (*parse_)(text)});
}
void CandidateFinder::add_change(CandidateKind kind, const std::string& name,
                                 const std::string& change) {
  std::vector<std::string> changes = scenario_->changes;
  changes.push_back(change);
  add(kind, name, scenario_text(scenario_->base, changes));
}

/// False if the name cannot be written in a scenario.
bool CandidateFinder::add_function(const std::string& name) {
  for (const std::string& said : {name, name.substr(0, name.find('('))}) {
    if (said.empty()) continue;
    try {
      add_change(CandidateKind::kFunction, name, "region=" + said + "*0.5");
      const std::vector<FunctionChange>& functions = found_.list.back().scenario.functions;
      if (functions.size() == scenario_->functions.size() + 1 && functions.back().name == said)
        return true;
      found_.list.pop_back();
    } catch (const InputError&) {
    } catch (const UsageError&) {
    }
  }
  return false;
}

void CandidateFinder::add_functions() {
  const std::vector<FunctionResult>& functions = base_->results->functions;
  std::vector<double> on_path(functions.size()), total(functions.size());
  for (size_t i = 0; i < functions.size(); ++i) {
    for (size_t rank = 0; rank < run_->ranks.size(); ++rank) {
      total[i] += functions[i].compute[rank];
      on_path[i] += functions[i].compute[rank] * path_share(rank);
    }
  }
  std::set<std::string> names;
  size_t tried = 0;
  for (const size_t i : largest_of(on_path, total, functions.size())) {
    if (!names.insert(functions[i].name).second) continue;  // another function of that name
    if (tried < limits_->functions && add_function(functions[i].name))
      ++tried;
    else
      ++found_.functions_left_out;
  }
}

/// The part of a rank's compute on the critical path.
double CandidateFinder::path_share(size_t rank) const {
  const double compute = run_->ranks[rank].compute;
  if (!(compute > 0)) return 0;
  return std::min(1.0, base_->path->compute[rank] / base_->ticks_per_second / compute);
}

void CandidateFinder::add_ranks() {
  const size_t ranks = run_->ranks.size();
  if (ranks < 2) return;  // all processors are those of the rank
  std::vector<double> compute;
  for (const RankResult& rank : run_->ranks) compute.push_back(rank.compute);
  const std::vector<size_t> chosen = largest_of(base_->path->compute, compute, limits_->ranks);
  for (const size_t rank : chosen) {
    const std::string number = std::to_string(rank);
    add_change(CandidateKind::kRank, number, "rank" + number + ".cpu*2");
  }
  found_.ranks_left_out = ranks - chosen.size();
}

/// Ranks that compute share the sum of their compute evenly. Neighbours with the same factor, in
/// four digits, are one change.
void CandidateFinder::add_balance() {
  double sum = 0, most = 0;
  size_t computing = 0;
  for (const RankResult& rank : run_->ranks) {
    if (!(rank.compute > 0)) continue;
    sum += rank.compute;
    most = std::max(most, rank.compute);
    ++computing;
  }
  if (computing < 2) return;
  const double mean = sum / static_cast<double>(computing);
  if (most - mean < kLeastImbalance * most) return;
  std::vector<std::string> changes = scenario_->changes;
  for (size_t first = 0; first < run_->ranks.size();) {
    const std::string factor = balance_factor(first, mean);
    size_t last = first;
    while (last + 1 < run_->ranks.size() && balance_factor(last + 1, mean) == factor) ++last;
    std::string who = "rank";
    who += std::to_string(first);
    if (last > first) who.append("-").append(std::to_string(last));
    if (factor != "1") changes.push_back(who + ".cpu*" + factor);
    first = last + 1;
  }
  add(CandidateKind::kBalance, "", scenario_text(scenario_->base, changes));
}
std::string CandidateFinder::balance_factor(size_t rank, double mean) const {
  const double compute = run_->ranks[rank].compute;
  return compute > 0 ? text_of(compute / mean) : "1";
}

}  // namespace rubato
