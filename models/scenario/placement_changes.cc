#include "models/scenario/placement_changes.h"

#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace rubato {
namespace {

/// A number above 0 that describes a placement.
int positive_count(const std::string& scenario, const std::string& number, bool is_well_formed,
                   const std::string& usage) {
  const int count = parse_count(number);
  if (!is_well_formed || count < 1)
    refuse(scenario, "write " + usage + " with a whole number above 0");
  return count;
}

/// Puts ranks on other nodes; sockets and nodes of the network stay.
void put_on(PlacementRule& rule, PlacementRule::Kind kind, int count) {
  rule.kind = kind;
  rule.count = count;
}

/// The seed of a random order.
uint64_t parse_seed(const std::string& scenario, const std::string& number,
                    const std::string& usage) {
  const int seed = parse_count(number);
  if (seed < 0) refuse(scenario, "write " + usage + " with a whole number from 0 on");
  return static_cast<uint64_t>(seed);
}

/// The numbers with which hosts end, in the order in which hosts are first named.
std::vector<int> numbers_of(const std::vector<std::string>& hosts, const std::string& file) {
  std::vector<int> numbers;
  std::set<std::string> named;
  std::set<int> seen;
  for (const std::string& host : hosts) {
    if (!named.insert(host).second) continue;
    const size_t digits = host.find_last_not_of("0123456789") + 1;  // 0 behind npos
    const int number = parse_count(host.substr(digits));
    if (number < 0 || !seen.insert(number).second) {
      throw InputError(file + ": '" + host + "' " +
                       (number < 0 ? "does not end with the number of a node"
                                   : "ends with the number of another host"));
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::vector<int> parse_nodes(const std::string& text) {
  constexpr int kMost = 1 << 24;
  std::vector<int> nodes;
  std::set<int> seen;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('+', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    int step = 1;
    if (const size_t slash = part.find('/'); slash != std::string::npos) {
      step = parse_count(part.substr(slash + 1));
      part.resize(slash);
    }
    const size_t dash = std::min(part.find('-'), part.size());
    const int first = parse_count(part.substr(0, dash));
    const int last = dash == part.size() ? first : parse_count(part.substr(dash + 1));
    if (first < 0 || last < first || last >= kMost || step < 1)
      throw InputError("'" + text + "' is no list of nodes; write it as in 0-15+32-60/4");
    for (int64_t node = first; node <= last; node += step) {
      if (!seen.insert(static_cast<int>(node)).second)
        throw InputError("node " + std::to_string(node) + " is named twice in '" + text + "'");
      nodes.push_back(static_cast<int>(node));
    }
  }
  return nodes;
}

void change_network_nodes(PlacementRule& rule, const ContentionSetting& network,
                          const std::string& text, const Change& change) {
  if (!network.model || !network.model->distances)
    refuse(text,
           "nodes= needs a network with a topology before it: network=NAME "
           "(share/doc/networks.md)");
  if (change.operation != '=') refuse(text, "write nodes=LIST");
  if (change.value == "hosts") {
    if (rule.kind != PlacementRule::Kind::kHosts)
      refuse(text, "nodes=hosts needs a file of hosts before it: placement=file:FILE");
    rule.nodes = numbers_of(rule.hosts, rule.file);
    return;
  }
  if (!change.value.starts_with("random:")) {
    rule.nodes = parse_nodes(change.value);
    return;
  }
  if (!network.model->nodes)
    refuse(text,
           std::string("nodes=random: a ") + network.model->name + " has as many nodes as the run");
  rule.nodes = drawn_order(network.model->nodes(network),
                           parse_seed(text, change.value.substr(7), "nodes=random:SEED"));
}

void change_placement(PlacementRule& rule, const std::string& text, const Change& change) {
  if (change.key == "ppn") {
    if (rule.per_node > 0) refuse(text, "ppn= is given twice");
    rule.per_node =
        positive_count(text, change.value, change.operation == '=', "ppn=RANKS_PER_NODE");
    put_on(rule, PlacementRule::Kind::kBlocks, rule.per_node);
    return;
  }
  if (change.key == "sockets") {
    if (rule.sockets > 0) refuse(text, "sockets= is given twice");
    rule.sockets =
        positive_count(text, change.value, change.operation == '=', "sockets=SOCKETS_PER_NODE");
    return;
  }
  const size_t colon = change.value.find(':');
  const std::string kind = change.value.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : change.value.substr(colon + 1);
  const bool is_set = change.operation == '=';
  // (random: draws the order of ranks on the nodes before it.)
  if (kind != "random") rule.shuffle.reset();
  if (kind == "block") rule.per_node = 0;
  if (is_set && kind == "block") {
    put_on(rule, PlacementRule::Kind::kBlocks,
           positive_count(text, rest, true, "placement=block:RANKS_PER_NODE"));
  } else if (is_set && kind == "roundrobin") {
    put_on(rule, PlacementRule::Kind::kRoundRobin,
           positive_count(text, rest, true, "placement=roundrobin:NODES"));
  } else if (is_set && kind == "random") {
    rule.shuffle = parse_seed(text, rest, "placement=random:SEED");
  } else if (is_set && kind == "file" && !rest.empty()) {
    PlacementRule read = read_placement(rest);
    std::tie(read.nodes, read.sockets) = std::tuple(rule.nodes, rule.sockets);
    rule = std::move(read);
  } else {
    refuse(text,
           "write placement=block:RANKS_PER_NODE, roundrobin:NODES, random:SEED or file:FILE" +
               did_you_mean(kind, {"block", "roundrobin", "random", "file"}));
  }
}

}  // namespace rubato
