#include "replay/rules/recorded/recorded_minima.h"

#include <algorithm>
#include <cmath>

#include "replay/trace/collective_sizes.h"

namespace rubato {

void RecordedMinima::finish() {
  for (LowerEnvelope& envelope : floor) envelope.finish();
  for (auto& [key, envelope] : own) envelope.finish();
  for (LowerEnvelope& envelope : receive) envelope.finish();
  for (LowerEnvelope& envelope : synchronous) envelope.finish();
  for (LowerEnvelope& envelope : epoch) envelope.finish();
  for (auto& [key, delay] : collective) delay.finish();
}

void RecordedMinima::put(ByteWriter& to) const {
  for (const LowerEnvelope& envelope : floor) envelope.put(to);
  to.number(own.size());
  for (const auto& [key, envelope] : own) to.number(key), envelope.put(to);
  for (const auto* envelopes : {&receive, &synchronous, &epoch}) {
    for (const LowerEnvelope& envelope : *envelopes) envelope.put(to);
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
  for (auto* envelopes : {&receive, &synchronous, &epoch}) {
    for (LowerEnvelope& envelope : *envelopes) envelope.take(from);
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

double RecordedMinima::packing_of(uint16_t name, const PackingAction& packed) const {
  const auto found = packing.find({name, packed.bytes, packed.blocks});
  if (found == packing.end()) return 0;
  const PackingCalls& calls = found->second;
  double ticks = static_cast<double>(calls.ticks) / static_cast<double>(calls.calls);
  const double contiguous = own_cost(name, calls.contiguous);
  if (std::isfinite(contiguous)) ticks -= contiguous;
  return std::clamp(ticks, 0.0, most_per_block * static_cast<double>(packed.blocks));
}

Lanes<1> MinimaRules::leave(TimelineState<1>& timeline, const Call& call,
                            const RuleContext<1>& context) {
  const Action* const packing = timeline.block.packing_of(call);
  OwnCost own;
  own.packs = packing != nullptr;
  bool depends = false;
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
      minima_->collective[RecordedMinima::collective_key(action.op, comm.size())].add(
          bytes, call.enter, call.leave, cause);
      own.add_collective(bytes, comm.size(), cause);
      depends = true;
      continue;
    }
    if (awaited.kind == Awaited::Kind::kLock) {
      const Action& action = *awaited.action;
      const auto& turn = context.windows->turn(action, static_cast<uint32_t>(awaited.instance - 1));
      if (!std::isfinite(turn.recorded_release)) continue;
      const int distance = surveyed_level(level(timeline.rank, action.one_sided.target));
      add(minima_->epoch[distance], 0, call.leave - turn.recorded_release);
      own.add(0, distance, turn.recorded_release);
      depends = true;
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
      add(minima_->epoch[distance], 0, call.leave - cause);
      own.add(0, distance, cause);
      depends = true;
      continue;
    }
    if (awaited.transfer == kNoTransfer) continue;
    Transfer<1>& transfer = (*context.matcher)[awaited.transfer];
    if (awaited.kind == Awaited::Kind::kSend && transfer.handshake) {
      transfer.sent[0] = std::min(transfer.sent[0], call.leave);
      // A call that also waits for something else (a file), or had no core, may have lasted longer
      // for that reason.
      const bool tells = timeline.awaited.size() == 1 && !(call.spinning & kLoses) &&
                         context.trace->calls[call.name].name == "MPI_Wait";
      transfer.posted[0] = tells ? call.enter : call.leave;
      if (transfer.has_post) matched(transfer);
    }
    if (transfer.abandoned) continue;
    const auto bytes = static_cast<double>(transfer.bytes);
    const int level = surveyed_level(transfer.pair);
    if (awaited.kind == Awaited::Kind::kReceive) {
      add(minima_->receive[level], bytes, call.leave - transfer.recorded_send);
      own.add(bytes, level, transfer.recorded_send);
    } else if (transfer.sender_waits) {
      add(minima_->synchronous[level], bytes, call.leave - transfer.recorded_post);
      own.add(bytes, level, transfer.recorded_post);
    } else {
      continue;
    }
    depends = true;
  }
  if (packing != nullptr) {
    const Lost lost = lost_in(timeline.block.actions_of(call));
    const double left = call.leave - std::max(call.enter, own.cause) - lost.flushing - lost.stolen;
    PackingCalls calls{1, std::max<int64_t>(0, std::llround(left - lost.own)), own};
    calls.contiguous.packs = false;
    minima_->packing[{call.name, packing->packing.bytes, packing->packing.blocks}].add(calls);
  }
  if (depends) {
    minima_->floor[call.name].add(own.bytes, call.leave - call.enter);
    const double left = call.leave - std::max(call.enter, own.cause);
    if (left > 0 || !minima_->repaired) add(minima_->own[own.key(call.name)], own.bytes, left);
  }
  return Lanes<1>(call.leave);
}

}  // namespace rubato
