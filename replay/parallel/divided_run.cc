#include "replay/parallel/divided_run.h"

#include <algorithm>
#include <utility>

#include "replay/cluster/member_stream.h"
#include "replay/cluster/one_process.h"

namespace rubato {
namespace {

Division divide(const EventSource& source, int processes) {
  std::vector<uint64_t> sizes = source.sizes_of_ranks();
  if (sizes.empty()) sizes.assign(source.definitions().ranks(), 1);
  return {sizes, processes};
}

void put(ByteWriter& to, const Oddity& oddity) {
  to.number(oddity.count);
  to.text(oddity.first);
}
Oddity take_oddity(ByteReader& from) {
  Oddity oddity;
  oddity.count = from.number();
  oddity.first = from.text();
  return oddity;
}

void put(ByteWriter& to, const EventSource::Counts& counts) {
  to.number(counts.records);
  for (const Oddity* oddity :
       {&counts.receives, &counts.collectives, &counts.backwards, &counts.miscounted})
    put(to, *oddity);
  to.number(counts.joined);
}
EventSource::Counts take_counts(ByteReader& from) {
  EventSource::Counts counts;
  counts.records = from.number();
  for (Oddity* oddity :
       {&counts.receives, &counts.collectives, &counts.backwards, &counts.miscounted})
    *oddity = take_oddity(from);
  counts.joined = from.number();
  return counts;
}

/// All that a process without deadlock can have; what is left out stops a divided run.
void put(ByteWriter& to, ReplayOutcome outcome) {
  static_assert(members<ReplayOutcome>() == 19);
  to.value(outcome.needs_one_process), to.value(outcome.lanes_disagree);
  to.value(outcome.messages), to.value(outcome.collectives);
  outcome.unmatched_sends.pass(to), outcome.unmatched_receives.pass(to);
  to.value(outcome.clock_violations.messages), to.value(outcome.clock_violations.collectives);
  to.value(outcome.level_messages), to.value(outcome.level_bytes);
}
ReplayOutcome take_outcome(ByteReader& from) {
  ReplayOutcome outcome;
  from.value(outcome.needs_one_process), from.value(outcome.lanes_disagree);
  from.value(outcome.messages), from.value(outcome.collectives);
  outcome.unmatched_sends.pass(from), outcome.unmatched_receives.pass(from);
  from.value(outcome.clock_violations.messages), from.value(outcome.clock_violations.collectives);
  from.value(outcome.level_messages), from.value(outcome.level_bytes);
  return outcome;
}

void add(ReplayOutcome& sum, const ReplayOutcome& other) {
  // A failure in one process stops the others, which do not know the reason.
  if (!sum.needs_one_process ||
      (*sum.needs_one_process == OneProcess::kFailed && other.needs_one_process))
    sum.needs_one_process = other.needs_one_process;
  sum.lanes_disagree = sum.lanes_disagree || other.lanes_disagree;
  sum.messages += other.messages;
  sum.collectives += other.collectives;
  sum.unmatched_sends.add(other.unmatched_sends);
  sum.unmatched_receives.add(other.unmatched_receives);
  sum.clock_violations.messages += other.clock_violations.messages;
  sum.clock_violations.collectives += other.clock_violations.collectives;
  for (int level = 0; level < kLevels; ++level) {
    sum.level_messages[level] += other.level_messages[level];
    sum.level_bytes[level] += other.level_bytes[level];
  }
}

}  // namespace

DividedRun::DividedRun(Team& team, EventSource& source)
    : team_(&team),
      trace_(&source.definitions()),
      division_(divide(source, team.processes())),
      reads_own_(source.read_only(division_.first(team.self()), division_.end(team.self()))) {}

std::vector<int> DividedRun::timelines_of(int process) const {
  return trace_->timelines_of(division_.first(process), division_.end(process));
}

EventSource::Counts DividedRun::sum(const EventSource::Counts& counts) {
  if (!reads_own_) return counts;
  EventSource::Counts sum = counts;
  gather([&](ByteWriter& to) { put(to, counts); },
         [&](int, ByteReader& from) { sum += take_counts(from); });
  ByteWriter all;
  put(all, sum);
  const Bytes shared = team_->share(all.take());
  ByteReader reader(shared);
  return take_counts(reader);
}

void DividedRun::sum(ReplayOutcome& outcome) {
  gather([&](ByteWriter& to) { put(to, outcome); },
         [&](int, ByteReader& from) { add(outcome, take_outcome(from)); });
  ByteWriter all;
  put(all, outcome);
  const Bytes shared = team_->share(all.take());
  ByteReader reader(shared);
  outcome = take_outcome(reader);
  // The example (first call) depends on the order in which one process runs the calls.
  if (!outcome.needs_one_process && outcome.clock_violations.total() > 0)
    outcome.needs_one_process = OneProcess::kRepair;
  if (outcome.needs_one_process) throw NeedsOneProcess{*outcome.needs_one_process};
}

void DividedRun::take_largest(std::map<uint32_t, double>& values) {
  const auto put_all = [&](ByteWriter& to) {
    to.number(values.size());
    for (const auto& [number, value] : values) to.number(number), to.value(value);
  };
  const auto take_all = [&](ByteReader& from) {
    for (uint64_t left = from.number(); left > 0; --left) {
      const auto number = static_cast<uint32_t>(from.number());
      double value = 0;
      from.value(value);
      const auto [entry, is_new] = values.try_emplace(number, value);
      if (!is_new) entry->second = std::max(entry->second, value);
    }
  };
  gather(put_all, [&](int, ByteReader& from) { take_all(from); });
  ByteWriter all;
  put_all(all);
  const Bytes shared = team_->share(all.take());
  ByteReader reader(shared);
  take_all(reader);
}

void DividedRun::merge(RecordedMinima& minima) {
  gather([&](ByteWriter& to) { minima.put(to); },
         [&](int, ByteReader& from) { minima.take(from); });
  ByteWriter all;
  if (team_->leads()) minima.put(all);
  const Bytes shared = team_->share(all.take());
  ByteReader reader(shared);
  if (team_->leads()) return;
  minima.packing.clear();  // sums, which contain this process's own
  minima.take(reader);
}

void DividedRun::gather(Coverage& coverage) {
  gather([&](ByteWriter& to) { coverage.put(to, timelines_of(team_->self())); },
         [&](int process, ByteReader& from) { coverage.take(from, timelines_of(process)); });
}

void DividedRun::gather(FunctionTotals& totals) {
  if (!reads_own_) return;
  gather(
      [&](ByteWriter& to) {
        for (const int timeline : timelines_of(team_->self())) {
          const std::vector<CallTree::Node>& nodes = totals.at(timeline).nodes();
          to.number(nodes.size());
          for (const CallTree::Node& node : nodes) to.value(node);
        }
      },
      [&](int process, ByteReader& from) {
        for (const int timeline : timelines_of(process)) {
          std::vector<CallTree::Node> nodes(from.number());
          for (CallTree::Node& node : nodes) from.value(node);
          totals.insert_or_assign(timeline, CallTree(std::move(nodes)));
        }
      });
}

void DividedRun::gather(CollectiveUses& uses) {
  gather([&](ByteWriter& to) { uses.put(to); }, [&](int, ByteReader& from) { uses.take(from); });
}

void DividedRun::gather(ClippedOverhead& clipped) {
  gather([&](ByteWriter& to) { to.value(clipped); },
         [&](int, ByteReader& from) {
           ClippedOverhead other;
           from.value(other);
           clipped.add(other);
         });
}

void DividedRun::gather(IdentityResult& identity) {
  // The first difference depends on the order in which one process runs the calls.
  if (any(identity.differing > 0)) throw NeedsOneProcess{OneProcess::kDiffers};
  identity.records = sum(identity.records);
}

uint64_t DividedRun::sum(uint64_t count) {
  uint64_t sum = count;
  gather([&](ByteWriter& to) { to.number(count); },
         [&](int, ByteReader& from) { sum += from.number(); });
  return sum;
}

}  // namespace rubato
