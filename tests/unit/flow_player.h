// Plays flows on a Network without any MPI around it, in the order of time as TimeOrder does.
#pragma once

#include <queue>
#include <tuple>
#include <vector>

#include "models/network/network.h"

namespace rubato {

struct PlayedFlow {
  int from = 0;  ///< node
  int to = 0;
  double bytes = 0;
  double start = 0;    ///< ticks
  double latency = 0;  ///< ticks
  double rate = 1e9;   ///< bytes per tick, alone
};

/// When each flow arrives, ticks.
inline std::vector<double> play(Network& network, const std::vector<PlayedFlow>& flows) {
  // Starts behind timers of the same time; numbers as they came.
  using Event = std::tuple<double, bool, uint64_t, uint32_t, uint32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  uint64_t count = 0;
  for (uint32_t i = 0; i < flows.size(); ++i) events.push({flows[i].start, true, ++count, i, 0});
  std::vector<double> arrivals(flows.size(), -1);
  double now = 0;
  const auto take_timers = [&] {
    for (const Network::Timer& timer : network.take_timers())
      events.push({std::max(now, timer.time), false, ++count, timer.flow, timer.version});
  };
  for (;;) {
    if (events.empty() || std::get<0>(events.top()) > now) network.settle(now);
    take_timers();
    if (events.empty()) return arrivals;
    const auto [time, starts, number, flow, version] = events.top();
    events.pop();
    now = time;
    if (starts) {
      const PlayedFlow& what = flows[flow];
      const double data = what.bytes / what.rate, length = what.latency + data;
      network.start(flow,
                    {static_cast<int>(flow), static_cast<int>(flow), what.from, what.to, what.bytes,
                     length, data, now + length},
                    now);
    } else if (network.over({time, flow, version})) {
      arrivals[flow] = now;
    }
    take_timers();
  }
}

}  // namespace rubato
