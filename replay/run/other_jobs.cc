#include "replay/run/other_jobs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "models/base/error.h"
#include "replay/observe/observer.h"
#include "replay/run/contention_cost.h"
#include "replay/run/driver.h"
#include "replay/sources/joined_source.h"

namespace rubato {
namespace {

/// Passes on the calls of the first job, with its own timelines.
class FirstJobObserver : public Observer<1> {
 public:
  FirstJobObserver(Observer<1>& observer, const TraceDefinitions& first,
                   const TraceDefinitions& all)
      : observer_(&observer) {
    timeline_.assign(all.timelines(), kNone);
    for (int timeline = 0; timeline < first.timelines(); ++timeline) {
      const bool is_main = timeline < first.ranks();
      // Threads of the first job come first after all main threads.
      timeline_[is_main ? timeline : timeline - first.ranks() + all.ranks()] = timeline;
    }
  }

  void begin() override { observer_->begin(); }
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override {
    const int own = timeline_[timeline];
    if (own == kNone) return;
    observer_->call(own, call, block, clock_before, recorded_before, enter, leave);
  }
  bool watches_enters() const override { return observer_->watches_enters(); }
  void entered(int timeline, const Call& call, const Lanes<1>& clock_before, double recorded_before,
               const Lanes<1>& enter) override {
    const int own = timeline_[timeline];
    if (own != kNone) observer_->entered(own, call, clock_before, recorded_before, enter);
  }
  void waited(int timeline, const Call& call, const Waited& waited) override {
    if (timeline_[timeline] == kNone) return;
    Waited own = waited;
    if (own.timeline >= 0) own.timeline = timeline_[own.timeline];
    if (own.bound_to >= 0) own.bound_to = timeline_[own.bound_to];
    observer_->waited(timeline_[timeline], call, own);
  }
  void polled(int timeline, std::span<const PolledWait> polls, double begin,
              const Waited& waited) override {
    if (timeline_[timeline] == kNone) return;
    Waited own = waited;
    if (own.timeline >= 0) own.timeline = timeline_[own.timeline];
    observer_->polled(timeline_[timeline], polls, begin, own);
  }
  void message(const Delivery& delivery) override {
    if (timeline_[delivery.receiver] == kNone) return;
    Delivery own = delivery;
    own.sender = timeline_[delivery.sender];
    own.receiver = timeline_[delivery.receiver];
    observer_->message(own);
  }
  bool wants_messages() const override { return observer_->wants_messages(); }
  bool wants_bounds() const override { return observer_->wants_bounds(); }

