#pragma once

#include <array>

#include "tracer/base/packing.h"

namespace rubato {
inline namespace tracing {

/// The cost of recording, in ticks per call. "Outside" lies beyond the recorded duration, in the
/// compute time around the call. "Inside" is part of the recorded duration.
struct Overhead {
  double outside = 0;
  double inside_before = 0;  ///< between the Enter stamp and the MPI call
  double inside_after = 0;   ///< between the MPI call and the Leave stamp, with no further record
  // More before the Leave stamp, for a call that has such a record:
  double message = 0;     ///< a message sent or received by a blocking call
  double request = 0;     ///< a message posted by a nonblocking one, which enters its request
  double completion = 0;  ///< the completion of a request, for each
  double collective = 0;  ///< begin and end of a collective
  double function = -1;   ///< entering or leaving a function; negative where none are recorded
  double call_site = -1;  ///< more outside of a call; negative where none are recorded

  /// Values that readers accept: no cost above a second.
  bool sound(double ticks_per_second) const {
    for (const auto value : values()) {
      const bool may_be_unknown = value == &Overhead::function || value == &Overhead::call_site;
      if (!(this->*value <= ticks_per_second) || (this->*value < 0 && !may_be_unknown))
        return false;
    }
    return true;
  }

  void pack(Packer& packer) const {
    for (const auto value : values()) packer.put(this->*value);
  }
  static Overhead unpack(Unpacker& from) {
    Overhead o;
    for (const auto value : values()) o.*value = from.number();
    return o;
  }

 private:
  static std::array<double Overhead::*, 9> values() {
    return {&Overhead::outside,    &Overhead::inside_before, &Overhead::inside_after,
            &Overhead::message,    &Overhead::request,       &Overhead::completion,
            &Overhead::collective, &Overhead::function,      &Overhead::call_site};
  }
};

}  // namespace tracing
}  // namespace rubato
