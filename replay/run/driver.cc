#include "replay/run/driver.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "models/base/error.h"
#include "replay/cluster/try_all.h"
#include "replay/compare/identity.h"
#include "replay/engine/replay.h"
#include "replay/engine/wide.h"
#include "replay/observe/coverage.h"
#include "replay/observe/profile.h"
#include "replay/parallel/spread_run.h"
#include "replay/rules/model_rules.h"
#include "replay/rules/ordered_rules.h"
#include "replay/rules/origin_rules.h"
#include "replay/rules/received_sends.h"
#include "replay/rules/recorded/clock_repair.h"
#include "replay/rules/recorded/logical_clock.h"
#include "replay/rules/recorded/measured_rules.h"
#include "replay/rules/recorded/recorded_minima.h"
#include "replay/run/check_numbers.h"
#include "replay/run/divided_run.h"
#include "replay/run/fit_degradation.h"
#include "replay/run/lane_settings.h"
#include "replay/run/other_jobs.h"
#include "replay/run/passes.h"
#include "replay/run/scenario_groups.h"
#include "replay/run/summary.h"
#include "replay/sources/input_format.h"

namespace rubato {
namespace {

/// True if some receive, or some call that takes some of several requests, could get another
/// message.
bool may_take_another(const TraceDefinitions& trace) {
  return trace.wildcards != WildcardsKnown::kNone ||
         std::any_of(trace.calls.begin(), trace.calls.end(),
                     [](const MpiCallInfo& call) { return call.takes_some; });
}

/// One run of the command: opens the archive once, and makes a pass for each group of scenarios.
class Driver {
 public:
  Driver(EventSource& source, const std::vector<Scenario>& scenarios, const ReplayOptions& options)
      : trace_(&source.definitions()),
        scenarios_(&scenarios),
        options_(&options),
        placement_(trace_->node_of_rank, trace_->socket_of_rank),
        tells_sockets_(std::any_of(scenarios.begin(), scenarios.end(),
                                   [](const Scenario& scenario) {
                                     return scenario.platform.level(Level::kSocket).has_value();
                                   })),
        by_arrival_(options.wildcards_by_arrival && may_take_another(*trace_)),
        passes_(source, options) {
    overhead_ = options.overhead.value_or(trace_->overhead);
    results_.scenarios.resize(scenarios.size());
    for (size_t i = 0; i < scenarios.size(); ++i) results_.scenarios[i].name = scenarios[i].name;
  }

  Results run() {
    const std::vector<ScenarioGroup> groups = group_scenarios(*scenarios_, placement_, by_arrival_);
    const std::vector<FunctionName> names = passes_.source().functions();
    functions_ = functions_to_time(*scenarios_, names, *trace_);
    for (const std::string& function : options_->functions) {
      const bool is_new =
          std::find(functions_.begin(), functions_.end(), function) == functions_.end();
      if (is_new && functions_.size() < kMostFunctions) functions_.push_back(function);
    }
    if (!functions_.empty()) passes_.source().time_functions(functions_);
    if (options_->total_functions && !names.empty()) passes_.source().total_functions();
    // The facts about the archive come from a pass that matches as recorded.
    const bool needs_minima =
        options_->verify || groups.empty() || by_arrival_ ||
        std::any_of(groups.begin(), groups.end(),
                    [](const ScenarioGroup& group) { return group.measured; });
    passes_.expect(1 + (needs_minima ? 1 : 0) + (options_->verify ? 1 : 0));
    for (const ScenarioGroup& group : groups)
      passes_.expect((group.scenarios.size() + group.lanes() - 1) / group.lanes());
    if (options_->team) {
      if (const auto why = why_one_process(*trace_, groups, *options_)) throw NeedsOneProcess{*why};
      passes_.divide(*options_->team);
    }
    if (options_->verify) passes_.source().keep_records(true);
    const auto load = [&] {
      passes_.source().load([this](double share) { passes_.report(share); });
    };
    if (Team* const team = options_->team ? options_->team : options_->spread)
      try_all(*team, load);
    else
      load();
    function_times_ = passes_.source().function_times();
    if (options_->total_functions && passes_.source().function_totals()) {
      FunctionTotals totals = *passes_.source().function_totals();
      DividedRun* const divided = passes_.divided();
      if (divided) divided->gather(totals);
      if (!divided || divided->team().leads())
        results_.functions = compute_of_functions(names, totals, *trace_);
    }
    passes_.count_one();
    if (needs_minima) find_minima();
    if (options_->verify) verify();  // against the archive, before times are repaired
    if (needs_minima && options_->repair && !trace_->one_clock &&
        passes_.first()->clock_violations.total() > 0)
      repair();
    if (options_->spread) {
      spread_.emplace(*options_->spread);
      spread_->run(results_.scenarios, [&] { replay_groups(groups); });
    } else {
      replay_groups(groups);
    }
    if (!passes_.first()) find_minima();  // every scenario was a deadlock
    passes_.count_all();
    passes_.report(0);  // even if the last pass was incomplete
    summarize();
    check_numbers(results_);
    return std::move(results_);
  }

