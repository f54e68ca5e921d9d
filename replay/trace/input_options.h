#pragma once

namespace rubato {

class Team;

/// How a recorded run is opened.
struct InputOptions {
  bool ignore_offsets = false;  ///< do not apply the clock offsets of an archive
  int threads = 0;              ///< that decode; 0: as many as there are processors
  /// Who read it together: all of them open it at the same time, and share what they can. Each then
  /// decodes the part that EventSource::read_only() says.
  Team* team = nullptr;
};

}  // namespace rubato
