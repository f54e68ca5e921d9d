#pragma once

#include "replay/trace/trace.h"

namespace rubato {

/// The payload for algorithm_seconds(), from the recorded sizes of a collective, which member `me`
/// calls or waits for: the part that one member sends to, or gets from, each other member; the
/// whole vector for Bcast and for reductions to one result.
double payload_bytes(const TraceDefinitions& trace, const Action& action, int me);

}  // namespace rubato
