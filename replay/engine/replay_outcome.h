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

/// What a run found out besides its clocks.
struct ReplayOutcome {
  std::string deadlock;  ///< empty, or who waits for whom in a circle
  /// The run came to a stop that a send without a receive may have caused: it has to be made anew,
  /// with a ReceivedSends.
  bool asks_for_receivers = false;
  /// The run came to a stop that its lanes cannot leave together (presence.h): they have to be
  /// replayed in smaller passes.
  bool lanes_disagree = false;
  /// The run was divided among processes and cannot be: it has to be made anew by one.
  std::optional<OneProcess> needs_one_process;
  uint64_t messages = 0;
  uint64_t collectives = 0;  ///< calls, counted once per member
  Unmatched unmatched_sends;
  Unmatched unmatched_receives;
  Oddity misfits;                      ///< messages whose two sides recorded different lengths
  std::set<Route> in_order;            ///< that of further passes (Matcher::match_in_order)
  uint64_t abandoned_collectives = 0;  ///< calls of members whose partners never came
  uint64_t abandoned_epochs = 0;       ///< likewise, of one-sided communication
  // In the order of arrival:
  uint64_t wildcards = 0;  ///< receives that named MPI_ANY_SOURCE or MPI_ANY_TAG
  uint64_t rematched = 0;  ///< receives of a message with another source or tag than recorded
  /// Calls that take some of several receives: those that took what was there first, and the
  /// others.
  uint64_t took_first = 0;
  uint64_t took_recorded = 0;
  ClockViolations clock_violations;  ///< as recorded
  std::array<uint64_t, kLevels> level_messages{};
  std::array<uint64_t, kLevels> level_bytes{};
};

}  // namespace rubato
