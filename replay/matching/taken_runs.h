#pragma once

// Calls that take some of several requests (MPI_Waitany, MPI_Waitsome, MPI_Testany, MPI_Testsome),
// as far as it does not matter which of them each takes.
//
// An archive names the requests that such a call took, not those that it could have taken. In a
// run of such calls between which the rank communicates with nobody, all requests that any of them
// took were open at the first one, and when the last one is over all of them are complete,
// whichever came first: with `--wildcards arrival` each call of the run takes those receives of the
// run that are there first, as many as it took when recorded. What lies between the calls stays in
// its place. A run ends where the rank sends, posts, waits otherwise, or makes a call of which the
// archive does not say what it does: that may be an answer to the message that was taken. Sends
// that such calls complete stay as recorded; so do all of a rank with several timelines.

#include <cstdint>
#include <vector>

#include "replay/trace/trace.h"

namespace rubato {

/// One with a choice: at least two calls took receives.
struct TakenRun {
  uint64_t first = 0;  ///< Call::event of its first call
  uint64_t last = 0;
  std::vector<uint32_t> slots;  ///< of the receives that its calls took, in that order
};

/// All of a source, which is read and rewound. Errors: InputError.
class TakenRuns {
 public:
  explicit TakenRuns(EventSource& source);

  /// In the order of the timeline.
  const std::vector<TakenRun>& of(int timeline) const { return runs_[timeline]; }

 private:
  std::vector<std::vector<TakenRun>> runs_;
};

}  // namespace rubato
