#pragma once

// The times at which ranks begin on a machine.
//
// MPI_Init ends with an exchange among all ranks, and the ranks leave it as far apart as the
// messages of that exchange took on the recorded network. This is a property of the recording, not
// of the program. (It also contains errors of the clocks.) So in a model the ranks of one
// MPI_COMM_WORLD leave MPI_Init together, at the time of the last one: each rank, with all of its
// threads, begins later than recorded by the difference.
//
// This applies only to an MPI_Init that was recorded as collective: by our tracer, and by Score-P
// from version 8 on. Other archives (EZTrace, TAU) do not contain when recording began in the call,
// and a process that uses sessions only may begin at any time: then the recorded starts are kept,
// as in ranks that communicate before MPI_Init.

#include <vector>

#include "replay/parallel/divided_run.h"
#include "replay/trace/trace.h"

namespace rubato {

/// For a rank that begins as recorded.
inline constexpr double kAsRecorded = -1;

/// By rank: how many ticks later it begins; kAsRecorded for ranks without such an MPI_Init, and for
/// ranks of other processes if the run is `divided`. Up to the end of MPI_Init the main thread of
/// such a rank keeps its recorded times, whatever the scenario changes. Reads `source` and rewinds
/// it. Errors: InputError.
std::vector<double> start_shifts(EventSource& source, DividedRun* divided);

}  // namespace rubato