 private:
  static constexpr int kNone = -1;
  Observer<1>* observer_;
  std::vector<int> timeline_;  ///< of the first job, by timeline of all jobs
};

Placement recorded_placement(const TraceDefinitions& trace) {
  return Placement(trace.node_of_rank, trace.socket_of_rank);
}

/// Numbers in the network, by number of the node.
std::map<int, int> network_nodes(const Placement& placement) {
  std::map<int, int> nodes;
  for (int rank = 0; rank < placement.ranks(); ++rank)
    nodes[placement.node_of(rank)] = placement.network_node_of(rank);
  return nodes;
}

/// The placement of another job, before its nodes of the network are known.
Placement place_on_nodes(const OtherJob& job, const Scenario& scenario) {
  PlacementRule rule;
  if (job.ranks_per_node || scenario.placement.kind == PlacementRule::Kind::kBlocks) {
    rule.kind = PlacementRule::Kind::kBlocks;
    rule.count = job.ranks_per_node.value_or(scenario.placement.count);
  }
  rule.sockets = scenario.placement.sockets;
  return rule.place(recorded_placement(job.source->definitions()));
}

/// A scenario with all jobs placed.
struct PlacedJobs {
  Scenario scenario;
  std::vector<std::vector<int>> nodes;  ///< of the other jobs
  std::vector<Placement> placements;    ///< likewise
};

PlacedJobs place_jobs(const TraceDefinitions& first, const Scenario& scenario,
                      const std::vector<OtherJob>& jobs) {
  PlacedJobs placed{scenario, {}, {}};
  Placement all = scenario.placement.place(recorded_placement(first));
  std::vector<int> taken;
  for (const auto& [node, network_node] : network_nodes(all)) taken.push_back(network_node);
  std::vector<JobNodes> others;
  for (const OtherJob& job : jobs) {
    placed.placements.push_back(place_on_nodes(job, scenario));
    others.push_back({job.path, job.nodes, placed.placements.back().nodes()});
  }
  const ContentionSetting& network = scenario.platform.contention;
  std::optional<int> size;
  if (network.model->nodes) size = network.model->nodes(network);
  try {
    placed.nodes = share_nodes(taken, first.path, others, size);
  } catch (const InputError& error) {
    throw InputError("scenario '" + scenario.name + "': " + error.what());
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    placed.placements[i] = placed.placements[i].on_network(placed.nodes[i]);
    all = all.beside(placed.placements[i]);
  }
  placed.scenario.placement = {};
  placed.scenario.placement.kind = PlacementRule::Kind::kFixed;
  placed.scenario.placement.fixed = std::make_shared<Placement>(std::move(all));
  return placed;
}

/// Options for the archive's own job alone.
ReplayOptions without_jobs(const ReplayOptions& options) {
  ReplayOptions alone = options;
  alone.jobs.clear();
  return alone;
}

ReplayOptions of_other_jobs(const ReplayOptions& options) {
  ReplayOptions quiet = without_jobs(options);
  quiet.verify = quiet.total_functions = quiet.wait_states = false;
  quiet.observers.clear();
  quiet.functions.clear();
  quiet.progress = {};
  return quiet;
}

bool lacks_partners(const TraceSummary& trace) {
  return trace.unmatched_receives + trace.abandoned_collectives + trace.abandoned_epochs > 0;
}

/// All jobs together stalled, or calls lack their partners: reports which archive it is.
[[noreturn]] void refuse(const PlacedJobs& placed, const TraceSummary& first,
                         const ReplayOptions& options, const std::string& deadlock) {
  const char* const why =
      ": calls lack their partners (see 'rubato replay' of it alone); with other jobs, archives "
      "must be complete";
  if (lacks_partners(first)) throw InputError(first.path + why);
  for (size_t i = 0; i < options.jobs.size(); ++i) {
    Scenario scenario = placed.scenario;
    scenario.placement.fixed = std::make_shared<Placement>(placed.placements[i]);
    const Results alone =
        replay_in_passes(*options.jobs[i].source, {scenario}, of_other_jobs(options));
    if (lacks_partners(alone.trace)) throw InputError(options.jobs[i].path + why);
    if (alone.scenarios[0].deadlock.empty()) continue;
    throw InputError(options.jobs[i].path + ": on " + scenario.name +
                     " its ranks wait for each other: " + alone.scenarios[0].deadlock);
  }
  throw InputError("scenario '" + placed.scenario.name +
                   "': with other jobs ranks wait for each other: " + deadlock);
}

/// Keeps the rows of the first job's calls, in the order of `names`. `all`: the names of the rows,
/// in which jobs have entries of their own.
void keep_calls(std::vector<RankResult>& ranks, const std::vector<std::string>& all,
                const std::vector<std::string>& names) {
  std::map<std::string, size_t> index;
  for (size_t i = 0; i < names.size(); ++i) index.emplace(names[i], i);
  for (RankResult& rank : ranks) {
    std::vector<CallTotals> calls(names.size());
    for (size_t i = 0; i < rank.calls.size(); ++i) {
      const auto found = index.find(all[i]);
      if (found == index.end()) continue;  // of other jobs
      CallTotals& sum = calls[found->second];
      sum.time += rank.calls[i].time;
      sum.calls += rank.calls[i].calls;
      sum.bytes_sent += rank.calls[i].bytes_sent;
      sum.bytes_received += rank.calls[i].bytes_received;
    }
    rank.calls = std::move(calls);
  }
}

/// Replays a scenario with all jobs, and stores the times of the first job's ranks in `result`.
void replay_jobs(EventSource& source, EventSource& joined, const Scenario& scenario,
                 const ReplayOptions& options, const Results& alone, ScenarioResult& result) {
  const TraceDefinitions& first = source.definitions();
  const PlacedJobs placed = place_jobs(first, scenario, options.jobs);
  ReplayOptions together = without_jobs(options);
  together.verify = together.total_functions = false;
  together.ends_of_jobs.push_back(first.ranks());
  for (const OtherJob& job : options.jobs)
    together.ends_of_jobs.push_back(together.ends_of_jobs.back() +
                                    job.source->definitions().ranks());
  std::vector<FirstJobObserver> observers;
  observers.reserve(options.observers.size());
  together.observers.clear();
  together.observed = 0;
  for (Observer<1>* observer : options.observers)
    together.observers.push_back(&observers.emplace_back(*observer, first, joined.definitions()));

  Results results = replay_in_passes(joined, {placed.scenario}, together);
  ScenarioResult& with = results.scenarios[0];
  if (!with.deadlock.empty() || lacks_partners(results.trace))
    refuse(placed, alone.trace, options, with.deadlock);
  keep_calls(with.ranks, results.calls, alone.calls);
  result.elapsed_without_jobs = result.elapsed;
  result.ranks = std::move(with.ranks);
  result.start = with.start;
  result.elapsed = with.elapsed;
  result.elapsed_with_init = with.elapsed_with_init;
  result.links = std::move(with.links);
  result.jobs = std::move(with.jobs);
  for (size_t i = 0; i < options.jobs.size(); ++i) {
    OtherJobResult& job = result.jobs[i];
    job.path = options.jobs[i].path;
    job.start = options.jobs[i].start;
    job.ranks = placed.placements[i].ranks();
    for (const auto& [node, network_node] : network_nodes(placed.placements[i]))
      job.nodes.push_back(network_node);
    std::sort(job.nodes.begin(), job.nodes.end());
  }
}

}  // namespace

std::vector<std::vector<int>> share_nodes(const std::vector<int>& taken, const std::string& owner,
                                          const std::vector<JobNodes>& others,
                                          std::optional<int> nodes) {
  std::map<int, std::string> owner_of;
  for (const int node : taken) owner_of[node] = owner;
  std::vector<std::vector<int>> all(others.size());
  for (size_t i = 0; i < others.size(); ++i) {
    const JobNodes& job = others[i];
    if (job.asked.empty()) continue;
    if (static_cast<int>(job.asked.size()) < job.count) {
      throw InputError(job.path + ": nodes= names " + std::to_string(job.asked.size()) +
                       " nodes, its ranks are on " + std::to_string(job.count));
    }
    for (int k = 0; k < job.count; ++k) {
      const int node = job.asked[k];
      if (nodes && node >= *nodes) {
        throw InputError(job.path + ": there is no node " + std::to_string(node) +
                         "; the network has nodes 0 to " + std::to_string(*nodes - 1));
      }
      const auto [entry, is_free] = owner_of.emplace(node, job.path);
      if (!is_free) {
        throw InputError(job.path + ": node " + std::to_string(node) + " is that of " +
                         entry->second + "; each job needs nodes of its own");
      }
      all[i].push_back(node);
    }
  }
  int next = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    if (!others[i].asked.empty()) continue;
    while (static_cast<int>(all[i].size()) < others[i].count) {
      if (nodes && next >= *nodes) {
        throw InputError(others[i].path + ": needs " + std::to_string(others[i].count) +
                         " nodes, of the network's " + std::to_string(*nodes) + " only " +
                         std::to_string(all[i].size()) + " are free");
      }
      if (owner_of.emplace(next, others[i].path).second) all[i].push_back(next);
      ++next;
    }
  }
  return all;
}

