#pragma once

// The interference of transfers.
//
// A flow is the data of a message under way: from the moment when it can leave its sender until its
// arrival. Alone it takes `length`: `data`, which grows with the size, plus latency. A Network
// receives flows in the order of time and determines when each arrives. It requests timers, and the
// caller returns each at its time. Timers need no cancelling: each has a version, and the network
// ignores outdated ones.
//
// This interface does not depend on MPI: senders, receivers and start times come from the replay.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/network/link_loads.h"

namespace rubato {

/// The data of one message, or of a one-sided operation in one direction. Times in ticks.
struct Flow {
  int rank = 0;         ///< its sender
  int destination = 0;  ///< its receiver, a rank
  int from = 0;         ///< node of the sender
  int to = 0;           ///< node of the receiver
  double bytes = 0;
  double length = 0;  ///< from start to arrival, alone
  double data = 0;    ///< the part of `length`, at its end, in which the bytes move
  double alone = 0;   ///< its arrival if it starts at once and flows alone
  double port = 0;  ///< the part of `data` that ports of its ranks are busy, where links are faster
};

/// Flows that share resources; decides when they arrive. The caller reuses the number of a flow
/// after its arrival, once no timer refers to it.
class Network {
 public:
  /// A future event of a flow.
  struct Timer {
    double time;
    uint32_t flow;
    uint32_t version;  ///< chosen by the network, which ignores outdated ones
  };

  virtual ~Network() = default;

  /// A flow starts. Calls come in the order of time.
  virtual void start(uint32_t number, const Flow& flow, double now) = 0;
  /// A timer has expired; true if its flow has arrived.
  virtual bool over(const Timer& timer) = 0;
  /// Called before time advances, when all flows that start at `now` have started and all timers
  /// until `now` have expired; may request timers.
  virtual void settle(double now) { static_cast<void>(now); }
  /// True if others have delayed a flow under way by `now`. Called in the order of time when the
  /// sender of one-sided data would get its buffer back; a delayed flow returns it only with its
  /// arrival. The default is false: buffers are free when the sender's port is, however late the
  /// data.
  virtual bool held_up(uint32_t number, double now) const {
    static_cast<void>(number), static_cast<void>(now);
    return false;
  }

  /// From now on loads are counted.
  virtual void count_loads() {}
  /// The loads counted until `now`; nothing without links.
  virtual std::optional<LinkLoads> loads(double now) {
    return static_cast<void>(now), std::nullopt;
  }

  /// A network in which each flow takes as long as it does here when it is the only one.
  virtual std::unique_ptr<Network> with_lone_flows() const;

  /// The timers requested since the last call.
  std::vector<Timer> take_timers() { return std::exchange(timers_, {}); }

 protected:
  /// Requests a timer; simultaneous timers expire by rank of the flow's sender.
  void ask(double time, uint32_t flow, uint32_t version) {
    timers_.push_back({time, flow, version});
  }

 private:
  std::vector<Timer> timers_;
};

/// Flows share nothing.
class UnlimitedNetwork : public Network {
 public:
  void start(uint32_t number, const Flow& flow, double) override { ask(flow.alone, number, 0); }
  bool over(const Timer&) override { return true; }
};

inline std::unique_ptr<Network> Network::with_lone_flows() const {
  return std::make_unique<UnlimitedNetwork>();
}

}  // namespace rubato
