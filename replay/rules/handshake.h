#pragma once

#include "models/base/lanes.h"

namespace rubato {

/// The times of a handshake, after the request to send has reached a receiver that has posted
/// (presence.h), in each lane. Ticks.
template <int K>
struct HandshakeTimes {
  Lanes<K> ready;       ///< R: the request to send has arrived and the receive is posted
  Lanes<K> answer;      ///< until the other side can have seen the answer: A for a push, else L; at
                        ///< most T - L
  Lanes<K> data;        ///< T - 2 L, at least 0
  Lanes<K> head_start;  ///< of a push, at most A - L: the data starts when the answer has arrived

  /// Duration of the data transfer of a push once its sender is inside MPI, since `enter`, and can
  /// have seen the answer, since `answered`.
  Lanes<K> from_sender(const Lanes<K>& answered, const Lanes<K>& enter) const {
    return data - (answered - enter).max(0.0).min(head_start);
  }
};

}  // namespace rubato
