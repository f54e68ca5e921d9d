#include "replay/trace/trace.h"

#include <algorithm>
#include <utility>

namespace rubato {

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
