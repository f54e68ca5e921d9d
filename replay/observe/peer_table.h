#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay/observe/size_histogram.h"

namespace rubato {

/// The messages and one-sided operations that one rank exchanged with another one.
struct PeerTraffic {
  int32_t peer = 0;
  double time = 0;    ///< in calls that received from it: MPInside's TIME(rank, peer)
  Requests sent;      ///< to it
  Requests received;  ///< of its messages
  Requests fetched;   ///< read from its memory (MPI_Get and atomic operations)
};

/// The peers of a timeline; memory is used only for those with traffic.
class PeerTable {
 public:
  /// The entry of `peer`, created if there is none. Valid until the next call.
  PeerTraffic& operator[](int32_t peer) {
    if (last_ < entries_.size() && entries_[last_].peer == peer) return entries_[last_];
    return find_or_add(peer);
  }

  std::vector<PeerTraffic> take() {
    places_.clear();
    last_ = 0;
    return std::move(entries_);
  }

 private:
  PeerTraffic& find_or_add(int32_t peer);
  /// The index of a peer's number in `places_`, or the free place for it.
  size_t place_of(int32_t peer) const;
  void grow();

  std::vector<PeerTraffic> entries_;
  size_t last_ = 0;  ///< result of the last call: loops repeat the same peer
  /// Hash table with linear probing, a power of two large: numbers of entries + 1; 0: free.
  std::vector<uint32_t> places_;
};

}  // namespace rubato