Results replay_with_jobs(EventSource& source, const std::vector<Scenario>& scenarios,
                         const ReplayOptions& options) {
  if (options.jobs.empty()) return replay_in_passes(source, scenarios, options);
  const TraceDefinitions& trace = source.definitions();
  std::vector<size_t> shared;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (scenarios[i].basis != Basis::kModel || !scenarios[i].platform.contention.model) continue;
    try {
      if (!has_shared_network(scenarios[i],
                              scenarios[i].placement.place(recorded_placement(trace))))
        continue;
    } catch (const InputError& error) {
      throw InputError("scenario '" + scenarios[i].name + "': " + error.what());
    }
    place_jobs(trace, scenarios[i], options.jobs);  // to refuse errors before anything is replayed
    shared.push_back(i);
  }
  if (shared.empty()) return replay_in_passes(source, scenarios, without_jobs(options));
  std::vector<JoinedJob> others;
  for (const OtherJob& job : options.jobs) others.push_back({job.source.get(), job.start});
  const std::unique_ptr<EventSource> joined = join_jobs(source, others);
  ReplayOptions alone = without_jobs(options);
  alone.observers.clear();  // they observe the only scenario below
  Results results = replay_in_passes(source, scenarios, alone);
  for (const size_t i : shared) {
    if (!results.scenarios[i].deadlock.empty()) continue;
    replay_jobs(source, *joined, scenarios[i], options, results, results.scenarios[i]);
  }
  return results;
}

}  // namespace rubato