 private:
  void replay_groups(const std::vector<ScenarioGroup>& groups) {
    for (const ScenarioGroup& group : groups) {
      for (size_t first = 0; first < group.scenarios.size(); first += group.lanes()) {
        const size_t lanes = std::min(group.lanes(), group.scenarios.size() - first);
        const std::vector<size_t> chosen(group.scenarios.begin() + first,
                                         group.scenarios.begin() + first + lanes);
        if (spread_ && !spread_->takes(group.measured, chosen)) continue;
        replay_together(group, chosen);
      }
    }
  }

  /// The changes of compute beyond a factor for all; nothing if there are none.
  template <int K>
  std::optional<ComputeChanges<K>> compute_changes(const std::vector<const Scenario*>& lanes,
                                                   const Placement& placement) const {
    const bool any = std::any_of(lanes.begin(), lanes.end(), [](const Scenario* scenario) {
      return !scenario->processors.empty() || !scenario->functions.empty();
    });
    if (!any) return {};
    return ComputeChanges<K>(lanes, *trace_, placement, functions_, function_times_);
  }

  /// The observers of a scenario's calls.
  template <int K>
  std::vector<Observer<K>*> observers() const {
    if constexpr (K == 1) {
      return options_->observers;
    }
    return {};
  }

  /// Computes minima_ and limits_, from scratch. If the eager limit is unknown, it is inferred from
  /// sends that waited for their receivers, and the survey is repeated with it.
  void find_minima() {
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    EagerSummary& eager = results_.trace.eager;
    eager.node = told(options_->eager_limit, trace_->eager_limit_node);
    eager.network = told(options_->eager_limit, trace_->eager_limit_network);
    limits_.bytes.fill(eager.node.bytes.value_or(kUnknown));
    limits_.bytes[static_cast<int>(Level::kNetwork)] = eager.network.bytes.value_or(kUnknown);
    survey();
    const auto at = [](Level level) { return static_cast<int>(level); };
    const auto& waited = minima_.waiting_evidence;
    const auto& done = minima_.eager_evidence;
    std::set<double> on_node = waited[at(Level::kSocket)];
    on_node.insert(waited[at(Level::kNode)].begin(), waited[at(Level::kNode)].end());
    const bool learned_node = learn(eager.node, Level::kNode, on_node,
                                    std::max(done[at(Level::kSocket)], done[at(Level::kNode)]));
    limits_.bytes[at(Level::kSocket)] = limits_.bytes[at(Level::kNode)];
    const bool learned_network = learn(eager.network, Level::kNetwork, waited[at(Level::kNetwork)],
                                       done[at(Level::kNetwork)]);
    if (learned_node || learned_network) {
      passes_.expect(1);
      survey();
    }
    if (eager.node.bytes) eager.node.bytes = limits_.bytes[at(Level::kNode)];
    if (eager.network.bytes) eager.network.bytes = limits_.bytes[at(Level::kNetwork)];
  }

  static EagerLimit told(const std::optional<double>& asked,
                         const std::optional<double>& recorded) {
    if (asked) return {asked, EagerLimit::From::kOption};
    if (recorded) return {recorded, EagerLimit::From::kArchive};
    return {};
  }

