// The events of an OTF2 archive, location by location.
//
// Each is read once, from its start to its end, before the replay begins: call_store.h says why.
//
// OTF2 calls back per record. Those that programs are full of become PlainRecords, of which
// stretches.h passes on what it has not seen before; then, as at once with all other records,
// references are translated and the record is handed to the location's CallBuilder. Exceptions must
// not cross the C library: they are kept and thrown again behind it.

#include <otf2/otf2.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/error.h"
#include "replay/archive.h"
#include "replay/call_store.h"
#include "replay/event_files.h"
#include "replay/file_ends.h"
#include "replay/function_times.h"
#include "replay/rank_calls.h"
#include "replay/stretches.h"

namespace rubato {
namespace {

constexpr uint32_t kUndefined = UINT32_MAX;  ///< no reference
constexpr uint64_t kBurst = 4096;            ///< records between two looks at the calls they make

struct CloseEvents {
  OTF2_Reader* archive;
  void operator()(OTF2_EvtReader* events) const { OTF2_Reader_CloseEvtReader(archive, events); }
};

/// One location being read.
struct Location {
  Location(const Archive& a, uint64_t i, int r, int t, RankCalls& c)
      : archive(&a), id(i), rank(r), thread(t), calls(&c) {}

  const Archive* archive;
  uint64_t id;
  int rank;
  int thread;
  RankCalls* calls;
  std::optional<Stretches> stretches = {};  ///< where the rank has one timeline
  std::unique_ptr<OTF2_EvtReader, CloseEvents> reader{nullptr, CloseEvents{nullptr}};
  uint64_t position = 0;                ///< records read
  std::optional<uint64_t> events = {};  ///< by the headers of its file, where that says so
  std::exception_ptr error;
  std::optional<FunctionClock> functions;  ///< where some are to be timed
  int calls_open = 0;                      ///< one in the other; counted for that alone

  double ticks(OTF2_TimeStamp time) const {
    return static_cast<double>(static_cast<int64_t>(time - archive->index.global_offset));
  }
  std::string place(uint64_t event, const char* what) const {
    return archive->anchor + ": rank " + std::to_string(rank) +
           (thread > 0 ? " thread " + std::to_string(thread) : "") + ", event " +
           std::to_string(event) + " (" + what + ")";
  }
  /// Hands a record to the builder of calls, behind those that wait for it elsewhere.
  template <typename Method, typename... Arguments>
  [[gnu::always_inline]] void record(uint64_t event, OTF2_TimeStamp time, Method method,
                                     Arguments... arguments) {
    if (stretches) stretches->interrupt();
    hand_on(event, time, method, arguments...);
  }
  /// Hands a record to the builder of calls.
  template <typename Method, typename... Arguments>
  [[gnu::always_inline]] void hand_on(uint64_t event, OTF2_TimeStamp time, Method method,
                                      Arguments... arguments) {
    calls->record(thread, event, ticks(time), method, arguments...);
  }
  /// For the functions that are to be timed: the program enters a region.
  [[gnu::noinline]] void time_enter(uint64_t event, double now, OTF2_RegionRef region, bool mpi) {
    if (!mpi)
      functions->enter_function(archive->index.chosen_functions.get(region).value_or(0), now);
    else if (calls_open++ == 0)
      functions->stop(event, now);
  }
  [[gnu::noinline]] void time_leave(double now, OTF2_RegionRef region, bool mpi) {
    if (!mpi)
      functions->leave_function(archive->index.chosen_functions.get(region).value_or(0), now);
    else if (calls_open > 0 && --calls_open == 0)
      functions->go(now);
  }
  uint32_t comm(uint32_t ref, uint64_t event, const char* what) {
    if (ref == last_ref && last_peers) return last_comm;  // as nearly always
    return another_comm(ref, event, what);
  }
  /// World rank of the `local`-th rank of the communicator that comm() was asked for last, seen
  /// from this rank.
  int32_t peer(uint32_t local, uint64_t event, const char* what) const {
    if (local < last_peers->size()) return (*last_peers)[local];
    return beyond(archive->definitions.comms[last_comm], local, event, what);
  }
  const Communicator& window(uint32_t index) const { return archive->definitions.comms[index]; }
  /// World rank of a member of a window.
  int32_t window_peer(uint32_t index, uint32_t local, uint64_t event, const char* what) const {
    const Communicator& members = window(index);
    if (local < members.members.size()) return members.members[local];
    return beyond(members, local, event, what);
  }

 private:
  [[gnu::noinline]] uint32_t another_comm(uint32_t ref, uint64_t event, const char* what) {
    const auto found = archive->index.comm_of_ref.get(ref);
    if (!found) {
      throw InputError(
          place(event, what) + ": communicator " + std::to_string(ref) +
          " is not defined, so that nobody can say who took part; the archive cannot be replayed");
    }
    last_ref = ref;
    last_comm = *found;
    const Communicator& c = archive->definitions.comms[last_comm];
    const bool across = c.inter && c.local_rank(rank) >= 0;
    last_peers = across ? &archive->index.remote_group.at(last_comm) : &c.members;
    return last_comm;
  }
  /// A rank that a communicator does not have.
  [[gnu::noinline]] int32_t beyond(const Communicator& comm, uint32_t local, uint64_t event,
                                   const char* what) const {
    if (comm.self_like) return rank;
    throw InputError(place(event, what) + ": rank " + std::to_string(local) + " is not in " +
                     (comm.window ? "window" : "communicator") + " '" + comm.name + "' of " +
                     std::to_string(comm.size()) + " members");
  }

