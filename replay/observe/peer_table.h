#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay/observe/size_histogram.h"

namespace rubato {

/// What one rank exchanged with another one in messages and one-sided operations.
struct PeerTraffic {
  int32_t peer = 0;
  double time = 0;    ///< in calls that received from it: MPInside's TIME(rank, peer)
  Requests sent;      ///< to it
  Requests received;  ///< of its messages
  Requests fetched;   ///< read out of its memory (MPI_Get and atomic operations)
};

/// The peers of a timeline: memory only for those that it talks to.
class PeerTable {
 public:
  /// The entry of `peer`, new where there is none. Good until the next call.
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
  /// Where a peer's number stands in `places_`, or the free place for it.
  size_t place_of(int32_t peer) const;
  void grow();

  std::vector<PeerTraffic> entries_;
  size_t last_ = 0;  ///< that was asked for: loops ask for the same again
  /// Hash table with linear probing, a power of two large: numbers of entries + 1, 0 where free.
  std::vector<uint32_t> places_;
};

}  // namespace rubato
