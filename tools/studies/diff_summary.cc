#include "tools/studies/diff_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "replay/analyse/other_rows.h"

namespace rubato {
namespace {

constexpr double kMostOfIt = 0.5;
/// The difference of a rank from which on it is named, relative to that of the mean rank.
constexpr double kStandsOut = 1.5;

using Seconds = std::map<std::string, double>;

MessageSum messages_of(const ScenarioResult& scenario) {
  MessageSum sum;
  for (const LevelTraffic& level : scenario.traffic) {
    sum.count += level.messages;
    sum.bytes += level.bytes;
  }
  return sum;
}

/// The entry with the largest absolute value; null if all are 0.
template <typename Map>
const typename Map::value_type* largest(const Map& values) {
  const typename Map::value_type* found = nullptr;
  for (const auto& entry : values) {
    if (entry.second != 0 && (!found || std::abs(entry.second) > std::abs(found->second)))
      found = &entry;
  }
  return found;
}

/// Adds `sign` times the time of each call, over all ranks.
void add_calls(Seconds& sums, const Results& results, double sign) {
  for (const RankResult& rank : results.scenarios.front().ranks) {
    for (size_t call = 0; call < rank.calls.size(); ++call)
      sums[results.calls[call]] += sign * rank.calls[call].time;
  }
}

/// The compute of one rank, or of all ranks (-1), by function: a list of FunctionEfficiency.
/// Functions keep their names, while lines move from version to version.
Seconds function_differences(const ObservedRun& before, const ObservedRun& after, int rank,
                             std::vector<double> FunctionEfficiency::*list) {
  Seconds sums;
  for (const auto& [run, sign] : {std::pair(&before, -1), std::pair(&after, 1)}) {
    for (const FunctionEfficiency& function : run->places.functions) {
      const std::vector<double>& seconds = function.*list;
      if (function.name.empty() || seconds.empty()) continue;
      sums[function.name] += sign * (rank < 0 ? function.sum_of(seconds) : seconds[rank]);
    }
  }
  return sums;
}

/// "solve (app.c:41)"
std::string place_of(const std::string& function, const PlaceSummary& first,
                     const PlaceSummary& second) {
  for (const PlaceSummary* places : {&first, &second}) {
    for (const FunctionEfficiency& known : places->functions)
      if (known.name == function && !known.place.empty()) return known.place;
  }
  return function;
}

/// Adds `sign` times the waits in `call`: in all, by place, and by the rank that they are for.
void add_waits(const PlaceSummary& places, const std::string& call, double sign, double& all,
               Seconds& sites, std::map<int, double>& causes) {
  for (const PlaceSummary::Wait& wait : places.waits) {
    const NamedPlace& place = places.places[wait.place];
    if (place.call != call) continue;
    all += sign * wait.seconds;
    if (!place.site.empty() && sign > 0) sites[place.site] += wait.seconds;
  }
  for (const PlaceSummary::Delay& delay : places.delays)
    if (places.places[delay.waiting].call == call) causes[delay.rank] += sign * delay.seconds;
}

/// True if the call path, or one of its callers, ends in `function`. `path` may be kNone.
bool is_within(const Results& results, size_t path, const std::string& function) {
  for (; path != CallPath::kNone; path = results.call_paths[path].caller)
    if (results.functions[results.call_paths[path].function].name == function) return true;
  return false;
}

/// Adds `sign` times the compute of the function of `summary`, on its rank or on all, by its
/// caller. Callers keep their names, which `places` maps to places.
void add_callers(Seconds& callers, std::map<std::string, std::string>& places,
                 const Results& results, const DiffSummary& summary, const std::string& function,
                 double sign) {
  const int rank = summary.compute_rank;
  const std::vector<CallPath>& paths = results.call_paths;
  const auto compute = [&](const CallPath& path) {
    return rank < 0 ? std::accumulate(path.inclusive.begin(), path.inclusive.end(), 0.0)
                    : path.inclusive[rank];
  };
  for (size_t i = 0; i < paths.size(); ++i) {
    const CallPath& path = paths[i];
    if (results.functions[path.function].name != function) continue;
    // (The outermost call of a recursion includes the others.)
    if (summary.with_callees && is_within(results, path.caller, function)) continue;
    std::string name;
    size_t above = path.caller;  // beyond recursion
    while (above != CallPath::kNone && results.functions[paths[above].function].name == function)
      above = paths[above].caller;
    if (above != CallPath::kNone) {
      const FunctionResult& caller = results.functions[paths[above].function];
      name = caller.name;
      places[name] = caller.place;
    }
    callers[name] += sign * compute(path);
    if (summary.with_callees) continue;
    for (const CallPath& callee : paths) {
      if (callee.caller == i) callers[name] -= sign * compute(callee);
    }
  }
}

/// DiffSummary::caller.
std::string caller_of(const DiffSummary& summary, const std::string& function,
                      const ObservedRun& before, const ObservedRun& after) {
  if (before.results.call_paths.empty() || after.results.call_paths.empty()) return "";
  Seconds callers;
  std::map<std::string, std::string> places;
  add_callers(callers, places, before.results, summary, function, -1);
  add_callers(callers, places, after.results, summary, function, 1);
  const auto* most = largest(callers);
  if (!most) return "";
  double all = 0;
  for (const auto& [caller, seconds] : callers) all += seconds;
  return most->second / all >= kMostOfIt ? places[most->first] : "...";
}

/// Sets the number of callers of each function, on the shortest of its recorded call paths.
void add_depths(const Results& results, std::map<std::string, size_t>& depths) {
  for (const CallPath& path : results.call_paths) {
    size_t depth = 0;
    for (size_t i = path.caller; i != CallPath::kNone; i = results.call_paths[i].caller) ++depth;
    const auto known = depths.emplace(results.functions[path.function].name, depth).first;
    known->second = std::min(known->second, depth);
  }
}

/// The deepest function that includes most of `whole`; null if that is an outermost one, which says
/// nothing.
const Seconds::value_type* deepest(const Seconds& inclusive, double whole,
                                   const ObservedRun& before, const ObservedRun& after) {
  std::map<std::string, size_t> depths;
  add_depths(before.results, depths);
  add_depths(after.results, depths);
  const Seconds::value_type* found = nullptr;
  for (const auto& entry : inclusive) {
    const size_t depth = depths[entry.first];
    if (entry.second / whole < kMostOfIt || depth == 0) continue;
    if (!found || std::pair(depth, entry.second / whole) >
                      std::pair(depths[found->first], found->second / whole))
      found = &entry;
  }
  return found;
}

/// The entry with the largest part of `whole`; null if no part is large.
const Seconds::value_type* main_part(const Seconds& seconds, double whole) {
  const Seconds::value_type* found = nullptr;
  for (const auto& entry : seconds) {
    if (entry.second / whole >= kMostOfIt &&
        (!found || entry.second / whole > found->second / whole))
      found = &entry;
  }
  return found;
}

/// Sets the function of `summary`, whose `on_rank` is set.
void find_function(DiffSummary& summary, const ObservedRun& before, const ObservedRun& after) {
  if (!before.places.knows_functions || !after.places.knows_functions || summary.on_rank == 0)
    return;
  const int rank = summary.compute_rank;
  const double ranks = rank < 0 ? static_cast<double>(before.scenario().ranks.size()) : 1;
  const double whole = summary.on_rank * ranks;
  const Seconds own = function_differences(before, after, rank, &FunctionEfficiency::compute);
  const Seconds all = function_differences(before, after, rank, &FunctionEfficiency::inclusive);
  const auto* most = main_part(own, whole);
  if (!most) {
    most = deepest(all, whole, before, after);
    summary.with_callees = most != nullptr;
  }
  if (!most) return;
  summary.function = place_of(most->first, after.places, before.places);
  summary.caller = caller_of(summary, most->first, before, after);
  summary.in_function = most->second / ranks;
}

void find_compute(DiffSummary& summary, const ObservedRun& before, const ObservedRun& after) {
  const std::vector<RankResult>& a = before.scenario().ranks;
  const std::vector<RankResult>& b = after.scenario().ranks;
  summary.compute = mean(b, &RankResult::compute) - mean(a, &RankResult::compute);
  summary.on_rank = summary.compute;
  std::map<int, double> by_rank;
  for (size_t rank = 0; rank < a.size(); ++rank)
    by_rank[static_cast<int>(rank)] = b[rank].compute - a[rank].compute;
  const auto* most_on = largest(by_rank);
  if (most_on && std::abs(most_on->second) > kStandsOut * std::abs(summary.compute)) {
    summary.compute_rank = most_on->first;
    summary.on_rank = most_on->second;
  }
  find_function(summary, before, after);
}

void find_call(DiffSummary& summary, const ObservedRun& before, const ObservedRun& after) {
  const std::vector<RankResult>& a = before.scenario().ranks;
  const std::vector<RankResult>& b = after.scenario().ranks;
  const auto ranks = static_cast<double>(a.size());
  summary.mpi = mean(b, &RankResult::mpi) - mean(a, &RankResult::mpi);
  Seconds calls;
  add_calls(calls, before.results, -1);
  add_calls(calls, after.results, 1);
  std::erase_if(calls, [](const auto& entry) { return outside_elapsed(entry.first); });
  const auto* most = largest(calls);
  if (!most) return;
  summary.call = most->first;
  summary.in_call = most->second / ranks;
  Seconds sites;
  std::map<int, double> causes;
  double waiting = 0;
  add_waits(before.places, summary.call, -1, waiting, sites, causes);
  add_waits(after.places, summary.call, 1, waiting, sites, causes);
  summary.waiting = waiting / ranks;
  if (const auto* site = largest(sites)) summary.site = site->first;
  const auto* cause = largest(causes);
  if (cause && waiting != 0 && cause->second / waiting >= kMostOfIt)
    summary.waited_rank = cause->first;
}

}  // namespace

std::map<std::string, TimePair> compared_functions(const PlaceSummary& before,
                                                   const PlaceSummary& after) {
  std::map<std::string, TimePair> pairs;
  const auto add = [&](const PlaceSummary& places, double TimePair::*time,
                       double TimePair::*error) {
    for (const FunctionEfficiency& function : places.functions) {
      const double seconds = function.sum_of(function.inclusive);
      if (function.name.empty() || !(seconds > 0)) continue;
      TimePair& pair = pairs[function.name];
      pair.*time += seconds;
      pair.*error = std::hypot(pair.*error, function.inclusive_error);
    }
  };
  add(before, &TimePair::before, &TimePair::before_error);
  add(after, &TimePair::after, &TimePair::after_error);
  return pairs;
}

DiffSummary summary_of(const ObservedRun& before, const ObservedRun& after) {
  DiffSummary summary;
  find_compute(summary, before, after);
  find_call(summary, before, after);
  const std::vector<RankResult>& a = before.scenario().ranks;
  const std::vector<RankResult>& b = after.scenario().ranks;
  summary.lost_cores = mean(b, &RankResult::lost_core) - mean(a, &RankResult::lost_core);
  summary.messages_before = messages_of(before.scenario());
  summary.messages_after = messages_of(after.scenario());
  return summary;
}

}  // namespace rubato
