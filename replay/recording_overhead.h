#pragma once

namespace rubato {

/// Seconds that recording added to each MPI call. All 0 when nobody says.
struct RecordingOverhead {
  double outside = 0;        ///< before the enter stamp and after the leave stamp
  double inside_before = 0;  ///< between the enter stamp and the MPI call
  double inside_after = 0;   ///< between the MPI call and the leave stamp
  double per_record = 0;     ///< for each further record inside

  bool any() const {
    return outside > 0 || inside_before > 0 || inside_after > 0 || per_record > 0;
  }
};

}  // namespace rubato
