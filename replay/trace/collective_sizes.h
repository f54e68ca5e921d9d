#pragma once

#include <optional>

#include "replay/trace/trace.h"

namespace rubato {

/// Bytes of a collective as a record has them.
struct CollectiveBytes {
  uint64_t sent = 0;
  uint64_t received = 0;
};

/// What the record of member `me` would contain without MPI_IN_PLACE, for which Score-P's
/// convention excludes the own part. `in_place`: the archive states that it was used. If it does
/// not, the bytes may show it: the root of a Gather, Reduce or Scatter without a part of its own, a
/// Scan whose two numbers fit no other explanation, a number that is divisible by the number of
/// other members but not of all members. An unknown part stays excluded: the own part of a vector
/// collective.
CollectiveBytes whole_bytes(const TraceDefinitions& trace, CollectiveOp op, uint32_t comm,
                            int32_t root, int me, CollectiveBytes bytes, bool in_place);

/// The payload for algorithm_seconds(), from the recorded sizes of a collective that member `me`
/// calls or waits for: the part that one member sends to, or gets from, each other member; the
/// whole vector for Bcast and for reductions to one result.
double payload_bytes(const TraceDefinitions& trace, const Action& action, int me);

/// Of an Allgatherv: what one member gives to each other one; of a Reduce_scatter: what it gets.
struct OwnPart {
  double own = 0;
  double mean = 0;  ///< of all members
};
/// nullopt: another operation, or a record that does not tell.
std::optional<OwnPart> own_part(const TraceDefinitions& trace, const Action& action);

/// payload_bytes() for the costs of vector collectives, whose parts may differ: such that equal
/// parts of this size bring as much across the port of `me`, in the direction that has more. Its
/// part for itself crosses none.
double priced_bytes(const TraceDefinitions& trace, const Action& action, int me);

}  // namespace rubato
