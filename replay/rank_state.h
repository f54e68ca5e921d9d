#pragma once

#include <cstdint>
#include <vector>

#include "replay/collective_instances.h"
#include "replay/matcher.h"
#include "replay/operation.h"

namespace rubato {

/// Something the current call of a rank waits for (or would, if it were not there yet).
struct Awaited {
  enum class Kind : uint8_t { kSend, kReceive, kCollective };
  Kind kind = Kind::kSend;
  TransferId transfer = kNoTransfer;
  const Action* action = nullptr;  ///< of a collective
  uint64_t instance = 0;
  int local = 0;
};

/// Where one rank stands in the replay.
template <int K>
struct RankState {
  enum class Status : uint8_t { kReady, kBlocked, kFinished };

  Lanes<K> clock;             ///< ticks; leave of the call before
  double recorded_clock = 0;  ///< the same as recorded
  Lanes<K> out_port;          ///< when the rank can send the next message
  Lanes<K> in_port;           ///< when it took the last one
  Lanes<K> enter;             ///< of the current call
  Lanes<K> busy;              ///< enter plus what starting its messages cost the processor
  Block block;
  size_t next_call = 0;  ///< index into block.calls
  bool in_call = false;  ///< the current call was entered
  Status status = Status::kReady;
  std::vector<Awaited> awaited;   ///< by the current call
  size_t next_awaited = 0;        ///< the first one that is not known to be there
  std::vector<TransferId> slots;  ///< open requests
};

/// What rules may look up while they decide when a call leaves.
template <int K>
struct RuleContext {
  const TraceDefinitions* trace;
  Matcher<K>* matcher;
  CollectiveInstances<K>* collectives;
};

}  // namespace rubato
