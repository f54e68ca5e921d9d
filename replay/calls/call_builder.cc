#include "replay/calls/call_builder.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "replay/calls/polling.h"
#include "replay/trace/collective_sizes.h"

namespace rubato {
namespace {

/// Moves the first `count` entries to `out`, which is empty. The remaining entries, mostly few,
/// stay.
template <typename Entry>
void hand_out(std::vector<Entry>& pending, std::vector<Entry>& out, size_t count) {
  std::swap(pending, out);
  pending.assign(out.begin() + static_cast<std::ptrdiff_t>(count), out.end());
  out.resize(count);
}

/// Continues in the larger one of the two buffers, so that a rank holds only one large buffer.
template <typename Entry>
void use_larger(std::vector<Entry>& pending, std::vector<Entry>& empty) {
  if (empty.capacity() <= pending.capacity()) return;
  empty.assign(pending.begin(), pending.end());
  std::swap(pending, empty);
  empty.clear();
}

}  // namespace

void CallBuilder::begin(uint64_t event, double time) {
  begun_ = true;
  last_time_ = last_leave_ = time;
  Call begin;
  begin.enter = begin.leave = time;
  begin.event = event;
  begin.role = CallRole::kBegin;
  pending_.calls.push_back(begin);
}

void CallBuilder::note_backwards(uint64_t event) {
  if (backwards_.count++ == 0)
    backwards_.first = trace_->name_of(timeline_) + ", event " + std::to_string(event);
}

void CallBuilder::close_finalize() {
  // Without a record of its own, MPI_Finalize is collective over the world.
  const bool silent = pending_.calls.back().first_action == pending_.actions.size();
  if (!silent || trace_->world < 0) return;
  Action& action = add_action(ActionKind::kCollective);
  action.op = CollectiveOp::kDestroyHandle;
  action.comm = static_cast<uint32_t>(trace_->world);
  action.collective = {.root = kNoRoot, .order = 0};
}

void CallBuilder::follow_polls() {
  const Call& call = pending_.calls.back();
  if (polls_ > 0 && call.role == CallRole::kFlush) {
    // A loop of polls, or a run begun by a probe, continues after it: the program did nothing.
    ++polls_;
    ++local_calls_;
    return;
  }
  if (call.role != CallRole::kMpi) {
    polls_ = 0;
    return;
  }
  const MpiCallInfo& info = trace_->calls[call.name];
  if (call.is_kept() && info.makes_ready) some_partition_ready();
  const bool is_poll = call.is_kept() && (info.tests || info.probes);
  if (call.is_kept() && !is_poll && info.without_records != CallClass::kLocal) {
    if (!trace_->knows_probes && awaits_message(info.name)) {
      found_something(pending_.calls.size() - 1);
    } else {  // it may have received what a probe found
      settle_probe(std::exchange(open_probe_, kNone), {});
    }
  }
  if (polls_ > 0) {
    // More local calls than this: not polling.
    constexpr size_t kMostLocalCalls = 16;
    const bool is_local = call.is_kept() && !is_poll && info.without_records == CallClass::kLocal;
    if (is_local && local_calls_ < kMostLocalCalls) {
      ++polls_;
      ++local_calls_;
      return;
    }
    const std::span<Call> run = std::span(pending_.calls).last(polls_ + 1);
    bool found = !call.is_kept() && end_polls(run);
    if (!found && polls_ >= kMostPolls) {
      mark_spinning(run, [&](const Call& each) { return is_a_poll(each); });
      found = true;
    }
    if (is_poll && !found) {
      ++polls_;
      local_calls_ = 0;
      return;
    }
  }
  polls_ = is_poll ? 1 : 0;
  local_calls_ = 0;
}

bool CallBuilder::is_a_poll(const Call& call) const {
  const MpiCallInfo& info = trace_->calls[call.name];
  return call.role == CallRole::kMpi && call.is_kept() && (info.tests || info.probes);
}

bool CallBuilder::is_a_vain_test(const Call& call) const {
  return is_a_poll(call) && trace_->calls[call.name].tests;
}

namespace {

bool completes_request(const Action& action) {
  return action.kind == ActionKind::kWaitReceive || action.kind == ActionKind::kWaitSend;
}

}  // namespace

bool CallBuilder::end_polls(std::span<Call> run) {
  const Call& last = run[run.size() - 2 - local_calls_];
  uint16_t name = run.back().name;
  if (!last.is_kept()) {
    // Probes before a receive: the last one found its message (find_poll()).
    name = last.name;
    run = run.first(run.size() - 1 - local_calls_);
  } else if (trace_->calls[last.name].name == "MPI_Request_get_status" &&
             completes_request(pending_.actions[run.back().first_action])) {
    name = last.name;  // its success is not recorded
  }
  const MpiCallInfo& info = trace_->calls[name];
  const std::span<Call> polls = run.first(run.size() - 1);
  given_up_.count(polls, info.tests ? name : GivenUp::kNoName,
                  [&](const Call& each) { return is_a_vain_test(each); });
  if (!info.tests && !info.probes) return false;
  const std::span<Call> waited = polled_before(polls, name);
  if (waited.empty()) return false;
  run = run.last(waited.size() + 1);
  mark_looks(run, [&](uint16_t other) {
    return info.tests ? trace_->calls[other].tests : trace_->calls[other].probes;
  });
  if (info.tests && given_up_.is_look_now_and_then(name)) return false;
  mark_spinning(run, [&](const Call& each) { return is_a_poll(each); });
  return true;
}

namespace {

/// Collectives in which MPI libraries do not contact other members when there is no data, as every
/// member knows from its own arguments.
bool returns_at_once_when_empty(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kBcast:
    case CollectiveOp::kReduce:
    case CollectiveOp::kAllreduce:
    case CollectiveOp::kAllgather:
    case CollectiveOp::kAllgatherv:  // each member knows the counts of all
    case CollectiveOp::kAlltoall:
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kReduceScatterBlock:
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool CallBuilder::waits_for_nobody(CollectiveOp op, uint32_t comm, uint64_t sent,
                                   uint64_t received) const {
  // On an intercommunicator some members move no data while others do.
  return sent == 0 && received == 0 && returns_at_once_when_empty(op) &&
         trace_->sizes == SizeConvention::kLogical && trace_->comms[comm].first_group == 0;
}

uint8_t CallBuilder::part_flag(CollectiveOp op, uint32_t comm, int32_t root, uint64_t sent,
                               uint64_t received) const {
  if (sent > 0 && received > 0) return 0;
  const Communicator& members = trace_->comms[comm];
  // On an intercommunicator only sums are known of the root's group, and a member of it has none.
  if (trace_->sizes != SizeConvention::kLogical || members.first_group > 0 || members.size() <= 1)
    return 0;
  switch (op) {
    case CollectiveOp::kGatherv:
    case CollectiveOp::kScatterv: {
      const bool empty = op == CollectiveOp::kGatherv ? sent == 0 : received == 0;
      const bool is_root = members.local_rank(trace_->rank_of(timeline_)) == root;
      return empty && root >= 0 && !is_root ? kNoPart : 0;
    }
    case CollectiveOp::kAllgatherv:
    case CollectiveOp::kAlltoallv:
    case CollectiveOp::kAlltoallw:
    case CollectiveOp::kReduceScatter:
      return static_cast<uint8_t>((sent == 0 ? kGivesNothing : 0) |
                                  (received == 0 ? kTakesNothing : 0));
    default:
      return 0;
  }
}

void CallBuilder::begins_world(uint64_t /*event*/, double /*time*/, uint32_t comm) {
  Action& action = add_action(ActionKind::kNone);
  action.op = CollectiveOp::kCreateHandle;
  action.comm = comm;
}

namespace {

/// The CollectiveFlags that the parts of an operation may set.
uint8_t flags_of_parts(CollectiveOp op) {
  if (op == CollectiveOp::kScatterv) return kHasParts;
  const bool to_each = op == CollectiveOp::kAlltoallv || op == CollectiveOp::kAlltoallw;
  return to_each ? kHasParts | kSendsToSome : 0;
}

}  // namespace

void CallBuilder::collective_end(uint64_t event, double time, CollectiveOp op, uint32_t comm,
                                 int32_t root, uint64_t sent, uint64_t received) {
  ensure_call(event, time);
  note_inside(event, time, true);
  const CallRole role = pending_.calls.back().role;
  if (role == CallRole::kInit) {
    begins_world(event, time, comm);  // this is how our tracer and Score-P 8 record MPI_COMM_WORLD
  } else if (op == CollectiveOp::kDestroyHandle && role != CallRole::kFinalize) {
    // MPI_Comm_free is nominally collective; MPI libraries only drop a reference, and do not wait.
  } else if (waits_for_nobody(op, comm, sent, received)) {
    add_action(ActionKind::kNone);
  } else {
    Action& action = add_action(ActionKind::kCollective);
    action.flags = part_flag(op, comm, root, sent, received);
    action.op = op;
    action.comm = comm;
    action.collective = {.root = root, .order = 0, .sent = sent, .received = received};
    if (flags_of_parts(op) != 0 && !(action.flags & kGivesNothing)) add_parts(parts_, op);
  }
  if (implicit_) close_call(time);
}

void CallBuilder::part(uint64_t event, double time, uint64_t bytes, uint32_t peers) {
  note_inside(event, time, false);
  if (!open_) return;  // outside of calls
  const uint64_t most = (uint64_t{1} << Part::kBytesBits) - 1;
  if (!parts_.empty() && parts_.back().bytes == bytes) {
    parts_.back().members += peers;
  } else {
    parts_.push_back({peers, std::min(bytes, most)});
  }
}

void CallBuilder::prepares_parts(uint64_t, double, uint64_t request) {
  prepared_ = request;
}

void CallBuilder::end_parts() {
  if (prepared_) book_->parts.erase(*prepared_);
  if (prepared_ && !parts_.empty()) book_->parts[*prepared_] = parts_;
  prepared_.reset();
  parts_.clear();
}

void CallBuilder::add_parts(const std::vector<Part>& parts, std::optional<CollectiveOp> op) {
  if (parts.empty()) return;
  const bool sends_to_some =
      std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.bytes == 0; });
  const uint8_t flags = kHasParts | (sends_to_some ? kSendsToSome : 0);
  pending_.actions.back().flags |= op ? flags & flags_of_parts(*op) : flags;
  for (size_t i = 0; i < parts.size(); i += 2) {
    add_action(ActionKind::kParts).parts = {
        .follow = static_cast<int32_t>((parts.size() - 1 - i) / 2),
        .first = parts[i].packed(),
        .second = i + 1 < parts.size() ? parts[i + 1].packed() : 0};
  }
}

void CallBuilder::icollective_request(uint64_t event, double time, uint64_t request,
                                      uint32_t init_order) {
  ensure_call(event, time);
  note_inside(event, time, false);
  post(ActionKind::kStartCollective, request, book_->collectives);
  pending_.actions.back().start.persistent = init_order;
  const auto prepared = book_->parts.find(request);
  add_parts(prepared == book_->parts.end() ? parts_ : prepared->second, {});
  if (implicit_) close_call(time);
}

void CallBuilder::icollective_complete(uint64_t event, double time, CollectiveOp op, uint32_t comm,
                                       int32_t root, uint64_t sent, uint64_t received,
                                       uint64_t request) {
  const auto found = book_->collectives.take(request);
  if (!found) {
    // Its start was not recorded: treated as a blocking collective.
    collective_end(event, time, op, comm, root, sent, received);
    return;
  }
  ensure_call(event, time);
  note_inside(event, time, true);
  CallBuilder& poster = *found->poster;
  if (waits_for_nobody(op, comm, sent, received)) {
    poster.make_void(found->number);
    add_action(ActionKind::kNone);
  } else {
    Action& started = poster.action_of(found->number);
    started.flags &= flags_of_parts(op);
    const uint8_t flags = part_flag(op, comm, root, sent, received);
    // The members to which it gives nothing are recorded already.
    started.flags |=
        started.flags & kSendsToSome ? flags & static_cast<uint8_t>(~kGivesNothing) : flags;
    started.op = op;
    started.comm = comm;
    started.start.root = root;
    Action sizes;
    sizes.op = op;
    sizes.comm = comm;
    sizes.collective = {.root = root, .order = 0, .sent = sent, .received = received};
    const int local = trace_->comms[comm].local_rank(trace_->rank_of(timeline_));
    const auto part = own_part(*trace_, sizes);
    started.start.payload =
        std::bit_cast<uint64_t>(part ? part->own : priced_bytes(*trace_, sizes, local));
    if (part && part->own != part->mean) started.flags |= kUneven;
    const uint32_t slot = started.start.slot;
    poster.resolve(found->number);
    Action& wait = add_action(ActionKind::kWaitCollective);
    wait.flags = flags & kTakesNothing;
    wait.op = op;
    wait.comm = comm;
    wait.collective = {.root = root, .slot = slot, .sent = sent, .received = received};
    book_->free_slot(slot);
  }
  if (implicit_) close_call(time);
}

void CallBuilder::neighbours(uint64_t event, double time, NeighbourExchange exchange,
                             uint64_t request) {
  ensure_call(event, time);
  if (request == 0) {
    exchange_with_neighbours(exchange, nullptr);
  } else {
    NeighbourRequest& started = book_->among_neighbours[request];
    started = {exchange, 0, {}};
    exchange_with_neighbours(exchange, &started);
  }
}

void CallBuilder::neighbours_init(uint64_t, double, NeighbourExchange exchange, uint64_t request) {
  book_->among_neighbours[request] = {exchange, ++book_->neighbour_inits[exchange.comm], {}};
}

void CallBuilder::neighbours_start(uint64_t event, double time, uint64_t request) {
  ensure_call(event, time);
  note_inside(event, time, false);
  const auto found = book_->among_neighbours.find(request);
  if (found != book_->among_neighbours.end())
    exchange_with_neighbours(found->second.exchange, &found->second);
  if (implicit_) close_call(time);
}

void CallBuilder::neighbours_end(uint64_t event, double time, uint64_t request) {
  ensure_call(event, time);
  note_inside(event, time, true);
  const auto found = book_->among_neighbours.find(request);
  if (found != book_->among_neighbours.end()) {
    NeighbourRequest& ended = found->second;
    add_action(ActionKind::kNone);  // there may be nothing to wait for
    for (const uint32_t slot : ended.slots) {
      add_action(ActionKind::kWaitReceive).request = {
          .slot = slot, .bytes = ended.exchange.received / ended.slots.size()};
      book_->free_slot(slot);
    }
    ended.slots.clear();
  }
  if (implicit_) close_call(time);
}

void CallBuilder::exchange_with_neighbours(const NeighbourExchange& exchange,
                                           NeighbourRequest* request) {
  const auto known = trace_->neighbours.find(trace_->rank_of(timeline_), exchange.comm);
  if (!known) return;
  add_action(ActionKind::kNone);  // there may be no neighbours
  const auto message = [&](ActionKind kind, int32_t peer, uint64_t bytes) -> Action& {
    Action& action = add_action(kind);
    action.comm = exchange.comm;
    action.message = {.peer = peer,
                      .bytes = bytes,
                      .tag = kNeighbourTag + (request == nullptr ? 0 : request->order)};
    return action;
  };
  const auto& [sources, destinations] = *known;
  uint8_t follows = 0;
  if (last_send_.slot != kNoSlot && follows_open_send())
    follows = last_send_.in_burst ? kInBurst : kInBurst | kSecondOfBurst;
  for (const int32_t to : destinations) {
    Action& send = message(ActionKind::kSend, to, exchange.sent / destinations.size());
    send.flags = kBuffered;  // the call waits only for what it receives
    if (to == trace_->rank_of(timeline_)) continue;
    send.flags |= follows;
    follows = follows ? kInBurst : kInBurst | kSecondOfBurst;
    last_send_.slot = kNoSlot;
  }
  for (const int32_t from : sources) {
    Action& post = message(ActionKind::kPost, from, exchange.received / sources.size());
    if (request == nullptr) {
      post.flags = kBlocking;
    } else {
      post.message.slot = book_->allocate_slot();
      request->slots.push_back(post.message.slot);
    }
  }
}

void CallBuilder::icollective_kept(uint64_t event, double time, uint64_t request) {
  note_inside(event, time, true);
  if (const auto found = book_->collectives.take(request)) found->poster->make_void(found->number);
}

void CallBuilder::measurement(uint64_t event, double time, bool on) {
  const bool off_is_open = open_ && pending_.calls.back().role == CallRole::kOff;
  if (!on && !open_) {
    open_call(event, time, 0, CallRole::kOff);
    note_inside(event, time, false);
  } else {
    note_inside(event, time, on && off_is_open);
    if (on && off_is_open) close_call(time);
  }
}

void CallBuilder::buffer_flush(uint64_t event, double time, double stop) {
  if (open_) {
    note_inside(event, time, false);
    if (stop > time) lost_.flushing += stop - time;
    return;
  }
  open_call(event, time, static_cast<uint16_t>(trace_->calls.size() - 1), CallRole::kFlush);
  note_inside(event, time, false);
  last_time_ = std::max(time, stop);
  close_call(last_time_);
}

void CallBuilder::stolen_before(uint64_t, double time, double ticks) {
  if (open_ || !begun_ || !(ticks > 0)) return;
  const double gap = std::max(0.0, time - last_leave_);
  if (ticks > gap && ends_with_join()) lose_in_join(ticks - gap);
  if (gap == 0) return;
  // Its position in the gap is unknown. It is placed at the start, so that the rest of the gap is
  // the compute before the next call, with its functions and overhead.
  Call stolen;
  stolen.enter = last_leave_;
  stolen.leave = last_leave_ = std::min(time, last_leave_ + ticks);
  stolen.event = last_event_;
  stolen.name = static_cast<uint16_t>(trace_->calls.size() - 1);
  stolen.role = CallRole::kStolen;
  stolen.first_action = static_cast<uint32_t>(pending_.actions.size());
  stolen.first_record = static_cast<uint32_t>(gap_start_);
  pending_.calls.push_back(stolen);
  if (polls_ == 0) return;
  // A loop of polls continues after it.
  ++polls_;
  ++local_calls_;
}

void CallBuilder::stolen_inside(uint64_t, double, double ticks) {
  if (open_ && ticks > 0) lost_.stolen += ticks;
}

void CallBuilder::own_work(uint64_t, double, double ticks, int32_t callback) {
  if (!open_ || !(ticks > 0)) return;
  lost_.own += ticks;
  lost_.callback = callback;
}

void CallBuilder::pack_completed(uint64_t request, uint64_t bytes) {
  const auto found = book_->blocks.find(request);
  if (found == book_->blocks.end()) return;
  const auto [sent, block] = found->second;
  const uint64_t before = packing_.blocks;
  pack(std::max(bytes, sent), block);
  if (sent > 0) packing_.earlier += static_cast<int32_t>(packing_.blocks - before);
  book_->blocks.erase(found);
}

bool CallBuilder::ends_with_join() const {
  if (open_ || pending_.calls.empty() || pending_.calls.back().role != CallRole::kThread)
    return false;
  const Call& last = pending_.calls.back();
  // If the thread is no timeline, the join has no action.
  if (last.actions == 0) return trace_->calls[last.name].joins;
  const Action& action = pending_.actions[last.first_action];
  return action.kind == ActionKind::kAwaitThread && !(action.flags & kBegins);
}

void CallBuilder::lose_in_join(double ticks) {
  lost_.stolen = ticks;
  Call& join = pending_.calls.back();
  add_lost(join);
  join.actions = static_cast<uint32_t>(pending_.actions.size()) - join.first_action;
}

void CallBuilder::add_lost(Call& call) {
  const Lost lost = std::exchange(lost_, {});
  PackingAction packing = std::exchange(packing_, {});
  if (call.first_action == pending_.actions.size()) packing.blocks = 0;  // its message is unknown
  if (lost.flushing + lost.stolen + lost.own == 0 && packing.blocks == 0) return;
  if (call.role != CallRole::kMpi && call.role != CallRole::kFinalize &&
      call.role != CallRole::kThread)
    return;
  call.spinning |= kLoses;
  if (call.first_action == pending_.actions.size()) call.spinning |= kOnlyLoses;
  // At most the time of the call.
  double left = std::max(0.0, call.leave - call.enter);
  const auto add = [&](double ticks, uint8_t flags) {
    ticks = std::min(ticks, left);
    if (!(ticks > 0)) return;
    left -= ticks;
    Action& action = add_action(ActionKind::kLost);
    action.flags = flags;
    action.lost = LostAction::of(static_cast<uint64_t>(ticks));
    if (flags & kOwnWork) action.lost.callback = lost.callback;
  };
  add(lost.flushing, 0);
  add(lost.stolen, kStolenInside);
  add(lost.own, kOwnWork);
  if (packing.blocks == 0) return;
  Action& action = add_action(ActionKind::kLost);
  action.flags = kPacks;
  action.packing = packing;
}

void CallBuilder::finish() {
  end();
  while (!book_->partitioned.empty()) settle_partitioned(book_->partitioned.begin()->first);
  std::vector<size_t> open;
  for (const auto& [number, action] : released_) open.push_back(number);
  for (size_t i = 0; i < posted_.size(); ++i) {
    if (!posted_[i].resolved) open.push_back(posted_base_ + i);
  }
  for (const size_t number : open) {
    // A send remains a send in any case.
    if (action_of(number).kind == ActionKind::kSend) {
      resolve(number);
    } else if (action_of(number).kind == ActionKind::kAwaitThread) {
      make_void(number);
    } else if (action_of(number).kind == ActionKind::kProbe) {
      settle_probe(number, {});
    } else {
      give_up(number);
    }
  }
  book_->receives = {};
  book_->held_sends = {};
  book_->collectives = {};
}

void CallBuilder::end() {
  if (finished_) return;
  finished_ = true;
  if (open_) close_call(last_time_);
  if (thread_) end_thread(last_event_, last_time_, false);
  polls_ = 0;
  if (!begun_) return;
  Call end;
  end.enter = end.leave = last_time_;
  end.event = last_event_;
  end.role = CallRole::kEnd;
  end.first_action = static_cast<uint32_t>(pending_.actions.size());
  end.first_record = static_cast<uint32_t>(gap_start_);
  end.function_records = function_records_;
  pending_.calls.push_back(end);
}

size_t CallBuilder::ready() {
  while (first_posted_ < posted_.size() && posted_[first_posted_].resolved) ++first_posted_;
  if (2 * first_posted_ >= posted_.size()) {
    posted_base_ += first_posted_;
    posted_.erase(posted_.begin(), posted_.begin() + static_cast<std::ptrdiff_t>(first_posted_));
    first_posted_ = 0;
  }
  // The losses of a join may be recorded by the next call.
  const size_t joins = !finished_ && ends_with_join() ? 1 : 0;
  const size_t closed = pending_.calls.size() - (open_ ? 1 : 0) - std::max(polls_, joins);
  return posted_.empty() ? closed : std::min(closed, posted_[first_posted_].call - call_base_);
}

void CallBuilder::release_open() {
  if (unresolved_ == 0 || most_held_ == SIZE_MAX) return;
  const size_t closed = pending_.calls.size() - (open_ ? 1 : 0) - polls_;
  const size_t held = closed * sizeof(Call) + pending_.actions.size() * sizeof(Action) +
                      pending_.records.size() * sizeof(Record);
  if (held <= most_held_ + kHeldForOpen * unresolved_) return;
  // The last eighth may stay: what stays is copied (take()).
  const size_t until = call_base_ + closed - closed / 8;
  for (size_t i = first_posted_; i < posted_.size() && posted_[i].call < until; ++i) {
    Posted& post = posted_[i];
    if (post.resolved) continue;
    const Call& call = pending_.calls[post.call - call_base_];
    const auto action = static_cast<uint32_t>(post.action - action_base_);
    const size_t number = posted_base_ + i;
    if (pending_.actions[action].kind == ActionKind::kProbe) {
      if (open_probe_ == number) open_probe_ = kNone;
      settle_probe(number, {});
      continue;
    }
    late_.open.push_back({action, number});
    released_[number] = {pending_.actions[action], call.event, call.name};
    post.resolved = true;
    --unresolved_;
  }
}

bool CallBuilder::take(Block& block, size_t at_most) {
  block.clear();
  late_.clear();
  std::swap(late_.settled, settled_);
  release_open();
  const size_t count = std::min(at_most, ready());
  if (count == 0) {
    use_larger(pending_.calls, block.calls);
    use_larger(pending_.actions, block.actions);
    use_larger(pending_.records, block.records);
    return !late_.settled.empty();
  }

  // Hand out the front, keep the rest.
  const bool all = count == pending_.calls.size();
  const size_t actions = all ? pending_.actions.size() : pending_.calls[count].first_action;
  // Records after the last call belong to the next call; only the kEnd takes the remaining ones.
  const size_t records = finished_ && all ? pending_.records.size()
                         : all            ? gap_start_
                                          : pending_.calls[count].first_record;
  hand_out(pending_.calls, block.calls, count);
  hand_out(pending_.actions, block.actions, actions);
  hand_out(pending_.records, block.records, records);
  gap_start_ -= std::min(gap_start_, records);
  for (Call& call : pending_.calls) {
    call.first_action -= static_cast<uint32_t>(actions);
    call.first_record -= static_cast<uint32_t>(records);
  }
  call_base_ += count;
  action_base_ += actions;
  return true;
}

}  // namespace rubato
