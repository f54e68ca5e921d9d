#pragma once

// Calls that take some of several requests (MPI_Waitany, MPI_Waitsome, MPI_Testany, MPI_Testsome),
// as far as the choice does not matter.
//
// An archive contains the requests that such a call took, not the alternatives. In a run of such
// calls without other communication of the rank in between, all requests that any of them took were
// open at the first call, and all are complete after the last one, in whatever order they
// completed. With `--wildcards arrival` each call of the run takes the receives of the run that
// complete first, as many as it took when recorded. Compute between the calls stays in its place. A
// run ends where the rank sends, posts, waits otherwise, or makes a call whose effect the archive
// does not show: that may be a reaction to the message that was taken. Sends that such calls
// complete stay as recorded; so do all calls of a rank with several timelines.

#include <cstdint>
#include <vector>

#include "replay/trace/trace.h"

namespace rubato {

/// A run with a choice: at least two calls took receives.
struct TakenRun {
  uint64_t first = 0;  ///< Call::event of its first call
  uint64_t last = 0;
  std::vector<uint32_t> slots;  ///< of the receives that its calls took, in recorded order
};

/// The runs of a source, which is read and rewound. Errors: InputError.
class TakenRuns {
 public:
  explicit TakenRuns(EventSource& source);

  /// In the order of the timeline.
  const std::vector<TakenRun>& of(int timeline) const { return runs_[timeline]; }

 private:
  std::vector<std::vector<TakenRun>> runs_;
};

}  // namespace rubato
