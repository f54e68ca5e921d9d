#include "tracer/objects/communicators.h"

#include <deque>
#include <map>
#include <mutex>
#include <numeric>

#include "tracer/layout/journal.h"
#include "tracer/layout/record.h"
#include "tracer/objects/handle_table.h"
#include "tracer/objects/topology_query.h"

namespace rubato::tracing::communicators {
namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u ^ b;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

std::mutex mutex;
HandleTable<Communicator> table;  // writers hold `mutex`
std::deque<Communicator>* entries = nullptr;
std::map<uint64_t, uint32_t>* made_by_members = nullptr;  // per set of members
Communicator* world_entry = nullptr;
MPI_Group world_group;

void bind(MPI_Comm comm, Communicator* entry) {
  if (entry != nullptr) entry->handle = handle_bits(comm);
  table.bind(handle_bits(comm), entry);
}

/// World ranks of a group, in its order; `all_known` becomes false for processes of another job.
Members translate(MPI_Group group, bool& all_known) {
  int size = 0;
  PMPI(Group_size)(group, &size);
  std::vector<int> ranks(static_cast<size_t>(size));
  std::vector<int> world_ranks(ranks.size());
  for (int i = 0; i < size; ++i) ranks[static_cast<size_t>(i)] = i;
  PMPI(Group_translate_ranks)(group, size, ranks.data(), world_group, world_ranks.data());
  for (const int rank : world_ranks) all_known = all_known && rank != MPI_UNDEFINED;
  PMPI(Group_free)(&group);
  return std::make_shared<const std::vector<int>>(std::move(world_ranks));
}

/// Members of `comm`; those of a known communicator if it has the same in the same order.
Members members_of(MPI_Comm comm, const Communicator* likely, bool& all_known) {
  MPI_Group group;
  PMPI(Comm_group)(comm, &group);
  Members members = translate(group, all_known);
  if (likely != nullptr && *likely->members == *members) return likely->members;
  return members;
}

uint64_t hash(const Members& members) {
  uint64_t value = 0x5275626174;
  if (members != nullptr) {
    for (const int rank : *members) value = mix(value, static_cast<uint64_t>(rank));
  }
  return value;
}

/// Same from both sides of an intercommunicator.
uint64_t hash_of_all(const Communicator& entry) {
  const uint64_t own = hash(entry.members);
  return entry.inter() ? own + hash(entry.remote_members) : own;
}

/// Enters a communicator with MPI's information about it; the caller sets the identity.
Communicator* enter(MPI_Comm comm, const Communicator* likely) {
  Communicator entry;
  entry.id = static_cast<uint32_t>(entries->size());
  entry.recordable = entry.id <= kLastNumber;
  PMPI(Comm_rank)(comm, &entry.rank);
  PMPI(Comm_size)(comm, &entry.size);
  entry.members = members_of(comm, likely, entry.recordable);
  int inter = 0;
  PMPI(Comm_test_inter)(comm, &inter);
  if (inter != 0) {
    PMPI(Comm_remote_size)(comm, &entry.remote_size);
    MPI_Group group;
    PMPI(Comm_remote_group)(comm, &group);
    entry.remote_members = translate(group, entry.recordable);
  } else {
    entry.topology = topology_of(comm, entry.rank);
  }
  entries->push_back(std::move(entry));
  bind(comm, &entries->back());
  return &entries->back();
}

CommunicatorReport report(const Communicator& entry) {
  CommunicatorReport report;
  report.id = entry.id;
  report.identity = entry.identity;
  report.parent = entry.parent;
  report.name = entry.name;
  report.has_events = entry.has_events;
  report.recordable = entry.recordable;
  report.self_like = entry.self_like();
  report.members = *entry.members;
  if (entry.inter()) report.remote_members = *entry.remote_members;
  return report;
}

TopologyReport topology_report(const Communicator& entry) {
  return {entry.id, static_cast<uint32_t>(entry.rank), *entry.topology};
}

/// Call it when a new entry is complete.
Communicator* entered(Communicator* entry, bool has_events) {
  entry->has_events = has_events;
  journal::communicator(report(*entry));
  if (entry->topology != nullptr) journal::topology(topology_report(*entry));
  return entry;
}

Communicator* enter_by_members(MPI_Comm comm, bool has_events, int tag = 0) {
  Communicator* entry = enter(comm, world_entry);
  const uint64_t all = hash_of_all(*entry) + static_cast<uint64_t>(tag);
  entry->identity = mix(all, ++(*made_by_members)[all]);
  return entered(entry, has_events);
}

}  // namespace

