#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/base/lanes.h"
#include "models/scenario/scenario.h"
#include "replay/trace/function_times.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The functions whose compute is timed, and their recorded times.
struct TimedFunctions {
  std::vector<std::string> names;        ///< by bit
  const FunctionTimes* times = nullptr;  ///< null before the archive is loaded, and without names
  /// By bit and rank: the factor that makes the time of all ranks in the function and its callees
  /// equal. Empty if no scenario balances functions.
  std::vector<std::vector<double>> balance = {};
};

/// Changes of compute beyond the processor factor for all: factors for some ranks or nodes, and for
/// the time in some functions. K scenarios at a time.
template <int K>
class ComputeChanges {
 public:
  /// `functions`: the functions that scenarios change. `probe`: ticks to subtract for each record
  /// of a function. The scenarios must fit the trace.
  ComputeChanges(const std::vector<const Scenario*>& lanes, const TraceDefinitions& trace,
                 const Placement& placement, const TimedFunctions& functions, const Lanes<K>& probe)
      : times_(functions.times), probe_(probe) {
    by_rank_ = std::any_of(lanes.begin(), lanes.end(), [](const Scenario* scenario) {
      return std::any_of(scenario->functions.begin(), scenario->functions.end(),
                         [](const FunctionChange& change) { return change.balance; });
    });
    if (times_) {
      times_->for_each([&](int timeline, const std::vector<FunctionTime>& parts) {
        if (by_rank_) rank_of_.resize(trace.timelines());
        if (by_rank_) rank_of_[timeline] = trace.rank_of(timeline);
        const int rank = by_rank_ ? rank_of_[timeline] : 0;
        for (const FunctionTime& part : parts)
          saved_.try_emplace({rank, part.functions}, Lanes<K>::Zero());
      });
    }
    for (int lane = 0; lane < K; ++lane) {
      for (auto& [key, saved] : saved_)
        saved[lane] = saved_by(*lanes[lane], key.first, key.second, functions);
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
      const int rank = by_rank_ ? rank_of_[timeline] : 0;
      for (const FunctionTime& part : times_->before(timeline, event))
        changed -= (part.ticks - static_cast<double>(part.probes) * probe_).max(0.0) *
                   saved_.at({rank, part.functions});
    }
    return changed.max(ticks.min(0.0)) * shares_[share_of_[timeline]];
  }

 private:
  /// The factor on the compute time of a rank.
  static Lanes<K> share_of(const std::vector<const Scenario*>& lanes, int rank, int node) {
    Lanes<K> share = Lanes<K>::Constant(1);
    for (int lane = 0; lane < K; ++lane)
      share[lane] = 1 / lanes[lane]->processor_factor(rank, node);
    return share;
  }

  /// Ticks that a scenario saves per recorded tick in these functions: its time on the scenario's
  /// processors less the remaining time. Factors of nested functions multiply.
  static double saved_by(const Scenario& scenario, int rank, uint64_t in,
                         const TimedFunctions& functions) {
    double factor = 1;
    for (const FunctionChange& change : scenario.functions) {
      for (size_t i = 0; i < functions.names.size(); ++i) {
        if (functions.names[i] == change.name && (in >> i & 1))
          factor *= change.balance ? functions.balance[i][rank] : change.factor;
      }
    }
    return (1 - factor) / scenario.cpu;
  }

  const FunctionTimes* times_;
  std::vector<Lanes<K>> shares_;    ///< the distinct results of share_of()
  std::vector<uint32_t> share_of_;  ///< by timeline: index into shares_
  Lanes<K> probe_;
  bool by_rank_ = false;      ///< some scenario balances a function: saved_ depends on the rank
  std::vector<int> rank_of_;  ///< by timeline, if by_rank_
  std::map<std::pair<int, uint64_t>, Lanes<K>> saved_;  ///< by rank (else 0) and functions
};

}  // namespace rubato