  /// Takes the limit of a level, if neither option nor archive gives it, from the smallest size
  /// that waited and is larger than all sends that were `done` before their receive was posted.
  /// True if there is one.
  bool learn(EagerLimit& limit, Level level, const std::set<double>& waited, double done) {
    const auto smallest = waited.upper_bound(done);
    if (limit.bytes || smallest == waited.end()) return false;
    limit = {*smallest - 1, EagerLimit::From::kRecording};
    limits_.bytes[static_cast<int>(level)] = *limit.bytes;
    return true;
  }

  /// Computes minima_ with the limits, which are at least the largest send without a receiver.
  void survey() {
    minima_ = RecordedMinima();
    minima_.repaired = shifted_.has_value();
    MinimaRules rules(minima_, placement_, limits_, *trace_);
    const ReplayOutcome outcome = passes_.make(rules, nullptr, {});
    if (passes_.divided()) passes_.divided()->merge(minima_);
    if (!outcome.deadlock.empty()) {
      throw InputError(trace_->path + ": the recording cannot be replayed: " + outcome.deadlock +
                       "; records are missing");
    }
    if (passes_.learn_order(outcome)) return survey();
    minima_.finish();
    for (int level = 0; level < kLevels; ++level) {
      limits_.bytes[level] = std::max(limits_.bytes[level], minima_.eager_evidence[level]);
    }
    // Within a node they use the same protocol.
    double& socket = limits_.bytes[static_cast<int>(Level::kSocket)];
    double& node = limits_.bytes[static_cast<int>(Level::kNode)];
    socket = node = std::max(socket, node);
  }

  /// From here on all times are those of the logical clock. Remaining violations are counted again.
  void repair() {
    passes_.expect(2);
    violations_ = passes_.first()->clock_violations;
    shifts_.emplace(trace_->timelines());
    LogicalClockRules rules(minima_, placement_, limits_, options_->repair_records);
    passes_.make(rules, nullptr, {&*shifts_});
    shifted_.emplace(passes_.source(), *shifts_);
    passes_.read_from(*shifted_);
    find_minima();
    ClockRepair repair;
    repair.after = passes_.first()->clock_violations;
    repair.largest_shift = shifts_->largest() / trace_->ticks_per_second;
    for (int rank = 0; rank < trace_->ranks(); ++rank) {
      const std::vector<int> timelines = trace_->timelines_of(rank);
      repair.ranks += std::any_of(timelines.begin(), timelines.end(),
                                  [&](int timeline) { return !shifts_->of(timeline).empty(); });
    }
    results_.trace.clock_repair = repair;
  }

  /// Finds the matched sends and receives: a pass that needs them stopped, and will be repeated.
  void find_receivers() {
    passes_.expect(1);
    const bool first = !passes_.first();
    if (!first && passes_.first()->unmatched_sends.count == 0 &&
        passes_.first()->unmatched_receives.count == 0) {
      passes_.know_receivers(ReceivedSends());
      return;
    }
    passes_.expect(1);
    for (;;) {
      ReceivedSends received(trace_->timelines());
      ReceiverRules rules(received, placement_);
      const ReplayOutcome outcome = passes_.make(rules, nullptr, {});
      if (passes_.learn_order(outcome)) continue;
      const bool followed = outcome.deadlock.empty();
      passes_.know_receivers(followed ? std::move(received) : ReceivedSends());
      // That pass does not check synchronous sends.
      if (first || passes_.matches_in_order()) passes_.forget_first();
      return;
    }
  }

  void verify() {
    IdentityCheck check(*trace_);
    const std::vector<MeasuredLane> lanes(1);
    MeasuredRules<1> rules(lanes, minima_, placement_, limits_);
    passes_.make(rules, nullptr, {&check});
    DividedRun* const divided = passes_.divided();
    IdentityResult identity;
    if (divided) {
      try_all(divided->team(), [&] {
        identity = check.finish(passes_.source(), [&](int rank) {
          return divided->division().owner(rank) == divided->team().self();
        });
      });
      divided->gather(identity);
    } else {
      identity = check.finish(passes_.source());
    }
    results_.identity = identity;
    results_.identity->backwards = passes_.counts().backwards.count;
  }

