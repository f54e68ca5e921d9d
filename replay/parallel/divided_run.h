#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "replay/cluster/division.h"
#include "replay/cluster/team.h"
#include "replay/engine/replay_outcome.h"
#include "replay/observe/coverage.h"
#include "replay/observe/profile.h"
#include "replay/observe/wait_states.h"
#include "replay/rules/collective_uses.h"
#include "replay/rules/recorded/recorded_minima.h"
#include "replay/trace/trace.h"

namespace rubato {

/// A divided run: combines the results of its processes. All processes call the same functions in
/// the same order. See cluster/transport.h.
class DividedRun {
 public:
  /// Lets `source` read only the ranks of this process.
  DividedRun(Team& team, EventSource& source);

  Team& team() { return *team_; }
  const Division& division() const { return division_; }
  /// The timelines of this process.
  std::vector<int> local_timelines() const { return timelines_of(team_->self()); }

  // In all processes:
  /// True if `it` is true in some process.
  bool any(bool it) { return !team_->all(!it); }
  EventSource::Counts sum(const EventSource::Counts& counts);
  /// Errors: NeedsOneProcess if some process requires it.
  void sum(ReplayOutcome& outcome);
  void merge(RecordedMinima& minima);
  /// The maximum of each number over all processes.
  void take_largest(std::map<uint32_t, double>& values);

  // Collects results at process 0:
  void gather(Coverage& coverage);
  void gather(FunctionTotals& totals);
  void gather(CollectiveUses& uses);
  void gather(ClippedOverhead& clipped);
  /// Errors: NeedsOneProcess if a record differs in some process.
  void gather(IdentityResult& identity);
  uint64_t sum(uint64_t count);
  template <int K>
  void gather(Profile<K>& profile) {
    gather_timelines(profile);
  }
  template <int K>
  void gather(WaitStates<K>& waits) {
    gather_timelines(waits);
  }

 private:
  std::vector<int> timelines_of(int process) const;
  /// `put` writes the result of this process, `take` reads that of another one.
  template <typename Put, typename Take>
  void gather(Put put, Take take) {
    ByteWriter mine;
    put(mine);
    const std::vector<Bytes> all = team_->gather(mine.take());
    for (int process = 1; process < static_cast<int>(all.size()); ++process) {
      ByteReader reader(all[process]);
      take(process, reader);
    }
  }
  template <typename Kept>
  void gather_timelines(Kept& kept) {
    gather(
        [&](ByteWriter& to) {
          for (const int timeline : timelines_of(team_->self())) kept.put(to, timeline);
        },
        [&](int process, ByteReader& from) {
          for (const int timeline : timelines_of(process)) kept.take(from, timeline);
        });
  }

  Team* team_;
  const TraceDefinitions* trace_;
  Division division_;
  bool reads_own_;  ///< the result of EventSource::read_only()
};

}  // namespace rubato
