#pragma once

// Several jobs as one: programs that run on one machine at the same time.
//
//   archive A   ranks 0 1 2     comms 0 1   ┐      ranks 0 1 2 3 4   comms 0 1 2 3
//   archive B   ranks 0 1       comms 0 1   ┘  ▶         A A A B B         A A B B
//
// Ranks, nodes, communicators (and windows), calls, and threads of later jobs are numbered after
// those of earlier ones. Jobs never communicate with each other. Calls of the first job are passed
// unchanged; those of others get the new numbers, and times in ticks of the first job's clock.

#include <memory>
#include <string>
#include <vector>

#include "replay/trace/trace.h"

namespace rubato {

/// One of the later jobs.
struct JoinedJob {
  EventSource* source;  ///< must outlive this, and must not be read elsewhere
  double start = 0;     ///< seconds from the first record of the first job to its own first one
};

/// All jobs as one source. Functions, places, records and call sites are those of the first job.
/// Errors: InputError if their definitions cannot be joined.
std::unique_ptr<EventSource> join_jobs(EventSource& first, const std::vector<JoinedJob>& others);

}  // namespace rubato
