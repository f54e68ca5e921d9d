// Translation of each record of an archive.
//
// OTF2 calls back per record. The most frequent ones become PlainRecords, and loop_cache.h passes
// on the ones that it has not seen before. All other records, and those passed on, have their
// references translated and are passed to the location's CallBuilder. Exceptions must not cross the
// C library: they are stored, and rethrown after it returns.

#include "replay/archive/event_callbacks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "replay/archive/record_callback.h"
#include "replay/trace/collective_sizes.h"

namespace rubato {
namespace {

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

/// The collective of a record, with our types.
struct RecordedCollective {
  RecordedCollective(EventLocation& l, uint64_t event, const char* what,
                     OTF2_CollectiveOp recorded_op, OTF2_CommRef recorded_comm,
                     uint32_t recorded_root) {
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
    } else if (communicator.self_like) {
      root = local;
    } else if (recorded_root < static_cast<uint32_t>(communicator.peers(local))) {
      // On an intercommunicator the root is a member of the other group.
      root = static_cast<int32_t>(recorded_root) +
             (local < communicator.first_group ? communicator.first_group : 0);
    } else if (is_rooted(op) && !kept) {
      const std::string which = recorded_root == OTF2_COLLECTIVE_ROOT_NONE
                                    ? " names no root"
                                    : " names rank " + std::to_string(recorded_root) + " as root";
      throw InputError(l.place(event, what) + ": this " + name_of(op) + which +
                       ", on communicator '" + communicator.name + "' of " +
                       std::to_string(communicator.size()) +
                       " members; the archive cannot be replayed");
    }
  }

  /// As in whole_bytes().
  CollectiveBytes whole(const EventLocation& l, CollectiveBytes bytes, bool in_place) const {
    const TraceDefinitions& trace = l.archive->definitions;
    return whole_bytes(trace, op, comm, root, trace.comms[comm].local_rank(l.rank), bytes,
                       in_place);
  }

