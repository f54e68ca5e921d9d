#pragma once

#include "models/base/lanes.h"

namespace rubato {

/// What follows once the request to send is at a receiver that has posted (presence.h), in each
/// lane. Ticks.
template <int K>
struct HandshakeTimes {
  Lanes<K> ready;       ///< R: the request to send is there, and the receive is posted
  Lanes<K> answer;      ///< until the other side can have seen the answer: A of a push, else L; at
                        ///< most T - L
  Lanes<K> data;        ///< T - 2 L, at least 0
  Lanes<K> head_start;  ///< of a push, at most A - L: it goes from when the answer is there

  /// How long the data of a push takes once its sender is inside MPI, where it came at `enter`, and
  /// can have seen the answer, at `answered`.
  Lanes<K> from_sender(const Lanes<K>& answered, const Lanes<K>& enter) const {
    return data - (answered - enter).max(0.0).min(head_start);
  }
};

}  // namespace rubato