  uint32_t last_ref = kUndefined;
  uint32_t last_comm = 0;
  const std::vector<int32_t>* last_peers = nullptr;
};

/// Runs `body` on the location behind `user`; keeps what it throws.
template <typename Body>
OTF2_CallbackCode guarded(void* user, Body body) {
  auto& location = *static_cast<Location*>(user);
  try {
    body(location);
    return OTF2_CALLBACK_SUCCESS;
  } catch (...) {
    location.error = std::current_exception();
    return OTF2_CALLBACK_INTERRUPT;
  }
}

int32_t call_of(const Location& location, OTF2_RegionRef region) {
  return location.archive->index.call_of_region.get(region).value_or(ArchiveIndex::kNotMpi);
}

/// OTF2's operation as ours; nothing for one that OTF2 does not define for MPI.
std::optional<CollectiveOp> translate(OTF2_CollectiveOp op) {
  static constexpr std::pair<OTF2_CollectiveOp_enum, CollectiveOp> kOps[] = {
      {OTF2_COLLECTIVE_OP_BARRIER, CollectiveOp::kBarrier},
      {OTF2_COLLECTIVE_OP_BCAST, CollectiveOp::kBcast},
      {OTF2_COLLECTIVE_OP_GATHER, CollectiveOp::kGather},
      {OTF2_COLLECTIVE_OP_GATHERV, CollectiveOp::kGatherv},
      {OTF2_COLLECTIVE_OP_SCATTER, CollectiveOp::kScatter},
      {OTF2_COLLECTIVE_OP_SCATTERV, CollectiveOp::kScatterv},
      {OTF2_COLLECTIVE_OP_ALLGATHER, CollectiveOp::kAllgather},
      {OTF2_COLLECTIVE_OP_ALLGATHERV, CollectiveOp::kAllgatherv},
      {OTF2_COLLECTIVE_OP_ALLTOALL, CollectiveOp::kAlltoall},
      {OTF2_COLLECTIVE_OP_ALLTOALLV, CollectiveOp::kAlltoallv},
      {OTF2_COLLECTIVE_OP_ALLTOALLW, CollectiveOp::kAlltoallw},
      {OTF2_COLLECTIVE_OP_ALLREDUCE, CollectiveOp::kAllreduce},
      {OTF2_COLLECTIVE_OP_REDUCE, CollectiveOp::kReduce},
      {OTF2_COLLECTIVE_OP_REDUCE_SCATTER, CollectiveOp::kReduceScatter},
      {OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, CollectiveOp::kReduceScatterBlock},
      {OTF2_COLLECTIVE_OP_SCAN, CollectiveOp::kScan},
      {OTF2_COLLECTIVE_OP_EXSCAN, CollectiveOp::kExscan},
      {OTF2_COLLECTIVE_OP_CREATE_HANDLE, CollectiveOp::kCreateHandle},
      {OTF2_COLLECTIVE_OP_DESTROY_HANDLE, CollectiveOp::kDestroyHandle},
  };
  for (const auto& [theirs, ours] : kOps) {
    if (op == theirs) return ours;
  }
  return {};
}

/// A collective as a record names it, in our terms.
struct RecordedCollective {
  RecordedCollective(Location& l, uint64_t event, const char* what, OTF2_CollectiveOp recorded_op,
                     OTF2_CommRef recorded_comm, uint32_t recorded_root) {
    const std::optional<CollectiveOp> known = translate(recorded_op);
    if (!known) {
      throw InputError(l.place(event, what) + ": operation " + std::to_string(recorded_op) +
                       " is not an MPI collective this version knows");
    }
    op = *known;
    comm = l.comm(recorded_comm, event, what);
    const ArchiveIndex& index = l.archive->index;
    const auto both = index.both_groups.find(comm);
    if (both != index.both_groups.end()) comm = both->second;
    const Communicator& communicator = l.archive->definitions.comms[comm];
    const int local = communicator.self_like ? 0 : communicator.local_rank(l.rank);
    kept = local < 0;
    if (recorded_root == OTF2_COLLECTIVE_ROOT_SELF) {
      root = local;
    } else if (recorded_root == OTF2_COLLECTIVE_ROOT_THIS_GROUP) {
      root = kRootInOwnGroup;
    } else if (recorded_root < static_cast<uint32_t>(communicator.peers(local))) {
      // Between groups it counts in the other one.
      root = static_cast<int32_t>(recorded_root) +
             (local < communicator.first_group ? communicator.first_group : 0);
    }
  }

