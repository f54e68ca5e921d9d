#include "replay/run/recording.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "models/base/error.h"
#include "replay/cluster/try_all.h"
#include "replay/rules/received_sends.h"
#include "replay/rules/recorded/logical_clock.h"
#include "replay/rules/recorded/measured_rules.h"
#include "replay/run/summary.h"

namespace rubato {
namespace {

EagerLimit told(const std::optional<double>& asked, const std::optional<double>& recorded) {
  if (asked) return {asked, EagerLimit::From::kOption};
  if (recorded) return {recorded, EagerLimit::From::kArchive};
  return {};
}

}  // namespace

Recording::Recording(Passes& passes, const ReplayOptions& options)
    : passes_(&passes),
      options_(&options),
      trace_(&passes.source().definitions()),
      placement_(trace_->node_of_rank, trace_->socket_of_rank) {
  take_known_limits();
}

void Recording::take_known_limits() {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  eager_.node = told(options_->eager_limit, trace_->eager_limit_node);
  eager_.network = told(options_->eager_limit, trace_->eager_limit_network);
  limits_.bytes.fill(eager_.node.bytes.value_or(kUnknown));
  limits_.bytes[static_cast<int>(Level::kNetwork)] = eager_.network.bytes.value_or(kUnknown);
}

bool Recording::needs_survey(const ReplayOutcome& outcome, bool was_followed) {
  bool needs = !was_followed || !outcome.deadlock.empty() || is_to_repair(outcome);
  if (passes_->divided()) needs = passes_->divided()->any(needs);
  if (needs) passes_->source().note_contradiction();
  return needs;
}

void Recording::survey() {
  is_surveyed_ = true;
  take_known_limits();
  find_minima();
  const auto at = [](Level level) { return static_cast<int>(level); };
  const auto& waited = minima_.waiting_evidence;
  const auto& done = minima_.eager_evidence;
  std::set<double> on_node = waited[at(Level::kSocket)];
  on_node.insert(waited[at(Level::kNode)].begin(), waited[at(Level::kNode)].end());
  const bool learned_node = learn(eager_.node, Level::kNode, on_node,
                                  std::max(done[at(Level::kSocket)], done[at(Level::kNode)]));
  limits_.bytes[at(Level::kSocket)] = limits_.bytes[at(Level::kNode)];
  const bool learned_network = learn(eager_.network, Level::kNetwork, waited[at(Level::kNetwork)],
                                     done[at(Level::kNetwork)]);
  if (learned_node || learned_network) {
    passes_->expect(1);
    find_minima();
  }
  if (eager_.node.bytes) eager_.node.bytes = limits_.bytes[at(Level::kNode)];
  if (eager_.network.bytes) eager_.network.bytes = limits_.bytes[at(Level::kNetwork)];
}

/// Takes the limit of a level, if neither option nor archive gives it, from the smallest size that
/// waited and is larger than all sends that were `done` before their receive was posted. True if
/// there is one.
bool Recording::learn(EagerLimit& limit, Level level, const std::set<double>& waited, double done) {
  const auto smallest = waited.upper_bound(done);
  if (limit.bytes || smallest == waited.end()) return false;
  limit = {*smallest - 1, EagerLimit::From::kRecording};
  limits_.bytes[static_cast<int>(level)] = *limit.bytes;
  return true;
}

/// Computes minima_ with the limits, which are at least the largest send without a receiver.
void Recording::find_minima() {
  minima_ = RecordedMinima();
  minima_.repaired = shifted_.has_value();
  MinimaRules rules(minima_, placement_, limits_, *trace_);
  const ReplayOutcome outcome = passes_->make(rules, nullptr, {});
  if (passes_->divided()) passes_->divided()->merge(minima_);
  if (!outcome.deadlock.empty()) {
    throw InputError(trace_->path + ": the recording cannot be replayed: " + outcome.deadlock +
                     "; records are missing");
  }
  if (passes_->learn_order(outcome)) return find_minima();
  minima_.finish();
  for (int level = 0; level < kLevels; ++level) {
    limits_.bytes[level] = std::max(limits_.bytes[level], minima_.eager_evidence[level]);
  }
  // Within a node they use the same protocol.
  double& socket = limits_.bytes[static_cast<int>(Level::kSocket)];
  double& node = limits_.bytes[static_cast<int>(Level::kNode)];
  socket = node = std::max(socket, node);
}

IdentityResult Recording::verify() {
  IdentityCheck check(*trace_);
  const std::vector<MeasuredLane> lanes(1);
  MeasuredRules<1> rules(lanes, minima_, placement_, limits_);
  passes_->make(rules, nullptr, {&check});
  DividedRun* const divided = passes_->divided();
  IdentityResult identity;
  if (divided) {
    try_all(divided->team(), [&] {
      identity = check.finish(passes_->source(), [&](int rank) {
        return divided->division().owner(rank) == divided->team().self();
      });
    });
    divided->gather(identity);
  } else {
    identity = check.finish(passes_->source());
  }
  identity.backwards = passes_->counts().backwards.count;
  return identity;
}

bool Recording::is_to_repair(const ReplayOutcome& outcome) const {
  return options_->repair && !trace_->one_clock && outcome.clock_violations.total() > 0;
}

void Recording::repair() {
  if (!is_to_repair(*passes_->first())) return;
  passes_->expect(2);
  violations_ = passes_->first()->clock_violations;
  shifts_.emplace(trace_->timelines());
  LogicalClockRules rules(minima_, placement_, limits_, options_->repair_records);
  passes_->make(rules, nullptr, {&*shifts_});
  shifted_.emplace(passes_->source(), *shifts_);
  passes_->read_from(*shifted_);
  survey();
  repaired_.emplace();
  repaired_->after = passes_->first()->clock_violations;
  repaired_->largest_shift = shifts_->largest() / trace_->ticks_per_second;
  for (int rank = 0; rank < trace_->ranks(); ++rank) {
    const std::vector<int> timelines = trace_->timelines_of(rank);
    repaired_->ranks += std::any_of(timelines.begin(), timelines.end(),
                                    [&](int timeline) { return !shifts_->of(timeline).empty(); });
  }
}

void Recording::find_receivers() {
  passes_->expect(1);
  const bool first = !passes_->first();
  if (!first && passes_->first()->unmatched_sends.count == 0 &&
      passes_->first()->unmatched_receives.count == 0) {
    passes_->know_receivers(ReceivedSends());
    return;
  }
  passes_->expect(1);
  for (;;) {
    ReceivedSends received(trace_->timelines());
    ReceiverRules rules(received, placement_);
    const ReplayOutcome outcome = passes_->make(rules, nullptr, {});
    if (passes_->learn_order(outcome)) continue;
    const bool followed = outcome.deadlock.empty();
    passes_->know_receivers(followed ? std::move(received) : ReceivedSends());
    // That pass does not check synchronous sends.
    if (first || passes_->matches_in_order()) passes_->forget_first();
    return;
  }
}

void Recording::summarize(TraceSummary& summary) const {
  const ReplayOutcome& first = *passes_->first();
  summarize_trace(*trace_, placement_, passes_->counts(), first, summary);
  if (is_surveyed_ || is_followed_) summary.eager = eager_;
  summary.clock_repair = repaired_;
  summary.clock_violations = repaired_ ? violations_ : first.clock_violations;
  summary.wildcards_by_arrival = options_->wildcards_by_arrival;
  passes_->coverage().fill(summary);
}

}  // namespace rubato
