#pragma once

// Actions that become known long after their call.
//
// The peer of a nonblocking receive stands on record at its completion, so the calls behind an open
// receive are held back (call_builder.h). A receive that is open for the whole run would hold back
// the run: 80 bytes and more of each call, in memory. Yet nothing about those calls is unknown but
// the one action. And nobody looks at it until the archive is decoded: a replay begins behind that.
//
//   records   Irecv 7 · Send · Send · ...  256 KiB of calls  ...  · Wait 7: from rank 3
//   builder   held back ──────────────────▶ let go: open, number 1    settled: number 1 is ...
//   store     ...                           piece: | shapes | . ? . | units |
//                                                           ▲ written over in its place
//
// So the builder holds back no more than CallBuilder::kMostHeld bytes, and a little for each open
// action. Beyond that it lets the oldest open actions go, with a number. The packer gives their
// calls shapes of their own (packed_calls.h), the store remembers where these lie, and writes the
// actions over once they are settled, in memory or in its file. Then the store is the same as if
// nothing had been late, but for a shape that others could have shared; what is remembered is what
// is open. The same goes for starts of collectives, messages in partitions and sends that are held
// back.
//
// Ranks of archives with threads hold back all: their sends and posts are numbered by channel, and
// an open receive may belong to any.

#include <cstdint>
#include <vector>

#include "replay/trace/operation.h"

namespace rubato {

/// What goes with a block of calls of a timeline that lets actions go.
struct LateActions {
  struct Open {
    uint32_t action;  ///< index into Block::actions
    uint64_t number;  ///< among all of the timeline that may be late
  };
  struct Settled {
    uint64_t number;
    Action action;
  };
  std::vector<Open> open;        ///< in this block, in order: not known yet
  std::vector<Settled> settled;  ///< in earlier blocks: what they are

  bool empty() const { return open.empty() && settled.empty(); }
  void clear() {
    open.clear();
    settled.clear();
  }
};

}  // namespace rubato
