#pragma once

#include "tracer/packing.h"

namespace rubato {

/// What recording costs, in ticks per call. "Outside" is what the caller sees beyond the
/// recorded duration: it lands in the compute time around the call. "Inside" is part of the
/// recorded duration.
struct Overhead {
  double outside = 0;
  double inside_before = 0;  ///< between the Enter stamp and the MPI call
  double inside_after = 0;   ///< between the MPI call and the Leave stamp, with no further record
  double per_record = 0;     ///< each further record; also before the Leave stamp
  double function = -1;      ///< entering or leaving a function; negative where none are recorded
  double call_site = -1;     ///< more before the Leave stamp; negative where none are recorded

  void pack(Packer& packer) const {
    for (const double value :
         {outside, inside_before, inside_after, per_record, function, call_site}) {
      packer.put(value);
    }
  }
  static Overhead unpack(Unpacker& from) {
    Overhead o;
    for (double* value : {&o.outside, &o.inside_before, &o.inside_after, &o.per_record, &o.function,
                          &o.call_site}) {
      *value = from.number();
    }
    return o;
  }
};

/// Records a few thousand calls of an empty function into scratch memory. Recording must be on, and
/// this thread not inside a recorded call. What functions and call sites cost only where they are
/// wanted; call sites are on record from here on, then.
Overhead measure_overhead(bool functions, bool call_sites);

}  // namespace rubato
