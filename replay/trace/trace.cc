#include "replay/trace/trace.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "tracer/archive/schema.h"

namespace rubato {

std::vector<int> TraceDefinitions::timelines_of(int first, int end) const {
  std::vector<int> timelines;
  for (int rank = first; rank < end; ++rank) timelines.push_back(rank);
  auto thread = std::lower_bound(threads.begin(), threads.end(), first,
                                 [](const Thread& t, int rank) { return t.rank < rank; });
  for (; thread != threads.end() && thread->rank < end; ++thread)
    timelines.push_back(ranks() + static_cast<int>(thread - threads.begin()));
  return timelines;
}

void TraceDefinitions::make_timelines(std::vector<SideLocation> locations) {
  if (locations.empty()) return;  // the lists may be shared
  std::sort(locations.begin(), locations.end(), [](const SideLocation& a, const SideLocation& b) {
    return std::pair(a.rank, a.id) < std::pair(b.rank, b.id);
  });
  std::vector<Thread> calling;
  std::unordered_set<uint64_t> ids;
  for (const SideLocation& location : locations) {
    const bool first = calling.empty() || calling.back().rank != location.rank;
    calling.push_back({location.id, location.rank, first ? 1 : calling.back().number + 1});
    ids.insert(location.id);
  }
  std::vector<SideLocation> others = side_locations.copy();
  std::erase_if(others, [&](const SideLocation& side) { return ids.contains(side.id); });
  threads = std::move(calling);
  side_locations = std::move(others);
}

std::string TraceDefinitions::name_of(int timeline) const {
  const std::string rank = "rank " + std::to_string(rank_of(timeline));
  return timeline < ranks() ? rank : rank + " thread " + std::to_string(thread_of(timeline));
}

std::string TraceDefinitions::how_to_record_functions() const {
  const auto found = properties.find(schema::kFunctions);
  constexpr std::string_view kNone = "false: ";
  if (found == properties.end() || !found->second.starts_with(kNone))
    return "'rubato trace --functions' records them if compiled with -finstrument-functions, "
           "'rubato trace --sample 1ms' without recompiling";
  std::string why = found->second.substr(kNone.size());
  if (why.find("-finstrument-functions") != std::string::npos)
    why +=
        "; compile it so (mpicc -g -finstrument-functions), or use --sample 1ms instead, and trace "
        "it again";
  return "this run was traced with --functions, but " + why;
}

EventSource::Counts& EventSource::Counts::operator+=(const Counts& other) {
  records += other.records;
  receives.add(other.receives);
  collectives.add(other.collectives);
  backwards.add(other.backwards);
  miscounted.add(other.miscounted);
  joined += other.joined;
  return *this;
}

}  // namespace rubato
