#include "replay/trace/member_list.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rubato {

MemberList::MemberList(std::vector<int32_t> world_ranks) {
  if (world_ranks.empty()) return;
  ranks_ = std::move(world_ranks);
  if (std::is_sorted(ranks_.begin(), ranks_.end())) return;
  std::vector<int32_t> order(ranks_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [this](int32_t a, int32_t b) { return ranks_[a] < ranks_[b]; });
  by_world_rank_ = std::move(order);
}

int MemberList::local_rank(int world_rank) const {
  const auto n = static_cast<int>(ranks_.size());
  // The world and its duplicates are the most frequent case.
  if (world_rank < 0) return -1;
  if (world_rank < n && ranks_[world_rank] == world_rank) return world_rank;
  if (by_world_rank_.empty()) {
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), world_rank);
    if (found == ranks_.end() || *found != world_rank) return -1;
    return static_cast<int>(found - ranks_.begin());
  }
  const auto found = std::lower_bound(by_world_rank_.begin(), by_world_rank_.end(), world_rank,
                                      [this](int32_t local, int w) { return ranks_[local] < w; });
  return found == by_world_rank_.end() || ranks_[*found] != world_rank ? -1 : *found;
}

MemberList MemberLists::share(std::vector<int32_t> world_ranks) {
  uint64_t hash = world_ranks.size();
  for (const int32_t rank : world_ranks)
    hash = (hash ^ static_cast<uint32_t>(rank)) * 0x9e3779b97f4a7c15U + (hash >> 29);
  std::vector<MemberList>& same = known_[hash];
  const auto found = std::find_if(same.begin(), same.end(), [&](const MemberList& list) {
    return std::equal(list.begin(), list.end(), world_ranks.begin(), world_ranks.end());
  });
  if (found != same.end()) return *found;
  same.emplace_back(std::move(world_ranks));
  return same.back();
}

}  // namespace rubato
