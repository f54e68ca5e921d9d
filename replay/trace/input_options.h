#pragma once

namespace rubato {

class Team;

/// How a recorded run is opened.
struct InputOptions {
  bool ignore_offsets = false;  ///< does not apply the clock offsets of an archive
  int threads = 0;              ///< threads that decode; 0: one per processor
  /// Processes that read the run together: all open it at the same time, and share what they can.
  /// Each then decodes the part given by EventSource::read_only().
  Team* team = nullptr;
};

}  // namespace rubato
