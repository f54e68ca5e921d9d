#include "tracer/communicators.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include "tracer/journal.h"

namespace rubato::communicators {
namespace {

/// From handle to entry. Readers do not lock: a slot's key is set once and stays, its value comes
/// and goes; a full table is replaced by a larger one, and the old one is left to readers that may
/// still be looking at it. Writers hold `mutex`.
struct Slot {
  std::atomic<uint64_t> key{0};
  std::atomic<Communicator*> value{nullptr};
};
struct Table {
  explicit Table(size_t n) : capacity(n), slots(new Slot[n]) {}
  size_t capacity;
  size_t used = 0;
  Slot* slots;
};

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u ^ b;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

constexpr uint64_t kEmptyKey = UINT64_MAX;

std::mutex mutex;
std::atomic<Table*> table{nullptr};
std::deque<Communicator>* entries = nullptr;
std::map<uint64_t, uint32_t>* made_by_members = nullptr;  // per set of members
Communicator* world_entry = nullptr;
MPI_Group world_group;

Slot& slot_of(Table& in, uint64_t key) {
  size_t i = mix(1, key) & (in.capacity - 1);
  while (true) {
    Slot& slot = in.slots[i];
    const uint64_t found = slot.key.load(std::memory_order_acquire);
    if (found == key || found == kEmptyKey) return slot;
    i = (i + 1) & (in.capacity - 1);
  }
}

Table* new_table(size_t capacity) {
  auto* fresh = new Table(capacity);
  for (size_t i = 0; i < capacity; ++i) fresh->slots[i].key.store(kEmptyKey);
  return fresh;
}

void put(Table& into, uint64_t key, Communicator* value) {
  Slot& slot = slot_of(into, key);
  slot.value.store(value, std::memory_order_release);
  if (slot.key.load() == kEmptyKey) {
    slot.key.store(key, std::memory_order_release);
    ++into.used;
  }
}

void bind(MPI_Comm comm, Communicator* entry) {
  Table* now = table.load();
  if (2 * (now->used + 1) > now->capacity) {
    Table* larger = new_table(2 * now->capacity);
    for (size_t i = 0; i < now->capacity; ++i) {
      const Slot& slot = now->slots[i];
      if (slot.key.load() != kEmptyKey) put(*larger, slot.key.load(), slot.value.load());
    }
    table.store(larger, std::memory_order_release);
    now = larger;
  }
  put(*now, handle_bits(comm), entry);
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

/// Enters what MPI says about a communicator; identity is left to the caller.
Communicator* enter(MPI_Comm comm, const Communicator* likely) {
  Communicator entry;
  entry.id = static_cast<uint32_t>(entries->size());
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

/// Everything is known about a new entry.
Communicator* entered(Communicator* entry, bool has_events) {
  entry->has_events = has_events;
  journal::communicator(report(*entry));
  return entry;
}

Communicator* enter_by_members(MPI_Comm comm, bool has_events) {
  Communicator* entry = enter(comm, world_entry);
  const uint64_t all = hash_of_all(*entry);
  entry->identity = mix(all, ++(*made_by_members)[all]);
  return entered(entry, has_events);
}

}  // namespace

void start() {
  const std::lock_guard lock(mutex);
  entries = new std::deque<Communicator>;
  made_by_members = new std::map<uint64_t, uint32_t>;
  table.store(new_table(64));
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

Communicator* find(MPI_Comm comm) {
  if (comm == handles.world) return world_entry;
  const uint64_t key = handle_bits(comm);
  const Slot& slot = slot_of(*table.load(std::memory_order_acquire), key);
  if (slot.key.load(std::memory_order_acquire) == key) {
    if (Communicator* entry = slot.value.load(std::memory_order_acquire)) return entry;
  }
  const std::lock_guard lock(mutex);
  return enter_by_members(comm, false);
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

Communicator* created_by_members(MPI_Comm comm) {
  if (comm == handles.comm_null) return nullptr;
  const std::lock_guard lock(mutex);
  return enter_by_members(comm, true);
}

void forget(MPI_Comm comm) {
  restore(comm, nullptr);
}

void restore(MPI_Comm comm, Communicator* entry) {
  const std::lock_guard lock(mutex);
  bind(comm, entry);
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

}  // namespace rubato::communicators
