#pragma once

#include <array>
#include <cstdint>

#include "replay/observe/results.h"

namespace rubato {

/// Why a call waits, by Scalasca's names; finer than WaitKind.
enum class WaitPattern : uint8_t {
  kLateSender,
  kWrongOrder,  ///< a late sender, while a message that was sent before lies there unreceived
  kLateReceiver,
  kBarrier,
  kAllToAll,       ///< an operation of all with all
  kEarlyReduce,    ///< the root of a reduction or gather waits for its members
  kLateBroadcast,  ///< members wait for the root
  kEarlyScan,      ///< a member waits for lower ranks
  kFence,          ///< also the creation and the end of a window
  kLatePost,       ///< an origin waits for its target's MPI_Win_post
  kEarlyWait,      ///< a target waits for its origin's MPI_Win_complete
  kLock,           ///< an origin waits for a lock that another one holds
};
inline constexpr int kWaitPatterns = 12;
inline constexpr std::array<const char*, kWaitPatterns> kWaitPatternNames = {
    "late sender",   "wrong order",  "late receiver",  "wait at barrier",
    "wait at N x N", "early reduce", "late broadcast", "early scan",
    "wait at fence", "late post",    "early wait",     "wait for lock"};

/// What a call waited for, in a replay of one scenario. Times in ticks.
struct Waited {
  double enter = 0;  ///< of the call
  double leave = 0;

  // The latest cause, as wait_states.h says.
  WaitPattern pattern = WaitPattern::kLateSender;
  int32_t timeline = -1;  ///< who caused it; -1: nobody, or not known
  double cause = 0;       ///< when: the enter of its call
  double wait = 0;        ///< the part of enter to `cause` that lies in the call
  /// The part of the call's time that is not lost (KeptLosses): what is lost counts as spread
  /// evenly over the call, so `kept * wait` is what it waited.
  double kept = 1;
  uint32_t comm = 0;  ///< what it waited on: index into TraceDefinitions::comms

  // What the end of the call follows from, if not from its own enter: also a message that was sent
  // before and is still under way, or the own start of something nonblocking.
  int32_t bound_to = -1;  ///< timeline; -1: its own enter
  double bound_at = 0;    ///< when that entered its call
};

}  // namespace rubato
