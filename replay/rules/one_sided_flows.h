#pragma once

// One-sided operations in the order of time (time_order.h): they share the network with messages.
//
//   begins     when the out-port is free; in an epoch, when the origin also knows of the post
//   there      a put, and a request with data, is a flow from the origin to the target; the request
//              of a get is latency, like one to send
//   back       what is fetched is a flow from the target to the origin, which begins then
//   left       the local end of a put: the port is free (g after its start). If others have held
//              its flow up by then (Network::held_up()), its local end is its arrival
//
// Alone, all of this happens when windows.h says, to the last bit but for the results of epochs
// (which are added up in another order). Who waits: landings.h. Ports are served as without the
// order of time, in the order of the calls.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "models/placement/placement.h"
#include "replay/matching/landings.h"

namespace rubato {

/// One operation under way. Ticks.
struct OneSidedFlow {
  struct Way {
    double bytes = 0;
    double length = 0;  ///< T
    double data = 0;    ///< Flow::data
    double port = 0;    ///< Flow::port
  };

  int origin = 0;  ///< ranks
  int target = 0;
  PairClass pair;
  bool fetches = false;
  Way there, back;
  double start = 0;  ///< when the out-port takes it
  double gap = 0;    ///< and for how long
  // The port's time that operations before it take, if it begins when its target is ready:
  double gaps = 0;        ///< of its kind, towards the target
  double aimed_gaps = 0;  ///< of any kind, towards the target
  size_t result = 0;      ///< in SlotFlows::results
  std::shared_ptr<SlotFlows> slot;
  std::shared_ptr<Landing> aimed;

  // Filled in by plan(), from when its target is ready, at minus infinity if it need not be.
  double begin = 0;
  double left = 0;      ///< local end, if nothing holds it up
  double landed = 0;    ///< when those that wait at the target see it, at the earliest
  double arrival = 0;   ///< at the target, alone
  double returned = 0;  ///< arrival of the result, alone

  bool is_back = false;  ///< the result flows
  bool has_left = false;
  int open = 0;  ///< what is still to come: kLeft, and its end

  void plan(double ready) {
    const double both = there.length + back.length;
    begin = std::max(start, ready + gaps);
    left = std::max(start + gap, ready + (aimed_gaps + gap));  // of a put: not before it begins
    arrival = std::max(start + there.length, ready + (gaps + there.length));
    landed = std::max(arrival, ready + (aimed_gaps + there.length));
    returned = std::max(start + both, ready + (gaps + both));
  }
};

/// Those under way, by number.
class OneSidedFlows {
 public:
  OneSidedFlow& operator[](uint32_t number) { return flows_[number]; }

  uint32_t add(OneSidedFlow flow) {
    if (free_.empty()) {
      flows_.push_back(std::move(flow));
      return static_cast<uint32_t>(flows_.size() - 1);
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    flows_[number] = std::move(flow);
    return number;
  }
  /// Something of it is over; with the last such thing its number is free again.
  void close(uint32_t number) {
    if (--flows_[number].open > 0) return;
    flows_[number] = {};
    free_.push_back(number);
  }

 private:
  std::vector<OneSidedFlow> flows_;
  std::vector<uint32_t> free_;
};

}  // namespace rubato
