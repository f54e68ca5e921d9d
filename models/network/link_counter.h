#pragma once

#include <array>
#include <map>
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
    double bytes = 0;    ///< of flows that arrived
    uint32_t kinds = 0;  ///< of its links, in kinds_
  };

  /// `loads`: of constant_loads().
  LinkCounter(const Topology& topology, double ticks_per_second, std::vector<double> loads);

  void begin(Stream& stream, std::span<const FairShare::Use> route, double now);
  /// All its flows moved so many bytes together.
  void move(const Stream& stream, double bytes, double from, double to);
  /// One of its flows, of so many bytes, arrived so much later than alone.
  void end_flow(Stream& stream, double bytes, double delay);
  /// It has carried all over a link of which it takes that weight.
  void carried(const Stream& stream, uint32_t link, double weight) {
    by_link_[link] += weight * stream.bytes;
  }
  /// Of streams that ended; bins of all.
  LinkLoads loads() const;

 private:
  /// Kinds of links, each with the weights of a route's links of that kind.
  using Kinds = std::vector<std::pair<int, double>>;

  void widen();

  const Topology* topology_;
  double ticks_per_second_;
  std::vector<double> loads_;
  double begin_ = -1;  ///< of the first bin; below 0: nothing flowed
  double bin_ = 1;
  size_t used_ = 0;                                                ///< bins
  std::vector<std::array<double, LinkLoads::kMostBins>> by_kind_;  ///< bytes
  std::vector<Kinds> kinds_;               ///< few: most routes are alike in this
  std::map<Kinds, uint32_t> kinds_known_;  ///< their places
  Kinds kinds_of_route_;
  std::vector<double> by_link_;  ///< bytes
  uint64_t flows_ = 0, slowed_ = 0;
  double delay_ = 0;
};

}  // namespace rubato
