#include "replay/rules/recorded/recorded_minima.h"

#include <algorithm>
#include <cmath>

#include "replay/trace/collective_sizes.h"

namespace rubato {

void RecordedMinima::finish() {
  for (LowerEnvelope& envelope : floor) envelope.finish();
  for (auto& [key, envelope] : own) envelope.finish();
  for (auto* delays :
       {&receive, &probe, &synchronous, &packed_receive, &packed_synchronous, &epoch}) {
    for (LeastDelay& delay : *delays) delay.finish();
  }
  for (auto& [key, delay] : collective) delay.finish();
}

void RecordedMinima::put(ByteWriter& to) const {
  for (const LowerEnvelope& envelope : floor) envelope.put(to);
  to.number(own.size());
  for (const auto& [key, envelope] : own) to.number(key), envelope.put(to);
  for (const auto* delays :
       {&receive, &probe, &synchronous, &packed_receive, &packed_synchronous, &epoch}) {
    for (const LeastDelay& delay : *delays) delay.put(to);
  }
  to.number(collective.size());
  for (const auto& [key, delay] : collective) to.number(key), delay.put(to);
  to.number(packing.size());
  for (const auto& [key, calls] : packing) to.value(key), to.value(calls);
  to.value(eager_evidence);
  for (const auto& sizes : waiting_evidence) {
    to.number(sizes.size());
    for (const double size : sizes) to.value(size);
  }
}

void RecordedMinima::take(ByteReader& from) {
  for (LowerEnvelope& envelope : floor) envelope.take(from);
  for (uint64_t left = from.number(); left > 0; --left) {
    const uint64_t key = from.number();
    own[key].take(from);
  }
  for (auto* delays :
       {&receive, &probe, &synchronous, &packed_receive, &packed_synchronous, &epoch}) {
    for (LeastDelay& delay : *delays) delay.take(from);
  }
  for (uint64_t left = from.number(); left > 0; --left) {
    const uint64_t key = from.number();
    collective[key].take(from);
  }
  for (uint64_t left = from.number(); left > 0; --left) {
    PackingCalls::Key key{};
    PackingCalls calls;
    from.value(key), from.value(calls);
    packing[key].add(calls);
  }
  std::array<double, kLevels> evidence{};
  from.value(evidence);
  for (int level = 0; level < kLevels; ++level)
    eager_evidence[level] = std::max(eager_evidence[level], evidence[level]);
  for (auto& sizes : waiting_evidence) {
    for (uint64_t left = from.number(); left > 0; --left) {
      double size = 0;
      from.value(size);
      sizes.insert(size);
    }
  }
}

void MinimaRules::note_losses(const TimelineState<1>& timeline, const Call& call) {
  RecordedLosses& losses = minima_->losses;
  losses.next_call(timeline.number, call.enter);
  if (call.role == CallRole::kStolen) {
    losses.add_gap(timeline.number, call.enter, call.leave);
    return;
  }
  Lost lost;
  if (call.role == CallRole::kFlush) lost.flushing = call.leave - call.enter;
  if (call.spinning & kLoses) lost = lost_in(timeline.block.actions_of(call));
  if (lost.flushing < least_flush_) lost.flushing = 0;
  if (lost.flushing + lost.stolen > 0) losses.add_call(timeline.number, call.leave, lost);
}

double MinimaRules::wait_begin(const TimelineState<1>& timeline, const Call& call, double& lost) {
  if (call.spinning & kLoses) {
    const Lost parts = lost_in(timeline.block.actions_of(call));
    lost = parts.flushing + parts.stolen + parts.own;
  }
  if (call.spinning & kSpinning) {
    if (!(call.spinning & kSpinningBefore)) loops_[timeline.number] = {call.enter, 0};
    const bool is_loss = call.role == CallRole::kStolen || call.role == CallRole::kFlush;
    loops_[timeline.number].lost += is_loss ? call.leave - call.enter : lost;
    return call.enter;
  }
  const auto loop = loops_.empty() ? loops_.end() : loops_.find(timeline.number);
  if (loop == loops_.end()) return call.enter;
  const Loop polls = loop->second;
  loops_.erase(loop);
  if (!(call.spinning & kSpinningBefore)) return call.enter;
  lost += polls.lost;
  return polls.enter;
}

/// Any of several sends may have ended the call. If one waited, so did the largest one of its
/// level.
void MinimaRules::end_sends(const Call& call, const RuleContext<1>& context, double begin) {
  uint64_t most = 0;
  bool tells = !unseen_requests_ || (sends_.size() + delays_.size() == 1 &&
                                     context.trace->calls[call.name].name == "MPI_Wait");
  for (const Transfer<1>* send : sends_) {
    most = std::max(most, send->bytes);
    tells = tells && send->pair.number() == sends_[0]->pair.number();
  }
  for (Transfer<1>* send : sends_) {
    send->sent[0] = std::min(send->sent[0], call.leave);
    send->posted[0] = tells && send->bytes == most ? begin : call.leave;
    if (send->has_post) matched(*send);
  }
}

double RecordedMinima::packing_of(uint16_t name, const PackingAction& packed) const {
  const auto found = packing.find(PackingCalls::key(name, packed));
  if (found == packing.end()) return 0;
  const PackingCalls& calls = found->second;
  const auto known = [](double least) { return std::isfinite(least) ? least : 0; };
  const OwnCost& same = calls.contiguous;
  const double late = known(own_cost(name, same));
  const double sent = std::max(late, known(synchronous[same.level].at(same.bytes)));
  const double received = std::max(late, known(receive[same.level].at(same.bytes)));
  const auto number = [](uint64_t count) { return static_cast<double>(count); };
  const double contiguous = number(calls.calls - calls.waited) * late + number(calls.sends) * sent +
                            number(calls.waited - calls.sends) * received;
  const double ticks = (static_cast<double>(calls.ticks) - contiguous) / number(calls.calls);
  return std::clamp(ticks, 0.0, most_per_block * static_cast<double>(packed.blocks));
}

Lanes<1> MinimaRules::leave(TimelineState<1>& timeline, const Call& call,
                            const RuleContext<1>& context) {
  const Action* const packing = timeline.block.packing_of(call);
  OwnCost own;
  delays_.clear();
  sends_.clear();
  own.packs = packing != nullptr;
  bool cause_is_receive = false;
  for (const Awaited& awaited : timeline.awaited) {
    if (awaited.kind == Awaited::Kind::kCollective) {
      const Action& action = *awaited.action;
      const Communicator& comm = context.trace->comms[action.comm];
      if (comm.size() <= 1) continue;
      const auto& instance = context.collectives->get(action.comm, awaited.instance);
      double cause = 0;
      Lanes<1> unused;
      if (instance.abandoned ||
          !collective_cause(instance, action, awaited.local, comm, call.leave, cause, unused))
        continue;
      const double bytes = payload_bytes(*context.trace, action, awaited.local);
      const uint64_t key = RecordedMinima::collective_key(action.op, comm.size());
      delays_.push_back({&minima_->collective[key], bytes, cause});
      own.add_collective(bytes, comm.size(), cause);
      continue;
    }
    if (awaited.kind == Awaited::Kind::kLock) {
      const Action& action = *awaited.action;
      const auto& turn = context.windows->turn(action, static_cast<uint32_t>(awaited.instance - 1));
      if (!std::isfinite(turn.recorded_release)) continue;
      const int distance = surveyed_level(level(timeline.rank, action.one_sided.target));
      delays_.push_back({&minima_->epoch[distance], 0, turn.recorded_release});
      own.add(0, distance, turn.recorded_release);
      continue;
    }
    if (awaited.kind == Awaited::Kind::kEpoch) {
      const Action& action = *awaited.action;
      double cause = 0;
      Lanes<1> unused;
      if (!epoch_cause(context.windows->epoch(action, timeline.rank, awaited.instance), action,
                       call.leave, cause, unused))
        continue;
      const int distance = surveyed_level(level(timeline.rank, action.epoch.peer));
      delays_.push_back({&minima_->epoch[distance], 0, cause});
      own.add(0, distance, cause);
      continue;
    }
    if (awaited.kind == Awaited::Kind::kProbe) {
      const Transfer<1>* message = context.found_by(awaited, call);
      if (!message) continue;
      const auto bytes = static_cast<double>(message->bytes);
      const int distance = surveyed_level(message->pair);
      delays_.push_back({&minima_->probe[distance], bytes, message->recorded_send});
      own.add(bytes, distance, message->recorded_send);
      continue;
    }
    if (awaited.transfer == kNoTransfer) continue;
    Transfer<1>& transfer = (*context.matcher)[awaited.transfer];
    if (awaited.kind == Awaited::Kind::kSend && transfer.handshake) sends_.push_back(&transfer);
    if (transfer.abandoned) continue;
    const auto bytes = static_cast<double>(transfer.bytes);
    const int level = surveyed_level(transfer.pair);
    if (awaited.kind == Awaited::Kind::kReceive) {
      auto& receive = packing ? minima_->packed_receive : minima_->receive;
      delays_.push_back({&receive[level], bytes, transfer.recorded_send});
      cause_is_receive = cause_is_receive && transfer.recorded_send < own.cause;
      own.add(bytes, level, transfer.recorded_send);
    } else if (transfer.sender_waits) {
      auto& synchronous = packing ? minima_->packed_synchronous : minima_->synchronous;
      delays_.push_back({&synchronous[level], bytes, transfer.recorded_post});
      cause_is_receive = transfer.recorded_post >= own.cause;
      own.add(bytes, level, transfer.recorded_post);
    }
  }
  double lost = 0;
  double begin = wait_begin(timeline, call, lost);
  for (const Delayed& delay : delays_) {
    if (delay.cause <= call.leave) begin = std::max(begin, delay.cause);
  }
  // Losses are known approximately.
  if (!sends_.empty()) end_sends(call, context, begin + 2 * lost);
  Lost parts;
  if (call.spinning & kLoses) parts = lost_in(timeline.block.actions_of(call));
  const double leave = call.leave - parts.own;  // the own work lies behind the wait
  if (packing != nullptr) {
    const double left = leave - std::max(call.enter, own.cause) - parts.flushing - parts.stolen;
    const bool waited = own.cause > call.enter;
    PackingCalls calls{1, waited, waited && cause_is_receive,
                       std::max<int64_t>(0, std::llround(left)), own};
    calls.contiguous.packs = false;
    minima_->packing[PackingCalls::key(call.name, packing->packing)].add(calls);
  }
  if (!delays_.empty()) {
    for (const Delayed& delay : delays_) delay.least->add(delay.bytes, begin, leave, delay.cause);
    minima_->floor[call.name].add(own.bytes, call.leave - call.enter);
    const double left = leave - std::max(call.enter, own.cause);
    if (left > 0 || !minima_->repaired) add(minima_->own[own.key(call.name)], own.bytes, left);
  }
  return Lanes<1>(call.leave);
}

}  // namespace rubato
