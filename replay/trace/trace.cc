#include "replay/trace/trace.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rubato {

void Communicator::set_members(std::vector<int32_t> world_ranks) {
  members = std::move(world_ranks);
  by_world_rank_.clear();
  if (std::is_sorted(members.begin(), members.end())) return;
  by_world_rank_.resize(members.size());
  std::iota(by_world_rank_.begin(), by_world_rank_.end(), 0);
  std::sort(by_world_rank_.begin(), by_world_rank_.end(),
            [this](int32_t a, int32_t b) { return members[a] < members[b]; });
}

int Communicator::local_rank(int world_rank) const {
  if (self_like) return 0;
  const auto n = static_cast<int>(members.size());
  // The world and its copies are asked most.
  if (world_rank < 0) return -1;
  if (world_rank < n && members[world_rank] == world_rank) return world_rank;
  if (by_world_rank_.empty()) {
    const auto found = std::lower_bound(members.begin(), members.end(), world_rank);
    if (found == members.end() || *found != world_rank) return -1;
    return static_cast<int>(found - members.begin());
  }
  const auto found = std::lower_bound(by_world_rank_.begin(), by_world_rank_.end(), world_rank,
                                      [this](int32_t local, int w) { return members[local] < w; });
  return found == by_world_rank_.end() || members[*found] != world_rank ? -1 : *found;
}

std::vector<int> TraceDefinitions::timelines_of(int rank) const {
  std::vector<int> timelines = {rank};
  for (size_t i = 0; i < threads.size(); ++i) {
    if (threads[i].rank == rank) timelines.push_back(ranks() + static_cast<int>(i));
  }
  return timelines;
}

void TraceDefinitions::make_timelines(std::vector<SideLocation> locations) {
  std::sort(locations.begin(), locations.end(), [](const SideLocation& a, const SideLocation& b) {
    return std::pair(a.rank, a.id) < std::pair(b.rank, b.id);
  });
  for (const SideLocation& location : locations) {
    const bool first = threads.empty() || threads.back().rank != location.rank;
    threads.push_back({location.id, location.rank, first ? 1 : threads.back().number + 1});
    std::erase_if(side_locations, [&](const SideLocation& s) { return s.id == location.id; });
  }
}

std::string TraceDefinitions::name_of(int timeline) const {
  const std::string rank = "rank " + std::to_string(rank_of(timeline));
  return timeline < ranks() ? rank : rank + " thread " + std::to_string(thread_of(timeline));
}

EventSource::Counts& EventSource::Counts::operator+=(const Counts& other) {
  records += other.records;
  receives.add(other.receives);
  collectives.add(other.collectives);
  backwards.add(other.backwards);
  joined += other.joined;
  return *this;
}

}  // namespace rubato