  CollectiveOp op{};
  uint32_t comm;
  int32_t root = kNoRoot;
  bool kept;  ///< the rank is no member: its call keeps its time
};

// Parameters that every callback has: location, time, event number, user data, attributes.
#define RUBATO_RECORD                                                \
  OTF2_LocationRef, OTF2_TimeStamp time, uint64_t event, void *user, \
      [[maybe_unused]] OTF2_AttributeList *attributes

/// Whether a receive or probe named MPI_ANY_SOURCE or MPI_ANY_TAG: ActionFlags.
uint8_t wildcards(const Location& l, const OTF2_AttributeList* attributes) {
  const ArchiveIndex& index = l.archive->index;
  if (index.posted_source == kUndefined && index.posted_tag == kUndefined) return 0;
  if (OTF2_AttributeList_GetNumberOfElements(attributes) == 0) return 0;
  int32_t source = 0;
  int32_t tag = 0;
  OTF2_AttributeList_GetInt32(attributes, index.posted_source, &source);
  OTF2_AttributeList_GetInt32(attributes, index.posted_tag, &tag);
  return (source < 0 ? kAnySource : 0) | (tag < 0 ? kAnyTag : 0);
}

/// What our tracer says of a probe that named one of them; true when it does.
bool attributes_of_probe(Location& l, uint64_t event, OTF2_TimeStamp time,
                         const OTF2_AttributeList* attributes) {
  const ArchiveIndex& index = l.archive->index;
  int32_t source = 0;
  int32_t tag = 0;
  uint32_t ref = 0;
  if (OTF2_AttributeList_GetInt32(attributes, index.found_source, &source) != OTF2_SUCCESS ||
      OTF2_AttributeList_GetInt32(attributes, index.found_tag, &tag) != OTF2_SUCCESS ||
      OTF2_AttributeList_GetCommRef(attributes, index.comm, &ref) != OTF2_SUCCESS) {
    return false;
  }
  const uint32_t comm = l.comm(ref, event, "ENTER");
  l.record(event, time, &CallBuilder::probed, comm,
           l.peer(static_cast<uint32_t>(source), event, "ENTER"), static_cast<uint32_t>(tag),
           wildcards(l, attributes));
  return true;
}

/// What our tracer says where it enters a collective among neighbours, or prepares one with parts.
void attributes_of_collective(Location& l, uint64_t event, OTF2_TimeStamp time, int32_t call,
                              const OTF2_AttributeList* attributes) {
  const ArchiveIndex& index = l.archive->index;
  uint32_t comm = 0;
  uint64_t request = 0;
  const bool has_request =
      OTF2_AttributeList_GetUint64(attributes, index.request, &request) == OTF2_SUCCESS;
  if (OTF2_AttributeList_GetCommRef(attributes, index.comm, &comm) != OTF2_SUCCESS) {
    if (has_request) l.record(event, time, &CallBuilder::prepares_parts, request);
    return;
  }
  NeighbourExchange exchange{l.comm(comm, event, "ENTER"), 0, 0};
  OTF2_AttributeList_GetUint64(attributes, index.bytes_sent, &exchange.sent);
  OTF2_AttributeList_GetUint64(attributes, index.bytes_received, &exchange.received);
  const bool starts = l.archive->definitions.calls[call].among_neighbours;
  l.record(event, time, starts ? &CallBuilder::neighbours : &CallBuilder::neighbours_init, exchange,
           request);
}

// --- What programs are full of ---

/// The kinds of PlainRecords.
enum class RecordKind : uint8_t {
  kEnter,
  kLeave,
  kSend,
  kIsend,
  kIsendComplete,
  kIrecvRequest,
  kRecv,
  kIrecv,
  kCollectiveEnd,
  kOther,  ///< only somewhere in time
};

/// `reference`: region or communicator; `detail`: flags or operation.
[[gnu::always_inline]] inline PlainRecord plain(RecordKind kind, uint32_t reference = 0,
                                                uint8_t detail = 0, uint32_t peer = 0,
                                                uint32_t tag = 0, uint64_t sent = 0,
                                                uint64_t received = 0) {
  return {static_cast<uint64_t>(reference) << 32 | static_cast<uint64_t>(detail) << 8 |
              static_cast<uint64_t>(kind),
          static_cast<uint64_t>(tag) << 32 | peer, sent, received};
}

/// Translates a record and hands it to the builder.
void give(Location& l, const PlainRecord& record, uint64_t event, OTF2_TimeStamp time,
          uint64_t request) {
  const auto kind = static_cast<RecordKind>(record.what & 0xFF);
  const auto detail = static_cast<uint8_t>(record.what >> 8);
  const auto reference = static_cast<uint32_t>(record.what >> 32);
  const auto peer = static_cast<uint32_t>(record.where);
  const auto tag = static_cast<uint32_t>(record.where >> 32);
  const uint64_t bytes = record.sent;
  switch (kind) {
    case RecordKind::kEnter: {
      const int32_t call = call_of(l, reference);
      if (l.functions) l.time_enter(event, l.ticks(time), reference, call >= 0);
      return l.hand_on(event, time, &CallBuilder::enter, call);
    }
    case RecordKind::kLeave: {
      const int32_t call = call_of(l, reference);
      if (l.functions) l.time_leave(l.ticks(time), reference, call >= 0);
      return l.hand_on(event, time, &CallBuilder::leave, call);
    }
    case RecordKind::kSend: {
      const uint32_t comm = l.comm(reference, event, "MPI_SEND");
      return l.hand_on(event, time, &CallBuilder::send, comm, l.peer(peer, event, "MPI_SEND"), tag,
                       bytes);
    }
    case RecordKind::kIsend: {
      const uint32_t comm = l.comm(reference, event, "MPI_ISEND");
      return l.hand_on(event, time, &CallBuilder::isend, comm, l.peer(peer, event, "MPI_ISEND"),
                       tag, bytes, request, detail);
    }
    case RecordKind::kIsendComplete:
      return l.hand_on(event, time, &CallBuilder::isend_complete, request);
    case RecordKind::kIrecvRequest:
      return l.hand_on(event, time, &CallBuilder::irecv_request, request, detail);
    case RecordKind::kRecv: {
      const uint32_t comm = l.comm(reference, event, "MPI_RECV");
      return l.hand_on(event, time, &CallBuilder::recv, comm, l.peer(peer, event, "MPI_RECV"), tag,
                       bytes, detail);
    }
    case RecordKind::kIrecv: {
      const uint32_t comm = l.comm(reference, event, "MPI_IRECV");
      return l.hand_on(event, time, &CallBuilder::irecv, comm, l.peer(peer, event, "MPI_IRECV"),
                       tag, bytes, request);
    }
    case RecordKind::kCollectiveEnd: {
      const RecordedCollective c(l, event, "MPI_COLLECTIVE_END", detail, reference, peer);
      if (c.kept) return l.hand_on(event, time, &CallBuilder::other);
      return l.hand_on(event, time, &CallBuilder::collective_end, c.op, c.comm, c.root, bytes,
                       record.received);
    }
    case RecordKind::kOther:
      return l.hand_on(event, time, &CallBuilder::other);
  }
}

/// A record that is not what was expected. (Words, not a PlainRecord: then take() needs no memory.)
[[gnu::noinline]] OTF2_CallbackCode take_unexpected(void* user, uint64_t event, OTF2_TimeStamp time,
                                                    uint64_t request, PlainRecord::Request role,
                                                    uint64_t what, uint64_t where, uint64_t sent,
                                                    uint64_t received) {
  return guarded(user, [&](Location& l) {
    const PlainRecord record{what, where, sent, received};
    if (l.stretches) {
      l.stretches->record(record, role, event, time, request);
    } else {
      give(l, record, event, time, request);
    }
  });
}

[[gnu::always_inline]] inline OTF2_CallbackCode take(
    void* user, uint64_t event, OTF2_TimeStamp time, const PlainRecord& record,
    PlainRecord::Request role = PlainRecord::Request::kNone, uint64_t request = 0) {
  std::optional<Stretches>& stretches = static_cast<Location*>(user)->stretches;
  if (stretches && stretches->is_expected(record, role, event, time, request))
    return OTF2_CALLBACK_SUCCESS;
  return take_unexpected(user, event, time, request, role, record.what, record.where, record.sent,
                         record.received);
}

/// The enter of a call of which attributes may say more.
[[gnu::noinline]] OTF2_CallbackCode take_enter(void* user, uint64_t event, OTF2_TimeStamp time,
                                               OTF2_RegionRef region,
                                               const OTF2_AttributeList* attributes) {
  if (OTF2_AttributeList_GetNumberOfElements(attributes) == 0)
    return take(user, event, time, plain(RecordKind::kEnter, region));
  return guarded(user, [&](Location& l) {
    const int32_t call = call_of(l, region);
    l.record(event, time, &CallBuilder::enter, call);
    if (l.functions) l.time_enter(event, l.ticks(time), region, call >= 0);
    if (call >= 0 && !attributes_of_probe(l, event, time, attributes))
      attributes_of_collective(l, event, time, call, attributes);
  });
}

OTF2_CallbackCode on_enter(RUBATO_RECORD, OTF2_RegionRef region) {
  const ArchiveIndex& index = static_cast<Location*>(user)->archive->index;
  if ((index.request & index.comm) != kUndefined)
    return take_enter(user, event, time, region, attributes);
  return take(user, event, time, plain(RecordKind::kEnter, region));
}

OTF2_CallbackCode on_leave(RUBATO_RECORD, OTF2_RegionRef region) {
  return take(user, event, time, plain(RecordKind::kLeave, region));
}

OTF2_CallbackCode on_send(RUBATO_RECORD, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                          uint64_t bytes) {
  return take(user, event, time, plain(RecordKind::kSend, comm, 0, receiver, tag, bytes));
}

OTF2_CallbackCode on_isend(RUBATO_RECORD, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                           uint64_t bytes, uint64_t request) {
  // A persistent send shows its mode here only; else the name of the call tells.
  uint8_t mode = 0;
  const uint32_t attribute = static_cast<Location*>(user)->archive->index.send_mode;
  if (attribute != kUndefined) OTF2_AttributeList_GetUint8(attributes, attribute, &mode);
  const uint8_t flags = mode == 1 ? kBuffered : mode == 2 ? kSynchronous : 0;
  return take(user, event, time, plain(RecordKind::kIsend, comm, flags, receiver, tag, bytes),
              PlainRecord::Request::kOpens, request);
}

OTF2_CallbackCode on_isend_complete(RUBATO_RECORD, uint64_t request) {
  return take(user, event, time, plain(RecordKind::kIsendComplete),
              PlainRecord::Request::kCompletes, request);
}

OTF2_CallbackCode on_irecv_request(RUBATO_RECORD, uint64_t request) {
  const uint8_t asked = wildcards(*static_cast<Location*>(user), attributes);
  return take(user, event, time, plain(RecordKind::kIrecvRequest, 0, asked),
              PlainRecord::Request::kOpens, request);
}

OTF2_CallbackCode on_recv(RUBATO_RECORD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                          uint64_t bytes) {
  const uint8_t asked = wildcards(*static_cast<Location*>(user), attributes);
  return take(user, event, time, plain(RecordKind::kRecv, comm, asked, sender, tag, bytes));
}

OTF2_CallbackCode on_irecv(RUBATO_RECORD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                           uint64_t bytes, uint64_t request) {
  return take(user, event, time, plain(RecordKind::kIrecv, comm, 0, sender, tag, bytes),
              PlainRecord::Request::kCompletes, request);
}

OTF2_CallbackCode on_collective_end(RUBATO_RECORD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                    uint32_t root, uint64_t sent, uint64_t received) {
  return take(user, event, time,
              plain(RecordKind::kCollectiveEnd, comm, op, root, 0, sent, received));
}

/// Every record that is only somewhere in time.
template <typename... Rest>
OTF2_CallbackCode on_other(RUBATO_RECORD, Rest...) {
  return take(user, event, time, plain(RecordKind::kOther));
}

// --- The others ---

OTF2_CallbackCode on_cancelled(RUBATO_RECORD, uint64_t request) {
  return guarded(user,
                 [&](Location& l) { l.record(event, time, &CallBuilder::cancelled, request); });
}

OTF2_CallbackCode on_request_test(RUBATO_RECORD, uint64_t request) {
  return guarded(user,
                 [&](Location& l) { l.record(event, time, &CallBuilder::request_test, request); });
}

OTF2_CallbackCode on_icollective_request(RUBATO_RECORD, uint64_t request) {
  return guarded(user, [&](Location& l) {
    uint32_t init_order = 0;
    const uint32_t attribute = l.archive->index.init_order;
    if (attribute != kUndefined) OTF2_AttributeList_GetUint32(attributes, attribute, &init_order);
    l.record(event, time, &CallBuilder::icollective_request, request, init_order);
  });
}

OTF2_CallbackCode on_icollective_complete(RUBATO_RECORD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                          uint32_t root, uint64_t sent, uint64_t received,
                                          uint64_t request) {
  return guarded(user, [&](Location& l) {
    const RecordedCollective c(l, event, "NON_BLOCKING_COLLECTIVE_COMPLETE", op, comm, root);
    if (c.kept) {
      l.record(event, time, &CallBuilder::icollective_kept, request);
    } else {
      l.record(event, time, &CallBuilder::icollective_complete, c.op, c.comm, c.root, sent,
               received, request);
    }
  });
}

OTF2_CallbackCode on_parameter(RUBATO_RECORD, OTF2_ParameterRef parameter, uint64_t value) {
  return guarded(user, [&](Location& l) {
    const ArchiveIndex& index = l.archive->index;
    if (parameter == index.request_start && parameter != kUndefined) {
      l.record(event, time, &CallBuilder::neighbours_start, value);
    } else if (parameter == index.request_end && parameter != kUndefined) {
      l.record(event, time, &CallBuilder::neighbours_end, value);
    } else if (parameter == index.part_sent && parameter != kUndefined) {
      uint32_t peers = 1;
      OTF2_AttributeList_GetUint32(attributes, index.part_peers, &peers);
      l.record(event, time, &CallBuilder::part, value, peers);
    } else {
      l.record(event, time, &CallBuilder::other);
    }
  });
}

// --- One-sided communication; what is not MPI's keeps its time ---

/// Runs `body` with the window that a record names, as an index into the communicators.
template <typename Body>
OTF2_CallbackCode on_window(void* user, uint64_t event, OTF2_TimeStamp time, OTF2_RmaWinRef ref,
                            Body body) {
  return guarded(user, [&](Location& l) {
    const auto window = l.archive->index.window_of_ref.get(ref);
    if (!window || (!l.window(*window).self_like && l.window(*window).local_rank(l.rank) < 0)) {
      l.record(event, time, &CallBuilder::other);
    } else {
      body(l, *window);
    }
  });
}

OTF2_CallbackCode on_rma_collective_end(RUBATO_RECORD, OTF2_CollectiveOp op, OTF2_RmaSyncLevel,
                                        OTF2_RmaWinRef win, uint32_t, uint64_t, uint64_t) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    // MPI_Win_free lets nobody go before all have come, as a fence does.
    const bool creates = op == OTF2_COLLECTIVE_OP_CREATE_HANDLE ||
                         op == OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE;
    l.record(event, time, &CallBuilder::collective_end,
             creates ? CollectiveOp::kCreateHandle : CollectiveOp::kBarrier, window, kNoRoot,
             uint64_t{0}, uint64_t{0});
  });
}

