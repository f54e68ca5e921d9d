#include "models/placement/placement.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <charconv>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "models/base/error.h"
#include "models/base/input_file.h"
#include "models/placement/splitmix64.h"

namespace rubato {
namespace {

constexpr int kMostRanks = 1 << 24;

struct RankLine {
  int rank;
  std::string host;
  int socket;
};

/// The socket of "slot=SOCKET:CORE"; kNoSocket if it names none ("slot=3") or several.
int socket_of_slot(const std::string& slot) {
  constexpr const char* kSlot = "slot=";
  const size_t colon = slot.find(':');
  if (slot.rfind(kSlot, 0) != 0 || colon == std::string::npos) return kNoSocket;
  if (slot.find(':', colon + 1) != std::string::npos) return kNoSocket;
  int socket = kNoSocket;
  const char* end = slot.data() + colon;
  const auto result = std::from_chars(slot.data() + 5, end, socket);
  return result.ec == std::errc() && result.ptr == end && socket >= 0 ? socket : kNoSocket;
}

/// Takes "rank 12=host slot=0:1" apart.
RankLine parse_rank_line(const std::string& line, const std::string& place) {
  const size_t equals = line.find('=');
  const char* begin = line.data() + line.find_first_not_of(" \t", 4);
  const char* end = line.data() + std::min(equals, line.size());
  int rank = -1;
  const auto result = std::from_chars(begin, end, rank);
  while (result.ec == std::errc() && end > result.ptr && std::isspace(end[-1])) --end;
  std::string host, slot;
  if (equals != std::string::npos) std::istringstream(line.substr(equals + 1)) >> host >> slot;
  if (result.ec != std::errc() || result.ptr != end || rank < 0 || rank >= kMostRanks ||
      host.empty() || host.rfind("slot", 0) == 0) {
    throw InputError(place + "'" + line + "' is no line of a rankfile; write rank N=HOST slot=...");
  }
  return {rank, host, socket_of_slot(slot)};
}

}  // namespace

Placement::Placement(std::span<const int> node_of_rank, std::span<const int> socket_of_rank) {
  assert(socket_of_rank.empty() || socket_of_rank.size() == node_of_rank.size());
  std::vector<Place> places;
  places.reserve(node_of_rank.size());
  for (size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    places.push_back({node_of_rank[rank], socket_of_rank.empty() ? kNoSocket : socket_of_rank[rank],
                      node_of_rank[rank]});
  }
  places_ = std::move(places);
}

Placement Placement::of(std::vector<Place> places) {
  Placement placement;
  placement.places_ = std::move(places);
  return placement;
}

Placement Placement::blocks(int ranks, int per_node) {
  std::vector<int> node_of_rank(ranks);
  for (int rank = 0; rank < ranks; ++rank) node_of_rank[rank] = rank / per_node;
  return Placement(node_of_rank);
}

Placement Placement::round_robin(int ranks, int nodes) {
  std::vector<int> node_of_rank(ranks);
  for (int rank = 0; rank < ranks; ++rank) node_of_rank[rank] = rank % nodes;
  return Placement(node_of_rank);
}

Placement Placement::by_hosts(const std::vector<std::string>& host_of_rank,
                              const std::vector<int>& socket_of_rank) {
  std::map<std::string, int> nodes;
  std::vector<int> node_of_rank;
  for (const std::string& host : host_of_rank)
    node_of_rank.push_back(nodes.emplace(host, static_cast<int>(nodes.size())).first->second);
  return Placement(node_of_rank, socket_of_rank);
}

Placement Placement::on_sockets(int sockets) const {
  std::map<int, int> ranks_of_node, seen;
  for (const Place& place : places_) ++ranks_of_node[place.node];
  std::vector<Place> places = places_.copy();
  for (Place& place : places) {
    const auto before = static_cast<int64_t>(seen[place.node]++);
    place.socket = static_cast<int>(before * sockets / ranks_of_node[place.node]);
  }
  return of(std::move(places));
}

Placement Placement::shuffled(uint64_t seed) const {
  std::vector<Place> places;
  for (const int rank : drawn_order(ranks(), seed)) places.push_back(places_[rank]);
  return of(std::move(places));
}

Placement Placement::on_network(const std::vector<int>& numbers) const {
  std::map<int, size_t> place_of_node;
  for (const Place& place : places_) place_of_node[place.node] = 0;
  size_t next = 0;
  for (auto& [node, place] : place_of_node) place = next++;
  if (next > numbers.size()) {
    throw InputError("nodes= names " + std::to_string(numbers.size()) +
                     " nodes of the network, the run has " + std::to_string(next));
  }
  std::vector<Place> places = places_.copy();
  for (Place& place : places) place.network_node = numbers[place_of_node[place.node]];
  return of(std::move(places));
}

Placement Placement::beside(const Placement& other) const {
  int nodes = 0;
  for (const Place& place : places_) nodes = std::max(nodes, place.node + 1);
  std::vector<Place> both = places_.copy();
  for (Place place : other.places_) {
    place.node += nodes;
    both.push_back(place);
  }
  return of(std::move(both));
}

int Placement::network_nodes() const {
  int most = -1;
  for (const Place& place : places_) most = std::max(most, place.network_node);
  return most + 1;
}

std::vector<int> drawn_order(int count, uint64_t seed) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  // (std::shuffle differs between libraries.)
  for (int left = count; left > 1; --left)
    std::swap(order[left - 1], order[splitmix64(seed) % static_cast<uint64_t>(left)]);
  return order;
}

