#include "replay/analyse/function_results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace rubato {
namespace {

constexpr double kLeastShare = 1e-3;  ///< of a call path

/// The trees of all timelines in one, in seconds by rank.
class CommonTree {
 public:
  CommonTree(const std::vector<FunctionName>& names, const TraceDefinitions& trace, double overhead)
      : trace_(&trace), overhead_(overhead), alike_(alike_functions(names)), paths_(1) {}

  void add(int timeline, const CallTree& tree) {
    const std::vector<CallTree::Node>& nodes = tree.nodes();
    const int rank = trace_->rank_of(timeline);
    std::vector<double> seconds;
    for (const CallTree::Node& node : nodes)
      seconds.push_back(std::max(0.0, node.ticks / trace_->ticks_per_second -
                                          overhead_ * static_cast<double>(node.probes)));
    const std::vector<double> inclusive = tree.inclusive(seconds);
    std::vector<size_t> path_of(nodes.size());
    for (size_t i = 1; i < nodes.size(); ++i) {
      if (!(inclusive[i] > 0)) continue;
      const uint32_t number = alike_[nodes[i].function];
      FunctionResult& function = function_of(number);
      function.compute[rank] += seconds[i];
      function.calls += nodes[i].calls;
      if (!tree.is_recursive(i, alike_)) {
        function.inclusive[rank] += inclusive[i];
        function.error =
            std::hypot(function.error, std::sqrt(nodes[i].error2) / trace_->ticks_per_second);
      }
      path_of[i] = path_below(path_of[nodes[i].parent], number);
      paths_[path_of[i]].inclusive[rank] += inclusive[i];
    }
  }

  void take(const std::vector<FunctionName>& names, Results& results) {
    std::map<uint32_t, size_t> index;
    for (auto& [number, function] : functions_) {
      function.name = names[number].name;
      function.place = names[number].place();
      index.emplace(number, results.functions.size());
      results.functions.push_back(std::move(function));
    }
    std::vector<double> all(trace_->ranks());
    for (const auto& [number, path] : paths_[0].callees) {
      for (size_t rank = 0; rank < all.size(); ++rank) all[rank] += paths_[path].inclusive[rank];
    }
    const double least = all.empty() ? 0 : kLeastShare * *std::max_element(all.begin(), all.end());
    std::vector<std::pair<size_t, size_t>> left = {{0, CallPath::kNone}};
    while (!left.empty()) {
      const auto [path, caller] = left.back();
      left.pop_back();
      for (const auto& [number, callee] : paths_[path].callees) {
        std::vector<double>& inclusive = paths_[callee].inclusive;
        if (*std::max_element(inclusive.begin(), inclusive.end()) < least) continue;
        left.emplace_back(callee, results.call_paths.size());
        results.call_paths.push_back({caller, index.at(number), std::move(inclusive)});
      }
    }
  }

 private:
  struct Path {
    std::map<uint32_t, size_t> callees;  ///< by function: index into paths_
    std::vector<double> inclusive;
  };

  FunctionResult& function_of(uint32_t number) {
    FunctionResult& function = functions_[number];
    function.compute.resize(trace_->ranks());
    function.inclusive.resize(trace_->ranks());
    return function;
  }
  size_t path_below(size_t caller, uint32_t function) {
    const auto [entry, is_new] = paths_[caller].callees.try_emplace(function, paths_.size());
    const size_t path = entry->second;
    if (is_new) paths_.push_back({{}, std::vector<double>(trace_->ranks())});
    return path;
  }

  const TraceDefinitions* trace_;
  double overhead_;
  std::vector<uint32_t> alike_;
  std::map<uint32_t, FunctionResult> functions_;
  std::vector<Path> paths_;  ///< the first one is outside of functions
};

}  // namespace

std::vector<uint32_t> alike_functions(const std::vector<FunctionName>& names) {
  std::map<std::tuple<std::string, std::string, uint32_t>, uint32_t> first;
  std::vector<uint32_t> alike;
  for (uint32_t i = 0; i < names.size(); ++i)
    alike.push_back(
        first.emplace(std::tuple(names[i].name, names[i].file, names[i].line), i).first->second);
  return alike;
}

void add_function_results(const std::vector<FunctionName>& names, const FunctionTotals& totals,
                          const TraceDefinitions& trace, double overhead, Results& results) {
  CommonTree tree(names, trace, overhead);
  for (const auto& [timeline, paths] : totals) tree.add(timeline, paths);
  tree.take(names, results);
}

}  // namespace rubato
