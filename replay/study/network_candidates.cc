// What to try on a platform: numbers of its levels, algorithms of collectives, placements.

#include <algorithm>
#include <set>

#include "models/collective/collective_algorithms.h"
#include "replay/study/candidates.h"
#include "replay/study/placement_candidates.h"

namespace rubato {
namespace {

bool is_number_of_compute(const std::string& change) {
  const std::string key = change.substr(0, change.find_first_of("=*/"));
  return key == "cpu" || key == "region" || key == "ppn" || key == "placement" ||
         (key.ends_with(".cpu") && (key.starts_with("rank") || key.starts_with("node")));
}

}  // namespace

void CandidateFinder::add_perfect() {
  std::vector<std::string> changes;
  for (const std::string& change : scenario_->changes) {
    if (is_number_of_compute(change)) changes.push_back(change);
  }
  add(CandidateKind::kPerfect, "", scenario_text("perfect", changes));
}

/// Latency, bandwidth and overheads of all levels, and of each level if messages use several.
void CandidateFinder::add_levels() {
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

void CandidateFinder::add_collectives() {
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
void CandidateFinder::add_algorithms(const std::string& operation) {
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

void CandidateFinder::add_placements() {
  for (const auto& way : plain_placements(*scenario_, base_->placement)) {
    std::vector<std::string> changes = scenario_->changes;
    changes.insert(changes.end(), way.begin(), way.end());
    add(CandidateKind::kPlacement, way.front().substr(way.front().find('=') + 1),
        scenario_text(scenario_->base, changes));
  }
}

}  // namespace rubato
