#pragma once

// A log of every replayed call, for comparing two replays (run_difference.h). Logged calls lie in a
// CallFile, the first of them in memory, so a log takes 56 bytes of disk a call and 4 KiB of memory
// a timeline.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/placement/placement.h"
#include "replay/observe/kept_losses.h"
#include "replay/observe/observer.h"
#include "replay/store/call_file.h"
#include "replay/trace/trace.h"

namespace rubato {

/// How the peer of a call is described.
enum class PeerKind : uint8_t { kNone, kTo, kFrom, kRoot };

/// LoggedCall::level of a call without communication.
inline constexpr uint8_t kNoLevel = kLevels;

/// One replayed call. Times are seconds.
struct LoggedCall {
  double enter = 0;
  double leave = 0;
  uint64_t event = 0;  ///< as Call::event
  /// Hash of name, peers, tags, sizes and members of communicators: equal in two archives when the
  /// calls do the same. It excludes the results of completions and wildcards.
  uint64_t what = 0;
  uint64_t bytes =
      0;             ///< of its largest message, or of the payload of a collective, as in profiles
  int32_t peer = 0;  ///< of the first one: a world rank; of a collective the root's rank
  uint32_t tag = 0;
  uint16_t name = 0;  ///< index into TraceDefinitions::calls
  CallRole role = CallRole::kMpi;
  uint8_t level = kNoLevel;  ///< the largest distance to a peer
  PeerKind peer_kind = PeerKind::kNone;
};
static_assert(sizeof(LoggedCall) == 56);

/// Logs every call of one scenario.
class CallLog : public Observer<1> {
 public:
  /// `placement`: of the ranks in the scenario; `kept`: losses that its calls keep. Errors, here
  /// and below: as CallFile's.
  CallLog(const TraceDefinitions& trace, Placement placement, KeptLosses kept = {});

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;

  const TraceDefinitions& trace() const { return *trace_; }

  /// Reads the calls of a timeline in order, from MPI_Init on if there is one, else from its
  /// kBegin. Timeline -1 has none.
  class Reader {
   public:
    Reader(const CallLog& log, int timeline)
        : log_(&log),
          timeline_(timeline),
          next_(timeline < 0 ? 0 : log.timelines_[timeline].window_begin) {}
    /// False at the end.
    bool next(LoggedCall& call);

   private:
    const CallLog* log_;
    int timeline_;
    uint64_t next_;
    std::vector<LoggedCall> chunk_;
    uint64_t chunk_number_ = UINT64_MAX;
  };

 private:
  static constexpr size_t kChunk = 64;  ///< calls that are written at once

  struct Timeline {
    std::vector<LoggedCall> open;  ///< not written yet, less than a chunk
    std::vector<uint64_t> chunks;  ///< offset of each in the file
    uint64_t window_begin = 0;     ///< number of its MPI_Init
  };
  /// The peer of a request.
  struct Target {
    int32_t peer;
    uint8_t level;
    PeerKind kind;
  };

  /// A call, or the rest of it; times in ticks.
  LoggedCall logged(int timeline, const Call& call, const Block& block, double enter, double leave);
  void note(Timeline& log, const LoggedCall& call);
  void describe(LoggedCall& logged, int rank, const Call& call, std::span<const Action> actions);
  /// `message`: the send or receive of `action`.
  void describe_message(LoggedCall& logged, int rank, const Action& action,
                        const MessageAction& message);
  uint8_t level_of(const Communicator& comm) const;

  const TraceDefinitions* trace_;
  Placement placement_;
  KeptLosses kept_;
  double ticks_per_second_;
  std::vector<uint64_t> name_hashes_;  ///< by Call::name
  std::vector<uint64_t> comm_hashes_;
  std::vector<uint8_t> comm_levels_;
  std::vector<Timeline> timelines_;
  std::vector<std::unordered_map<uint32_t, Target>> targets_;  ///< by rank and slot
  CallFile file_;
};

}  // namespace rubato
