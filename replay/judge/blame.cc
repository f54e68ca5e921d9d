#include "replay/judge/blame.h"

#include <algorithm>
#include <numeric>

namespace rubato {
namespace {

constexpr double kMostOfExcess = 0.5;

double beyond_mean(const std::vector<double>& seconds, int rank) {
  return seconds[rank] -
         std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

/// The callee of a path with the largest excess beyond `least`; kNone if there is none.
size_t worst_callee(const std::vector<CallPath>& paths, size_t caller, int rank, double least) {
  size_t worst = CallPath::kNone;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].caller != caller) continue;
    const double excess = beyond_mean(paths[i].inclusive, rank);
    if (excess <= least) continue;
    least = excess;
    worst = i;
  }
  return worst;
}

/// The excess of a path without its callees.
double own_excess(const std::vector<CallPath>& paths, size_t path, int rank) {
  double own = beyond_mean(paths[path].inclusive, rank);
  for (const CallPath& other : paths) {
    if (other.caller == path) own -= beyond_mean(other.inclusive, rank);
  }
  return own;
}

/// The function with the largest excess of its own beyond `least`; null if there is none.
const FunctionResult* worst_function(const Results& results, int rank, double least) {
  const FunctionResult* worst = nullptr;
  for (const FunctionResult& function : results.functions) {
    const double excess = beyond_mean(function.compute, rank);
    if (excess <= least) continue;
    least = excess;
    worst = &function;
  }
  return worst;
}

}  // namespace

std::string Blame::call_path() const {
  std::string text;
  for (const std::string& caller : callers) text += caller + " > ";
  return text + function;
}

std::optional<Blame> blame(const Results& results, int rank, double excess) {
  const std::vector<CallPath>& paths = results.call_paths;
  if (results.functions.empty() || !(excess > 0)) return {};
  const double least = kMostOfExcess * excess;
  Blame blame;
  size_t last = CallPath::kNone;
  for (size_t next = worst_callee(paths, last, rank, least); next != CallPath::kNone;
       next = worst_callee(paths, last, rank, least)) {
    if (last != CallPath::kNone) blame.callers.push_back(blame.function);
    blame.function = results.functions[paths[next].function].place;
    blame.excess = beyond_mean(paths[next].inclusive, rank);
    last = next;
  }
  if (last != CallPath::kNone && own_excess(paths, last, rank) > least) return blame;
  if (const FunctionResult* const function = worst_function(results, rank, least))
    return Blame{function->place, {"..."}, beyond_mean(function->inclusive, rank)};
  if (blame.callers.empty()) return {};
  return blame;
}

}  // namespace rubato
