#pragma once

// When ranks begin on a machine.
//
// MPI_Init ends with an exchange among all ranks, and ranks leave it as far apart as the messages
// of that exchange took on the recorded network: that is the recording's, and no part of the
// program. (Whatever is recorded as a rank's clock, too.) So in a model the ranks of one
// MPI_COMM_WORLD leave MPI_Init together, at the time of the last one: each rank, with all of its
// threads, begins so much later than recorded.
//
// Only an MPI_Init that is on record as collective counts: our tracer's, and Score-P's from version
// 8 on. Other archives (EZTrace, TAU) do not say when recording began in the call, and a process
// with sessions alone may begin at any time: there the recorded starts stay, as in ranks that
// communicate before MPI_Init.

#include <vector>

#include "replay/run/divided_run.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Of a rank that begins as recorded.
inline constexpr double kAsRecorded = -1;

/// By rank: how many ticks later it begins; kAsRecorded for those without such an MPI_Init, and
/// those that `divided`, where there is one, has elsewhere. Up to the end of MPI_Init the main
/// thread of such a rank keeps its recorded times, whatever the scenario does to compute. Reads
/// `source` and rewinds it. Errors: InputError.
std::vector<double> start_shifts(EventSource& source, DividedRun* divided);

}  // namespace rubato
