#include "replay/run/group_replay.h"

#include <algorithm>
#include <optional>

#include "replay/observe/first_lane.h"
#include "replay/observe/wait_states.h"
#include "replay/rules/model_rules.h"
#include "replay/rules/ordered_rules.h"
#include "replay/rules/recorded/measured_rules.h"
#include "replay/run/lane_settings.h"
#include "replay/run/passes.h"
#include "replay/run/recording.h"
#include "replay/run/summary.h"

namespace rubato {

namespace {

class GroupReplay {
 public:
  GroupReplay(Passes& passes, Recording& recording, const ReplayedScenarios& scenarios)
      : passes_(&passes),
        recording_(&recording),
        scenarios_(scenarios),
        trace_(&passes.source().definitions()),
        overhead_(scenarios.options.overhead.value_or(trace_->overhead)),
        tells_sockets_(
            std::any_of(scenarios.list.begin(), scenarios.list.end(), [](const Scenario& scenario) {
              return scenario.platform.level(Level::kSocket).has_value();
            })) {}

  /// Replays the `chosen` scenarios of a group in one pass.
  void replay_together(const ScenarioGroup& group, std::vector<size_t> chosen) {
    // Observers receive the calls of the first lane.
    const auto observed = std::find(chosen.begin(), chosen.end(), scenarios_.options.observed);
    if (observed != chosen.end()) std::rotate(chosen.begin(), observed, observed + 1);
    // The width of a pass is a template argument of the engine, and each further width takes ten
    // seconds to compile: passes of 8 took as long as those of 16, less a twentieth, and those of 2
    // as those of 4, less 2 % of the instructions; one of 32 takes 95 % of the instructions of two
    // of 16.
    if (chosen.size() == 1)
      replay_group<1>(group, chosen);
    else if (chosen.size() <= 4)
      replay_group<4>(group, chosen);
    else
      replay_group<16>(group, chosen);
  }

 private:
  /// The results of a pass for its scenarios, beside profiles and waits.
  template <int K>
  struct Found {
    ReplayOutcome outcome;
    Outcomes<K> outcomes;
    ClippedOverhead clipped;
    std::optional<LinkLoads> links;
    std::vector<std::vector<CollectiveUse>> collectives{K};  ///< by lane
    bool was_followed = true;
    bool asks_for_survey = false;
  };

  /// The changes of compute beyond a factor for all; nothing if there are none.
  template <int K>
  std::optional<ComputeChanges<K>> compute_changes(const std::vector<const Scenario*>& lanes,
                                                   const Placement& placement) const {
    const bool any = std::any_of(lanes.begin(), lanes.end(), [](const Scenario* scenario) {
      return !scenario->processors.empty() || !scenario->functions.empty();
    });
    if (!any) return {};
    Lanes<K> probe;
    for (int lane = 0; lane < K; ++lane)
      probe[lane] =
          function_ticks(*lanes[lane], scenarios_.options, overhead_, trace_->ticks_per_second);
    return ComputeChanges<K>(lanes, *trace_, placement, scenarios_.functions, probe);
  }

