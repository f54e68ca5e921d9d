#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "models/network/fair_share.h"
#include "models/network/link_loads.h"
#include "models/network/topology.h"

namespace rubato {

/// Counts what streams of flows carry over links: by link, and over time by kind of link. The bins
/// of time double in width when a run outgrows them. Times in ticks.
class LinkCounter {
 public:
  /// What it has to know of a stream.
  struct Stream {
    double bytes = 0;  ///< of flows that arrived
    std::vector<FairShare::Use> route;
    std::vector<std::pair<int, double>> kinds;  ///< of links, with the weights of the route
  };

  /// `loads`: of constant_loads().
  LinkCounter(const Topology& topology, double ticks_per_second, std::vector<double> loads);

  void begin(Stream& stream, std::span<const FairShare::Use> route, double now);
  /// All its flows moved so many bytes together.
  void move(const Stream& stream, double bytes, double from, double to);
  /// One of its flows, of so many bytes, arrived so much later than alone.
  void end_flow(Stream& stream, double bytes, double delay);
  void end(const Stream& stream);
  /// Of streams that ended; bins of all.
  LinkLoads loads() const;

 private:
  void widen();

  const Topology* topology_;
  double ticks_per_second_;
  std::vector<double> loads_;
  double begin_ = -1;  ///< of the first bin; below 0: nothing flowed
  double bin_ = 1;
  size_t used_ = 0;                                                ///< bins
  std::vector<std::array<double, LinkLoads::kMostBins>> by_kind_;  ///< bytes
  std::vector<double> by_link_;                                    ///< bytes
  uint64_t flows_ = 0, slowed_ = 0;
  double delay_ = 0;
};

}  // namespace rubato
