#include "replay/judge/implausible_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"
#include "replay/judge/costly_function.h"
#include "replay/judge/notes.h"
#include "replay/observe/collective_share.h"
#include "replay/observe/observer.h"
#include "replay/study/run_replay.h"
#include "replay/trace/mpi_calls.h"

namespace rubato {
namespace {

// A message between nodes on the slowest built-in platform (share/platforms/ethernet-1g.toml).
// Ranks of a node may share its link.
constexpr double kSlowLatency = 25e-6;         ///< seconds
constexpr double kSlowLatencyOfLarge = 74e-6;  ///< of kLarge bytes and more: three trips
constexpr double kLarge = 65536;
constexpr double kSlowBandwidth = 118e6;   ///< bytes a second
constexpr double kMostPlausible = 2;       ///< times that
constexpr double kLeastImplausible = 0.1;  ///< of the run: its first calls set up connections
constexpr double kMostOfRecorded = 0.95;   ///< an estimate beyond it says nothing

/// Messages in turn that a call takes at most.
double steps_of(const std::string& call, size_t ranks) {
  if (is_of_messages(call)) return 1;
  const bool one_for_each = call.starts_with("MPI_Alltoall") || call.starts_with("MPI_Ialltoall") ||
                            mpi_call_info(call).among_neighbours;  // all ranks at most
  return one_for_each ? static_cast<double>(ranks) : 2. * std::bit_width(ranks);
}

double waits_of(const ScenarioResult& scenario) {
  double sum = 0;
  for (const RankResult& rank : scenario.ranks) {
    for (const double seconds : rank.waits) sum += seconds;
  }
  return sum;
}

/// The least time without waits of the calls of each name and length.
class LeastTimes : public Observer<1> {
 public:
  explicit LeastTimes(const TraceDefinitions& trace) : trace_(&trace), waits_(trace.timelines()) {}
  void begin() override { kinds_.clear(); }
  void waited(int timeline, const Call&, const Waited& waited) override {
    waits_[timeline] = waited.kept * waited.wait;
  }
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>&, double,
            const Lanes<1>& enter, const Lanes<1>& leave) override {
    const double wait = std::exchange(waits_[timeline], 0);
    if (call.role != CallRole::kMpi || call.is_kept()) return;
    uint64_t bytes = 0;
    for (const Action& action : block.actions_of(call)) {
      if (action.kind == ActionKind::kSend || action.kind == ActionKind::kPost)
        bytes += action.message.bytes;
      if (action.kind != ActionKind::kCollective) continue;
      const int me = trace_->comms[action.comm].local_rank(trace_->rank_of(timeline));
      bytes += collective_share(*trace_, action, me).size;
    }
    auto& [count, least] = kinds_[{call.name, std::bit_width(bytes)}];
    const double own = std::max(0.0, leave[0] - enter[0] - wait);
    least = count++ == 0 ? own : std::min(least, own);
  }

  /// Of all calls, if each took the least time of those of its name and length.
  double ticks() const {
    double sum = 0;
    for (const auto& [kind, calls] : kinds_) sum += static_cast<double>(calls.first) * calls.second;
    return sum;
  }

 private:
  const TraceDefinitions* trace_;
  std::vector<double> waits_;  ///< of the call that call() will report next
  std::map<std::pair<uint16_t, int>, std::pair<uint64_t, double>> kinds_;
};

}  // namespace

std::optional<ImplausibleCost> implausible_cost(const Roles& roles) {
  const ScenarioResult *measured = roles.measured, *perfect = roles.perfect;
  if (!measured || !perfect || roles.own_machine || is_alone(*roles.results) ||
      has_unsynchronised_clocks(roles.results->trace))
    return {};
  ImplausibleCost cost;  // of all ranks
  cost.seconds = waits_of(*perfect) - waits_of(*measured);
  const size_t ranks = measured->ranks.size();
  const int nodes = std::max(1, roles.results->trace.nodes);
  const double sharers = nodes > 1 ? std::ceil(static_cast<double>(ranks) / nodes) : 1;
  for (size_t call = 0; call < roles.results->calls.size(); ++call) {
    const std::string& name = roles.results->calls[call];
    const double steps = steps_of(name, ranks);
    double longer = 0, plausible = 0;
    for (size_t rank = 0; rank < ranks; ++rank) {
      if (call >= std::min(measured->ranks[rank].calls.size(), perfect->ranks[rank].calls.size()))
        continue;
      const CallTotals& totals = measured->ranks[rank].calls[call];
      longer += totals.time - perfect->ranks[rank].calls[call].time;
      const auto bytes = static_cast<double>(std::max(totals.bytes_sent, totals.bytes_received));
      const auto calls = static_cast<double>(totals.calls);
      const double latency = bytes >= kLarge * calls ? kSlowLatencyOfLarge : kSlowLatency;
      plausible += steps * calls * latency + std::min(steps, 2.) * bytes * sharers / kSlowBandwidth;
    }
    if (outside_elapsed(name) || !(longer > 0)) continue;
    cost.seconds += longer;
    cost.plausible += plausible;
  }
  if (measured->has_waits) {
    cost.seconds /= static_cast<double>(ranks);
    cost.plausible /= static_cast<double>(ranks);
  } else {
    cost.seconds = measured->elapsed - perfect->elapsed;
  }
  if (!(cost.seconds > kMostPlausible * cost.plausible && cost.plausible > 0)) return {};
  return cost.seconds > kLeastImplausible * measured->elapsed ? std::optional(cost) : std::nullopt;
}

double elapsed_by_least_times(EventSource& source, const Roles& roles, ReplayOptions options) {
  LeastTimes seen(source.definitions());
  options.observers = {&seen};
  options.wait_states = true;
  run_replay(source, {parse_scenario("measured")}, options);
  // (The own work of calls is a part of both.)
  const double estimate = roles.perfect->elapsed -
                          mean(roles.perfect->ranks, &RankResult::own_work) +
                          seen.ticks() / source.definitions().ticks_per_second /
                              static_cast<double>(roles.measured->ranks.size());
  return estimate < kMostOfRecorded * roles.measured->elapsed ? estimate : 0;
}

}  // namespace rubato