OTF2_CallbackCode one_sided(void* user, uint64_t event, OTF2_TimeStamp time, OTF2_RmaWinRef win,
                            uint32_t remote, uint64_t sent, uint64_t received, bool fetches,
                            uint64_t number) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    l.record(event, time, &CallBuilder::one_sided, window,
             l.window_peer(window, remote, event, "an RMA operation"), sent, received, fetches,
             number);
  });
}

OTF2_CallbackCode on_rma_put(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes,
                             uint64_t number) {
  return one_sided(user, event, time, win, remote, bytes, 0, false, number);
}

OTF2_CallbackCode on_rma_get(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes,
                             uint64_t number) {
  return one_sided(user, event, time, win, remote, 0, bytes, true, number);
}

OTF2_CallbackCode on_rma_atomic(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote,
                                OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
                                uint64_t number) {
  return one_sided(user, event, time, win, remote, sent, received,
                   type != OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, number);
}

template <bool remote>
OTF2_CallbackCode on_rma_done(RUBATO_RECORD, OTF2_RmaWinRef win, uint64_t number) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    l.record(event, time, &CallBuilder::one_sided_done, window, number, remote);
  });
}

OTF2_CallbackCode on_rma_group_sync(RUBATO_RECORD, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win,
                                    OTF2_GroupRef ref) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    const auto group = l.archive->index.group_of_ref.get(ref);
    // An MPI_Win_test that found nothing keeps its time, as MPI_Test does.
    if (!group || level == OTF2_RMA_SYNC_LEVEL_NONE) {
      l.record(event, time, &CallBuilder::other);
    } else {
      l.record(event, time, &CallBuilder::epoch, window, *group);
    }
  });
}

