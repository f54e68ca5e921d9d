#include "tracer/report/run_tables.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "tracer/layout/send_mode.h"

namespace rubato {
inline namespace tracing {
namespace {

constexpr uint32_t kWorld = 0;  ///< local number of MPI_COMM_WORLD (communicators.h)

}  // namespace

uint32_t RunTables::new_call(uint64_t key, unsigned id, uint64_t site) {
  uint32_t* const number = numbers_.put(key);
  CallSums sums{};
  sums.site = site;
  sums.call = id;
  sums.least = UINT64_MAX;
  if (number == nullptr) return kNoCall;
  if (!calls_.push(sums)) {
    numbers_.erase(key);
    return kNoCall;
  }
  *number = static_cast<uint32_t>(calls_.size());
  return *number - 1;
}

uint32_t RunTables::call_of(unsigned id, uint64_t site) {
  for (const uint64_t each : {site, kOtherSites}) {
    const uint64_t key = each << 10 | id;
    if (const uint32_t* number = numbers_.find(key)) return *number - 1;
    // Some places stay free for the other sites of calls.
    if (each == site && site != 0 && calls_.size() >= kMostSites) continue;
    return new_call(key, id, each);
  }
  return kNoCall;
}

void RunTables::time_call(const TimeSums::Booked& booked) {
  CallSums& sums = calls_[call_];
  ++sums.calls;
  if (booked.kind != TimeSums::Booked::kInside) {
    sums.outside += booked.ticks;
    return;
  }
  ++sums.timed;
  sums.ticks += booked.ticks;
  sums.stolen += booked.stolen;
  if (booked.stolen == 0) sums.least = std::min(sums.least, booked.ticks);
  const uint64_t ticks = with_core(booked);
  if (ticks <= sums.most) return;
  sums.most = ticks;
  sums.longest = {booked.ticks, booked.stolen};
}

uint64_t RunTables::with_core(const TimeSums::Booked& booked) const {
  if (booked.stolen == 0) return booked.ticks;
  const double stolen =
      static_cast<double>(booked.stolen) * 1e-9 * ticks_per_second(started_, ClockPair::sample());
  return booked.ticks - std::min(booked.ticks, static_cast<uint64_t>(stolen));
}

void RunTables::add(const record::Record& r, const TimeSums::Booked& booked, FoldedThread& thread) {
  if (r.id == kMarkOff) samples_.spoil_all();
  const bool main = thread.number == 0;
  if (main && r.id == kMarkTracerTime) steps_.tracer(r.leave - r.enter);
  if (main && r.id == kMarkStolen) {
    record::Reader words = r.items;
    steps_.lost(words.word());
    steps_.tracer(words.word());
  }
  if (booked.kind == TimeSums::Booked::kNoCall) return;
  if (main && booked.kind == TimeSums::Booked::kOutside) steps_.end(r.enter);
  if (booked.kind == TimeSums::Booked::kInit) {
    for (size_t i = 0; i < calls_.size(); ++i) {
      CallSums& before = calls_[i];
      before.outside += before.ticks;
      before.ticks = before.stolen = before.timed = before.most = 0;
      before.longest = {};
      before.least = UINT64_MAX;
    }
  }
  call_ = call_of(r.id, r.call_site);
  keys_.clear();
  if (call_ == kNoCall) {  // as many calls as that do not exist
    ++left_out_.sizes;
    return;
  }
  time_call(booked);
  polls_ = std::exchange(thread.polls, {});
  const bool tells_status = polls_.call != kNoCall && calls_[polls_.call].call == status_query_;
  if (polls_.call != call_ && !tells_status) polls_ = {};
  enter_ = r.enter;
  leave_ = r.leave;
  inside_ = booked.ticks;
  stolen_ = booked.stolen;
  from_.clear();
  numbered_ = step_ends_ = false;
  items(r.items, thread);
  if (main && booked.kind == TimeSums::Booked::kInside)
    steps_.call(r, booked, with_core(booked), keys_);
  if (main && step_ends_) steps_.end(r.leave);
  if (main && booked.kind == TimeSums::Booked::kInit) {
    ranks_ = objects_.communicator(kWorld).member.peers;
    steps_.set_ranks(ranks_);
  }
  if (main && (step_ends_ || booked.kind == TimeSums::Booked::kInit))
    steps_.begin(r.leave, thread.posted);
  if (!numbered_) {
    if (polls_.call != call_) polls_ = {.enter = enter_};
    thread.polls = {call_, polls_.enter, leave_, polls_.ticks + inside_, polls_.stolen + stolen_};
  } else if (booked.kind == TimeSums::Booked::kInside) {
    calls_[call_].numbered += inside_;
    if (polls_.ticks > 0) calls_[polls_.call].numbered += polls_.ticks;
  }
  divide_time();
}

void RunTables::divide_time() {
  if (from_.size() == 0) return;
  const double part = static_cast<double>(inside_) / static_cast<double>(from_.size());
  for (size_t i = 0; i < from_.size(); ++i) {
    if (PeerSums* const peer = peer_sums(from_[i])) peer->ticks += part;
  }
}

void RunTables::items(record::Reader items, FoldedThread& thread) {
  while (!items.done()) {
    const Item kind = items.item();
    switch (kind) {
      case Item::kSend:
      case Item::kRecv:
      case Item::kIsend:
      case Item::kIrecvRequest:
      case Item::kIrecv:
      case Item::kIsendStart:
      case Item::kIrecvStart:
        if (thread.number != 0) samples_.spoil_all();
        message(kind, items, thread);
        break;
      case Item::kProbed:
        if (thread.number != 0) samples_.spoil_all();
        probed(items);
        break;
      case Item::kIsendComplete:
        complete_send(items.value());
        break;
      case Item::kRequestCancelled:
        cancel(items.value());
        break;
      case Item::kRequestReady:
        if (Open* const open = open_.find(items.value())) open->call = call_;
        break;
      case Item::kCollective:
      case Item::kSmallCollective:
      case Item::kTinyCollective:
        if (thread.number != 0) samples_.spoil_all();
        blocking_collective(items);
        break;
      case Item::kCollectiveRequest: {
        Open open{};
        open.kind = OpenKind::kCollective;
        open.call = call_;
        items.value();
        post(next_request(thread), open);
        break;
      }
      case Item::kCollectiveStart: {
        Open open{};
        open.kind = OpenKind::kCollective;
        open.call = call_;
        const uint64_t number = items.value();
        items.word();
        post(number, open);
        break;
      }
      case Item::kCollectiveComplete:
        collective_complete(items, thread);
        break;
      case Item::kNeighbours:
      case Item::kNeighboursPosted:
        if (kind == Item::kNeighboursPosted) next_request(thread);
        neighbours(kind, items);
        break;
      case Item::kRequestStart:
      case Item::kRequestEnd:
        neighbours_request(kind, items.value());
        break;
      case Item::kRmaOperation:
        one_sided(items);
        break;
      default:
        items.pass();
        break;
    }
  }
}

void RunTables::message(Item kind, record::Reader& items, FoldedThread& thread) {
  const Message m = items.message();
  const bool sends = kind == Item::kSend || kind == Item::kIsend || kind == Item::kIsendStart;
  Open open{};
  open.call = call_;
  open.peer = view(m.communicator).world_rank(m.peer);
  open.bytes = m.bytes;
  open.kind = sends ? OpenKind::kSend : OpenKind::kReceive;
  open.posted = enter_;
  uint64_t number = 0;
  if (kind == Item::kIrecv) {
    complete_receive(items.word(), m, thread);
    return;
  }
  if (kind == Item::kIsend || kind == Item::kIrecvRequest) {
    number = next_request(thread);
  } else if (kind == Item::kIsendStart || kind == Item::kIrecvStart) {
    const uint64_t word = items.word();
    number = word & 0xffffffffffffff;
    if (kind == Item::kIsendStart && word >> 56 == static_cast<uint64_t>(SendMode::kPartitioned)) {
      open.kind = OpenKind::kPartitionedSend;
      post(number, open);
      return;
    }
  }
  const Numbered numbered = number_message(m, sends);
  if (kind != Item::kIrecvRequest && kind != Item::kIrecvStart) keys_.push(numbered.key);
  open.key = numbered.key;
  open.counter = numbered.counter;
  if (sends) {
    sent(open.peer, m.bytes);
    sample(SampleRole::kSend, numbered, enter_);
  } else if (kind == Item::kRecv) {
    receive(call_, open.peer, m.bytes);
    sample(SampleRole::kReceive, numbered, enter_);
  }
  if (number != 0) post(number, open);
}

uint64_t RunTables::next_request(FoldedThread& thread) {
  return uint64_t{thread.number} << 40 | ++thread.posted;
}

void RunTables::post(uint64_t number, const Open& open) {
  Open* place = open_.find(number);
  // A number that is posted again, since its request was freed or its end not recorded.
  if (place != nullptr && place->kind == OpenKind::kPartitionedSend) complete_send(number);
  place = open_.put(number);
  if (place == nullptr) {
    ++left_out_.requests;
    return;
  }
  *place = open;
  if (early_.size() == 0) return;
  for (uint64_t i = 0; i < kMostEarly; ++i) {
    const uint64_t key = number | i << 56;
    const Early* const early = early_.find(key);
    if (early == nullptr) continue;
    settle(*early, open.call);
    early_.erase(key);
    open_.erase(number);
    return;
  }
}

void RunTables::settle(const Early& early, uint32_t posted_by) {
  const MemberShare& share = early.share;
  if (share.sends) count(posted_by, true, share.size, share.sent);
  if (share.receives) count(posted_by, false, share.size, share.received);
}

void RunTables::wait_for_post(uint64_t number, const Early& early, const FoldedThread& thread) {
  if (number >> 40 == thread.number) {  // posted while recording was switched off
    settle(early, call_);
    return;
  }
  for (uint64_t i = 0; i < kMostEarly; ++i) {
    if (early_.find(number | i << 56) != nullptr) continue;
    if (Early* const place = early_.put(number | i << 56)) {
      *place = early;
      return;
    }
    break;
  }
  ++left_out_.requests;
}

void RunTables::complete_receive(uint64_t number, const Message& m, const FoldedThread& thread) {
  const int32_t peer = view(m.communicator).world_rank(m.peer);
  calls_[call_].bytes_completed += m.bytes;
  from_.push(peer);
  const Open* const open = open_.find(number);
  keys_.push(open == nullptr || open->kind != OpenKind::kReceive ? 0 : open->key);
  if (open == nullptr || open->kind != OpenKind::kReceive) {
    wait_for_post(number, {call_, {false, true, 0, m.bytes, m.bytes}}, thread);
    return;
  }
  count(open->call, false, m.bytes, m.bytes);
  Numbered numbered{open->key, open->counter};
  if (open->counter == 0) {
    // Of a wildcard: it may have been posted before others that were numbered.
    samples_.spoil(number_message(m, false).counter);
  } else {
    sample(SampleRole::kReceive, numbered, open->posted);
  }
  open_.erase(number);
}

void RunTables::complete_send(uint64_t number) {
  const Open* const found = open_.find(number);
  if (found == nullptr) return;
  const Open open = *found;
  open_.erase(number);
  if (open.kind == OpenKind::kPartitionedSend) {
    const uint32_t present = call_;
    call_ = open.call;
    sent(open.peer, open.bytes);
    call_ = present;
  } else if (open.kind == OpenKind::kSend) {
    sample(SampleRole::kSendWait, {open.key, open.counter}, enter_);
  }
}

void RunTables::cancel(uint64_t number) {
  const Open* const found = open_.find(number);
  if (found == nullptr) return;
  const Open open = *found;
  open_.erase(number);
  if (open.counter != 0) samples_.spoil(open.counter);
  if (open.kind != OpenKind::kSend) return;
  const uint64_t key = size_key(open.call, true, open.bytes);
  if (SizeSums* const sums = sizes_.find(key)) {
    sums->count -= 1;
    sums->bytes -= open.bytes;
  }
  if (PeerSums* const peer = peer_sums(open.peer)) {
    peer->sent -= 1;
    peer->sent_bytes -= open.bytes;
  }
}

void RunTables::finish() {
  call_ = kNoCall;
  FlatArray<uint64_t> open(SIZE_MAX);
  open_.for_each([&](uint64_t number, const Open& each) {
    if (each.kind == OpenKind::kPartitionedSend) open.push(number);
  });
  for (size_t i = 0; i < open.size(); ++i) complete_send(open[i]);
  early_.for_each([&](uint64_t, const Early& early) { settle(early, early.call); });
}

void RunTables::sent(int32_t peer, uint64_t bytes) {
  count(call_, true, bytes, bytes);
  if (PeerSums* const sums = peer_sums(peer)) {
    ++sums->sent;
    sums->sent_bytes += bytes;
  }
}

void RunTables::receive(uint32_t call, int32_t peer, uint64_t bytes) {
  count(call, false, bytes, bytes);
  calls_[call].bytes_completed += bytes;
  from_.push(peer);
}

uint64_t RunTables::size_key(uint32_t call, bool sends, uint64_t size) {
  return uint64_t{call} << 8 | (sends ? kSends : 0) | static_cast<uint64_t>(std::bit_width(size));
}

void RunTables::count(uint32_t call, bool sends, uint64_t size, uint64_t bytes) {
  SizeSums* const sums = sizes_.put(size_key(call, sends, size));
  if (sums == nullptr) {
    ++left_out_.sizes;
    return;
  }
  ++sums->count;
  sums->bytes += bytes;
}

PeerSums* RunTables::peer_sums(int32_t peer) {
  PeerSums* const sums = peer < 0 ? nullptr : peers_.put(static_cast<uint64_t>(peer));
  if (sums == nullptr) ++left_out_.messages;
  return sums;
}

const CommunicatorView& RunTables::view(uint32_t communicator) {
  if (viewed_ != communicator) {
    view_ = objects_.communicator(communicator);
    viewed_ = communicator;
  }
  return view_;
}

const RunTables::Channel& RunTables::channel(const Message& m, bool sends) {
  const auto peer = static_cast<uint64_t>(m.peer), tag = static_cast<uint64_t>(m.tag);
  const uint64_t where = uint64_t{m.communicator} << 1 | (sends ? 1 : 0);
  const uint64_t what = peer << 32 | tag;
  Channel& known = channels_[(peer * 31 + tag * 5 + where) % channels_.size()];
  if (known.any && known.where == where && known.what == what) return known;
  const CommunicatorView& members = view(m.communicator);
  const auto me = static_cast<uint64_t>(members.own);
  const auto other = static_cast<uint64_t>(members.world_rank(m.peer));
  const uint64_t pair = sends ? me << 32 | other : other << 32 | me;
  const uint64_t number = mixed(mixed(members.identity, pair), tag);
  known = {true, where, what, number, mixed(number, sends ? 1 : 2)};
  return known;
}

RunTables::Numbered RunTables::number_message(const Message& m, bool sends) {
  if (m.peer < 0 || m.tag < 0 || samples_.spoilt()) return {};
  const Channel& on = channel(m, sends);
  return {samples_.next_key(on.number, on.counter), on.counter};
}

void RunTables::sample(SampleRole role, const Numbered& numbered, uint64_t posted) {
  numbered_ = numbered_ || numbered.key != 0;
  if (!samples_.wants(numbered.key)) return;
  samples_.add({numbered.key, numbered.counter, enter_, leave_, posted, stolen_, call_, role});
  if (polls_.ticks == 0) return;
  const bool sends = role == SampleRole::kSendWait;
  if (!sends && role != SampleRole::kReceive && role != SampleRole::kProbe) return;
  samples_.add({numbered.key, numbered.counter, polls_.enter, polls_.leave,
                polls_.enter + polls_.ticks, polls_.stolen, polls_.call,
                sends ? SampleRole::kSendPolls : SampleRole::kProbe});
}

void RunTables::probed(record::Reader& items) {
  const auto communicator = static_cast<uint32_t>(items.value());
  const uint64_t found = items.word();
  const Message m{communicator, static_cast<int32_t>(found >> 32), static_cast<int32_t>(found), 0};
  const Channel& on = channel(m, false);
  if (!samples_.spoilt())
    sample(SampleRole::kProbe, {samples_.coming_key(on.number, on.counter), on.counter}, leave_);
}

void RunTables::sample_collective(const RecordedCollective& c, const CommunicatorView& members) {
  const WaitsFor kind = waits_for(c.op);
  if (kind == WaitsFor::kNothing || members.member.peers < 2 || members.member.inter) return;
  const uint64_t counter = mixed(members.identity, 3);
  const Numbered numbered{samples_.next_key(members.identity, counter), counter};
  const bool is_root = c.root == static_cast<uint32_t>(members.member.rank);
  SampleRole role = SampleRole::kMember;
  if (kind == WaitsFor::kRoot) role = is_root ? SampleRole::kRoot : SampleRole::kNotRoot;
  if (kind == WaitsFor::kAllAtRoot)
    role = is_root ? SampleRole::kRootAtLast : SampleRole::kContributor;
  if (kind == WaitsFor::kLower) role = SampleRole::kPrefix;
  sample(role, numbered, static_cast<uint64_t>(members.member.rank));
}

}  // namespace tracing
}  // namespace rubato
