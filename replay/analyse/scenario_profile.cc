#include "replay/analyse/scenario_profile.h"

#include <algorithm>
#include <map>
#include <set>

namespace rubato {
namespace {

PeerTraffic& entry_of(std::vector<PeerTraffic>& peers, int32_t peer) {
  const auto at = std::lower_bound(
      peers.begin(), peers.end(), peer,
      [](const PeerTraffic& entry, int32_t number) { return entry.peer < number; });
  if (at != peers.end() && at->peer == peer) return *at;
  PeerTraffic entry;
  entry.peer = peer;
  return *peers.insert(at, entry);
}

/// Data that a rank read from another one's memory counts as sent by that rank.
void book_fetched(std::vector<RankProfile>& ranks) {
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (size_t i = 0; i < ranks[rank].peers.size(); ++i) {
      const PeerTraffic& entry = ranks[rank].peers[i];
      if (entry.fetched.count == 0) continue;
      const Requests fetched = entry.fetched;
      // (For its own memory the entry exists, and no data moves.)
      entry_of(ranks[entry.peer].peers, static_cast<int32_t>(rank)).sent += fetched;
    }
  }
}

std::vector<NodeTraffic> traffic_of_nodes(const std::vector<RankProfile>& ranks,
                                          const TraceDefinitions& trace, const Placement& placement,
                                          bool named) {
  std::vector<NodeTraffic> nodes;
  for (int rank = 0; rank < placement.ranks(); ++rank) {
    const auto node = static_cast<size_t>(placement.node_of(rank));
    if (node >= nodes.size()) nodes.resize(node + 1);
    ++nodes[node].ranks;
  }
  const std::vector<std::string> names = trace.nodes.copy();
  const bool tells_apart =
      named && std::set<std::string>(names.begin(), names.end()).size() == names.size();
  for (size_t node = 0; node < nodes.size(); ++node) {
    nodes[node].name =
        tells_apart && node < names.size() ? names[node] : "node " + std::to_string(node);
  }
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto from = static_cast<size_t>(placement.node_of(static_cast<int>(rank)));
    for (const PeerTraffic& entry : ranks[rank].peers) {
      const auto to = static_cast<size_t>(placement.node_of(entry.peer));
      if (from == to) continue;
      nodes[from].sent += entry.sent;
      nodes[to].received += entry.sent;
    }
  }
  return nodes;
}

}  // namespace

ScenarioProfile profile_of(const Results& results, CallProfile& seen, const TraceDefinitions& trace,
                           const Placement& placement, bool named) {
  ScenarioProfile profile;
  profile.result = &results.scenarios[0];
  profile.calls = &results.calls;
  std::map<std::string, size_t> numbers;
  for (size_t name = 0; name < trace.calls.size(); ++name) numbers[trace.calls[name].name] = name;
  for (int rank = 0; rank < trace.ranks(); ++rank) {
    const RankResult& times = profile.result->ranks[rank];
    RankProfile row;
    row.overhead = std::min(seen.overhead(rank), times.compute);
    row.compute = times.compute - row.overhead;
    std::vector<CallTraffic> traffic = seen.take_calls(rank);
    row.calls.resize(results.calls.size());
    for (size_t call = 0; call < results.calls.size(); ++call) {
      CallRow& to = row.calls[call];
      to.traffic = std::move(traffic[numbers.at(results.calls[call])]);
      to.calls = times.calls[call].calls;
      to.outside = std::min(to.traffic.outside, times.calls[call].time);
      to.time = times.calls[call].time - to.outside;
      to.own_work = times.calls[call].own_work;
    }
    row.peers = seen.take_peers(rank);
    profile.ranks.push_back(std::move(row));
  }
  book_fetched(profile.ranks);
  profile.nodes = traffic_of_nodes(profile.ranks, trace, placement, named);
  return profile;
}

double time_receiving(const ScenarioProfile& profile, int32_t rank, int32_t peer) {
  const std::vector<PeerTraffic>& peers = profile.ranks[rank].peers;
  const auto at = std::lower_bound(
      peers.begin(), peers.end(), peer,
      [](const PeerTraffic& entry, int32_t number) { return entry.peer < number; });
  return at != peers.end() && at->peer == peer ? at->time : 0;
}

CallSum& CallSum::operator+=(const CallSum& other) {
  calls += other.calls;
  time += other.time;
  lengths += other.lengths;
  own_work += other.own_work;
  sent += other.sent;
  received += other.received;
  bytes_completed += other.bytes_completed;
  outside += other.outside;
  for (int kind = 0; kind < kWaitKinds; ++kind) waits[kind] += other.waits[kind];
  return *this;
}

CallSum sum_of(const CallRow& row) {
  CallSum sum;
  sum.calls = row.calls;
  sum.time = row.time;
  sum.own_work = row.own_work;
  sum.lengths = row.lengths;
  sum.sent = row.traffic.sent.total();
  sum.received = row.traffic.received.total();
  sum.bytes_completed = row.traffic.bytes_completed;
  sum.waits = row.traffic.waits;
  sum.outside = row.outside;
  return sum;
}

std::vector<CallSum> sums_of(const ScenarioProfile& profile) {
  std::vector<CallSum> sums(profile.calls->size());
  for (const RankProfile& rank : profile.ranks) {
    for (size_t call = 0; call < sums.size(); ++call) sums[call] += sum_of(rank.calls[call]);
  }
  return sums;
}

}  // namespace rubato
