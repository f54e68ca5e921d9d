#pragma once

// Who receives what, where a receive from any source takes whichever message is there first in the
// scenario (`--wildcards arrival`); else it is as recorded: matcher.h.
//
// As in MPI: a rank has, per communicator, a queue of posted receives. A message goes to the first
// of them that accepts it, and a receive that is posted takes the message that came first of those
// that it accepts. Messages of one source do not overtake: a receive that accepts two takes the one
// that was sent first, even if the other one is there before (a short one behind a long one).
//
// Only a receive from any source depends on what comes first. One that names its source is bound to
// its message as soon as both are known, before that has arrived, if no receive from any source
// stands before it in the queue that could have the message, too. So an archive without such
// receives is replayed as by matcher.h.
//
// Messages of collectives among neighbours are on a channel of their own (kNeighbourTag), which no
// receive from any tag listens to.

#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/matching/channel_table.h"

namespace rubato {

/// What a receive asked for, or a message is.
struct Envelope {
  int32_t source = 0;
  uint32_t tag = 0;
  bool any_source = false;
  bool any_tag = false;

  bool accepts(const Envelope& message) const;
};

class ArrivalMatcher {
 public:
  /// A message and its receive.
  struct Pair {
    TransferId send;
    TransferId receive;
  };

  // What happens, in the order of time. Each tells whom it brings together.

  /// A message is sent, after all others that its source sent before. It is not there yet.
  std::vector<Pair> send(int destination, uint32_t comm, TransferId id, const Envelope& envelope);
  /// It is there. One that has its receive already is passed over.
  std::vector<Pair> arrive(int destination, uint32_t comm, TransferId id, const Envelope& envelope);
  /// A receive is posted.
  std::vector<Pair> post(int destination, uint32_t comm, TransferId id, const Envelope& envelope);

 private:
  struct Sent {
    TransferId id;
    Envelope envelope;
    uint64_t came = 0;  ///< when it was there, 0: not yet
  };
  struct Posted {
    TransferId id;
    Envelope envelope;
  };
  /// What has not found its other side, of a rank on a communicator.
  struct Queue {
    std::map<int32_t, std::list<Sent>> from;  ///< messages by source, as sent
    std::list<Posted> posted;
  };

  /// The receive that a message of `line` goes to now; posted.end() when there is none yet.
  static std::list<Posted>::iterator receive_of(Queue& queue, const std::list<Sent>& line,
                                                const Sent& message);
  std::vector<Pair> settle(Queue& queue, std::list<Sent>& line);

  std::map<std::pair<int, uint32_t>, Queue> queues_;  ///< by destination and communicator
  std::unordered_map<TransferId, std::list<Sent>::iterator> waiting_;  ///< all messages in them
  uint64_t came_ = 0;
};

}  // namespace rubato