OTF2_CallbackCode on_rma_lock(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote, uint64_t,
                              OTF2_LockType type) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    l.record(event, time, &CallBuilder::lock, window,
             remote == kUndefined ? kNoRoot : l.window_peer(window, remote, event, "a lock"),
             type == OTF2_LOCK_EXCLUSIVE);
  });
}

OTF2_CallbackCode on_rma_unlock(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote, uint64_t) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    l.record(event, time, &CallBuilder::unlock, window,
             remote == kUndefined ? kNoRoot : l.window_peer(window, remote, event, "a lock"));
  });
}

OTF2_CallbackCode on_measurement(RUBATO_RECORD, OTF2_MeasurementMode mode) {
  return guarded(user, [&](Location& l) {
    const bool on = mode == OTF2_MEASUREMENT_ON;
    l.record(event, time, &CallBuilder::measurement, on);
    if (l.functions && on) l.functions->go(l.ticks(time));
    if (l.functions && !on) l.functions->stop(event, l.ticks(time));
  });
}

OTF2_CallbackCode on_buffer_flush(RUBATO_RECORD, OTF2_TimeStamp stop) {
  return guarded(user, [&](Location& l) {
    l.record(event, time, &CallBuilder::buffer_flush, l.ticks(stop));
    if (!l.functions) return;
    l.functions->stop(event, l.ticks(time));
    l.functions->go(l.ticks(stop));
  });
}

