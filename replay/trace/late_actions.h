#pragma once

// Actions that become known long after their call.
//
// The peer of a nonblocking receive is recorded at its completion, so the calls after an open
// receive are held back (call_builder.h). A receive that is open for the whole run would hold back
// the whole run: 80 bytes or more per call, in memory. Yet only one action of those calls is
// unknown, and it is not needed until the archive is decoded: a replay begins after that.
//
//   records   Irecv 7 · Send · Send · ...  256 KiB of calls  ...  · Wait 7: from rank 3
//   builder   held back ──────────────────▶ released: open, no. 1     settled: number 1 is ...
//   store     ...                           piece: | shapes | . ? . | units |
//                                                           ▲ overwritten in place
//
// So the builder holds back at most CallBuilder::kMostHeld bytes, and some more for each open
// action. Beyond that it releases the oldest open actions, each with a number. The packer gives
// their calls shapes of their own (packed_calls.h). The store keeps the location of these actions,
// and overwrites them once they are settled, in memory or in its file. Then the store is the same
// as without late actions, except for shapes that could have been shared; only open actions take
// extra memory. Starts of collectives, partitioned messages and sends that are held back are
// handled in the same way.
//
// Ranks of archives with threads hold back all calls: their sends and posts are numbered by
// channel, and an open receive may belong to any channel.

#include <cstdint>
#include <vector>

#include "replay/trace/operation.h"

namespace rubato {

/// Late actions that accompany a block of calls of a timeline.
struct LateActions {
  struct Open {
    uint32_t action;  ///< index into Block::actions
    uint64_t number;  ///< among all late actions of the timeline
  };
  struct Settled {
    uint64_t number;
    Action action;
  };
  std::vector<Open> open;        ///< in this block, in order: not known yet
  std::vector<Settled> settled;  ///< in earlier blocks: now known

  bool empty() const { return open.empty() && settled.empty(); }
  void clear() {
    open.clear();
    settled.clear();
  }
};

}  // namespace rubato