  CollectiveOp op{};
  uint32_t comm;
  int32_t root = kNoRoot;
  bool kept;  ///< the rank is no member: its call keeps its time
};

/// Flag in the detail of a collective's record, beside its operation.
constexpr uint8_t kInPlace = 0x80;

/// kInPlace if our tracer recorded that a collective was in place, else 0.
uint8_t in_place(const EventLocation& l, const OTF2_AttributeList* attributes) {
  const uint32_t attribute = l.archive->index.in_place;
  uint8_t is_so = 0;
  if (attribute == kUndefined || OTF2_AttributeList_GetNumberOfElements(attributes) == 0) return 0;
  OTF2_AttributeList_GetUint8(attributes, attribute, &is_so);
  return is_so == 1 ? kInPlace : 0;
}

/// MessageFlags from the attributes of a receive or probe: whether it named MPI_ANY_SOURCE or
/// MPI_ANY_TAG, and whether it is partitioned. (In one loop, because libotf2 is slow to find that
/// an attribute is absent.)
uint8_t flags_of_receive(const EventLocation& l, const OTF2_AttributeList* attributes) {
  const ArchiveIndex& index = l.archive->index;
  uint8_t flags = 0;
  const uint32_t count = OTF2_AttributeList_GetNumberOfElements(attributes);
  for (uint32_t i = 0; i < count; ++i) {
    OTF2_AttributeRef attribute = kUndefined;
    OTF2_Type type = OTF2_TYPE_NONE;
    OTF2_AttributeValue value;
    OTF2_AttributeList_GetAttributeByIndex(attributes, i, &attribute, &type, &value);
    if (attribute == kUndefined) continue;
    if (type == OTF2_TYPE_INT32 && value.int32 < 0) {
      if (attribute == index.posted_source) flags |= kAnySource;
      if (attribute == index.posted_tag) flags |= kAnyTag;
    } else if (type == OTF2_TYPE_UINT8 && value.uint8 == 4) {
      if (attribute == index.send_mode) flags |= kPartitioned;
    }
  }
  return flags;
}

/// For a record that is not partitioned.
uint8_t wildcards(const EventLocation& l, const OTF2_AttributeList* attributes) {
  return flags_of_receive(l, attributes) & (kAnySource | kAnyTag);
}

/// The attributes of our tracer for a probe that found a message; true if there are some.
bool attributes_of_probe(EventLocation& l, uint64_t event, OTF2_TimeStamp time,
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

/// Ticks in which the thread had no core, from our tracer's attribute at the enter or leave of a
/// call.
double stolen_ticks(const EventLocation& l, const OTF2_AttributeList* attributes) {
  uint64_t nanoseconds = 0;
  const ArchiveIndex& index = l.archive->index;
  if (index.stolen != kUndefined)
    OTF2_AttributeList_GetUint64(attributes, index.stolen, &nanoseconds);
  return std::floor(static_cast<double>(nanoseconds) * index.ticks_per_nanosecond);
}

/// Ticks of the call's own work, from our tracer's attribute at its leave.
double own_ticks(const EventLocation& l, const OTF2_AttributeList* attributes) {
  uint64_t ticks = 0;
  const uint32_t attribute = l.archive->index.own_work;
  if (attribute != kUndefined) OTF2_AttributeList_GetUint64(attributes, attribute, &ticks);
  return static_cast<double>(ticks);
}

/// The callback that ran longest in it, from 1; 0: unknown.
int32_t callback_of(const EventLocation& l, const OTF2_AttributeList* attributes) {
  uint32_t number = UINT32_MAX;
  const uint32_t attribute = l.archive->index.callback;
  if (attribute != kUndefined) OTF2_AttributeList_GetUint32(attributes, attribute, &number);
  return number < INT32_MAX ? static_cast<int32_t>(number) + 1 : 0;
}

/// Passes on the time lost since the call or flush before this record, from our tracer's attribute.
void take_stolen_before(EventLocation& l, uint64_t event, OTF2_TimeStamp time,
                        const OTF2_AttributeList* attributes) {
  const double stolen = stolen_ticks(l, attributes);
  if (!(stolen > 0)) return;
  l.record(event, time, &CallBuilder::stolen_before, stolen);
  if (l.functions) l.functions->lose(stolen, l.ticks(time));
}

/// Handles our tracer's attributes at the enter of a neighbourhood collective, or of a call that
/// prepares one with parts.
void attributes_of_collective(EventLocation& l, uint64_t event, OTF2_TimeStamp time, int32_t call,
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

// --- Frequent records ---

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
  kOther,  ///< only a time
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

}  // namespace

void give(EventLocation& l, const PlainRecord& record, uint64_t event, OTF2_TimeStamp time,
          uint64_t request) {
  const auto kind = static_cast<RecordKind>(record.what & 0xFF);
  const auto detail = static_cast<uint8_t>(record.what >> 8);
  const auto reference = static_cast<uint32_t>(record.what >> 32);
  const auto peer = static_cast<uint32_t>(record.where);
  const auto tag = static_cast<uint32_t>(record.where >> 32);
  const uint64_t bytes = record.sent;
  const bool starts_message = kind == RecordKind::kSend || kind == RecordKind::kIsend ||
                              kind == RecordKind::kIrecvRequest || kind == RecordKind::kRecv;
  if (starts_message && record.received != 0) [[unlikely]]
    l.hand_on(event, time, &CallBuilder::in_blocks, record.received);
  if (l.functions && kind >= RecordKind::kSend && kind < RecordKind::kOther)
    l.time_bare_record(event, l.ticks(time));
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
      const auto operation = static_cast<OTF2_CollectiveOp>(detail & ~kInPlace);
      const RecordedCollective c(l, event, "MPI_COLLECTIVE_END", operation, reference, peer);
      if (c.kept) return l.hand_on(event, time, &CallBuilder::other);
      const CollectiveBytes whole = c.whole(l, {bytes, record.received}, detail & kInPlace);
      return l.hand_on(event, time, &CallBuilder::collective_end, c.op, c.comm, c.root, whole.sent,
                       whole.received);
    }
    case RecordKind::kOther:
      return l.hand_on(event, time, &CallBuilder::other);
  }
}

