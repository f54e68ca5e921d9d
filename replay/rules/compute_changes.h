#pragma once

#include <map>
#include <vector>

#include "models/base/lanes.h"
#include "models/scenario/scenario.h"
#include "replay/trace/function_times.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Changes of compute beyond the processor factor for all: factors for some ranks or nodes, and for
/// the time in some functions. K scenarios at a time.
template <int K>
class ComputeChanges {
 public:
  /// `times`: of the functions `chosen`, by bit; null if no scenario chose any. The scenarios must
  /// fit the trace.
  ComputeChanges(const std::vector<const Scenario*>& lanes, const TraceDefinitions& trace,
                 const Placement& placement, const std::vector<std::string>& chosen,
                 const FunctionTimes* times)
      : times_(times) {
    if (times) {
      times->for_each([&](const std::vector<FunctionTime>& parts) {
        for (const FunctionTime& part : parts) saved_.try_emplace(part.functions, Lanes<K>::Zero());
      });
    }
    for (int lane = 0; lane < K; ++lane) {
      const Scenario& scenario = *lanes[lane];
      for (auto& [functions, saved] : saved_) saved[lane] = saved_by(scenario, functions, chosen);
    }
    std::map<std::vector<double>, uint32_t> numbers;
    for (int timeline = 0; timeline < trace.timelines(); ++timeline) {
      const int rank = trace.rank_of(timeline);
      const Lanes<K> share = share_of(lanes, rank, placement.node_of(rank));
      if (!share_of_.empty() && (share == shares_[share_of_.back()]).all()) {  // the usual case
        share_of_.push_back(share_of_.back());
        continue;
      }
      const std::vector<double> key(share.data(), share.data() + K);
      const auto [known, is_new] = numbers.emplace(key, static_cast<uint32_t>(shares_.size()));
      if (is_new) shares_.push_back(share);
      share_of_.push_back(known->second);
    }
  }

  /// Changes the compute before the call at `event`, which takes `ticks` by the rules (event 0: a
  /// part of a gap, without functions). Never negative, unless `ticks` is.
  Lanes<K> operator()(int timeline, uint64_t event, const Lanes<K>& ticks) const {
    Lanes<K> changed = ticks;
    if (times_) {
      for (const FunctionTime& part : times_->before(timeline, event))
        changed -= part.ticks * saved_.at(part.functions);
    }
    return changed.max(ticks.min(0.0)) * shares_[share_of_[timeline]];
  }

 private:
  /// The factor on the compute time of a rank.
  static Lanes<K> share_of(const std::vector<const Scenario*>& lanes, int rank, int node) {
    Lanes<K> share = Lanes<K>::Constant(1);
    for (int lane = 0; lane < K; ++lane) {
      for (const ProcessorChange& change : lanes[lane]->processors) {
        const int number = change.nodes ? node : rank;
        if (number >= change.first && number <= change.last) share[lane] /= change.factor;
      }
    }
    return share;
  }

  /// Ticks that a scenario saves per recorded tick in these functions: its time on the scenario's
  /// processors less the remaining time. Factors of nested functions multiply.
  static double saved_by(const Scenario& scenario, uint64_t functions,
                         const std::vector<std::string>& chosen) {
    double factor = 1;
    for (const FunctionChange& change : scenario.functions) {
      for (size_t i = 0; i < chosen.size(); ++i) {
        if (chosen[i] == change.name && (functions >> i & 1)) factor *= change.factor;
      }
    }
    return (1 - factor) / scenario.cpu;
  }

  const FunctionTimes* times_;
  std::vector<Lanes<K>> shares_;        ///< the distinct results of share_of()
  std::vector<uint32_t> share_of_;      ///< by timeline: index into shares_
  std::map<uint64_t, Lanes<K>> saved_;  ///< by functions
};

}  // namespace rubato
