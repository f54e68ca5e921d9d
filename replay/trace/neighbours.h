#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/base/fixed_list.h"

namespace rubato {

/// The neighbours of a rank in a communicator's neighbourhood collectives: world ranks in MPI's
/// order, without MPI_PROC_NULL.
struct Neighbours {
  std::vector<int32_t> sources;
  std::vector<int32_t> destinations;

  /// More neighbours than are plausible in a communicator of that size: each call makes a message
  /// for each of them, so a few bytes of an archive would become gigabytes. (A graph may name a
  /// member several times.)
  bool beyond(int members) const {
    constexpr size_t kMostOfEach = 64, kAlways = 1024;
    return std::max(sources.size(), destinations.size()) >
           kMostOfEach * static_cast<size_t>(members) + kAlways;
  }
};

/// The neighbours of all ranks.
class NeighbourTable {
 public:
  /// By rank and index into TraceDefinitions::comms.
  using ByRank = std::map<std::pair<int, uint32_t>, Neighbours>;
  struct Entry {
    int32_t rank;
    uint32_t comm;
    uint64_t first;  ///< in peers(): the sources, then the destinations
    uint32_t sources;
    uint32_t destinations;
  };
  struct Found {
    std::span<const int32_t> sources;
    std::span<const int32_t> destinations;
  };

  NeighbourTable() = default;
  explicit NeighbourTable(const ByRank& neighbours);
  /// From the lists of another table.
  NeighbourTable(FixedList<Entry> entries, FixedList<int32_t> peers)
      : entries_(std::move(entries)), peers_(std::move(peers)) {}

  /// Nothing if `rank` has no neighbours in `comm`.
  std::optional<Found> find(int rank, uint32_t comm) const;

  /// By rank and communicator.
  const FixedList<Entry>& entries() const { return entries_; }
  const FixedList<int32_t>& peers() const { return peers_; }

 private:
  FixedList<Entry> entries_;
  FixedList<int32_t> peers_;
};

}  // namespace rubato