  /// Replays the `chosen` scenarios of a group in one pass.
  void replay_together(const ScenarioGroup& group, const std::vector<size_t>& chosen) {
    // The width of a pass is a template argument of the engine, and each further width takes ten
    // seconds to compile: passes of 8 took as long as those of 16, less a twentieth, and those of 2
    // as those of 4, less 2 % of the instructions.
    if (chosen.size() == 1)
      replay_group<1>(group, chosen);
    else if (chosen.size() <= 4)
      replay_group<4>(group, chosen);
    else if (chosen.size() <= 16)
      replay_group<16>(group, chosen);
    else
      replay_group<32>(group, chosen);
  }

  /// The results of a pass for its scenarios, beside profiles and waits.
  template <int K>
  struct Found {
    ReplayOutcome outcome;
    Outcomes<K> outcomes;
    ClippedOverhead clipped;
    std::optional<LinkLoads> links;
    std::vector<std::vector<CollectiveUse>> collectives{K};  ///< by lane
  };

  template <int K>
  void replay_group(const ScenarioGroup& group, const std::vector<size_t>& chosen,
                    bool by_arrival_failed = false) {
    // Process 0 combines the results of the others for their own timelines.
    std::vector<int> local;
    DividedRun* const divided = passes_.divided();
    const bool has_all = !divided || divided->team().leads();
    if (!has_all) local = divided->local_timelines();
    const std::vector<int>* const only = has_all ? nullptr : &local;
    Profile<K> profile(*trace_, only);
    std::optional<WaitStates<K>> kept_waits;
    // Local compensation does not preserve the order of cause and effect, so waiting is undefined.
    if (options_->wait_states && !group.local) kept_waits.emplace(*trace_, only);
    WaitStates<K>* const waits = kept_waits ? &*kept_waits : nullptr;
    const bool by_arrival = by_arrival_ && !group.measured && !by_arrival_failed;
    // Lanes beyond the requested ones repeat the last one: their results are ignored.
    std::vector<const Scenario*> scenarios;
    for (int lane = 0; lane < K; ++lane)
      scenarios.push_back(&(*scenarios_)[chosen[std::min<size_t>(lane, chosen.size() - 1)]]);

    Found<K> found;
    if (group.measured) {
      // (These rules are not instantiated for other widths.)
      if constexpr (K == 1 || K == 4 || K == 16)
        found = replay_measured<K>(group, scenarios, profile, waits);
    } else {
      found = replay_models<K>(group, scenarios, by_arrival, profile, waits);
      // Their time is a sum in the order in which one process runs the calls.
      bool contradicts = false;
      for (size_t lane = 0; lane < chosen.size(); ++lane)
        contradicts = contradicts || found.outcomes.count(static_cast<int>(lane)) > 0;
      if (divided && divided->any(contradicts)) throw NeedsOneProcess{OneProcess::kOutcomes};
    }
    if (divided) divided->gather(found.clipped);

    const ReplayOutcome& outcome = found.outcome;
    if (outcome.asks_for_receivers) {
      find_receivers();
      return replay_group<K>(group, chosen, by_arrival_failed);
    }
    if (passes_.learn_order(outcome)) return replay_group<K>(group, chosen, by_arrival_failed);
    // With another algorithm of a collective a lane waits for other members: one lane may be
    // blocked alone.
    const bool others_may_go_on = !outcome.deadlock.empty() && chosen.size() > 1 && !group.measured;
    if (outcome.lanes_disagree || others_may_go_on) {
      passes_.expect(1);
      const auto middle = chosen.begin() + static_cast<std::ptrdiff_t>(chosen.size() / 2);
      replay_together(group, {chosen.begin(), middle});
      return replay_together(group, {middle, chosen.end()});
    }
    if (by_arrival && !outcome.deadlock.empty()) {
      passes_.expect(1);
      return replay_group<K>(group, chosen, true);
    }
    // (The caller's next step is one of all processes; only process 0 has results.)
    if (!has_all) return;
    for (size_t lane = 0; lane < chosen.size(); ++lane) {
      ScenarioResult& result = results_.scenarios[chosen[lane]];
      keep_result(group, static_cast<int>(lane), *scenarios[lane], found, profile, waits, result);
      if (by_arrival_failed && outcome.deadlock.empty())
        result.wildcard_matching = WildcardMatching::kWouldStarve;
      else if (by_arrival && outcome.wildcards > 0)
        result.wildcard_matching = WildcardMatching::kByArrival;
    }
  }

