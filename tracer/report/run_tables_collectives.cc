// Collectives and one-sided communication.

#include <otf2/otf2.h>

#include <algorithm>

#include "tracer/report/run_tables.h"

namespace rubato {
inline namespace tracing {

namespace {

RecordedCollective recorded(const CollectiveItem& item, bool blocking) {
  return {item.op & ~kCollectiveInPlace,
          (item.op & kCollectiveInPlace) != 0,
          blocking,
          item.root,
          item.sent,
          item.received};
}

}  // namespace

void RunTables::blocking_collective(record::Reader& items) {
  const CollectiveItem item = items.collective();
  const RecordedCollective c = recorded(item, true);
  const CommunicatorView& members = view(item.communicator);
  if (item.communicator != shared_in_ || !(c == shared_)) {
    share_ = member_share(c, members.member);
    shared_ = c;
    shared_in_ = item.communicator;
  }
  calls_[call_].bytes_completed += share_.received;
  settle({call_, share_}, call_);
  sample_collective(c, members);
  step_ends_ = ends_step(c, members);
}

bool RunTables::ends_step(const RecordedCollective& c, const CommunicatorView& members) {
  switch (c.op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
      break;
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLTOALL:
      if (!share_.sends) return false;  // without bytes no rank waits
      break;
    default:
      return false;
  }
  return !members.member.inter && members.member.peers == ranks_;
}

void RunTables::collective_complete(record::Reader& items, const FoldedThread& thread) {
  const uint64_t number = items.value();
  const uint64_t word = items.word();
  const uint64_t sent = items.word();
  const CollectiveItem item = CollectiveItem::of(word, sent, items.word());
  const MemberShare share = member_share(recorded(item, false), view(item.communicator).member);
  calls_[call_].bytes_completed += share.received;
  const Open* const open = open_.find(number);
  if (open == nullptr || open->kind != OpenKind::kCollective) {
    wait_for_post(number, {call_, share}, thread);
    return;
  }
  settle({call_, share}, open->call);
  open_.erase(number);
}

void RunTables::neighbours(Item kind, record::Reader& items) {
  Open open{};
  open.kind = OpenKind::kNeighbours;
  open.communicator = static_cast<uint32_t>(items.value());
  open.sent = items.word();
  open.bytes = items.word();
  const uint64_t request = items.word();
  if (request != 0) post(request, open);
  if (request == 0 || kind == Item::kNeighboursPosted) exchange(open, request == 0);
}

void RunTables::neighbours_request(Item kind, uint64_t number) {
  const Open* const found = open_.find(number);
  if (found == nullptr || found->kind != OpenKind::kNeighbours) {
    ++left_out_.requests;
    return;
  }
  const Open open = *found;
  if (kind == Item::kRequestStart) {
    exchange(open, false);
    return;
  }
  const CommunicatorView& members = view(open.communicator);
  const uint64_t sources = existing(members.topology->sources);
  for (const int from : members.topology->sources) {
    if (from < 0) continue;
    calls_[call_].bytes_completed += open.bytes / sources;
    from_.push(members.world_rank(from));
  }
  // Numbers of persistent requests have bit 39.
  if ((number >> 39 & 1) == 0) open_.erase(number);
}

uint64_t RunTables::existing(const std::vector<int>& neighbours) {
  return static_cast<uint64_t>(
      std::count_if(neighbours.begin(), neighbours.end(), [](int rank) { return rank >= 0; }));
}

void RunTables::exchange(const Open& open, bool blocking) {
  const CommunicatorView& members = view(open.communicator);
  if (members.topology == nullptr) return;
  const uint64_t destinations = existing(members.topology->destinations);
  const uint64_t sources = existing(members.topology->sources);
  for (const int to : members.topology->destinations) {
    if (to >= 0) sent(members.world_rank(to), open.sent / destinations);
  }
  for (const int from : members.topology->sources) {
    if (from < 0) continue;
    const uint64_t bytes = open.bytes / sources;
    if (blocking)
      receive(call_, members.world_rank(from), bytes);
    else
      count(call_, false, bytes, bytes);
  }
}

void RunTables::one_sided(record::Reader& items) {
  const uint64_t value = items.value();
  const auto window = static_cast<uint32_t>(value & 0xfffff);
  const auto how = static_cast<unsigned>(value >> 20);
  const auto target = static_cast<int64_t>(items.word());
  const uint64_t first = items.word();
  const uint64_t second = items.word();
  items.word();
  const CommunicatorView& members = view(objects_.communicator_of_window(window));
  const int32_t peer = members.world_rank(target);
  const bool fetches =
      how == kRmaGet || (how >= kRmaAtomic &&
                         how != unsigned{kRmaAtomic} + unsigned{OTF2_RMA_ATOMIC_TYPE_ACCUMULATE});
  const uint64_t bytes_sent = how == kRmaGet ? 0 : first;
  const uint64_t bytes_fetched = how == kRmaGet ? first : second;
  if (!fetches || bytes_sent > 0) sent(peer, bytes_sent);
  if (!fetches) return;
  count(call_, false, bytes_fetched, bytes_fetched);
  if (PeerSums* const sums = peer_sums(peer)) {
    ++sums->fetched;
    sums->fetched_bytes += bytes_fetched;
  }
}

}  // namespace tracing
}  // namespace rubato
