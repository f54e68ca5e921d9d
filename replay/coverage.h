#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "replay/operation.h"
#include "replay/results.h"
#include "replay/trace.h"

namespace rubato {

/// What stands in an archive and how much of it the replay understands, gathered from the recorded
/// times in any one pass.
class Coverage {
 public:
  /// `spinning_waits`: as ReplayOptions::spinning_waits.
  Coverage(const TraceDefinitions& trace, bool spinning_waits);

  [[gnu::always_inline]] void call(int timeline, const Call& call) {
    if (call.role != CallRole::kMpi || call.is_kept() || timeline >= ranks_ || over_[timeline])
      return rare_call(timeline, call);
    // Nearly all: replayed, of a main thread, before MPI_Finalize.
    const double ticks = call.leave - call.enter;
    PerCall& totals = calls_[call.name];
    end_[timeline] = call.enter;
    ++mpi_calls_;
    ++totals.calls;
    totals.ticks += ticks;
    mpi_ticks_ += ticks;
  }

  /// Fills the counts of `summary` that come from calls.
  void fill(TraceSummary& summary) const;

  /// Indices of the calls that occur, most recorded time first.
  std::vector<int> calls_by_time() const;

 private:
  struct PerCall {
    uint64_t calls = 0;
    double ticks = 0;
    uint64_t kept = 0;
    double kept_ticks = 0;
    std::pair<double, int> first_place;  ///< enter as recorded, timeline
    std::string first_kept;
  };

  void rare_call(int timeline, const Call& call);

  const TraceDefinitions* trace_;
  int ranks_;
  std::vector<PerCall> calls_;
  std::vector<char> over_;     ///< by timeline: MPI_Finalize was entered
  std::vector<double> start_;  ///< by timeline: ticks; the window as elapsed counts it
  std::vector<double> end_;
  bool spinning_waits_;
  uint64_t spinning_calls_ = 0;
  double spinning_ticks_ = 0;
  uint64_t mpi_calls_ = 0;
  double mpi_ticks_ = 0;
};

}  // namespace rubato
