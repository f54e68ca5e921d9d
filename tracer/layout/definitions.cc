#include "tracer/layout/definitions.h"

#include <algorithm>
#include <map>
#include <set>

namespace rubato {
inline namespace tracing {
namespace {

/// Numbers groups, equal ones once.
class Groups {
 public:
  explicit Groups(std::vector<std::vector<int>>& list) : list_(list) { list_.resize(2); }
  uint32_t number(const std::vector<int>& members) {
    const auto [place, is_new] = known_.try_emplace(members, static_cast<uint32_t>(list_.size()));
    if (is_new) list_.push_back(members);
    return place->second;
  }

 private:
  std::vector<std::vector<int>>& list_;
  std::map<std::vector<int>, uint32_t> known_;
};

/// Each communicator once, parents before children, the world in front.
std::vector<CommunicatorReport> in_order(const std::vector<ProcessReport>& reports) {
  std::vector<CommunicatorReport> list;
  std::map<uint64_t, uint64_t> parent_of;
  for (const ProcessReport& process : reports) {
    for (const CommunicatorReport& c : process.communicators) {
      if (c.self_like || !c.recordable) continue;
      if (!parent_of.emplace(c.identity, c.parent).second) continue;
      list.push_back(c);
      // Group A of an intercommunicator is the one whose first member comes first in the world.
      CommunicatorReport& added = list.back();
      if (!added.remote_members.empty() && added.remote_members.front() < added.members.front()) {
        std::swap(added.members, added.remote_members);
      }
    }
  }
  const auto depth = [&](const CommunicatorReport& c) {
    int steps = 0;
    auto parent = parent_of.find(c.parent);
    while (parent != parent_of.end() && steps < 1000) {
      ++steps;
      parent = parent_of.find(parent->second);
    }
    return steps;
  };
  std::vector<std::pair<int, size_t>> order;  // depth, then the order of ranks and of creation
  for (size_t i = 0; i < list.size(); ++i) {
    order.emplace_back(list[i].identity == 1 ? -1 : depth(list[i]), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<CommunicatorReport> sorted;
  for (const auto& [unused, i] : order) sorted.push_back(std::move(list[i]));
  return sorted;
}

/// The shared definitions of the communicators of one process alone.
std::vector<CommunicatorDefinition> self_like(const std::vector<ProcessReport>& reports) {
  std::vector<CommunicatorDefinition> alone;
  for (const ProcessReport& process : reports) {
    size_t count = 0;
    for (const CommunicatorReport& c : process.communicators) {
      if (!c.self_like) continue;
      if (count >= alone.size()) alone.push_back({c.name, kSelfGroup, kNone, kNone, true});
      alone[count].has_events = alone[count].has_events && c.has_events;
      ++count;
    }
  }
  return alone;
}

/// Windows: those of one process alone are shared like communicators, the others come once each.
void arrange_windows(const std::vector<ProcessReport>& reports,
                     const std::map<uint64_t, uint32_t>& communicators, Definitions& definitions,
                     Numbering& numbering) {
  const auto shared = std::find(numbering.identities.begin(), numbering.identities.end(), 0);
  const auto self = static_cast<uint32_t>(shared - numbering.identities.begin());
  for (const ProcessReport& process : reports) {
    size_t count = 0;
    for (const WindowReport& w : process.windows) {
      if (!w.self_like || count++ < definitions.windows.size()) continue;
      definitions.windows.push_back({w.name, self});
    }
  }
  numbering.windows.assign(definitions.windows.size(), 0);
  std::set<uint64_t> known;
  for (const ProcessReport& process : reports) {
    for (const WindowReport& w : process.windows) {
      const auto over = communicators.find(w.communicator);
      if (w.self_like || !w.recordable || over == communicators.end()) continue;
      if (!known.insert(w.identity).second) continue;
      definitions.windows.push_back({w.name, over->second});
      numbering.windows.push_back(w.identity);
    }
  }
}

/// Numbers of identities; identities of 0 share numbers, in their order.
class Numbers {
 public:
  explicit Numbers(const std::vector<uint64_t>& identities) {
    for (uint32_t i = 0; i < identities.size(); ++i) {
      if (identities[i] == 0) {
        shared_.push_back(i);
      } else {
        own_.emplace(identities[i], i);
      }
    }
  }
  uint32_t own(uint64_t identity) const {
    const auto found = own_.find(identity);
    return found == own_.end() ? kNone : found->second;
  }
  uint32_t next_shared() { return used_ < shared_.size() ? shared_[used_++] : kNone; }

 private:
  std::map<uint64_t, uint32_t> own_;
  std::vector<uint32_t> shared_;
  size_t used_ = 0;
};

/// Each place once, in the order of ranks; the first is number `first`.
void number_places(const std::vector<CodePlace>& reported, uint32_t first,
                   std::vector<CodePlace>& definitions, std::map<CodePlace, uint32_t>& numbers) {
  for (const CodePlace& place : reported) {
    const auto next = first + static_cast<uint32_t>(definitions.size());
    if (numbers.try_emplace(place, next).second) definitions.push_back(place);
  }
}

void translate_places(const CodePlaces& own, const std::map<CodePlace, uint32_t>& numbers,
                      std::unordered_map<uint64_t, uint32_t>& result) {
  for (const auto& [address, index] : own.at) {
    const auto found = numbers.find(own.list[index]);
    if (found != numbers.end()) result[address] = found->second;
  }
}

}  // namespace

void CommunicatorReport::pack(Packer& packer) const {
  packer.put(id);
  packer.put(identity);
  packer.put(parent);
  packer.put(name);
  packer.put(has_events);
  packer.put(recordable);
  packer.put(self_like);
  packer.put(members);
  packer.put(remote_members);
}

CommunicatorReport CommunicatorReport::unpack(Unpacker& from) {
  CommunicatorReport c;
  c.id = static_cast<uint32_t>(from.value());
  c.identity = from.value();
  c.parent = from.value();
  c.name = from.text();
  c.has_events = from.value() != 0;
  c.recordable = from.value() != 0;
  c.self_like = from.value() != 0;
  c.members = from.list();
  c.remote_members = from.list();
  return c;
}

void WindowReport::pack(Packer& packer) const {
  packer.put(id);
  packer.put(identity);
  packer.put(communicator);
  packer.put(self_like);
  packer.put(recordable);
  packer.put(name);
}

WindowReport WindowReport::unpack(Unpacker& from) {
  WindowReport w;
  w.id = static_cast<uint32_t>(from.value());
  w.identity = from.value();
  w.communicator = from.value();
  w.self_like = from.value() != 0;
  w.recordable = from.value() != 0;
  w.name = from.text();
  return w;
}

void TopologyReport::pack(Packer& packer) const {
  packer.put(communicator);
  packer.put(rank);
  topology.pack(packer);
}

TopologyReport TopologyReport::unpack(Unpacker& from) {
  TopologyReport t;
  t.communicator = static_cast<uint32_t>(from.value());
  t.rank = static_cast<uint32_t>(from.value());
  t.topology = Topology::unpack(from);
  return t;
}

void CodePlace::pack(Packer& packer) const {
  packer.put(name);
  packer.put(symbol);
  packer.put(file);
  packer.put(line);
}

CodePlace CodePlace::unpack(Unpacker& from) {
  CodePlace place;
  place.name = from.text();
  place.symbol = from.text();
  place.file = from.text();
  place.line = static_cast<uint32_t>(from.value());
  return place;
}

void Reach::add(const Reach& other) {
  const auto merge = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
  };
  merge(ways, other.ways);
  merge(unwatched, other.unwatched);
}

void Reach::pack(Packer& packer) const {
  for (const auto* words : {&ways, &unwatched}) {
    packer.put(words->size());
    for (const std::string& word : *words) packer.put(word);
  }
}

Reach Reach::unpack(Unpacker& from) {
  Reach reach;
  for (auto* words : {&reach.ways, &reach.unwatched}) {
    for (uint64_t count = from.value(); count > 0; --count) words->push_back(from.text());
  }
  return reach;
}

std::string ProcessReport::pack() const {
  Packer packer;
  reach.pack(packer);
  packer.put(used.size());
  for (const bool is_used : used) packer.put(is_used);
  packer.put(communicators.size());
  for (const CommunicatorReport& c : communicators) c.pack(packer);
  packer.put(windows.size());
  for (const WindowReport& w : windows) w.pack(packer);
  packer.put(groups.size());
  for (const auto& group : groups) packer.put(group);
  packer.put(topologies.size());
  for (const TopologyReport& t : topologies) t.pack(packer);
  for (const CodePlaces* places : {&functions, &call_sites, &callbacks}) {
    packer.put(places->list.size());
    for (const CodePlace& place : places->list) place.pack(packer);
  }
  packer.put(has_functions);
  return packer.bytes();
}

ProcessReport ProcessReport::unpack(const std::string& bytes) {
  ProcessReport report;
  Unpacker from(bytes);
  report.reach = Reach::unpack(from);
  report.used.resize(from.value());
  for (size_t i = 0; i < report.used.size(); ++i) report.used[i] = from.value() != 0;
  for (uint64_t count = from.value(); count > 0; --count) {
    report.communicators.push_back(CommunicatorReport::unpack(from));
  }
  for (uint64_t count = from.value(); count > 0; --count) {
    report.windows.push_back(WindowReport::unpack(from));
  }
  for (uint64_t count = from.value(); count > 0; --count) report.groups.push_back(from.list());
  for (uint64_t count = from.value(); count > 0; --count) {
    report.topologies.push_back(TopologyReport::unpack(from));
  }
  for (CodePlaces* places : {&report.functions, &report.call_sites, &report.callbacks}) {
    for (uint64_t count = from.value(); count > 0; --count) {
      places->list.push_back(CodePlace::unpack(from));
    }
  }
  report.has_functions = from.value() != 0;
  return report;
}

std::string Numbering::pack() const {
  Packer packer;
  packer.put(region.size());
  for (const uint32_t number : region) packer.put(number);
  packer.put(identities.size());
  for (const uint64_t identity : identities) packer.put(identity);
  packer.put(windows.size());
  for (const uint64_t identity : windows) packer.put(identity);
  packer.put(groups.size());
  for (const auto& [members, number] : groups) {
    packer.put(members);
    packer.put(number);
  }
  for (const auto* places : {&functions, &call_sites, &callbacks}) {
    packer.put(places->size());
    for (const auto& [place, number] : *places) {
      place.pack(packer);
      packer.put(number);
    }
  }
  return packer.bytes();
}

Numbering Numbering::unpack(const std::string& bytes) {
  Numbering numbering;
  Unpacker from(bytes);
  numbering.region.resize(from.value());
  for (uint32_t& number : numbering.region) number = static_cast<uint32_t>(from.value());
  numbering.identities.resize(from.value());
  for (uint64_t& identity : numbering.identities) identity = from.value();
  numbering.windows.resize(from.value());
  for (uint64_t& identity : numbering.windows) identity = from.value();
  for (uint64_t count = from.value(); count > 0; --count) {
    auto members = from.list();
    numbering.groups[std::move(members)] = static_cast<uint32_t>(from.value());
  }
  for (auto* places : {&numbering.functions, &numbering.call_sites, &numbering.callbacks}) {
    for (uint64_t count = from.value(); count > 0; --count) {
      CodePlace place = CodePlace::unpack(from);
      (*places)[std::move(place)] = static_cast<uint32_t>(from.value());
    }
  }
  return numbering;
}

Definitions arrange(const std::vector<ProcessReport>& reports, Numbering& numbering) {
  size_t calls = 0;
  for (const ProcessReport& process : reports) calls = std::max(calls, process.used.size());
  numbering.region.assign(calls, kNone);
  uint32_t regions = 0;
  for (size_t i = 0; i < calls; ++i) {
    const bool used = std::any_of(reports.begin(), reports.end(), [i](const ProcessReport& p) {
      return i < p.used.size() && p.used[i];
    });
    if (used) numbering.region[i] = regions++;
  }

  Definitions definitions;
  for (const ProcessReport& process : reports) {
    definitions.reach.add(process.reach);
    definitions.has_functions |= process.has_functions;
  }
  Groups groups(definitions.groups);
  std::map<uint64_t, uint32_t> number;
  const auto alone = self_like(reports);
  const auto add_alone = [&] {  // behind the world: MPI_COMM_SELF and its like
    definitions.communicators.insert(definitions.communicators.end(), alone.begin(), alone.end());
    numbering.identities.resize(numbering.identities.size() + alone.size(), 0);
  };
  numbering.identities.clear();
  for (const CommunicatorReport& c : in_order(reports)) {
    if (numbering.identities.empty() && c.identity != 1) add_alone();  // no world was seen
    const auto parent = number.find(c.parent);
    const bool inter = !c.remote_members.empty();
    number[c.identity] = static_cast<uint32_t>(numbering.identities.size());
    numbering.identities.push_back(c.identity);
    definitions.communicators.push_back(
        {c.name, groups.number(c.members), inter ? groups.number(c.remote_members) : kNone,
         parent == number.end() ? kNone : parent->second, c.has_events});
    if (c.identity == 1) add_alone();
  }
  if (numbering.identities.empty()) add_alone();
  arrange_windows(reports, number, definitions, numbering);
  for (const ProcessReport& process : reports) {
    for (const auto& group : process.groups) numbering.groups[group] = groups.number(group);
    number_places(process.functions.list, regions, definitions.functions, numbering.functions);
    number_places(process.call_sites.list, 0, definitions.call_sites, numbering.call_sites);
    number_places(process.callbacks.list, 0, definitions.callbacks, numbering.callbacks);
  }
  return definitions;
}

Translation translate(const ProcessReport& own, const Numbering& numbering) {
  Translation translation;
  translation.region = numbering.region;
  const auto set = [](std::vector<uint32_t>& list, uint32_t local, uint32_t global) {
    if (list.size() <= local) list.resize(local + 1, kNone);
    list[local] = global;
  };
  Numbers communicators(numbering.identities);
  std::map<uint64_t, uint32_t> peers_of;  // by identity
  for (const CommunicatorReport& c : own.communicators) {
    set(translation.global_id, c.id,
        c.self_like ? communicators.next_shared() : communicators.own(c.identity));
    const std::vector<int>& others = c.remote_members.empty() ? c.members : c.remote_members;
    const uint32_t peers = c.self_like      ? 1
                           : others.empty() ? kNone
                                            : static_cast<uint32_t>(others.size());
    set(translation.peers, c.id, peers);
    if (!c.self_like) peers_of[c.identity] = peers;
  }
  Numbers windows(numbering.windows);
  for (const WindowReport& w : own.windows) {
    set(translation.global_window, w.id,
        w.self_like ? windows.next_shared() : windows.own(w.identity));
    const auto found = peers_of.find(w.communicator);
    set(translation.window_peers, w.id,
        w.self_like               ? 1
        : found == peers_of.end() ? kNone
                                  : found->second);
  }
  for (const auto& group : own.groups) {
    const auto found = numbering.groups.find(group);
    translation.global_group.push_back(found == numbering.groups.end() ? kNone : found->second);
  }
  translate_places(own.functions, numbering.functions, translation.function);
  translate_places(own.call_sites, numbering.call_sites, translation.call_site);
  translate_places(own.callbacks, numbering.callbacks, translation.callback);
  translation.call_paths = own.call_paths;
  translation.threads = own.threads;
  translation.first_contingent = numbering.first_contingent();
  return translation;
}

}  // namespace tracing
}  // namespace rubato
