#pragma once

// The critical path of one scenario: the chain of compute, calls and messages that ends with the
// last rank and begins with the run. What lies beside it may take longer without harm.
//
//     rank 0  ━━compute━━┓send
//     rank 1  ──compute──╂──▒▒ wait ▒▒▒┗━━━━ compute ━━━━┓allreduce        ━━ path
//     rank 2  ───────── compute ──────────────▒▒▒ wait ▒▒▒┗━━━━━━━ end
//
// Walked backwards: on a timeline to the last call whose end follows from something else
// than its enter (Waited::bound_to), then over to that one, to the moment of the cause. What lies
// between cause and end (overheads, ports, transfer, the rounds of a collective) is the *crossing*.
// From a join it goes to the thread that ended, from the begin of a thread to its creation; that
// belongs to the rank's compute. So
//
//     Elapsed = compute + calls that wait for nobody + crossings + the late start of the first rank
//
// to the tick. The idea of a critical path through a message-passing program: Yang, Miller (1988);
// backward replay as in Böhme et al., Scalable critical-path based performance analysis (IPDPS
// 2012).
//
// On a model the compute on the path is how much the run shortens if a rank computes less, where
// one path is the longest: see rules/origin_rules.h. Short of exact: on `measured` the recording
// does not say when a message was there, so a call is bound only if its cause was entered later
// than the call itself. Where messages share the network, one follows from its own send or post,
// not from those that slow it down, nor from a port or the presence that lets it go on.

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "replay/observe/observer.h"
#include "replay/store/call_file.h"
#include "replay/trace/trace.h"

namespace rubato {

/// What the path consists of. Ticks.
struct PathSums {
  double elapsed = 0;                ///< of the run: the sum of all below
  double late_start = 0;             ///< the first rank of the path began after the run did
  std::vector<double> compute;       ///< by rank; also what is neither compute nor a call of MPI
  std::map<uint16_t, double> calls;  ///< in calls that wait for nobody, by index into calls
  std::map<uint16_t, double> crossings;  ///< by the call at the receiving end
  uint64_t hops = 0;                     ///< number of crossings
};

/// A piece of the path: one timeline for some time, without the crossing that led there.
struct PathPiece {
  int timeline = 0;
  double begin = 0;
  double end = 0;
};

/// Notes the calls of a scenario and finds its path afterwards. 32 bytes of temporary file a call,
/// 4 KiB of memory a timeline. Errors: as CallFile's.
class CriticalPath : public Observer<1> {
 public:
  explicit CriticalPath(const TraceDefinitions& trace);

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;

  /// Once the replay is over. `each`, where it is set, gets the pieces, the last first.
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
    std::vector<Noted> open;       ///< not written yet; room for kChunk
    std::vector<uint64_t> chunks;  ///< where each is in the file
    int bound_to = -1;             ///< Waited's, of the call that call() hears of next
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
