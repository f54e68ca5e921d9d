#include "tools/tables/profile_tables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include "replay/analyse/other_rows.h"

namespace rubato {
namespace {

constexpr size_t kMostGroups = 12;
constexpr double kLeastCallShare = 0.001;

/// "w_wait"
std::string wait_name(int kind, const std::string& call) {
  static constexpr std::array<const char*, kWaitKinds> kPrefixes = {"w_", "r_", "b_", "o_"};
  std::string name = call.starts_with("MPI_") ? call.substr(4) : call;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return kPrefixes[kind] + name;
}

using OfRank = std::function<double(size_t rank)>;

void add(RankTable& table, const ScenarioProfile& profile, const std::string& name,
         const OfRank& value) {
  NumberColumn column{name, {}};
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) column.values.push_back(value(rank));
  table.columns.push_back(std::move(column));
}

/// Adds the column unless it is 0 for all ranks; returns whether it was added.
bool add_unless_zero(RankTable& table, const ScenarioProfile& profile, const std::string& name,
                     const OfRank& value) {
  add(table, profile, name, value);
  const std::vector<double>& values = table.columns.back().values;
  if (std::ranges::any_of(values, [](double each) { return each != 0; })) return true;
  table.columns.pop_back();
  return false;
}

RankTable time_table(const ScenarioProfile& profile, const std::vector<CallColumn>& groups) {
  const std::vector<RankProfile>& ranks = profile.ranks;
  RankTable table{"time", As::kSeconds, {}, 0};
  add(table, profile, "Compute", [&](size_t rank) { return ranks[rank].compute; });
  for (const CallColumn& group : groups) {
    add(table, profile, group.name, [&](size_t rank) {
      double sum = 0;
      for (const size_t call : group.calls) sum += ranks[rank].calls[call].time;
      return sum;
    });
  }
  add(table, profile, "Overhead", [&](size_t rank) { return ranks[rank].overhead; });
  for (const OtherRow& other : kOtherRows) {
    add_unless_zero(table, profile, other.name,
                    [&](size_t rank) { return profile.result->ranks[rank].*other.seconds; });
  }
  for (size_t call = 0; call < profile.calls->size(); ++call) {
    table.outside += add_unless_zero(table, profile, (*profile.calls)[call] + " (outside)",
                                     [&](size_t rank) { return ranks[rank].calls[call].outside; });
  }
  return table;
}

RankTable traffic_table(const ScenarioProfile& profile, const std::string& title, bool sent,
                        bool bytes) {
  RankTable table{title, bytes ? As::kBytes : As::kCount, {}};
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

std::vector<CallColumn> call_groups(const ScenarioProfile& profile, bool all) {
  const std::vector<CallSum> sums = sums_of(profile);
  double whole = 0;
  for (const RankProfile& rank : profile.ranks) whole += rank.compute;
  for (const CallSum& sum : sums) whole += sum.time;
  std::vector<size_t> made;
  std::vector<double> times;
  for (size_t call = 0; call < sums.size(); ++call) {
    const CallSum& sum = sums[call];
    times.push_back(sum.time);
    if (sum.time > 0 || sum.sent.count + sum.received.count > 0) made.push_back(call);
  }
  return grouped_calls(*profile.calls, made, times, kLeastCallShare * whole,
                       all ? SIZE_MAX : kMostGroups);
}

RankTable wait_table(const ScenarioProfile& profile) {
  RankTable table{"waits for late ranks", As::kSeconds, {}, 0};
  for (size_t call = 0; call < profile.calls->size(); ++call) {
    for (int kind = 0; kind < kWaitKinds; ++kind) {
      add_unless_zero(table, profile, wait_name(kind, (*profile.calls)[call]), [&](size_t rank) {
        return profile.ranks[rank].calls[call].traffic.waits[kind];
      });
    }
  }
  return table;
}

std::vector<RankTable> rank_tables(const ScenarioProfile& profile,
                                   const std::vector<CallColumn>& groups) {
  return {time_table(profile, groups), traffic_table(profile, "bytes sent", true, true),
          traffic_table(profile, "sends", true, false),
          traffic_table(profile, "bytes received", false, true),
          traffic_table(profile, "receives", false, false)};
}

}  // namespace rubato
