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

/// Counts the bytes that streams of flows carry over links: by link, and over time by kind of link.
/// The time bins double in width when a run outgrows them. Times in ticks.
class LinkCounter {
 public:
  /// Data of a stream.
  struct Stream {
    double bytes = 0;    ///< of flows that arrived
    uint32_t kinds = 0;  ///< of its links, in kinds_
  };

  /// `loads`: of constant_loads().
  LinkCounter(const Topology& topology, double ticks_per_second, std::vector<double> loads);

  void begin(Stream& stream, std::span<const FairShare::Use> route, double now);
  /// All flows of the stream together moved `bytes`.
  void move(const Stream& stream, double bytes, double from, double to);
  /// A flow of the stream, of `bytes`, arrived `delay` later than it would have alone.
  void end_flow(Stream& stream, double bytes, double delay);
  /// The stream has ended; `link` was on its route with this weight.
  void carried(const Stream& stream, uint32_t link, double weight) {
    by_link_[link] += weight * stream.bytes;
  }
  /// By link: of streams that ended. By time: of all.
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
  std::vector<Kinds> kinds_;               ///< few, since most routes have the same kinds
  std::map<Kinds, uint32_t> kinds_known_;  ///< their places
  Kinds kinds_of_route_;
  std::vector<double> by_link_;  ///< bytes
  uint64_t flows_ = 0, slowed_ = 0;
  double delay_ = 0;
};

}  // namespace rubato
