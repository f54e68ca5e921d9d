#include "replay/study/candidates.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <sstream>

#include "models/base/error.h"
#include "models/collective/collective_algorithms.h"

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

bool is_number_of_compute(const std::string& change) {
  const std::string key = change.substr(0, change.find_first_of("=*/"));
  return key == "cpu" || key == "region" || key == "ppn" || key == "placement" ||
         (key.ends_with(".cpu") && (key.starts_with("rank") || key.starts_with("node")));
}

class Finder {
 public:
  Finder(const BaseRun& base, const CandidateLimits& limits, const ParseScenario& parse)
      : base_(&base),
        scenario_(base.scenario),
        run_(&base.results->scenarios[0]),
        limits_(&limits),
        parse_(&parse) {}

  Candidates find() {
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

 private:
  void add(CandidateKind kind, const std::string& name, const std::string& text) {
    found_.list.push_back({kind, name, text, (*parse_)(text)});
  }
  void add_change(CandidateKind kind, const std::string& name, const std::string& change) {
    std::vector<std::string> changes = scenario_->changes;
    changes.push_back(change);
    add(kind, name, scenario_text(scenario_->base, changes));
  }

  /// False if the name cannot be written in a scenario.
  bool add_function(const std::string& name) {
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

  void add_functions() {
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
  double path_share(size_t rank) const {
    const double compute = run_->ranks[rank].compute;
    if (!(compute > 0)) return 0;
    return std::min(1.0, base_->path->compute[rank] / base_->ticks_per_second / compute);
  }

  void add_ranks() {
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
  void add_balance() {
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
  std::string balance_factor(size_t rank, double mean) const {
    const double compute = run_->ranks[rank].compute;
    return compute > 0 ? text_of(compute / mean) : "1";
  }

  void add_perfect() {
    std::vector<std::string> changes;
    for (const std::string& change : scenario_->changes) {
      if (is_number_of_compute(change)) changes.push_back(change);
    }
    add(CandidateKind::kPerfect, "", scenario_text("perfect", changes));
  }

  /// Latency, bandwidth and overheads of all levels, and of each level if messages use several.
  void add_levels() {
    std::vector<std::string> prefixes = {""};
    std::vector<std::string> used;
    for (const Level level : {Level::kSocket, Level::kNode, Level::kNetwork}) {
      const auto number = static_cast<size_t>(level);
      if (scenario_->platform.level(level) && run_->traffic[number].messages > 0)
        used.push_back(kLevelNames[number]);
    }
    if (used.size() > 1) {
      for (const std::string& level : used) prefixes.push_back(level + ".");
    }
    for (const std::string& prefix : prefixes) {
      const std::string name = prefix.substr(0, prefix.find('.'));
      const auto add_factor = [&](CandidateKind kind, const std::string& change) {
        if (has_effect(*scenario_, change)) add_change(kind, name, change);
      };
      add_factor(CandidateKind::kLatency, prefix + "latency*0.5");
      add_factor(CandidateKind::kBandwidth, prefix + "bandwidth*2");
      add_factor(CandidateKind::kOverhead, prefix + "overhead*0.5");
    }
  }

  void add_collectives() {
    std::set<std::string> operations;
    for (const CollectiveUse& use : run_->collectives) {
      if (use.algorithm != "perfect" && collective_named(use.operation))
        operations.insert(use.operation);
    }
    if (operations.empty()) return;
    add_change(CandidateKind::kCollectives, "", "collectives=perfect");
    for (const std::string& operation : operations) {
      if (operations.size() > 1)
        add_change(CandidateKind::kCollectives, operation, operation + "=perfect");
      if (limits_->shares_passes) add_algorithms(operation);
    }
  }

  /// Measured algorithms are not compared with others: a formula is valid only for what it was
  /// measured for.
  void add_algorithms(const std::string& operation) {
    std::set<std::string> used;
    for (const CollectiveUse& use : run_->collectives) {
      if (use.operation == operation) used.insert(use.algorithm);
    }
    if (used.contains("formula")) return;
    for (const Algorithm algorithm : algorithms_of(*collective_named(operation))) {
      const std::string name = name_of(algorithm);
      if (used.size() == 1 && used.contains(name)) continue;
      const std::string change = operation + "=" + name;
      add_change(CandidateKind::kAlgorithm, change, change);
    }
  }

  void add_placements() {
    const int ranks = base_->placement.ranks();
    const int nodes = base_->placement.nodes();
    if (nodes < 2 || nodes == ranks || names_nodes(*scenario_)) return;
    if (!scenario_->platform.level(Level::kNode) || !scenario_->platform.level(Level::kNetwork))
      return;
    std::vector<int> ranks_on(ranks);
    for (int rank = 0; rank < ranks; ++rank) ++ranks_on[base_->placement.node_of(rank)];
    const int most = *std::max_element(ranks_on.begin(), ranks_on.end());
    add_placement("block:" + std::to_string(most), Placement::blocks(ranks, most));
    add_placement("roundrobin:" + std::to_string(nodes), Placement::round_robin(ranks, nodes));
  }
  void add_placement(const std::string& name, const Placement& placement) {
    if (same_nodes(placement, base_->placement)) return;
    std::vector<std::string> changes = scenario_->changes;
    changes.push_back("placement=" + name);
    const int sockets = sockets_told(base_->placement);
    if (scenario_->placement.sockets == 0 && sockets > 1)
      changes.push_back("sockets=" + std::to_string(sockets));
    add(CandidateKind::kPlacement, name, scenario_text(scenario_->base, changes));
  }

  const BaseRun* base_;
  const Scenario* scenario_;
  const ScenarioResult* run_;
  const CandidateLimits* limits_;
  const ParseScenario* parse_;
  Candidates found_;
};

}  // namespace

bool names_nodes(const Scenario& scenario) {
  return std::any_of(scenario.processors.begin(), scenario.processors.end(),
                     [](const ProcessorChange& change) { return change.nodes; });
}

bool same_nodes(const Placement& a, const Placement& b) {
  // Independent of the names of nodes: numbered in the order of their first rank.
  std::map<int, int> node_of_b;
  std::set<int> met;
  for (int rank = 0; rank < a.ranks(); ++rank) {
    const auto [known, is_new] = node_of_b.try_emplace(a.node_of(rank), b.node_of(rank));
    if (is_new && !met.insert(b.node_of(rank)).second) return false;
    if (known->second != b.node_of(rank)) return false;
  }
  return true;
}

int sockets_told(const Placement& placement) {
  int most = 0;
  for (int rank = 0; rank < placement.ranks(); ++rank)
    most = std::max(most, placement.socket_of(rank) + 1);
  return most;
}

Candidates find_candidates(const BaseRun& base, const CandidateLimits& limits,
                           const ParseScenario& parse) {
  return Finder(base, limits, parse).find();
}

}  // namespace rubato
