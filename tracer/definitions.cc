#include "tracer/definitions.h"

#include <algorithm>
#include <map>

#include "tracer/gather.h"

namespace rubato {
namespace {

/// What the first member of a communicator tells rank 0.
struct Report {
  uint64_t identity;
  uint64_t parent;
  std::string name;
  bool has_events;
  std::vector<int> members;
  std::vector<int> remote_members;
  int depth = 0;  ///< how many parents it has above it
};

/// The side of an intercommunicator that is called A, and reports it, is the one whose first member
/// comes first in MPI_COMM_WORLD.
bool reported_here(const Communicator& c, int world_rank) {
  if (!c.recordable || c.self_like() || c.members->front() != world_rank) return false;
  return !c.inter() || c.members->front() < c.remote_members->front();
}

std::string pack_reports(const std::vector<Communicator*>& communicators, int world_rank,
                         const std::vector<bool>& used) {
  Packer packer;
  for (const bool is_used : used) packer.put(is_used);
  std::vector<const Communicator*> own, alone;
  for (const Communicator* c : communicators) {
    if (reported_here(*c, world_rank)) own.push_back(c);
    if (c->self_like()) alone.push_back(c);
  }
  packer.put(alone.size());
  for (const Communicator* c : alone) {
    packer.put(c->name);
    packer.put(c->has_events);
  }
  packer.put(own.size());
  for (const Communicator* c : own) {
    packer.put(c->identity);
    packer.put(c->parent);
    packer.put(c->name);
    packer.put(c->has_events);
    packer.put(*c->members);
    packer.put(c->inter() ? *c->remote_members : std::vector<int>());
  }
  return packer.bytes();
}

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

/// Rank 0: everything that was reported, in its final order; fills the list of definitions and
/// returns the identities in the same order (0 for the self-like ones).
std::vector<uint64_t> arrange(const std::vector<std::string>& parts, Definitions& definitions,
                              std::vector<bool>& used) {
  std::vector<Report> reports;
  std::vector<CommunicatorDefinition> alone;
  for (const std::string& part : parts) {
    Unpacker from(part);
    for (size_t i = 0; i < used.size(); ++i) {
      if (from.value() != 0) used[i] = true;
    }
    const size_t alone_here = from.value();
    for (size_t i = 0; i < alone_here; ++i) {
      const std::string name = from.text();
      const bool has_events = from.value() != 0;
      if (i >= alone.size()) alone.push_back({name, kSelfGroup, kNone, kNone, true});
      alone[i].has_events = alone[i].has_events && has_events;
    }
    const size_t own = from.value();
    for (size_t i = 0; i < own; ++i) {
      Report report;
      report.identity = from.value();
      report.parent = from.value();
      report.name = from.text();
      report.has_events = from.value() != 0;
      report.members = from.list();
      report.remote_members = from.list();
      reports.push_back(std::move(report));
    }
  }

  std::map<uint64_t, const Report*> by_identity;
  for (const Report& report : reports) by_identity[report.identity] = &report;
  for (Report& report : reports) {
    auto parent = by_identity.find(report.parent);
    while (parent != by_identity.end() && report.depth < 1000) {
      ++report.depth;
      parent = by_identity.find(parent->second->parent);
    }
  }
  // Stable: within one depth the order stays that of ranks and of their creation.
  std::stable_sort(reports.begin(), reports.end(),
                   [](const Report& a, const Report& b) { return a.depth < b.depth; });
  const auto world =
      std::find_if(reports.begin(), reports.end(), [](const Report& r) { return r.identity == 1; });
  if (world != reports.end()) std::rotate(reports.begin(), world, world + 1);

  Groups groups(definitions.groups);
  std::map<uint64_t, uint32_t> number;
  std::vector<uint64_t> identities;
  for (const Report& report : reports) {
    const auto parent = number.find(report.parent);
    const bool inter = !report.remote_members.empty();
    number[report.identity] = static_cast<uint32_t>(identities.size());
    identities.push_back(report.identity);
    definitions.communicators.push_back({report.name, groups.number(report.members),
                                         inter ? groups.number(report.remote_members) : kNone,
                                         parent == number.end() ? kNone : parent->second,
                                         report.has_events});
    if (identities.size() == 1) {  // behind the world: MPI_COMM_SELF and its like
      definitions.communicators.insert(definitions.communicators.end(), alone.begin(), alone.end());
      identities.resize(1 + alone.size(), 0);
    }
  }
  return identities;
}

}  // namespace

Definitions unify(MPI_Comm comm, const std::vector<bool>& used_here) {
  int rank;
  PMPI(Comm_rank)(comm, &rank);
  const std::vector<Communicator*> communicators = communicators::all();
  const auto parts = gather(comm, pack_reports(communicators, rank, used_here));

  Definitions definitions;
  Packer agreed;
  if (rank == 0) {
    std::vector<bool> used(used_here.size());
    const auto identities = arrange(parts, definitions, used);
    for (const bool is_used : used) agreed.put(is_used);
    agreed.put(identities.size());
    for (const uint64_t identity : identities) agreed.put(identity);
  }
  const std::string bytes = broadcast(comm, agreed.bytes());
  Unpacker from(bytes);

  uint32_t regions = 0;
  for (size_t i = 0; i < used_here.size(); ++i) {
    definitions.region.push_back(from.value() != 0 ? regions++ : kNone);
  }
  std::map<uint64_t, uint32_t> number;
  const size_t count = from.value();
  for (uint32_t i = 0; i < count; ++i) number.try_emplace(from.value(), i);
  uint32_t alone = 1;
  for (const Communicator* c : communicators) {
    uint32_t id = kNone;
    if (c->self_like()) {
      id = alone++;
    } else if (const auto found = number.find(c->identity); found != number.end()) {
      id = found->second;
    }
    definitions.global_id.push_back(id);
  }
  return definitions;
}

}  // namespace rubato
