#pragma once

#include <array>
#include <cstdint>

#include "replay/observe/results.h"

namespace rubato {

/// Why a call waits, with Scalasca's names; finer than WaitKind.
enum class WaitPattern : uint8_t {
  kLateSender,
  /// A late sender, while a message that was sent earlier has not been received yet. Only
  /// WaitPatterns tells it from a late sender.
  kWrongOrder,
  kLateReceiver,
  kBarrier,
  kAllToAll,       ///< an operation of all with all
  kEarlyReduce,    ///< the root of a reduction or gather waits for its members
  kLateBroadcast,  ///< members wait for the root
  kEarlyScan,      ///< a member waits for lower ranks
  kFence,          ///< also the creation and the end of a window
  kLatePost,       ///< an origin waits for its target's MPI_Win_post
  kEarlyWait,      ///< a target waits for its origin's MPI_Win_complete
  kLock,           ///< an origin waits for a lock that another origin holds
};
inline constexpr int kWaitPatterns = 12;
inline constexpr std::array<const char*, kWaitPatterns> kWaitPatternNames = {
    "late sender",   "wrong order",  "late receiver",  "wait at barrier",
    "wait at N x N", "early reduce", "late broadcast", "early scan",
    "wait at fence", "late post",    "early wait",     "wait for lock"};

/// The kind of a pattern: patterns are finer. Totals, bars and timelines count kinds.
constexpr WaitKind kind_of(WaitPattern pattern) {
  switch (pattern) {
    case WaitPattern::kLateSender:
    case WaitPattern::kWrongOrder:
      return WaitKind::kLateSender;
    case WaitPattern::kLateReceiver:
      return WaitKind::kLateReceiver;
    case WaitPattern::kBarrier:
    case WaitPattern::kAllToAll:
    case WaitPattern::kEarlyReduce:
    case WaitPattern::kLateBroadcast:
    case WaitPattern::kEarlyScan:
    case WaitPattern::kFence:
      return WaitKind::kCollective;
    case WaitPattern::kLatePost:
    case WaitPattern::kEarlyWait:
    case WaitPattern::kLock:
      return WaitKind::kOneSided;
  }
  return WaitKind::kCollective;
}

/// The wait of a call, in a replay of one scenario. Times in ticks.
struct Waited {
  double enter = 0;  ///< of the call
  double leave = 0;

  // The latest cause, as defined in wait_states.h.
  WaitPattern pattern = WaitPattern::kLateSender;
  int32_t timeline = -1;  ///< the causing timeline; -1: none, or not known
  double cause = 0;       ///< enter of the causing call
  double wait = 0;        ///< the part of enter to `cause` that lies in the call
  /// The part of the call's time that is not lost (KeptLosses). Losses are assumed to be spread
  /// evenly over the call, so its wait is `kept * wait`.
  double kept = 1;
  uint32_t comm = 0;  ///< communicator of the wait: index into TraceDefinitions::comms

  // For observers that want it: the event that determines the end of the call, if not its own
  // enter. This may also be a message that was sent before and is still in transit, or the start of
  // a nonblocking operation of its own.
  int32_t bound_to = -1;  ///< timeline; -1: its own enter
  double bound_at = 0;    ///< enter of the call that determines it
};

}  // namespace rubato