#undef RUBATO_RECORD

/// Callbacks for all records.
class Callbacks {
 public:
  Callbacks() : callbacks_(OTF2_EvtReaderCallbacks_New()) {
    set_others();
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks_, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks_, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks_, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks_, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks_, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks_, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks_, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks_, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks_, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(callbacks_, on_request_test);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks_, on_collective_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks_,
                                                                    on_icollective_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks_,
                                                                     on_icollective_complete);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(callbacks_, on_parameter);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(callbacks_, on_rma_collective_end);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(callbacks_, on_rma_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(callbacks_, on_rma_get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(callbacks_, on_rma_atomic);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(callbacks_, on_rma_done<false>);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(callbacks_, on_rma_done<true>);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(callbacks_, on_rma_group_sync);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(callbacks_, on_rma_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(callbacks_, on_rma_unlock);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(callbacks_, on_measurement);
    OTF2_EvtReaderCallbacks_SetBufferFlushCallback(callbacks_, on_buffer_flush);
  }
  ~Callbacks() { OTF2_EvtReaderCallbacks_Delete(callbacks_); }
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;

  OTF2_EvtReaderCallbacks* get() const { return callbacks_; }

 private:
  void set_others();

  OTF2_EvtReaderCallbacks* callbacks_;
};

void Callbacks::set_others() {
#define RUBATO_OTHER(kind) OTF2_EvtReaderCallbacks_Set##kind##Callback(callbacks_, on_other)
  RUBATO_OTHER(CallingContextEnter);
  RUBATO_OTHER(CallingContextLeave);
  RUBATO_OTHER(CallingContextSample);
  RUBATO_OTHER(CommCreate);
  RUBATO_OTHER(CommDestroy);
  RUBATO_OTHER(IoAcquireLock);
  RUBATO_OTHER(IoChangeStatusFlags);
  RUBATO_OTHER(IoCreateHandle);
  RUBATO_OTHER(IoDeleteFile);
  RUBATO_OTHER(IoDestroyHandle);
  RUBATO_OTHER(IoDuplicateHandle);
  RUBATO_OTHER(IoOperationBegin);
  RUBATO_OTHER(IoOperationCancelled);
  RUBATO_OTHER(IoOperationComplete);
  RUBATO_OTHER(IoOperationIssued);
  RUBATO_OTHER(IoOperationTest);
  RUBATO_OTHER(IoReleaseLock);
  RUBATO_OTHER(IoSeek);
  RUBATO_OTHER(IoTryLock);
  RUBATO_OTHER(Metric);
  RUBATO_OTHER(MpiCollectiveBegin);
  RUBATO_OTHER(OmpAcquireLock);
  RUBATO_OTHER(OmpFork);
  RUBATO_OTHER(OmpJoin);
  RUBATO_OTHER(OmpReleaseLock);
  RUBATO_OTHER(OmpTaskComplete);
  RUBATO_OTHER(OmpTaskCreate);
  RUBATO_OTHER(OmpTaskSwitch);
  RUBATO_OTHER(ParameterInt);
  RUBATO_OTHER(ParameterString);
  RUBATO_OTHER(ProgramBegin);
  RUBATO_OTHER(ProgramEnd);
  RUBATO_OTHER(RmaAcquireLock);
  RUBATO_OTHER(RmaCollectiveBegin);
  RUBATO_OTHER(RmaOpCompleteBlocking);
  RUBATO_OTHER(RmaOpTest);
  RUBATO_OTHER(RmaSync);
  RUBATO_OTHER(RmaTryLock);
  RUBATO_OTHER(RmaWaitChange);
  RUBATO_OTHER(RmaWinCreate);
  RUBATO_OTHER(RmaWinDestroy);
  RUBATO_OTHER(ThreadAcquireLock);
  RUBATO_OTHER(ThreadBegin);
  RUBATO_OTHER(ThreadCreate);
  RUBATO_OTHER(ThreadEnd);
  RUBATO_OTHER(ThreadFork);
  RUBATO_OTHER(ThreadJoin);
  RUBATO_OTHER(ThreadReleaseLock);
  RUBATO_OTHER(ThreadTaskComplete);
  RUBATO_OTHER(ThreadTaskCreate);
  RUBATO_OTHER(ThreadTaskSwitch);
  RUBATO_OTHER(ThreadTeamBegin);
  RUBATO_OTHER(ThreadTeamEnd);
  RUBATO_OTHER(ThreadWait);
  RUBATO_OTHER(Unknown);
#undef RUBATO_OTHER
}

/// libotf2 reports errors by code and by printing; the codes are enough.
OTF2_ErrorCode silent(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code, const char*,
                      va_list) {
  return code;
}

}  // namespace

void EventFiles::Closing::operator()(OTF2_Reader_struct* reader) const {
  OTF2_Reader_Close(reader);
}

struct EventFiles::Decoding {
  Decoding(const Archive& a, bool ignore, Reader r)
      : archive(&a), ignore_offsets(ignore), reader(std::move(r)) {}

