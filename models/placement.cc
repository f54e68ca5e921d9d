#include "models/placement.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "models/error.h"

namespace rubato {
namespace {

constexpr int kMostRanks = 1 << 24;

/// Takes "rank 12=host" apart; what follows the host (slots) does not matter.
std::pair<int, std::string> parse_rank_line(const std::string& line, const std::string& place) {
  const size_t equals = line.find('=');
  const char* begin = line.data() + line.find_first_not_of(" \t", 4);
  const char* end = line.data() + std::min(equals, line.size());
  int rank = -1;
  const auto result = std::from_chars(begin, end, rank);
  while (result.ec == std::errc() && end > result.ptr && std::isspace(end[-1])) --end;
  std::string host;
  if (equals != std::string::npos) std::istringstream(line.substr(equals + 1)) >> host;
  if (result.ec != std::errc() || result.ptr != end || rank < 0 || rank >= kMostRanks ||
      host.empty() || host.rfind("slot", 0) == 0) {
    throw InputError(place + "'" + line + "' is no line of a rankfile; write rank N=HOST slot=...");
  }
  return {rank, host};
}

}  // namespace

Placement Placement::blocks(int ranks, int per_node) {
  std::vector<int> node_of_rank(ranks);
  for (int rank = 0; rank < ranks; ++rank) node_of_rank[rank] = rank / per_node;
  return Placement(std::move(node_of_rank));
}

Placement Placement::round_robin(int ranks, int nodes) {
  std::vector<int> node_of_rank(ranks);
  for (int rank = 0; rank < ranks; ++rank) node_of_rank[rank] = rank % nodes;
  return Placement(std::move(node_of_rank));
}

Placement Placement::by_hosts(const std::vector<std::string>& host_of_rank) {
  std::map<std::string, int> nodes;
  std::vector<int> node_of_rank;
  for (const std::string& host : host_of_rank)
    node_of_rank.push_back(nodes.emplace(host, static_cast<int>(nodes.size())).first->second);
  return Placement(std::move(node_of_rank));
}

int Placement::nodes() const {
  return static_cast<int>(std::set<int>(node_of_rank_.begin(), node_of_rank_.end()).size());
}

Placement PlacementRule::place(const Placement& recorded) const {
  switch (kind) {
    case Kind::kRecorded:
      return recorded;
    case Kind::kBlocks:
      return Placement::blocks(recorded.ranks(), count);
    case Kind::kRoundRobin:
      return Placement::round_robin(recorded.ranks(), count);
    case Kind::kHosts:
      break;
  }
  if (static_cast<int>(hosts.size()) != recorded.ranks()) {
    throw InputError(file + ": has hosts for " + std::to_string(hosts.size()) +
                     " ranks, but the run has " + std::to_string(recorded.ranks()));
  }
  return Placement::by_hosts(hosts);
}

PlacementRule read_placement(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(path + ": cannot be read; is it the file with the hosts?");
  std::map<int, std::string> host_of_rank;
  bool is_rankfile = false;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string place = path + ":" + std::to_string(number) + ": ";
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty()) continue;
    const bool names_rank = line.rfind("rank ", 0) == 0 || line.rfind("rank\t", 0) == 0;
    if (host_of_rank.empty()) is_rankfile = names_rank;
    if (names_rank != is_rankfile) {
      throw InputError(place + (is_rankfile ? "a rankfile has 'rank N=HOST slot=...' in each line"
                                            : "write a host in each line, or 'rank N=' in all"));
    }
    if (is_rankfile) {
      const auto [rank, host] = parse_rank_line(line, place);
      if (!host_of_rank.emplace(rank, host).second)
        throw InputError(place + "rank " + std::to_string(rank) + " stands here a second time");
    } else {
      if (line.find_first_of(" \t=") != std::string::npos) {
        throw InputError(place + "'" + line +
                         "' is not a host; write the host of one rank in each line");
      }
      host_of_rank.emplace(static_cast<int>(host_of_rank.size()), line);
    }
  }
  if (host_of_rank.empty()) throw InputError(path + ": there are no hosts in it");
  PlacementRule rule;
  rule.kind = PlacementRule::Kind::kHosts;
  rule.file = path;
  for (const auto& [rank, host] : host_of_rank) {
    const int expected = static_cast<int>(rule.hosts.size());
    if (rank != expected)
      throw InputError(path + ": rank " + std::to_string(expected) + " is missing");
    rule.hosts.push_back(host);
  }
  return rule;
}

}  // namespace rubato
