#pragma once

// MPInside's tables and matrices for one scenario: the times of Profile joined with the messages of
// CallProfile. tools/ writes them as text, CSV and JSON.

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "models/placement/placement.h"
#include "replay/analyse/place_summary.h"
#include "replay/analyse/run_windows.h"
#include "replay/analyse/site_summary.h"
#include "replay/observe/call_profile.h"
#include "replay/observe/results.h"

namespace rubato {

/// Shortest and longest of some calls, seconds; 0: not known.
struct CallLengths {
  double least = 0, most = 0;

  CallLengths& operator+=(const CallLengths& other) {
    if (other.most > 0) least = most > 0 ? std::min(least, other.least) : other.least;
    most = std::max(most, other.most);
    return *this;
  }
};

/// The calls of one name by one rank.
struct CallRow {
  double time = 0;      ///< seconds inside the rank's window
  double own_work = 0;  ///< of `time`
  double outside = 0;   ///< seconds before and after the window: MPI_Init, MPI_Finalize
  CallLengths lengths;  ///< of calls in the window; from files of sums only
  uint64_t calls = 0;
  CallTraffic traffic;
};

/// Seconds of a rank: `compute`, `overhead`, the times of its calls and the further rows of
/// RankResult add up to Elapsed, once for each thread that calls MPI.
struct RankProfile {
  double compute = 0;          ///< between calls, less `overhead`
  double overhead = 0;         ///< cost of recording between calls; on `measured` only
  std::vector<CallRow> calls;  ///< index: Results::calls
  /// Rows of MPInside's matrices, by peer: `time` is TIME(rank, peer), `sent` SIZE and REQUEST
  /// (rank, peer), including data that the peer fetched from here.
  std::vector<PeerTraffic> peers;
};

/// Traffic across the boundary of a node, in messages and one-sided operations (paper, Table 1).
struct NodeTraffic {
  std::string name;
  int ranks = 0;
  Requests received;  ///< from ranks of other nodes
  Requests sent;      ///< to ranks of other nodes
};

/// A scenario that has been replayed completely.
struct ScenarioProfile {
  const ScenarioResult* result = nullptr;
  const std::vector<std::string>* calls = nullptr;  ///< names, as Results::calls
  std::vector<RankProfile> ranks;
  std::vector<NodeTraffic> nodes;      ///< by number
  std::optional<CauseSummary> causes;  ///< if waits are known
  std::optional<PlaceSummary> places;  ///< likewise
  EfficienciesOverTime over_time;      ///< if asked for
  std::vector<SiteRow> sites;
  std::vector<SampledFunction> samples;  ///< of the recorded run
};

/// Takes the data that `seen` collected while the only scenario of `results` was replayed;
/// `results` must outlive it. `placement`: of the scenario; `named`: its nodes are those of the
/// archive, whose names are used (if they are unique).
ScenarioProfile profile_of(const Results& results, CallProfile& seen, const TraceDefinitions& trace,
                           const Placement& placement, bool named);

/// TIME(rank, peer): seconds in calls of `rank` that received from `peer`.
double time_receiving(const ScenarioProfile& profile, int32_t rank, int32_t peer);

/// A call of one name over all ranks.
struct CallSum {
  uint64_t calls = 0;
  double time = 0;      ///< seconds
  double own_work = 0;  ///< of `time`
  CallLengths lengths;
  Requests sent, received;
  uint64_t bytes_completed = 0;
  std::array<double, kWaitKinds> waits{};  ///< of `time`

  double outside = 0;  ///< seconds outside of the ranks' windows

  double waited() const { return std::accumulate(waits.begin(), waits.end(), 0.0); }
  CallSum& operator+=(const CallSum& other);
  /// Bytes received per second of the call, MPInside's BW_eff (paper, section 3.4.1); 0 where it
  /// receives nothing.
  double effective_bandwidth() const {
    return time > 0 ? static_cast<double>(bytes_completed) / time : 0;
  }
  /// The same without the time that it waited or worked by itself: MPInside's BW_raw; 0 also where
  /// there is no other.
  double raw_bandwidth() const {
    // (Rounding errors count as 0.)
    const double transfer = time - waited() - own_work;
    return transfer > 1e-9 * time ? static_cast<double>(bytes_completed) / transfer : 0;
  }
};
CallSum sum_of(const CallRow& row);
/// Index: ScenarioProfile::calls.
std::vector<CallSum> sums_of(const ScenarioProfile& profile);

}  // namespace rubato