namespace {

/// EventLocation::unexpected is not the expected record. (It has no more arguments than registers,
/// so that take() needs no stack.)
template <PlainRecord::Request kRole>
[[gnu::noinline]] OTF2_CallbackCode take_unexpected(void* user, uint64_t event, OTF2_TimeStamp time,
                                                    uint64_t request) {
  return guarded(user, [&](EventLocation& l) {
    const PlainRecord& record = l.unexpected;
    if (l.loop_cache) {
      l.loop_cache->record(record, kRole, event, time, request);
    } else {
      give(l, record, event, time, request);
    }
  });
}

template <PlainRecord::Request kRole = PlainRecord::Request::kNone>
[[gnu::always_inline]] inline OTF2_CallbackCode take(void* user, uint64_t event,
                                                     OTF2_TimeStamp time, const PlainRecord& record,
                                                     uint64_t request = 0) {
  EventLocation& location = *static_cast<EventLocation*>(user);
  if (location.loop_cache && location.loop_cache->is_expected(record, kRole, event, time, request))
    return OTF2_CALLBACK_SUCCESS;
  location.unexpected = record;
  return take_unexpected<kRole>(user, event, time, request);
}

/// The enter of a call that may have attributes.
[[gnu::noinline]] OTF2_CallbackCode take_enter(void* user, uint64_t event, OTF2_TimeStamp time,
                                               OTF2_RegionRef region,
                                               const OTF2_AttributeList* attributes) {
  if (OTF2_AttributeList_GetNumberOfElements(attributes) == 0)
    return take(user, event, time, plain(RecordKind::kEnter, region));
  return guarded(user, [&](EventLocation& l) {
    const int32_t call = call_of(l, region);
    take_stolen_before(l, event, time, attributes);
    l.record(event, time, &CallBuilder::enter, call);
    if (l.functions)
      l.time_enter(event, l.ticks(time), region, call >= 0,
                   call_site_of(l.archive->index, attributes));
    if (call >= 0 && !attributes_of_probe(l, event, time, attributes))
      attributes_of_collective(l, event, time, call, attributes);
  });
}

// If kAttributes is false, the archive defines no attributes that are used here.

template <bool kAttributes>
OTF2_CallbackCode on_enter(RUBATO_RECORD, OTF2_RegionRef region) {
  const EventLocation& location = *static_cast<EventLocation*>(user);
  const ArchiveIndex& index = location.archive->index;
  if (kAttributes && ((index.request & index.comm & index.stolen) != kUndefined ||
                      (location.functions && (index.call_site & index.call_path) != kUndefined)))
    return take_enter(user, event, time, region, attributes);
  return take(user, event, time, plain(RecordKind::kEnter, region));
}

template <bool kAttributes>
OTF2_CallbackCode on_leave(RUBATO_RECORD, OTF2_RegionRef region) {
  EventLocation& location = *static_cast<EventLocation*>(user);
  const ArchiveIndex& index = location.archive->index;
  if (kAttributes && (index.stolen & index.own_work) != kUndefined &&
      OTF2_AttributeList_GetNumberOfElements(attributes) > 0) {
    const double stolen = stolen_ticks(location, attributes);
    const double own = own_ticks(location, attributes);
    const int32_t callback = own > 0 ? callback_of(location, attributes) : 0;
    const OTF2_CallbackCode done = guarded(user, [&](EventLocation& l) {
      if (call_of(l, region) < 0) return;
      if (stolen > 0) l.record(event, time, &CallBuilder::stolen_inside, stolen);
      if (own > 0) l.record(event, time, &CallBuilder::own_work, own, callback);
    });
    if (done != OTF2_CALLBACK_SUCCESS) return done;
  }
  return take(user, event, time, plain(RecordKind::kLeave, region));
}

/// The mean length of the blocks of a message's data; 0 if they are contiguous.
template <bool kAttributes>
uint64_t block_of(void* user, const OTF2_AttributeList* attributes) {
  uint64_t block = 0;
  if constexpr (kAttributes) {
    const uint32_t attribute = static_cast<EventLocation*>(user)->archive->index.block;
    if (attribute != kUndefined && OTF2_AttributeList_GetNumberOfElements(attributes) > 0)
      OTF2_AttributeList_GetUint64(attributes, attribute, &block);
  }
  return block;
}

template <bool kAttributes>
OTF2_CallbackCode on_send(RUBATO_RECORD, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                          uint64_t bytes) {
  return take(user, event, time,
              plain(RecordKind::kSend, comm, 0, receiver, tag, bytes,
                    block_of<kAttributes>(user, attributes)));
}

/// The mode of a send; 0 for a standard one.
uint8_t send_mode(void* user, const OTF2_AttributeList* attributes) {
  uint8_t mode = 0;
  const uint32_t attribute = static_cast<EventLocation*>(user)->archive->index.send_mode;
  if (attribute != kUndefined && OTF2_AttributeList_GetNumberOfElements(attributes) > 0)
    OTF2_AttributeList_GetUint8(attributes, attribute, &mode);
  return mode;
}

template <bool kAttributes>
OTF2_CallbackCode on_isend(RUBATO_RECORD, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                           uint64_t bytes, uint64_t request) {
  // The mode of a persistent send is only here; otherwise the name of the call has it.
  const uint8_t mode = kAttributes ? send_mode(user, attributes) : 0;
  const uint8_t flags = mode == 1   ? kBuffered
                        : mode == 2 ? kSynchronous
                        : mode == 4 ? kPartitioned
                                    : 0;
  return take<PlainRecord::Request::kOpens>(user, event, time,
                                            plain(RecordKind::kIsend, comm, flags, receiver, tag,
                                                  bytes, block_of<kAttributes>(user, attributes)),
                                            request);
}

OTF2_CallbackCode on_isend_complete(RUBATO_RECORD, uint64_t request) {
  return take<PlainRecord::Request::kCompletes>(user, event, time,
                                                plain(RecordKind::kIsendComplete), request);
}

template <bool kAttributes>
OTF2_CallbackCode on_irecv_request(RUBATO_RECORD, uint64_t request) {
  uint8_t flags = 0;
  if constexpr (kAttributes)
    flags = flags_of_receive(*static_cast<EventLocation*>(user), attributes);
  if (flags & kPartitioned) flags = kPartitioned;
  return take<PlainRecord::Request::kOpens>(
      user, event, time,
      plain(RecordKind::kIrecvRequest, 0, flags, 0, 0, 0, block_of<kAttributes>(user, attributes)),
      request);
}

template <bool kAttributes>
OTF2_CallbackCode on_recv(RUBATO_RECORD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                          uint64_t bytes) {
  uint8_t asked = 0;
  if constexpr (kAttributes) asked = wildcards(*static_cast<EventLocation*>(user), attributes);
  return take(user, event, time,
              plain(RecordKind::kRecv, comm, asked, sender, tag, bytes,
                    block_of<kAttributes>(user, attributes)));
}

OTF2_CallbackCode on_irecv(RUBATO_RECORD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                           uint64_t bytes, uint64_t request) {
  return take<PlainRecord::Request::kCompletes>(
      user, event, time, plain(RecordKind::kIrecv, comm, 0, sender, tag, bytes), request);
}

OTF2_CallbackCode on_collective_end(RUBATO_RECORD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                    uint32_t root, uint64_t sent, uint64_t received) {
  const uint8_t flag = in_place(*static_cast<const EventLocation*>(user), attributes);
  return take(user, event, time,
              plain(RecordKind::kCollectiveEnd, comm, static_cast<uint8_t>(op | flag), root, 0,
                    sent, received));
}

/// Records of which only the time is used.
template <typename... Rest>
OTF2_CallbackCode on_other(RUBATO_RECORD, Rest...) {
  return take(user, event, time, plain(RecordKind::kOther));
}

// --- Other records ---

OTF2_CallbackCode on_cancelled(RUBATO_RECORD, uint64_t request) {
  return guarded(
      user, [&](EventLocation& l) { l.record(event, time, &CallBuilder::cancelled, request); });
}

OTF2_CallbackCode on_request_test(RUBATO_RECORD, uint64_t request) {
  return guarded(
      user, [&](EventLocation& l) { l.record(event, time, &CallBuilder::request_test, request); });
}

OTF2_CallbackCode on_icollective_request(RUBATO_RECORD, uint64_t request) {
  return guarded(user, [&](EventLocation& l) {
    uint32_t init_order = 0;
    const uint32_t attribute = l.archive->index.init_order;
    if (attribute != kUndefined) OTF2_AttributeList_GetUint32(attributes, attribute, &init_order);
    l.record(event, time, &CallBuilder::icollective_request, request, init_order);
  });
}

OTF2_CallbackCode on_icollective_complete(RUBATO_RECORD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                          uint32_t root, uint64_t sent, uint64_t received,
                                          uint64_t request) {
  return guarded(user, [&](EventLocation& l) {
    const RecordedCollective c(l, event, "NON_BLOCKING_COLLECTIVE_COMPLETE", op, comm, root);
    if (c.kept) {
      l.record(event, time, &CallBuilder::icollective_kept, request);
    } else {
      const CollectiveBytes whole = c.whole(l, {sent, received}, in_place(l, attributes) != 0);
      l.record(event, time, &CallBuilder::icollective_complete, c.op, c.comm, c.root, whole.sent,
               whole.received, request);
    }
  });
}

OTF2_CallbackCode on_parameter(RUBATO_RECORD, OTF2_ParameterRef parameter, uint64_t value) {
  return guarded(user, [&](EventLocation& l) {
    const ArchiveIndex& index = l.archive->index;
    if (parameter == index.request_start && parameter != kUndefined) {
      l.record(event, time, &CallBuilder::neighbours_start, value);
    } else if (parameter == index.request_end && parameter != kUndefined) {
      l.record(event, time, &CallBuilder::neighbours_end, value);
    } else if (parameter == index.request_ready && parameter != kUndefined) {
      l.record(event, time, &CallBuilder::partition_ready, value);
    } else if (parameter == index.part_sent && parameter != kUndefined) {
      uint32_t peers = 1;
      OTF2_AttributeList_GetUint32(attributes, index.part_peers, &peers);
      l.record(event, time, &CallBuilder::part, value, peers);
    } else {
      l.record(event, time, &CallBuilder::other);
    }
  });
}

OTF2_CallbackCode on_measurement(RUBATO_RECORD, OTF2_MeasurementMode mode) {
  return guarded(user, [&](EventLocation& l) {
    const bool on = mode == OTF2_MEASUREMENT_ON;
    l.record(event, time, &CallBuilder::measurement, on);
    if (l.functions && on) l.functions->go(l.ticks(time));
    if (l.functions && !on) l.functions->stop(event, l.ticks(time));
  });
}

OTF2_CallbackCode on_buffer_flush(RUBATO_RECORD, OTF2_TimeStamp stop) {
  return guarded(user, [&](EventLocation& l) {
    take_stolen_before(l, event, time, attributes);
    l.record(event, time, &CallBuilder::buffer_flush, l.ticks(stop));
    if (!l.functions) return;
    l.functions->stop(event, l.ticks(time));
    l.functions->go(l.ticks(stop));
  });
}

OTF2_CallbackCode on_sample(RUBATO_RECORD, OTF2_CallingContextRef context, uint32_t,
                            OTF2_InterruptGeneratorRef) {
  return guarded(user, [&](EventLocation& l) {
    l.record(event, time, &CallBuilder::other);
    const ArchiveIndex& index = l.archive->index;
    if (!l.functions || index.sample_ticks == 0) return;
    uint64_t periods = 1;
    if (index.periods != kUndefined)
      OTF2_AttributeList_GetUint64(attributes, index.periods, &periods);
    const auto each = static_cast<double>(std::max<uint64_t>(1, periods));
    l.sample(context, each * index.sample_ticks, l.ticks(time));
  });
}

/// A record of a thread's creation, begin or end, or of a wait for its end.
template <auto kMethod>
OTF2_CallbackCode on_thread(RUBATO_RECORD, OTF2_CommRef contingent, uint64_t number) {
  // If all ranks have one timeline, only its time is used.
  if (static_cast<EventLocation*>(user)->archive->definitions.threads.empty())
    return take(user, event, time, plain(RecordKind::kOther));
  return guarded(user, [&](EventLocation& l) {
    if (l.functions) l.time_bare_record(event, l.ticks(time));
    l.record(event, time, kMethod, ThreadName{contingent, number});
  });
}

}  // namespace