int Placement::nodes() const {
  std::set<int> nodes;
  for (const Place& place : places_) nodes.insert(place.node);
  return static_cast<int>(nodes.size());
}

bool Placement::has(Level level) const {
  switch (level) {
    case Level::kSelf:
      return true;
    case Level::kSocket:
      return knows_sockets() && ranks() > nodes();
    case Level::kNode:
      return ranks() > nodes();
    case Level::kNetwork:
      return nodes() > 1;
  }
  return true;
}

bool Placement::knows_sockets() const {
  return std::any_of(places_.begin(), places_.end(),
                     [](const Place& place) { return place.socket != kNoSocket; });
}

Placement PlacementRule::place(const Placement& recorded) const {
  Placement placed = on_nodes(recorded);
  if (sockets > 0) placed = placed.on_sockets(sockets);
  if (shuffle) placed = placed.shuffled(*shuffle);
  return nodes.empty() ? placed : placed.on_network(nodes);
}

Placement PlacementRule::on_nodes(const Placement& recorded) const {
  switch (kind) {
    case Kind::kRecorded:
      return recorded;
    case Kind::kBlocks:
      return Placement::blocks(recorded.ranks(), count);
    case Kind::kRoundRobin:
      if (const int most = (recorded.ranks() - 1) / count + 1; per_node > 0 && most > per_node)
        throw InputError("placement=roundrobin:" + std::to_string(count) + " puts " +
                         std::to_string(most) +
                         " ranks on a node, more than ppn=" + std::to_string(per_node));
      return Placement::round_robin(recorded.ranks(), count);
    case Kind::kFixed:
      return *fixed;
    case Kind::kHosts:
      break;
  }
  if (static_cast<int>(hosts.size()) != recorded.ranks()) {
    throw InputError(file + ": has hosts for " + std::to_string(hosts.size()) +
                     " ranks, but the run has " + std::to_string(recorded.ranks()));
  }
  return Placement::by_hosts(hosts, slots);
}

PlacementRule read_placement(const std::string& path) {
  std::istringstream file(text_of_file(path, "the file with the hosts", size_t{256} << 20));
  std::map<int, RankLine> line_of_rank;
  bool is_rankfile = false;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string place = path + ":" + std::to_string(number) + ": ";
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty()) continue;
    const bool names_rank = line.rfind("rank ", 0) == 0 || line.rfind("rank\t", 0) == 0;
    if (line_of_rank.empty()) is_rankfile = names_rank;
    if (names_rank != is_rankfile) {
      throw InputError(place + (is_rankfile ? "a rankfile has 'rank N=HOST slot=...' in each line"
                                            : "write a host in each line, or 'rank N=' in all"));
    }
    if (is_rankfile) {
      const RankLine named = parse_rank_line(line, place);
      if (!line_of_rank.emplace(named.rank, named).second) {
        throw InputError(place + "rank " + std::to_string(named.rank) + " is listed twice");
      }
    } else {
      if (line.find_first_of(" \t=") != std::string::npos) {
        throw InputError(place + "'" + line +
                         "' is not a host; write the host of one rank in each line");
      }
      const int rank = static_cast<int>(line_of_rank.size());
      line_of_rank.emplace(rank, RankLine{rank, line, kNoSocket});
    }
  }
  if (line_of_rank.empty()) throw InputError(path + ": there are no hosts in it");
  PlacementRule rule;
  rule.kind = PlacementRule::Kind::kHosts;
  rule.file = path;
  for (const auto& [rank, named] : line_of_rank) {
    const int expected = static_cast<int>(rule.hosts.size());
    if (rank != expected)
      throw InputError(path + ": rank " + std::to_string(expected) + " is missing");
    rule.hosts.push_back(named.host);
    rule.slots.push_back(named.socket);
  }
  return rule;
}

}  // namespace rubato
