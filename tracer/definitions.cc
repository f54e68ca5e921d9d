#include "tracer/definitions.h"

#include <algorithm>
#include <map>

namespace rubato {
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

std::string ProcessReport::pack() const {
  Packer packer;
  packer.put(used.size());
  for (const bool is_used : used) packer.put(is_used);
  packer.put(communicators.size());
  for (const CommunicatorReport& c : communicators) c.pack(packer);
  return packer.bytes();
}

ProcessReport ProcessReport::unpack(const std::string& bytes) {
  ProcessReport report;
  Unpacker from(bytes);
  report.used.resize(from.value());
  for (size_t i = 0; i < report.used.size(); ++i) report.used[i] = from.value() != 0;
  for (uint64_t count = from.value(); count > 0; --count) {
    report.communicators.push_back(CommunicatorReport::unpack(from));
  }
  return report;
}

std::string Numbering::pack() const {
  Packer packer;
  packer.put(region.size());
  for (const uint32_t number : region) packer.put(number);
  packer.put(identities.size());
  for (const uint64_t identity : identities) packer.put(identity);
  return packer.bytes();
}

Numbering Numbering::unpack(const std::string& bytes) {
  Numbering numbering;
  Unpacker from(bytes);
  numbering.region.resize(from.value());
  for (uint32_t& number : numbering.region) number = static_cast<uint32_t>(from.value());
  numbering.identities.resize(from.value());
  for (uint64_t& identity : numbering.identities) identity = from.value();
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
  return definitions;
}

Translation translate(const std::vector<CommunicatorReport>& own, const Numbering& numbering) {
  Translation translation;
  translation.region = numbering.region;
  std::map<uint64_t, uint32_t> number;
  std::vector<uint32_t> alone;
  for (uint32_t i = 0; i < numbering.identities.size(); ++i) {
    if (numbering.identities[i] == 0) {
      alone.push_back(i);
    } else {
      number.emplace(numbering.identities[i], i);
    }
  }
  size_t alone_here = 0;
  for (const CommunicatorReport& c : own) {
    uint32_t id = kNone;
    if (c.self_like) {
      if (alone_here < alone.size()) id = alone[alone_here];
      ++alone_here;
    } else if (const auto found = number.find(c.identity); found != number.end()) {
      id = found->second;
    }
    if (translation.global_id.size() <= c.id) translation.global_id.resize(c.id + 1, kNone);
    translation.global_id[c.id] = id;
  }
  return translation;
}

}  // namespace rubato
