#pragma once

// The critical path of one scenario: the chain of compute, calls and messages from the start of the
// run to the end of the last rank. Activities off the path may take longer without effect on the
// run.
//
//     rank 0  ━━compute━━┓send
//     rank 1  ──compute──╂──▒▒ wait ▒▒▒┗━━━━ compute ━━━━┓allreduce        ━━ path
//     rank 2  ───────── compute ──────────────▒▒▒ wait ▒▒▒┗━━━━━━━ end
//
// It is followed backwards: on a timeline to the last call whose end was not determined by its own
// enter (Waited::bound_to), then over to that cause, at its time. The time between cause and end
// (overheads, ports, transfer, the rounds of a collective) is the *crossing*. From a join the path
// goes to the thread that ended, from the begin of a thread to its creation; that time belongs to
// the rank's compute. So
//
//     Elapsed = compute + calls that do not wait + crossings + the late start of the first rank
//
// to the tick. The idea of a critical path through a message-passing program: Yang, Miller (1988);
// backward replay as in Böhme et al., Scalable critical-path based performance analysis (IPDPS
// 2012).
//
// On a model, shortening the compute of a rank on the path shortens the run by the same time, as
// long as the path stays the only longest one: see rules/origins.h. There are two
// approximations. On `measured` the recording has no arrival times of messages, so a call is bound
// only if its cause was entered later than the call itself. On a network with contention, a message
// follows from its own send or post, not from the flows that slow it down, nor from a port or the
// presence that lets it proceed.

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "replay/observe/observer.h"
#include "replay/store/call_file.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The components of the path. Ticks.
struct PathSums {
  double elapsed = 0;           ///< of the run: the sum of all below
  double late_start = 0;        ///< the first rank of the path began after the start of the run
  std::vector<double> compute;  ///< by rank; also time that is neither compute nor an MPI call
  std::map<uint16_t, double> calls;      ///< in calls that do not wait, by index into calls
  std::map<uint16_t, double> crossings;  ///< by the call at the receiving end
  uint64_t hops = 0;                     ///< number of crossings
};

/// A piece of the path: one timeline for some time, without the crossing that leads to it.
struct PathPiece {
  int timeline = 0;
  double begin = 0;
  double end = 0;
};

/// Records the calls of a scenario and finds its path afterwards. 32 bytes of temporary file a
/// call, 4 KiB of memory a timeline. Errors: as CallFile's.
class CriticalPath : public Observer<1> {
 public:
  explicit CriticalPath(const TraceDefinitions& trace);

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  bool wants_bounds() const override { return true; }

  /// After the replay. `each`, if set, receives the pieces, the last first.
  PathSums find(const std::function<void(const PathPiece&)>& each = {}) const;

 private:
  static constexpr size_t kChunk = 64;  ///< calls that are written at once
  static constexpr uint16_t kNoCall = UINT16_MAX;

  struct Noted {
    double enter;
    double leave;
    double cause;      ///< if bound
    int32_t timeline;  ///< likewise; -1: not bound
    uint16_t call;     ///< kNoCall: a thread begins or is joined
    uint16_t unused = 0;
  };
  static_assert(sizeof(Noted) == 32);

  struct Timeline {
    std::vector<Noted> open;       ///< not written yet; space for kChunk
    std::vector<uint64_t> chunks;  ///< offset of each in the file
    int bound_to = -1;             ///< Waited::bound_to, of the call that call() will report next
    double bound_at = 0;
    double begin = 0;  ///< of its window
    double end = 0;
    bool has_begun = false;
    bool over = false;  ///< MPI_Finalize was entered
  };
  class Backwards;

  void note(Timeline& timeline, const Noted& noted);

  const TraceDefinitions* trace_;
  std::vector<Timeline> timelines_;
  CallFile file_;
};

}  // namespace rubato
