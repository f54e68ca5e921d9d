#include "replay/observe/peer_table.h"

#include <algorithm>

namespace rubato {

size_t PeerTable::place_of(int32_t peer) const {
  const size_t mask = places_.size() - 1;
  size_t place = (static_cast<uint32_t>(peer) * uint64_t{0x9E3779B97F4A7C15} >> 32) & mask;
  while (places_[place] != 0 && entries_[places_[place] - 1].peer != peer)
    place = (place + 1) & mask;
  return place;
}

void PeerTable::grow() {
  places_.assign(std::max<size_t>(8, 2 * places_.size()), 0);
  for (size_t number = 0; number < entries_.size(); ++number)
    places_[place_of(entries_[number].peer)] = static_cast<uint32_t>(number + 1);
}

PeerTraffic& PeerTable::find_or_add(int32_t peer) {
  if (2 * (entries_.size() + 1) > places_.size()) grow();
  uint32_t& place = places_[place_of(peer)];
  if (place == 0) {
    entries_.emplace_back().peer = peer;
    place = static_cast<uint32_t>(entries_.size());
  }
  last_ = place - 1;
  return entries_[last_];
}

}  // namespace rubato
