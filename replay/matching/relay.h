#pragma once

// How many processes notify each other of the members that have entered a collective. Each would
// have P - 1 others to notify. Instead they pass on what they know, in rounds:
//
//   ring      of all processes; each knows its own members, and those of w processes in front
//   round     it sends what it knows, with or without its own members, to the process `distance`
//             behind it, and receives the same from the process `distance` in front of it: the
//             members of the next w, or w + 1, processes
//   at first  w = 0;  at last w = P - 1, so each process has been notified of each other one once
//
// w doubles in a round, and grows by one more where own members are sent along. So it takes the
// values given by the leading binary digits of P - 1: for P = 7 those of 110: 1, 3, 6. There are as
// many rounds as P - 1 has digits, and in each round each process sends one message, whatever P is:
// the census of Bar-Noy, Kipnis, Schieber, An optimal algorithm for computing census functions in
// message-passing systems (Parallel Processing Letters 3, 1993).
//
// Each member must be reported exactly once, because members are counted.

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "replay/matching/collective_instances.h"

namespace rubato {

/// The number of rounds among `processes`, at least two.
inline int relay_rounds(int processes) {
  return std::bit_width(static_cast<unsigned>(processes - 1));
}

struct RelayRound {
  int distance;   ///< in the ring, from sender to receiver
  bool with_own;  ///< includes the sender's own members
};

/// `round` counts from 0.
inline RelayRound relay_round(int processes, int round) {
  const int later = relay_rounds(processes) - 1 - round;
  const int known = (processes - 1) >> later;  // w after the round
  return {(known + 1) / 2, (known & 1) != 0};
}

/// One collective as one process knows it. `Members` can be added up, as Arrivals can.
template <class Members>
class Relay {
 public:
  /// All members of this process have entered.
  void come(const Members& own) {
    own_ = own;
    has_own_ = true;
  }
  /// Takes the message of `round`, which may arrive before its round.
  void take(int round, const Members& members) {
    if (static_cast<size_t>(round) >= received_.size())
      received_.resize(static_cast<size_t>(round) + 1);
    received_[round] = members;
  }
  /// Calls send(round, distance, members) once for each message that can be sent now. True when the
  /// members of all other processes are known.
  template <typename Send>
  bool go_on(int processes, Send send) {
    if (!has_own_) return false;
    while (true) {
      if (sent_ == round_) {
        const auto [distance, with_own] = relay_round(processes, round_);
        Members members = others_;
        if (with_own) members.add(own_);
        send(round_, distance, members);
        ++sent_;
      }
      if (static_cast<size_t>(round_) >= received_.size() || !received_[round_]) return false;
      others_.add(*received_[round_]);
      if (++round_ == relay_rounds(processes)) return true;
    }
  }
  /// The members of all other processes. REQUIRES: go_on() returned true.
  const Members& others() const { return others_; }

 private:
  Members own_, others_;
  bool has_own_ = false;
  int round_ = 0;  ///< the round whose message is awaited
  int sent_ = 0;
  std::vector<std::optional<Members>> received_;  ///< by round
};

}  // namespace rubato
