#include "tools/tables/call_columns.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "replay/analyse/other_rows.h"

namespace rubato {
namespace {

constexpr double kLeastShare = 0.001;

/// A call's share of the time of all ranks, in the scenario where it is largest; negative if no
/// rank calls it.
double largest_share(const std::vector<ScenarioResult>& scenarios, size_t call) {
  double largest = -1;
  for (const ScenarioResult& scenario : scenarios) {
    double part = 0, whole = 0;
    bool used = false;
    for (const RankResult& rank : scenario.ranks) {
      whole += rank.compute + rank.mpi;
      if (call >= rank.calls.size() || rank.calls[call].calls == 0) continue;
      used = true;
      part += rank.calls[call].time;
    }
    if (used) largest = std::max(largest, whole > 0 ? part / whole : 0);
  }
  return largest;
}

}  // namespace

double CallColumn::time(const RankResult& rank) const {
  double sum = 0;
  for (const size_t call : calls) sum += call < rank.calls.size() ? rank.calls[call].time : 0;
  return sum;
}

std::vector<CallColumn> grouped_calls(const std::vector<std::string>& names,
                                      const std::vector<size_t>& used,
                                      const std::vector<double>& sizes, double least, size_t most) {
  std::vector<size_t> largest = used;
  std::stable_sort(largest.begin(), largest.end(),
                   [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  size_t own = largest.size();
  if (most != SIZE_MAX) {
    while (own > 0 && sizes[largest[own - 1]] < least) --own;
    own = std::min(own, most);
    if (own + 1 == largest.size()) ++own;  // hiding a single call would save no column
  }
  std::vector<bool> is_small(names.size(), false);
  for (size_t i = own; i < largest.size(); ++i) is_small[largest[i]] = true;
  std::vector<CallColumn> columns;
  CallColumn small;
  for (const size_t call : used) {
    if (is_small[call]) {
      small.calls.push_back(call);
    } else {
      columns.push_back({names[call], {call}});
    }
  }
  if (small.calls.empty()) return columns;
  small.name = fmt::format("{} others", small.calls.size());
  columns.push_back(std::move(small));
  return columns;
}

std::vector<CallColumn> choose_call_columns(const Results& results, size_t most) {
  std::vector<double> shares;
  std::vector<size_t> inside;
  std::vector<CallColumn> outside;
  for (size_t call = 0; call < results.calls.size(); ++call) {
    shares.push_back(largest_share(results.scenarios, call));
    if (shares.back() < 0) continue;
    if (outside_elapsed(results.calls[call])) {
      outside.push_back({results.calls[call], {call}});
    } else {
      inside.push_back(call);
    }
  }
  std::vector<CallColumn> columns = grouped_calls(results.calls, inside, shares, kLeastShare, most);
  columns.insert(columns.end(), outside.begin(), outside.end());
  return columns;
}

}  // namespace rubato
