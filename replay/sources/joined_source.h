#pragma once

// Several jobs as one: what runs on one machine at the same time.
//
//   archive A   ranks 0 1 2     comms 0 1   ┐      ranks 0 1 2 3 4   comms 0 1 2 3
//   archive B   ranks 0 1       comms 0 1   ┘  ▶         A A A B B         A A B B
//
// Ranks, nodes, communicators (and windows), calls, and threads of later jobs are numbered behind
// those of earlier ones. Nobody of one job ever talks to somebody of another. Calls of the first
// job pass unchanged; those of others get the new numbers, and times in ticks of the first one's
// clock.

#include <memory>
#include <string>
#include <vector>

#include "replay/trace/trace.h"

namespace rubato {

/// One of the later jobs.
struct JoinedJob {
  EventSource* source;  ///< has to stay, and no other may read it
  double start = 0;     ///< seconds from the first record of the first job to its own first one
};

/// All jobs as one source. Of functions, places, records and sides of calls it has those of the
/// first. Errors: InputError where their definitions do not go together.
std::unique_ptr<EventSource> join_jobs(EventSource& first, const std::vector<JoinedJob>& others);

}  // namespace rubato