  template <int K>
  Found<K> replay_measured(const ScenarioGroup& group,
                           const std::vector<const Scenario*>& scenarios, Profile<K>& profile,
                           WaitStates<K>* waits) {
    Found<K> found;
    std::vector<MeasuredLane> lanes;
    Lanes<K> keeps_flushes, keeps_stolen;
    for (int lane = 0; lane < K; ++lane) {
      lanes.push_back(
          measured_lane(*scenarios[lane], *options_, overhead_, trace_->ticks_per_second));
      keeps_flushes[lane] = lanes[lane].drop_flushes ? 0 : 1;
      keeps_stolen[lane] = lanes[lane].drop_stolen ? 0 : 1;
    }
    profile.keep_lost(keeps_flushes, keeps_stolen);
    const auto replay_by = [&](auto& rules) {
      const Scenario* pricing = pricing_scenario(*scenarios_, *trace_);
      if (pricing) rules.set_price(receiver_price(*pricing, trace_->ticks_per_second));
      found.outcome = passes_.make(rules, &profile, observers<K>(),
                                   compute_changes<K>(scenarios, group.placement), waits);
      found.clipped = rules.clipped();
      const bool changes = std::any_of(lanes.begin(), lanes.end(),
                                       [](const MeasuredLane& lane) { return lane.elastic; });
      uint64_t priced = rules.priced_calls();
      if (passes_.divided()) priced = passes_.divided()->sum(priced);
      if (changes && priced > 0) note_priced_calls(priced, pricing);
    };
    MeasuredRules<K> rules(lanes, minima_, placement_, limits_, group.local);
    replay_by(rules);
    return found;
  }

  template <int K>
  Found<K> replay_models(const ScenarioGroup& group, const std::vector<const Scenario*>& scenarios,
                         bool by_arrival, Profile<K>& profile, WaitStates<K>* waits) {
    Found<K> found;
    LaneMachines machines =
        lane_machines(scenarios, group.placement, *options_, overhead_, trace_->ticks_per_second);
    machines.looks_at_posts = passes_.source().looks_at_posts() || passes_.matches_in_order();
    if (passes_.divided())
      machines.looks_at_posts = passes_.divided()->any(machines.looks_at_posts);
    const auto replay_by = [&](auto& rules) {
      found.outcome = passes_.make(rules, &profile, observers<K>(),
                                   compute_changes<K>(scenarios, group.placement), waits);
      found.outcomes = rules.outcomes();
      found.clipped = rules.clipped();
      if constexpr (requires { rules.order(); }) found.links = rules.order().loads();
      for (int lane = 0; lane < K; ++lane) {
        CollectiveUses uses = rules.collective_uses(lane);
        if (passes_.divided()) passes_.divided()->gather(uses);
        found.collectives[lane] = uses.list();
      }
    };
    if constexpr (K == 1) {
      if (group.needs_order) {
        OrderedRules rules(machines, *trace_, scenarios[0]->platform.contended(), by_arrival);
        replay_by(rules);
        return found;
      }
      if (waits && !options_->observers.empty()) {
        OriginRules rules(machines, *trace_);
        replay_by(rules);
        return found;
      }
    }
    ModelRules<K> rules(machines, *trace_);
    replay_by(rules);
    return found;
  }

