#pragma once

// One-sided operations in the order of time (time_order.h): they share the network with messages.
//
//   begins     when the out-port is free; in an epoch, when the origin also knows of the post
//   there      a put, and a request with data, is a flow from the origin to the target; the request
//              of a get is latency, like a request to send
//   back       fetched data is a flow from the target to the origin, which begins then
//   left       the local completion of a put: the port is free (g after its start). If other flows
//              have delayed it by then (Network::held_up()), its local completion is its arrival
//
// Without contention all times are those of windows.h, bit for bit except for the results of epochs
// (which are summed in another order). landings.h holds the waiting timelines. Ports are served as
// without the order of time, in the order of the calls.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "models/network/network.h"
#include "models/placement/placement.h"
#include "replay/matching/landings.h"

namespace rubato {

/// One operation in progress. Ticks.
struct OneSidedFlow {
  int origin = 0;  ///< ranks
  int target = 0;
  PairClass pair;
  bool fetches = false;
  Flow there, back;  ///< length: T
  double start = 0;  ///< when the out-port takes it
  double gap = 0;    ///< how long it occupies the port
  // Port time of earlier operations, if the flow begins when its target is ready:
  double gaps = 0;        ///< of its kind, towards the target
  double aimed_gaps = 0;  ///< of any kind, towards the target
  size_t result = 0;      ///< in SlotFlows::results
  std::shared_ptr<SlotFlows> slot;
  std::shared_ptr<Landing> aimed;

  // Set by plan(), from when its target is ready; minus infinity if that does not matter.
  double begin = 0;
  double left = 0;      ///< local completion without contention
  double landed = 0;    ///< the earliest time at which waiting timelines of the target see it
  double arrival = 0;   ///< at the target, without contention
  double returned = 0;  ///< arrival of the result, without contention

  bool is_back = false;  ///< the result flows
  bool has_left = false;
  int open = 0;  ///< outstanding events: kLeft, and its end

  void plan(double ready) {
    const double both = there.length + back.length;
    begin = std::max(start, ready + gaps);
    left = std::max(start + gap, ready + (aimed_gaps + gap));  // of a put: not before it begins
    arrival = std::max(start + there.length, ready + (gaps + there.length));
    landed = std::max(arrival, ready + (aimed_gaps + there.length));
    returned = std::max(start + both, ready + (gaps + both));
  }
};

/// The operations in progress, by number.
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
  /// One event of the operation is over; after the last one its number is free again.
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