EventCallbacks::EventCallbacks(const ArchiveIndex& index)
    : callbacks_(OTF2_EvtReaderCallbacks_New()) {
  set_others();
  set_rma_callbacks(callbacks_);
  if (index.has_attributes) {
    set_those_with_attributes<true>();
  } else {
    set_those_with_attributes<false>();
  }
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks_, on_isend_complete);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks_, on_irecv);
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks_, on_cancelled);
  OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(callbacks_, on_request_test);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks_, on_collective_end);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks_,
                                                                  on_icollective_request);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks_,
                                                                   on_icollective_complete);
  OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(callbacks_, on_parameter);
  OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(callbacks_, on_sample);
  OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(callbacks_, on_measurement);
  OTF2_EvtReaderCallbacks_SetBufferFlushCallback(callbacks_, on_buffer_flush);
  OTF2_EvtReaderCallbacks_SetThreadCreateCallback(callbacks_,
                                                  on_thread<&CallBuilder::thread_create>);
  OTF2_EvtReaderCallbacks_SetThreadBeginCallback(callbacks_, on_thread<&CallBuilder::thread_begin>);
  OTF2_EvtReaderCallbacks_SetThreadEndCallback(callbacks_, on_thread<&CallBuilder::thread_end>);
  OTF2_EvtReaderCallbacks_SetThreadWaitCallback(callbacks_, on_thread<&CallBuilder::thread_wait>);
}

template <bool kAttributes>
void EventCallbacks::set_those_with_attributes() {
  OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks_, on_enter<kAttributes>);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks_, on_leave<kAttributes>);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks_, on_send<kAttributes>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks_, on_isend<kAttributes>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks_, on_irecv_request<kAttributes>);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks_, on_recv<kAttributes>);
}

void EventCallbacks::set_others() {
#define RUBATO_OTHER(kind) OTF2_EvtReaderCallbacks_Set##kind##Callback(callbacks_, on_other)
  RUBATO_OTHER(CallingContextEnter);
  RUBATO_OTHER(CallingContextLeave);
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
  RUBATO_OTHER(ThreadFork);
  RUBATO_OTHER(ThreadJoin);
  RUBATO_OTHER(ThreadReleaseLock);
  RUBATO_OTHER(ThreadTaskComplete);
  RUBATO_OTHER(ThreadTaskCreate);
  RUBATO_OTHER(ThreadTaskSwitch);
  RUBATO_OTHER(ThreadTeamBegin);
  RUBATO_OTHER(ThreadTeamEnd);
  RUBATO_OTHER(Unknown);
#undef RUBATO_OTHER
}

}  // namespace rubato
