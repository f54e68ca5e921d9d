#pragma once

// The waits of the polls of a loop, which are known when the next call obtains the result.
//
//     MPI_Iprobe ▓▓  ▓▓  ▓▓  ▓▓  ▓▓ ▒▒  MPI_Recv        ▓ wait: up to C, the enter of the cause
//                          C ┘
//
// A loop that waits (replay/calls/polling.h), and MPI_Probe before its receive, take their time in
// every scenario that replays them call by call (`measured`). The part of each poll before C is a
// wait, of the kind and for the rank that the next call gives. The last kExact polls are kept one
// by one; older ones are assumed to be spread evenly over the time since the first.

#include <array>
#include <cstdint>
#include <vector>

#include "models/base/lanes.h"

namespace rubato {

/// The polls of one name in a loop, in one scenario. Ticks.
struct PolledWait {
  uint16_t call = 0;  ///< index into TraceDefinitions::calls
  double ticks = 0;   ///< in these polls before the cause, without losses
};

template <int K>
class PollingLoop {
 public:
  /// Adds a poll that found nothing; `lost`: flushes and lost cores in it.
  void add(uint16_t call, const Lanes<K>& enter, const Lanes<K>& leave, const Lanes<K>& lost) {
    if (polls_ == 0) begin_ = enter;
    Poll& poll = latest_[polls_++ % kExact];
    if (polls_ > kExact) {
      of(poll.call) += poll.leave - poll.enter - poll.lost;
      older_until_ = poll.leave;
    }
    poll = {call, enter, leave, lost.min(leave - enter)};
  }

  /// Enter of the first poll.
  const Lanes<K>& begin() const { return begin_; }

  /// Calls each(name, ticks) with the waits of polls until `cause`, by name; a name may occur
  /// twice.
  template <typename Each>
  void for_each_wait(const Lanes<K>& cause, Each each) const {
    if (polls_ > kExact) {
      const Lanes<K> all = older_until_ - begin_;
      const Lanes<K> part = ((cause - begin_).min(all) / all.max(1e-9)).max(0.0);
      for (const auto& [call, ticks] : older_) each(call, Lanes<K>(part * ticks));
    }
    for (uint64_t i = polls_ > kExact ? polls_ - kExact : 0; i < polls_; ++i) {
      const Poll& poll = latest_[i % kExact];
      const Lanes<K> length = poll.leave - poll.enter;
      const Lanes<K> wait = (cause.min(poll.leave) - poll.enter).max(0.0);
      each(poll.call, Lanes<K>(wait * (1 - poll.lost / length.max(1e-9))));
    }
  }

 private:
  static constexpr uint64_t kExact = 16;

  struct Poll {
    uint16_t call = 0;
    Lanes<K> enter, leave, lost;
  };
  struct Older {
    uint16_t call;
    Lanes<K> ticks;
  };

  Lanes<K>& of(uint16_t call) {
    for (Older& each : older_) {
      if (each.call == call) return each.ticks;
    }
    return older_.emplace_back(Older{call, Lanes<K>::Zero()}).ticks;
  }

  Lanes<K> begin_, older_until_;
  uint64_t polls_ = 0;
  std::array<Poll, kExact> latest_;
  std::vector<Older> older_;
};

}  // namespace rubato
