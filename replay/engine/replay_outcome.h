#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "models/placement/placement.h"
#include "replay/cluster/one_process.h"
#include "replay/matching/matcher.h"
#include "replay/observe/results.h"
#include "replay/trace/oddity.h"

namespace rubato {

/// Results of a run besides its clocks.
struct ReplayOutcome {
  std::string deadlock;  ///< the cycle of waiting timelines; empty: none
  /// The run stalled, possibly at a send without a receive: it has to be repeated with a
  /// ReceivedSends.
  bool asks_for_receivers = false;
  /// The run stalled at a point where its lanes differ (presence.h): they have to be replayed in
  /// smaller passes.
  bool lanes_disagree = false;
  /// The run was divided among processes and cannot be: one process has to repeat it.
  std::optional<OneProcess> needs_one_process;
  uint64_t messages = 0;
  uint64_t collectives = 0;  ///< calls, counted once per member
  Unmatched unmatched_sends;
  Unmatched unmatched_receives;
  Oddity misfits;                      ///< messages whose two sides recorded different lengths
  std::set<Route> in_order;            ///< for further passes (Matcher::match_in_order)
  uint64_t abandoned_collectives = 0;  ///< calls of members whose partners never arrived
  uint64_t abandoned_epochs = 0;       ///< likewise, of one-sided communication
  // Matching by arrival:
  uint64_t wildcards = 0;  ///< receives that named MPI_ANY_SOURCE or MPI_ANY_TAG
  uint64_t rematched = 0;  ///< receives of a message with another source or tag than recorded
  /// Calls that take some of several receives: the number that took the first complete ones, and
  /// the number of others.
  uint64_t took_first = 0;
  uint64_t took_recorded = 0;
  ClockViolations clock_violations;  ///< as recorded
  std::array<uint64_t, kLevels> level_messages{};
  std::array<uint64_t, kLevels> level_bytes{};
};

}  // namespace rubato