  std::optional<uint64_t> events_of(uint64_t location) const;
  /// False for a location that has no events and no file.
  bool open(Location& location);
  [[noreturn]] void damaged(const Location& location, OTF2_ErrorCode error) const;
  void burst(Location& location);

  const Archive* archive;
  bool ignore_offsets;
  Reader reader;
  Callbacks callbacks;
  std::unordered_map<uint64_t, LocalDefinitions> local_definitions;  ///< by location
};

EventFiles::Reader EventFiles::open_anchor(const std::string& anchor) {
  OTF2_Error_RegisterCallback(silent, nullptr);
  Reader reader(has_room_for_properties(anchor) ? OTF2_Reader_Open(anchor.c_str()) : nullptr);
  if (!reader) throw InputError(anchor + ": is not an OTF2 anchor file, or is damaged");
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
  return reader;
}

EventFiles::EventFiles(const Archive& archive, bool ignore_offsets, Reader opened,
                       const std::vector<uint64_t>& locations)
    : decoding_(std::make_unique<Decoding>(archive, ignore_offsets, std::move(opened))) {
  OTF2_Reader* reader = decoding_->reader.get();
  for (const uint64_t location : locations) OTF2_Reader_SelectLocation(reader, location);
  decoding_->local_definitions = read_local_definitions(archive, reader, locations);
  if (OTF2_Reader_OpenEvtFiles(reader) != OTF2_SUCCESS) {
    throw InputError(archive.anchor + ": the event files beside it cannot be opened");
  }
}

EventFiles::~EventFiles() {
  OTF2_Reader_CloseEvtFiles(decoding_->reader.get());
}

void EventFiles::load_rank(int rank, bool keep_records, CallStore& store,
                           EventSource::Counts& counts, FunctionTimes* times) {
  const TraceDefinitions& trace = decoding_->archive->definitions;
  const std::vector<int> timelines = trace.timelines_of(rank);
  RankCalls calls(trace, timelines);
  calls.keep_records(keep_records);
  std::vector<Location> locations;
  for (int thread = 0; thread < calls.threads(); ++thread) {
    const uint64_t id = trace.location_of(timelines[thread]);
    locations.emplace_back(*decoding_->archive, id, rank, thread, calls);
    if (times) locations.back().functions.emplace(times->of(timelines[thread]));
  }
  // Functions are timed where records are handed on one by one.
  if (!keep_records && !times && trace.threads.empty()) {
    Location& only = locations[0];
    only.stretches.emplace(calls.builder(0), store, timelines[0],
                           decoding_->archive->index.global_offset,
                           [&](const PlainRecord& record, uint64_t event, uint64_t time,
                               uint64_t request) { give(only, record, event, time, request); });
  }
  Block block;
  const auto store_ready_calls = [&] {
    if (locations[0].stretches && !locations[0].stretches->is_idle()) return;
    for (int thread = 0; thread < calls.threads(); ++thread) {
      while (calls.take(thread, block)) store.append(timelines[thread], block);
    }
  };
  for (int missing = calls.missing(); missing >= 0; missing = calls.missing()) {
    decoding_->burst(locations[missing]);
    store_ready_calls();
  }
  store_ready_calls();
  for (int thread = 0; thread < calls.threads(); ++thread) {
    store.close(timelines[thread]);
    const CallBuilder& builder = calls.builder(thread);
    counts.records += builder.records();
    counts.receives.add(builder.open_receives());
    counts.collectives.add(builder.open_collectives());
  }
}

void EventFiles::read_apart(const SideLocation& side,
                            const std::function<bool(const Block&)>& look) {
  RankCalls calls(decoding_->archive->definitions, {side.rank});
  calls.keep_records(true);
  Location location(*decoding_->archive, side.id, side.rank, 0, calls);
  Block block;
  bool more = true;
  while (more && calls.missing() >= 0) {
    decoding_->burst(location);
    while (more && calls.take(0, block)) more = look(block);
  }
}

std::optional<uint64_t> EventFiles::Decoding::events_of(uint64_t location) const {
  OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
  OTF2_Compression compression = OTF2_COMPRESSION_UNDEFINED;
  uint64_t chunk = 0;
  uint64_t unused = 0;
  OTF2_Reader_GetFileSubstrate(reader.get(), &substrate);
  OTF2_Reader_GetCompression(reader.get(), &compression);
  OTF2_Reader_GetChunkSize(reader.get(), &chunk, &unused);
  if (substrate != OTF2_SUBSTRATE_POSIX || compression != OTF2_COMPRESSION_NONE) return {};
  const std::filesystem::path directory =
      std::filesystem::path(archive->anchor).replace_extension();
  return events_by_headers(directory / (std::to_string(location) + ".evt"), chunk);
}

bool EventFiles::Decoding::open(Location& location) {
  const uint64_t id = location.id;
  location.reader = {OTF2_Reader_GetEvtReader(reader.get(), id), CloseEvents{reader.get()}};
  if (!location.reader) {
    if (archive->index.events_of_location.at(id) == 0) return false;
    throw InputError(archive->anchor + ": the event file of location " + std::to_string(id) +
                     " (rank " + std::to_string(location.rank) + ") is missing or cannot be read");
  }
  location.events = events_of(id);
  // What a location does not have is not looked for record by record.
  const auto found = local_definitions.find(id);
  const LocalDefinitions local =
      found == local_definitions.end() ? LocalDefinitions() : found->second;
  OTF2_EvtReader_ApplyMappingTables(location.reader.get(), local.mappings);
  OTF2_EvtReader_ApplyClockOffsets(location.reader.get(), local.clock_offsets && !ignore_offsets);
  OTF2_Reader_RegisterEvtCallbacks(reader.get(), location.reader.get(), callbacks.get(), &location);
  return true;
}

void EventFiles::Decoding::damaged(const Location& location, OTF2_ErrorCode error) const {
  throw InputError(archive->anchor + ": the events of location " + std::to_string(location.id) +
                   " (rank " + std::to_string(location.rank) + ") cannot be read beyond event " +
                   std::to_string(location.position) + " (" + OTF2_Error_GetDescription(error) +
                   "); the file is truncated or damaged");
}

void EventFiles::Decoding::burst(Location& location) {
  if (!location.reader && !open(location)) return location.calls->end(location.thread);
  uint64_t read = 0;
  const OTF2_ErrorCode error =
      OTF2_Reader_ReadLocalEvents(reader.get(), location.reader.get(), kBurst, &read);
  location.position += read;
  if (location.error) std::rethrow_exception(location.error);
  if (error != OTF2_SUCCESS) damaged(location, error);
  // A file that was cut between two records reads well up to there, or on without end.
  const bool ends = read < kBurst;
  const uint64_t events = archive->index.events_of_location.at(location.id);
  if (location.events.value_or(UINT64_MAX) < location.position ||
      (ends && location.position < std::max(events, location.events.value_or(0)))) {
    damaged(location, OTF2_ERROR_END_OF_BUFFER);
  }
  if (ends) {
    // What functions that have ended took stands before the last record.
    if (location.functions) location.functions->stop(location.position, 0);
    if (location.stretches) location.stretches->finish();
    location.calls->end(location.thread);
    location.reader.reset();
  }
}

}  // namespace rubato
