#include "replay/study/candidates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "models/base/error.h"
#include "models/base/number_text.h"
#include "replay/trace/function_times.h"

namespace rubato {
namespace {

constexpr double kLeastImbalance = 0.01;  ///< relative to the longest compute of a rank
constexpr double kAllCompute = 0.99;      ///< of all ranks
constexpr double kAlone = 0.9;            ///< of a function, on one rank
constexpr double kNearlyAll = 0.98;       ///< of a caller's amount, in one callee

/// A number of a scenario with four digits, so that the replay uses exactly the number in the text.
std::string text_of(double number) {
  return general_text(number, 4);
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

/// By function, the functions that have nearly all of their time in calls from it.
std::vector<std::vector<size_t>> callees_of(const Results& results) {
  const std::vector<CallPath>& paths = results.call_paths;
  // By function: its time, at its own index, and the part of it within each caller.
  std::vector<std::map<size_t, double>> within(results.functions.size());
  for (const CallPath& path : paths) {
    std::set<size_t> functions;
    for (size_t i = path.caller; i != CallPath::kNone; i = paths[i].caller)
      functions.insert(paths[i].function);
    if (!functions.insert(path.function).second) continue;  // recursion counts once
    const double seconds = std::accumulate(path.inclusive.begin(), path.inclusive.end(), 0.0);
    for (const size_t function : functions) within[path.function][function] += seconds;
  }
  std::vector<std::vector<size_t>> callees(within.size());
  for (size_t i = 0; i < within.size(); ++i) {
    for (const auto& [caller, seconds] : within[i]) {
      if (caller != i && seconds >= kNearlyAll * within[i][i]) callees[caller].push_back(i);
    }
  }
  return callees;
}

}  // namespace

CandidateFinder::CandidateFinder(const BaseRun& base, const CandidateLimits& limits,
                                 const ParseScenario& parse)
    : base_(&base),
      scenario_(base.scenario),
      run_(base.run ? base.run : &base.results->scenarios[0]),
      limits_(&limits),
      parse_(&parse),
      callees_(callees_of(*base.results)) {}

Candidates CandidateFinder::find() {
  add_balanced_functions();
  add_functions();
  add_balance();
  if (scenario_->base != "perfect") add_perfect();
  if (scenario_->basis == Basis::kModel && scenario_->base != "perfect") {
    add_levels();
    add_collectives();
    add_placements();
  }
  return std::move(found_);
}

Candidates CandidateFinder::find_balances() {
  add_balanced_functions();
  double most = 0;
  for (const RankResult& rank : run_->ranks) most = std::max(most, rank.compute);
  for (const FunctionResult& function : base_->results->functions) {
    const std::vector<double>& seconds = function.inclusive;
    const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    const double longest = *std::max_element(seconds.begin(), seconds.end());
    if (longest > kAlone * sum && longest >= kLeastImbalance * most && !has_all_compute(function))
      add_function(CandidateKind::kFunction, function.name, "*0.5");
  }
  add_balance();
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

/// `change`: behind the name. False if the name cannot be written in a scenario, and for more
/// functions than a run can change.
bool CandidateFinder::add_function(CandidateKind kind, const std::string& name,
                                   const std::string& change) {
  if (!changed_functions_.count(name) &&
      changed_functions_.size() + scenario_->functions.size() >= kMostFunctions)
    return false;
  for (const std::string& said : {name, name.substr(0, name.find('('))}) {
    if (said.empty()) continue;
    try {
      add_change(kind, name, "region=" + said + change);
      const std::vector<FunctionChange>& functions = found_.list.back().scenario.functions;
      if (functions.size() == scenario_->functions.size() + 1 && functions.back().name == said) {
        changed_functions_.insert(name);
        return true;
      }
      found_.list.pop_back();
    } catch (const InputError&) {
    } catch (const UsageError&) {
    }
  }
  return false;
}

bool CandidateFinder::has_all_compute(const FunctionResult& function) const {
  double compute = 0;
  for (const RankResult& rank : run_->ranks) compute += rank.compute;
  const double inclusive =
      std::accumulate(function.inclusive.begin(), function.inclusive.end(), 0.0);
  return inclusive > kAllCompute * compute * scenario_->cpu;
}

/// `amounts`: of each function.
bool CandidateFinder::has_same_callee(size_t function, const std::vector<double>& amounts) const {
  return std::ranges::any_of(callees_[function], [&](size_t callee) {
    return amounts[callee] >= kNearlyAll * amounts[function];
  });
}

void CandidateFinder::add_balanced_functions() {
  const std::vector<FunctionResult>& functions = base_->results->functions;
  double most = 0;
  for (const RankResult& rank : run_->ranks) most = std::max(most, rank.compute);
  std::vector<double> excesses;
  for (const FunctionResult& function : functions) {
    double sum = 0, longest = 0, ranks = 0;
    for (const double seconds : function.inclusive) {
      sum += seconds;
      longest = std::max(longest, seconds);
      if (seconds > 0) ++ranks;
    }
    excesses.push_back(ranks > 1 ? longest - sum / ranks : 0);
  }
  size_t tried = 0;
  for (const size_t i : largest_of(excesses, excesses, functions.size())) {
    if (tried == limits_->functions || excesses[i] < kLeastImbalance * most) break;
    if (has_all_compute(functions[i]) || has_same_callee(i, excesses)) continue;
    if (changed_functions_.count(functions[i].name)) continue;  // another function of that name
    if (add_function(CandidateKind::kFunctionBalance, functions[i].name, "=mean")) ++tried;
  }
}

void CandidateFinder::add_functions() {
  const std::vector<FunctionResult>& functions = base_->results->functions;
  std::vector<double> on_path(functions.size()), total(functions.size());
  for (size_t i = 0; i < functions.size(); ++i) {
    for (size_t rank = 0; rank < run_->ranks.size(); ++rank) {
      total[i] += functions[i].inclusive[rank];
      on_path[i] += functions[i].inclusive[rank] * path_share(rank);
    }
  }
  std::set<std::string> names;
  size_t tried = 0;
  for (const size_t i : largest_of(on_path, total, functions.size())) {
    if (!names.insert(functions[i].name).second) continue;  // another function of that name
    if (has_all_compute(functions[i])) continue;
    if (has_same_callee(i, on_path) && has_same_callee(i, total)) continue;
    if (tried < limits_->functions &&
        add_function(CandidateKind::kFunction, functions[i].name, "*0.5"))
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

void CandidateFinder::add_balance() {
  const std::vector<std::string> balancing = balancing_changes(run_->ranks);
  if (balancing.empty()) return;
  std::vector<std::string> changes = scenario_->changes;
  changes.insert(changes.end(), balancing.begin(), balancing.end());
  add(CandidateKind::kBalance, "", scenario_text(scenario_->base, changes));
}

std::vector<std::string> balancing_changes(const std::vector<RankResult>& ranks) {
  double sum = 0, most = 0;
  size_t computing = 0;
  for (const RankResult& rank : ranks) {
    if (!(rank.compute > 0)) continue;
    sum += rank.compute;
    most = std::max(most, rank.compute);
    ++computing;
  }
  if (computing < 2) return {};
  const double mean = sum / static_cast<double>(computing);
  if (most - mean < kLeastImbalance * most) return {};
  const auto factor_of = [&](size_t rank) {
    return ranks[rank].compute > 0 ? text_of(ranks[rank].compute / mean) : "1";
  };
  std::vector<std::string> changes;
  for (size_t first = 0; first < ranks.size();) {
    const std::string factor = factor_of(first);
    size_t last = first;
    while (last + 1 < ranks.size() && factor_of(last + 1) == factor) ++last;
    std::string who = "rank" + std::to_string(first);
    if (last > first) who.append("-").append(std::to_string(last));
    if (factor != "1") changes.push_back(who + ".cpu*" + factor);
    first = last + 1;
  }
  return changes;
}

}  // namespace rubato
