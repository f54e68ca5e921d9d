#pragma once

// How many processes tell each other who has come to a collective. Each would have P - 1 others to
// tell. Instead they pass on what they know, in rounds:
//
//   processes in a ring; each knows its own members, and of others "w" in front of it
//   round     it sends what it knows, with or without its own, to the process `distance` behind it,
//             and gets the same of the one `distance` in front of it, which tells of the next
//             w, or w + 1, others: those w is short of
//   at first  w = 0;  at last w = P - 1, so each process has been told of each other one once
//
// w doubles in a round, and grows by one more where own members are sent along. So it takes the
// values that begin with the highest binary digits of P - 1: for P = 7 those of 110: 1, 3, 6. That
// makes as many rounds as P - 1 has digits, in which each process sends one message, whatever P is:
// the census of Bar-Noy, Kipnis, Schieber, An optimal algorithm for computing census functions in
// message-passing systems (Parallel Processing Letters 3, 1993).
//
// That nobody is told of twice matters: members are counted.

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "replay/matching/collective_instances.h"

namespace rubato {

/// Of a relay among `processes`, at least two.
inline int relay_rounds(int processes) {
  return std::bit_width(static_cast<unsigned>(processes - 1));
}

struct RelayRound {
  int distance;   ///< in the ring, from who sends to who gets it
  bool with_own;  ///< the sender's own members, beside those that it was told of
};

/// `round` counts from 0.
inline RelayRound relay_round(int processes, int round) {
  const int later = relay_rounds(processes) - 1 - round;
  const int known = (processes - 1) >> later;  // once it is over
  return {(known + 1) / 2, (known & 1) != 0};
}

/// One collective, as one process knows it. `Members` add up, as Arrivals do.
template <class Members>
class Relay {
 public:
  /// All members of this process have come.
  void come(const Members& own) {
    own_ = own;
    has_own_ = true;
  }
  /// What the message of `round` tells of, which may come before it is its turn.
  void take(int round, const Members& members) {
    if (static_cast<size_t>(round) >= told_.size()) told_.resize(static_cast<size_t>(round) + 1);
    told_[round] = members;
  }
  /// Calls send(round, distance, members) for each message that can be sent now, once. True when
  /// all others are known.
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
      if (static_cast<size_t>(round_) >= told_.size() || !told_[round_]) return false;
      others_.add(*told_[round_]);
      if (++round_ == relay_rounds(processes)) return true;
    }
  }
  /// Of all other processes, once go_on() says so.
  const Members& others() const { return others_; }

 private:
  Members own_, others_;
  bool has_own_ = false;
  int round_ = 0;  ///< the one whose message is awaited
  int sent_ = 0;
  std::vector<std::optional<Members>> told_;  ///< by round
};

}  // namespace rubato