  template <int K>
  void keep_result(const ScenarioGroup& group, int lane, const Scenario& scenario, Found<K>& found,
                   const Profile<K>& profile, const WaitStates<K>* waits, ScenarioResult& result) {
    const ReplayOutcome& outcome = found.outcome;
    const double ticks_per_second = trace_->ticks_per_second;
    result.deadlock = outcome.deadlock;
    result.wildcard_receives = outcome.wildcards;
    result.rematched_receives = outcome.rematched;
    result.took_first = outcome.took_first;
    result.took_recorded = outcome.took_recorded;
    result.collectives = std::move(found.collectives[lane]);
    if (outcome.deadlock.empty()) {
      const std::vector<int> names = passes_.coverage().calls_by_time();
      const std::vector<int>& ends = options_->ends_of_jobs;
      for (size_t job = 0; job < std::max<size_t>(1, ends.size()); ++job) {
        ScenarioResult other;
        profile.fill(job == 0 ? result : other, lane, ticks_per_second, names,
                     job == 0 ? 0 : ends[job - 1], ends.empty() ? trace_->ranks() : ends[job]);
        if (job == 0) continue;
        result.jobs.emplace_back();
        result.jobs.back().begin = other.start;
        result.jobs.back().elapsed = other.elapsed;
      }
      if (waits) waits->fill(result, lane, ticks_per_second);
      for (RankResult& rank : result.ranks) {
        keep_waits_in_mpi(rank);
        end_with_the_run(rank);
      }
      if (found.links) result.links = from_the_start(*found.links, result);
      result.contradicted_outcomes = found.outcomes.count(lane);
      result.contradicted_time = found.outcomes.time(lane) / ticks_per_second;
    }
    summarize_scenario({scenario, group.placement, *trace_, outcome, found.clipped, overhead_.any(),
                        tells_sockets_},
                       result);
  }

  void note_priced_calls(uint64_t calls, const Scenario* pricing) {
    TraceSummary& summary = results_.trace;
    if (calls <= summary.priced_calls) return;
    summary.priced_calls = calls;
    summary.priced_by = pricing ? pricing->name : "";
  }

  void summarize() {
    TraceSummary& summary = results_.trace;
    summarize_trace(*trace_, placement_, passes_.counts(), *passes_.first(), summary);
    summary.clock_violations =
        summary.clock_repair ? violations_ : passes_.first()->clock_violations;
    summary.wildcards_by_arrival = options_->wildcards_by_arrival;
    passes_.coverage().fill(summary);
    for (const int name : passes_.coverage().calls_by_time())
      results_.calls.push_back(trace_->calls[name].name);
  }

  const TraceDefinitions* trace_;
  const std::vector<Scenario>* scenarios_;
  const ReplayOptions* options_;
  Placement placement_;
  bool tells_sockets_;  ///< some platform distinguishes sockets from nodes
  bool by_arrival_;     ///< receives from any source are matched by arrival
  Passes passes_;
  RecordingOverhead overhead_;
  RecordedMinima minima_;
  EagerLimits limits_;
  ClockViolations violations_;         ///< before the repair
  std::optional<ClockShifts> shifts_;  ///< if times had to be repaired
  std::optional<ShiftedSource> shifted_;
  std::vector<std::string> functions_;  ///< that scenarios change
  const FunctionTimes* function_times_ = nullptr;
  Results results_;
  std::optional<SpreadRun> spread_;
};

}  // namespace

Results run_replay(EventSource& source, const std::vector<Scenario>& scenarios,
                   const ReplayOptions& options) {
  if (!options.jobs.empty()) return replay_beside_others(source, scenarios, options);
  if (!any_fits_degradation(scenarios)) return Driver(source, scenarios, options).run();
  std::vector<Scenario> fitted = scenarios;
  const auto fits = fit_degradations(source, fitted, options);
  Results results = Driver(source, fitted, options).run();
  for (size_t i = 0; i < fits.size(); ++i) results.scenarios[i].degradation_fit = fits[i];
  return results;
}

Results run_replay(const std::string& archive, const std::vector<Scenario>& scenarios,
                   const ReplayOptions& options) {
  const std::unique_ptr<EventSource> source =
      open_trace(archive, {options.ignore_offsets, options.threads});
  return run_replay(*source, scenarios, options);
}

TraceSummary summarize_archive(const std::string& archive, const ReplayOptions& options) {
  return run_replay(archive, {}, options).trace;
}

}  // namespace rubato
