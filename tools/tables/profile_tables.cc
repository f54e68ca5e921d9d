#include "tools/tables/profile_tables.h"

#include <algorithm>
#include <array>
#include <cctype>

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

bool is_zero(const NumberColumn& column) {
  return std::all_of(column.values.begin(), column.values.end(),
                     [](double value) { return value == 0; });
}

/// A table by rank that grows column by column.
class TimeTable {
 public:
  TimeTable(const ScenarioProfile& profile, const std::string& title)
      : profile_(&profile), table_{title, Quantity::kSeconds, {}, 0} {}

  template <typename Value>
  void add(const std::string& name, const Value& value) {
    NumberColumn column{name, {}};
    for (size_t rank = 0; rank < profile_->ranks.size(); ++rank)
      column.values.push_back(value(rank));
    table_.columns.push_back(std::move(column));
  }
  /// Adds the column unless it is 0 for all ranks; returns whether it was added.
  template <typename Value>
  bool add_unless_zero(const std::string& name, const Value& value) {
    add(name, value);
    if (!is_zero(table_.columns.back())) return true;
    table_.columns.pop_back();
    return false;
  }
  void add_compute() {
    add("Compute", [&](size_t rank) { return profile_->ranks[rank].compute; });
  }
  void add_waits(size_t call) {
    for (int kind = 0; kind < kWaitKinds; ++kind) {
      add_unless_zero(wait_name(kind, (*profile_->calls)[call]), [&](size_t rank) {
        return profile_->ranks[rank].calls[call].traffic.waits[kind];
      });
    }
  }
  /// Adds overhead, the other categories, and calls outside of Elapsed.
  void add_rest() {
    add("Overhead", [&](size_t rank) { return profile_->ranks[rank].overhead; });
    for (const OtherRow& other : kOtherRows) {
      add_unless_zero(other.name,
                      [&](size_t rank) { return profile_->result->ranks[rank].*other.seconds; });
    }
    for (size_t call = 0; call < profile_->calls->size(); ++call) {
      table_.outside += add_unless_zero((*profile_->calls)[call] + " (outside)", [&](size_t rank) {
        return profile_->ranks[rank].calls[call].outside;
      });
    }
  }
  RankTable take() { return std::move(table_); }

 private:
  const ScenarioProfile* profile_;
  RankTable table_;
};

RankTable time_table(const ScenarioProfile& profile, const std::vector<CallColumn>& groups) {
  TimeTable table(profile, "time");
  table.add_compute();
  for (const CallColumn& group : groups) {
    table.add(group.name, [&](size_t rank) {
      double sum = 0;
      for (const size_t call : group.calls) sum += profile.ranks[rank].calls[call].time;
      return sum;
    });
  }
  table.add_rest();
  return table.take();
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
  TimeTable table(profile, "waits for late ranks");
  for (size_t call = 0; call < profile.calls->size(); ++call) table.add_waits(call);
  return table.take();
}

std::vector<RankTable> rank_tables(const ScenarioProfile& profile,
                                   const std::vector<CallColumn>& groups) {
  return {time_table(profile, groups), traffic_table(profile, "bytes sent", true, true),
          traffic_table(profile, "sends", true, false),
          traffic_table(profile, "bytes received", false, true),
          traffic_table(profile, "receives", false, false)};
}

}  // namespace rubato
