#pragma once

// Matching by arrival (`--wildcards arrival`): a receive from any source takes the message that
// comes first in the scenario. Without the option, matching is as recorded: matcher.h.
//
// As in MPI, a rank has a queue of posted receives per communicator. A message goes to the first
// posted receive that accepts it, and a new receive takes the earliest arrival that it accepts.
// Messages of one source do not overtake: a receive that accepts two takes the one sent first, even
// if the other one arrived first (a short message behind a long one).
//
// Only a receive from any source depends on arrivals. A receive that names its source is bound to
// its message as soon as both are known, even before the arrival, unless an earlier receive from
// any source in the queue accepts the message too. So an archive without receives from any source
// is matched as by matcher.h.
//
// Messages of collectives among neighbours have channels of their own (kNeighbourTag), which
// receives from any tag do not accept.

#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/matching/channel_table.h"

namespace rubato {

/// The envelope of a message, or the one that a receive asked for.
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

  // Events, in the order of time. Each returns the pairs it matches.

  /// A message is sent, after all earlier messages of its source. It has not arrived yet.
  std::vector<Pair> send(int destination, uint32_t comm, TransferId id, const Envelope& envelope);
  /// A message arrives. Ignored if it is matched already.
  std::vector<Pair> arrive(int destination, uint32_t comm, TransferId id, const Envelope& envelope);
  /// A receive is posted.
  std::vector<Pair> post(int destination, uint32_t comm, TransferId id, const Envelope& envelope);

 private:
  struct Sent {
    TransferId id;
    Envelope envelope;
    uint64_t came = 0;  ///< number of its arrival, 0: not arrived
  };
  struct Posted {
    TransferId id;
    Envelope envelope;
  };
  /// Unmatched messages and receives of a rank on a communicator.
  struct Queue {
    std::map<int32_t, std::list<Sent>> from;  ///< messages by source, as sent
    std::list<Posted> posted;
  };

  /// The receive that a message of `line` goes to now; posted.end() when there is none yet.
  static std::list<Posted>::iterator receive_of(Queue& queue, const std::list<Sent>& line,
                                                const Sent& message);
  std::vector<Pair> settle(Queue& queue, std::list<Sent>& line);

  std::map<std::pair<int, uint32_t>, Queue> queues_;  ///< by destination and communicator
  std::unordered_map<TransferId, std::list<Sent>::iterator> waiting_;  ///< messages in the queues
  uint64_t came_ = 0;
};

}  // namespace rubato
