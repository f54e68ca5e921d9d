#include "replay/trace/member_list.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rubato {

MemberList::MemberList(std::vector<int32_t> world_ranks) {
  static const auto none = std::make_shared<const Lists>();
  lists_ = none;
  if (world_ranks.empty()) return;
  Lists lists{std::move(world_ranks), {}};
  const std::vector<int32_t>& ranks = lists.ranks;
  if (!std::is_sorted(ranks.begin(), ranks.end())) {
    lists.by_world_rank.resize(ranks.size());
    std::iota(lists.by_world_rank.begin(), lists.by_world_rank.end(), 0);
    std::sort(lists.by_world_rank.begin(), lists.by_world_rank.end(),
              [&](int32_t a, int32_t b) { return ranks[a] < ranks[b]; });
  }
  lists_ = std::make_shared<const Lists>(std::move(lists));
  ranks_ = lists_->ranks;
}

int MemberList::local_rank(int world_rank) const {
  const auto n = static_cast<int>(ranks_.size());
  // The world and its copies are asked most.
  if (world_rank < 0) return -1;
  if (world_rank < n && ranks_[world_rank] == world_rank) return world_rank;
  const std::vector<int32_t>& by_world_rank = lists_->by_world_rank;
  if (by_world_rank.empty()) {
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), world_rank);
    if (found == ranks_.end() || *found != world_rank) return -1;
    return static_cast<int>(found - ranks_.begin());
  }
  const auto found = std::lower_bound(by_world_rank.begin(), by_world_rank.end(), world_rank,
                                      [this](int32_t local, int w) { return ranks_[local] < w; });
  return found == by_world_rank.end() || ranks_[*found] != world_rank ? -1 : *found;
}

MemberList MemberLists::share(std::vector<int32_t> world_ranks) {
  uint64_t hash = world_ranks.size();
  for (const int32_t rank : world_ranks)
    hash = (hash ^ static_cast<uint32_t>(rank)) * 0x9e3779b97f4a7c15U + (hash >> 29);
  std::vector<MemberList>& same = known_[hash];
  const auto found = std::find_if(
      same.begin(), same.end(), [&](const MemberList& list) { return list.list() == world_ranks; });
  if (found != same.end()) return *found;
  same.emplace_back(std::move(world_ranks));
  return same.back();
}

}  // namespace rubato