  template <int K>
  void replay_group(const ScenarioGroup& group, const std::vector<size_t>& chosen,
                    bool by_arrival_failed = false) {
    // Process 0 combines the results of the others for their own timelines.
    std::vector<int> local;
    DividedRun* const divided = passes_->divided();
    const bool has_all = !divided || divided->team().leads();
    if (!has_all) local = divided->local_timelines();
    const std::vector<int>* const only = has_all ? nullptr : &local;
    Profile<K> profile(*trace_, only);
    std::optional<WaitStates<K>> kept_waits;
    // Local compensation does not preserve the order of cause and effect, so waiting is undefined.
    if (scenarios_.options.wait_states && !group.local) kept_waits.emplace(*trace_, only);
    WaitStates<K>* const waits = kept_waits ? &*kept_waits : nullptr;
    const bool by_arrival = scenarios_.by_arrival && !group.measured && !by_arrival_failed;
    // Lanes beyond the requested ones repeat the last one: their results are ignored.
    std::vector<const Scenario*> scenarios;
    for (int lane = 0; lane < K; ++lane)
      scenarios.push_back(&scenarios_.list[chosen[std::min<size_t>(lane, chosen.size() - 1)]]);

    const std::vector<Observer<1>*>& all = scenarios_.options.observers;
    FirstLane<K> first_lane(all);
    std::vector<Observer<K>*> observers;
    if (!all.empty() && chosen.front() == scenarios_.options.observed) {
      if constexpr (K == 1)
        observers = all;
      else
        observers = {&first_lane};
    }

    Found<K> found;
    if (group.measured) {
      // (These rules are not instantiated for other widths.)
      if constexpr (K <= 4) found = replay_measured<K>(group, scenarios, profile, waits, observers);
    } else {
      found = replay_models<K>(group, scenarios, by_arrival, profile, waits, observers);
      // Their time is a sum in the order in which one process runs the calls.
      bool contradicts = false;
      for (size_t lane = 0; lane < chosen.size(); ++lane)
        contradicts = contradicts || found.outcomes.count(static_cast<int>(lane)) > 0;
      if (divided && divided->any(contradicts)) throw NeedsOneProcess{OneProcess::kOutcomes};
    }
    if (divided) divided->gather(found.clipped);

    const ReplayOutcome& outcome = found.outcome;
    const bool packs = divided ? divided->any(found.asks_for_survey) : found.asks_for_survey;
    if (!recording_->is_surveyed() &&
        (packs || (group.measured && recording_->needs_survey(outcome, found.was_followed)))) {
      passes_->expect(2);
      passes_->forget_first();
      recording_->survey();
      recording_->repair();
      return replay_group<K>(group, chosen);
    }
    if (outcome.asks_for_receivers) {
      recording_->find_receivers();
      return replay_group<K>(group, chosen, by_arrival_failed);
    }
    if (passes_->learn_order(outcome)) return replay_group<K>(group, chosen, by_arrival_failed);
    // With another algorithm of a collective a lane waits for other members: one lane may be
    // blocked alone.
    const bool others_may_go_on = !outcome.deadlock.empty() && chosen.size() > 1 && !group.measured;
    if (outcome.lanes_disagree || others_may_go_on) {
      passes_->expect(1);
      const auto middle = chosen.begin() + static_cast<std::ptrdiff_t>(chosen.size() / 2);
      replay_together(group, {chosen.begin(), middle});
      return replay_together(group, {middle, chosen.end()});
    }
    if (by_arrival && !outcome.deadlock.empty()) {
      passes_->expect(1);
      return replay_group<K>(group, chosen, true);
    }
    // (The caller's next step is one of all processes; only process 0 has results.)
    if (!has_all) return;
    for (size_t lane = 0; lane < chosen.size(); ++lane) {
      ScenarioResult& result = scenarios_.results.scenarios[chosen[lane]];
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
                           WaitStates<K>* waits, const std::vector<Observer<K>*>& observers) {
    Found<K> found;
    std::vector<MeasuredLane> lanes;
    Lanes<K> keeps_flushes, keeps_stolen;
    for (int lane = 0; lane < K; ++lane) {
      lanes.push_back(
          measured_lane(*scenarios[lane], scenarios_.options, overhead_, trace_->ticks_per_second));
      keeps_flushes[lane] = lanes[lane].drop_flushes ? 0 : 1;
      keeps_stolen[lane] = lanes[lane].drop_stolen ? 0 : 1;
    }
    profile.keep_lost(keeps_flushes, keeps_stolen);
    const auto replay_by = [&](auto& rules) {
      const Scenario* pricing = pricing_scenario(scenarios_.list, *trace_);
      if (pricing) rules.set_price(receiver_price(*pricing, trace_->ticks_per_second));
      found.outcome = passes_->make(rules, &profile, observers,
                                    compute_changes<K>(scenarios, group.placement), waits);
      found.clipped = rules.clipped();
      const bool changes = std::any_of(lanes.begin(), lanes.end(),
                                       [](const MeasuredLane& lane) { return lane.elastic; });
      uint64_t priced = rules.priced_calls();
      if (passes_->divided()) priced = passes_->divided()->sum(priced);
      if (changes && priced > 0) note_priced_calls(priced, pricing);
    };
    MeasuredRules<K> rules(lanes, recording_->minima(), recording_->placement(),
                           recording_->limits(), group.local);
    if (!recording_->is_surveyed()) {
      recording_->note_followed();
      rules.follow();
    }
    replay_by(rules);
    found.was_followed = rules.was_followed();
    found.asks_for_survey = rules.asks_for_survey();
    return found;
  }

  template <int K>
  Found<K> replay_models(const ScenarioGroup& group, const std::vector<const Scenario*>& scenarios,
                         bool by_arrival, Profile<K>& profile, WaitStates<K>* waits,
                         const std::vector<Observer<K>*>& observers) {
    Found<K> found;
    LaneMachines machines = lane_machines(scenarios, group.placement, scenarios_.options, overhead_,
                                          trace_->ticks_per_second);
    if (recording_->is_surveyed()) machines.minima = &recording_->minima();
    machines.looks_at_posts = passes_->source().looks_at_posts() || passes_->matches_in_order();
    if (passes_->divided())
      machines.looks_at_posts = passes_->divided()->any(machines.looks_at_posts);
    const auto replay_by = [&](auto& rules) {
      found.outcome = passes_->make(rules, &profile, observers,
                                    compute_changes<K>(scenarios, group.placement), waits);
      found.outcomes = rules.outcomes();
      found.clipped = rules.clipped();
      found.asks_for_survey = rules.asks_for_survey();
      if constexpr (requires { rules.order(); }) found.links = rules.order().loads();
      for (int lane = 0; lane < K; ++lane) {
        CollectiveUses uses = rules.collective_uses(lane);
        if (passes_->divided()) passes_->divided()->gather(uses);
        found.collectives[lane] = uses.list();
      }
    };
    if constexpr (K == 1) {
      if (group.needs_order) {
        OrderedRules rules(machines, *trace_, scenarios[0]->platform.contended(), by_arrival);
        replay_by(rules);
        return found;
      }
      const bool bounds = std::any_of(observers.begin(), observers.end(), [](const auto* observer) {
        return observer->wants_bounds();
      });
      if (waits && bounds) {
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
      const std::vector<int> names = passes_->coverage().calls_by_time();
      const std::vector<int>& ends = scenarios_.options.ends_of_jobs;
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
    TraceSummary& summary = scenarios_.results.trace;
    if (calls <= summary.priced_calls) return;
    summary.priced_calls = calls;
    summary.priced_by = pricing ? pricing->name : "";
  }

  Passes* passes_;
  Recording* recording_;
  const ReplayedScenarios& scenarios_;
  const TraceDefinitions* trace_;
  RecordingOverhead overhead_;
  bool tells_sockets_;  ///< some platform distinguishes sockets from nodes
};

}  // namespace

void make_pass(const PlannedPass& pass, const ReplayedScenarios& scenarios, Passes& passes,
               Recording& recording) {
  GroupReplay(passes, recording, scenarios).replay_together(*pass.group, pass.scenarios);
}

}  // namespace rubato