void start() {
  const std::lock_guard lock(mutex);
  entries = new std::deque<Communicator>;
  made_by_members = new std::map<uint64_t, uint32_t>;
  PMPI(Comm_group)(handles.world, &world_group);
  world_entry = enter(handles.world, nullptr);
  world_entry->identity = 1;
  world_entry->name = "MPI_COMM_WORLD";
  Communicator* self = enter(handles.self, nullptr);
  self->identity = 2;
  self->name = "MPI_COMM_SELF";
  entered(world_entry, true);
  entered(self, true);
}

void start_without_world(MPI_Group group) {
  const std::lock_guard lock(mutex);
  entries = new std::deque<Communicator>;
  made_by_members = new std::map<uint64_t, uint32_t>;
  world_group = group;
  Communicator world;
  world.id = kWorld;
  world.identity = 1;
  world.name = "mpi://WORLD";
  PMPI(Group_rank)(group, &world.rank);
  PMPI(Group_size)(group, &world.size);
  std::vector<int> all(static_cast<size_t>(world.size));
  std::iota(all.begin(), all.end(), 0);
  world.members = std::make_shared<const std::vector<int>>(std::move(all));
  Communicator self;
  self.id = kSelf;
  self.identity = 2;
  self.name = "mpi://SELF";
  self.members = std::make_shared<const std::vector<int>>(1, world.rank);
  entries->push_back(std::move(world));
  entries->push_back(std::move(self));
  world_entry = &(*entries)[kWorld];
  bind(handles.self, &(*entries)[kSelf]);
  entered(world_entry, false);
  entered(&(*entries)[kSelf], false);
}

void use_world_group(MPI_Group group) {
  const std::lock_guard lock(mutex);
  world_group = group;
}

void know_world() {
  const std::lock_guard lock(mutex);
  PMPI(Comm_group)(handles.world, &world_group);
  Communicator& self = (*entries)[kSelf];
  world_entry->has_events = self.has_events = true;
  world_entry->name = "MPI_COMM_WORLD";
  self.name = "MPI_COMM_SELF";
}

Communicator* find(MPI_Comm comm) {
  if (comm == handles.world) return world_entry;
  if (Communicator* entry = table.find(handle_bits(comm))) return entry;
  const std::lock_guard lock(mutex);
  // Another thread may have been here meanwhile.
  if (Communicator* entry = table.find(handle_bits(comm))) return entry;
  return enter_by_members(comm, false);
}

Communicator* known(MPI_Comm comm) {
  return table.find(handle_bits(comm));
}

Communicator* by_id(uint32_t id) {
  const std::lock_guard lock(mutex);
  return &(*entries)[id];
}

uint32_t next_child(Communicator* parent) {
  const std::lock_guard lock(mutex);
  return ++parent->children;
}

Communicator* created(Communicator* parent, MPI_Comm comm, uint32_t child) {
  if (comm == handles.comm_null) return nullptr;
  const std::lock_guard lock(mutex);
  Communicator* entry = enter(comm, parent);
  entry->identity = mix(mix(parent->identity, child), hash_of_all(*entry));
  entry->parent = parent->identity;
  return entered(entry, true);
}

Communicator* created_by_members(MPI_Comm comm, int tag) {
  if (comm == handles.comm_null) return nullptr;
  const std::lock_guard lock(mutex);
  return enter_by_members(comm, true, tag);
}

void forget(MPI_Comm comm) {
  restore(comm, nullptr);
}

void restore(MPI_Comm comm, Communicator* entry) {
  const std::lock_guard lock(mutex);
  bind(comm, entry);
}

void world_ranks(MPI_Group group, std::vector<int>& ranks) {
  thread_local std::vector<int> own_ranks;
  int size = 0;
  PMPI(Group_size)(group, &size);
  const auto n = static_cast<size_t>(size);
  for (size_t i = own_ranks.size(); i < n; ++i) own_ranks.push_back(static_cast<int>(i));
  ranks.resize(n);
  PMPI(Group_translate_ranks)(group, size, own_ranks.data(), world_group, ranks.data());
}

void set_name(MPI_Comm comm, const char* name) {
  Communicator* entry = find(comm);
  const std::lock_guard lock(mutex);
  entry->name = name;
  journal::communicator_name(entry->id, entry->name);
}

std::vector<CommunicatorReport> reports() {
  const std::lock_guard lock(mutex);
  std::vector<CommunicatorReport> list;
  for (const Communicator& entry : *entries) list.push_back(report(entry));
  return list;
}

std::vector<TopologyReport> topologies() {
  const std::lock_guard lock(mutex);
  std::vector<TopologyReport> list;
  for (const Communicator& entry : *entries) {
    if (entry.topology != nullptr) list.push_back(topology_report(entry));
  }
  return list;
}

}  // namespace rubato::tracing::communicators
