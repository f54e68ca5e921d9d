#include "tools/profile_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "tools/other_rows.h"

namespace rubato {
namespace {

constexpr size_t kMostGroups = 12;
constexpr double kLeastShare = 0.001;

bool is_zero(const NumberColumn& column) {
  return std::all_of(column.values.begin(), column.values.end(),
                     [](double value) { return value == 0; });
}

RankTable time_table(const ScenarioProfile& profile, const std::vector<CallGroup>& groups) {
  RankTable table{"time", Quantity::kSeconds, {}};
  const auto add = [&](const std::string& name, const std::function<double(size_t rank)>& value) {
    NumberColumn column{name, {}};
    for (size_t rank = 0; rank < profile.ranks.size(); ++rank) column.values.push_back(value(rank));
    table.columns.push_back(std::move(column));
  };
  add("Compute", [&](size_t rank) { return profile.ranks[rank].compute; });
  for (const CallGroup& group : groups) {
    add(group.name, [&](size_t rank) {
      double sum = 0;
      for (const size_t call : group.calls) sum += profile.ranks[rank].calls[call].time;
      return sum;
    });
  }
  add("Overhead", [&](size_t rank) { return profile.ranks[rank].overhead; });
  for (const OtherRow& other : kOtherRows) {
    add(other.name, [&](size_t rank) { return profile.result->ranks[rank].*other.seconds; });
    if (is_zero(table.columns.back())) table.columns.pop_back();
  }
  for (size_t call = 0; call < profile.calls->size(); ++call) {
    add((*profile.calls)[call] + " (outside)",
        [&](size_t rank) { return profile.ranks[rank].calls[call].outside; });
    if (is_zero(table.columns.back()))
      table.columns.pop_back();
    else
      ++table.outside;
  }
  return table;
}

RankTable traffic_table(const ScenarioProfile& profile, const std::string& title, bool sent,
                        bool bytes) {
  RankTable table{title, bytes ? Quantity::kBytes : Quantity::kCount, {}};
  for (size_t call = 0; call < profile.calls->size(); ++call) {
    NumberColumn column{(*profile.calls)[call], {}};
    bool any = false;
    for (const RankProfile& rank : profile.ranks) {
      const CallTraffic& traffic = rank.calls[call].traffic;
      const Requests requests = (sent ? traffic.sent : traffic.received).total();
      column.values.push_back(static_cast<double>(bytes ? requests.bytes : requests.count));
      any = any || requests.count > 0;
    }
    if (any) table.columns.push_back(std::move(column));
  }
  return table;
}

}  // namespace

std::vector<CallGroup> call_groups(const ScenarioProfile& profile, bool all) {
  const std::vector<CallSum> sums = sums_of(profile);
  double whole = 0;
  for (const RankProfile& rank : profile.ranks) whole += rank.compute;
  for (const CallSum& sum : sums) whole += sum.time;
  std::vector<size_t> largest;
  for (size_t call = 0; call < sums.size(); ++call) {
    const CallSum& sum = sums[call];
    if (sum.time > 0 || sum.sent.count + sum.received.count > 0) largest.push_back(call);
  }
  const std::vector<size_t> made = largest;
  std::stable_sort(largest.begin(), largest.end(),
                   [&](size_t a, size_t b) { return sums[a].time > sums[b].time; });
  size_t own = largest.size();
  if (!all) {
    while (own > 0 && sums[largest[own - 1]].time < kLeastShare * whole) --own;
    own = std::min(own, kMostGroups);
    if (own + 1 == largest.size()) ++own;  // nothing is gained by hiding a single one
  }
  std::vector<bool> is_small(sums.size(), false);
  for (size_t i = own; i < largest.size(); ++i) is_small[largest[i]] = true;
  std::vector<CallGroup> groups;
  CallGroup small;
  for (const size_t call : made) {
    if (is_small[call])
      small.calls.push_back(call);
    else
      groups.push_back({(*profile.calls)[call], {call}});
  }
  if (small.calls.empty()) return groups;
  small.name = fmt::format("{} others", small.calls.size());
  groups.push_back(std::move(small));
  return groups;
}

std::vector<RankTable> rank_tables(const ScenarioProfile& profile,
                                   const std::vector<CallGroup>& groups) {
  return {time_table(profile, groups), traffic_table(profile, "bytes sent", true, true),
          traffic_table(profile, "sends", true, false),
          traffic_table(profile, "bytes received", false, true),
          traffic_table(profile, "receives", false, false)};
}

}  // namespace rubato
