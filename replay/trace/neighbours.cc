#include "replay/trace/neighbours.h"

namespace rubato {

NeighbourTable::NeighbourTable(const ByRank& neighbours) {
  std::vector<Entry> entries;
  std::vector<int32_t> peers;
  for (const auto& [whose, those] : neighbours) {
    entries.push_back({whose.first, whose.second, peers.size(),
                       static_cast<uint32_t>(those.sources.size()),
                       static_cast<uint32_t>(those.destinations.size())});
    peers.insert(peers.end(), those.sources.begin(), those.sources.end());
    peers.insert(peers.end(), those.destinations.begin(), those.destinations.end());
  }
  entries_ = std::move(entries);
  peers_ = std::move(peers);
}

std::optional<NeighbourTable::Found> NeighbourTable::find(int rank, uint32_t comm) const {
  const std::pair whose(rank, comm);
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), whose,
      [](const Entry& entry, const auto& w) { return std::pair(entry.rank, entry.comm) < w; });
  if (found == entries_.end() || std::pair(found->rank, found->comm) != whose) return {};
  const std::span<const int32_t> peers = peers_;
  return Found{peers.subspan(found->first, found->sources),
               peers.subspan(found->first + found->sources, found->destinations)};
}

}  // namespace rubato
