// The engine: see the essay in replay.h. The main loop is Replay::run(), just below.

#include "replay/replay.h"

#include <algorithm>
#include <limits>

#include "models/error.h"
#include "replay/measured_rules.h"
#include "replay/model_rules.h"
#include "replay/survey.h"

namespace rubato {

template <class Rules>
ReplayOutcome Replay<Rules>::run() {
  source_->rewind();
  for (int rank = 0; rank < trace_->ranks(); ++rank) start(rank);
  while (finished_ < trace_->ranks()) {
    while (!ready_.empty()) run_until_blocked(pop_ready());
    if (finished_ == trace_->ranks()) break;
    if (!release_hopeless() && !release_hole()) {
      outcome_.deadlock = describe_deadlock();
      break;
    }
  }
  matcher_.count_unmatched(outcome_.unmatched_sends, outcome_.unmatched_receives);
  return outcome_;
}

// --- Scheduling ---

template <class Rules>
void Replay<Rules>::start(int rank) {
  RankState<K>& state = ranks_[rank];
  state.clock = Lanes<K>::Constant(0);
  // Nothing went through the ports yet, whenever the rank starts.
  state.out_port = state.in_port = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
  make_ready(rank);
}

template <class Rules>
void Replay<Rules>::make_ready(int rank) {
  RankState<K>& state = ranks_[rank];
  state.status = Status::kReady;
  ready_.push({state.recorded_clock, rank});
}

template <class Rules>
int Replay<Rules>::pop_ready() {
  const int rank = ready_.top().second;
  ready_.pop();
  return rank;
}

template <class Rules>
void Replay<Rules>::wake(int rank) {
  if (rank >= 0 && ranks_[rank].status == Status::kBlocked) make_ready(rank);
}

template <class Rules>
void Replay<Rules>::run_until_blocked(int rank) {
  RankState<K>& state = ranks_[rank];
  if (state.next_call == state.block.calls.size()) {
    state.next_call = 0;
    if (!source_->read(rank, state.block)) {
      state.status = Status::kFinished;
      ++finished_;
      if (progress_) progress_(static_cast<double>(finished_) / trace_->ranks());
      return;
    }
  }
  for (; state.next_call < state.block.calls.size(); ++state.next_call) {
    const Call& call = state.block.calls[state.next_call];
    if (!state.in_call) enter(rank, call);
    if (!everything_is_there(rank)) {
      state.status = Status::kBlocked;
      return;
    }
    leave(rank, call);
  }
  make_ready(rank);
}

// --- One call ---

template <class Rules>
void Replay<Rules>::enter(int rank, const Call& call) {
  RankState<K>& state = ranks_[rank];
  state.in_call = true;
  state.awaited.clear();
  state.next_awaited = 0;
  if (call.role == CallRole::kBegin) {
    state.enter = Lanes<K>::Constant(call.enter);
    return;
  }
  const bool is_mpi = call.role == CallRole::kMpi || call.role == CallRole::kInit ||
                      call.role == CallRole::kFinalize;
  state.enter = state.clock + rules_->compute(call.enter - state.recorded_clock, is_mpi);
  rules_->begin_call(state);
  for (uint32_t i = 0; i < call.actions; ++i)
    perform(rank, call, state.block.actions[call.first_action + i]);
}

template <class Rules>
void Replay<Rules>::perform(int rank, const Call& call, const Action& action) {
  switch (action.kind) {
    case ActionKind::kNone:
      return;
    case ActionKind::kSend:
      return send(rank, call, action);
    case ActionKind::kPost:
      return post(rank, call, action);
    case ActionKind::kWaitSend:
      return await(rank, Awaited::Kind::kSend, take_slot(rank, action.slot));
    case ActionKind::kWaitReceive:
      return await(rank, Awaited::Kind::kReceive, take_slot(rank, action.slot));
    case ActionKind::kCollective:
      return arrive(rank, call, action);
  }
}

template <class Rules>
void Replay<Rules>::send(int rank, const Call& call, const Action& action) {
  const TransferId id = matcher_.send(rank, action.peer, action.comm, action.tag, action.bytes);
  Transfer<K>& transfer = matcher_[id];
  transfer.has_send = true;
  transfer.level = rules_->level(rank, action.peer);
  ++outcome_.messages;
  ++outcome_.level_messages[static_cast<int>(transfer.level)];
  outcome_.level_bytes[static_cast<int>(transfer.level)] += action.bytes;
  rules_->send(ranks_[rank], call, action, transfer);
  if (transfer.has_post) {
    rules_->matched(transfer);
    wake(transfer.waiting_receiver);
  }
  // An eager send is over for its sender; so is one whose completion the archive does not show.
  const bool watched = action.flags & kBlocking || action.slot != kNoSlot;
  const bool waits = transfer.sender_waits && watched;
  if (!waits) matcher_.sender_done(id);
  if (action.flags & kBlocking) {
    if (waits) await(rank, Awaited::Kind::kSend, id);
  } else if (action.slot != kNoSlot) {
    put_slot(rank, action.slot, waits ? id : kNoTransfer);
  }
}

template <class Rules>
void Replay<Rules>::post(int rank, const Call& call, const Action& action) {
  skipped_.clear();
  const TransferId id =
      matcher_.post(action.peer, rank, action.comm, action.tag, action.bytes, skipped_);
  for (const TransferId skipped : skipped_) {
    wake(matcher_[skipped].waiting_sender);
    matcher_.receiver_done(skipped);
  }
  Transfer<K>& transfer = matcher_[id];
  transfer.has_post = true;
  rules_->post(ranks_[rank], call, transfer);
  if (transfer.has_send) {
    rules_->matched(transfer);
    wake(transfer.waiting_sender);
  }
  if (action.flags & kBlocking) {
    await(rank, Awaited::Kind::kReceive, id);
  } else {
    put_slot(rank, action.slot, id);
  }
}

template <class Rules>
void Replay<Rules>::arrive(int rank, const Call& call, const Action& action) {
  ++outcome_.collectives;
  const Communicator& comm = trace_->comms[action.comm];
  Awaited awaited;
  awaited.kind = Awaited::Kind::kCollective;
  awaited.action = &action;
  RankState<K>& state = ranks_[rank];
  if (comm.size() > 1) {
    awaited.local = comm.local_rank(rank);
    awaited.instance = collectives_.arrive(action.comm, awaited.local, rank, action.op, action.peer,
                                           call.enter, state.enter);
    CollectiveInstance<K>& instance = collectives_.get(action.comm, awaited.instance);
    if (collectives_.take_mismatch()) {
      throw InputError(place(rank, call) + ": a collective on communicator '" + comm.name +
                       "' differs in operation or root from the one of rank " +
                       std::to_string(instance.first_rank) + "; records are missing or damaged");
    }
    for (const int32_t waiting : instance.waiting) wake(waiting);
    instance.waiting.clear();
  }
  state.awaited.push_back(awaited);
}

template <class Rules>
void Replay<Rules>::await(int rank, Awaited::Kind kind, TransferId id) {
  Awaited awaited;
  awaited.kind = kind;
  awaited.transfer = id;
  ranks_[rank].awaited.push_back(awaited);
}

template <class Rules>
bool Replay<Rules>::everything_is_there(int rank) {
  RankState<K>& state = ranks_[rank];
  for (; state.next_awaited < state.awaited.size(); ++state.next_awaited) {
    const Awaited& awaited = state.awaited[state.next_awaited];
    if (awaited.kind == Awaited::Kind::kCollective) {
      const uint32_t comm = awaited.action->comm;
      if (trace_->comms[comm].size() <= 1) continue;
      if (collectives_.ready(comm, awaited.instance, awaited.local)) continue;
      collectives_.get(comm, awaited.instance).waiting.push_back(rank);
      return false;
    }
    if (awaited.transfer == kNoTransfer) continue;
    Transfer<K>& transfer = matcher_[awaited.transfer];
    if (transfer.abandoned) continue;
    if (awaited.kind == Awaited::Kind::kReceive && !transfer.has_send) {
      transfer.waiting_receiver = rank;
      return false;
    }
    if (awaited.kind == Awaited::Kind::kSend && transfer.sender_waits && !transfer.has_post) {
      transfer.waiting_sender = rank;
      return false;
    }
  }
  return true;
}

template <class Rules>
void Replay<Rules>::leave(int rank, const Call& call) {
  RankState<K>& state = ranks_[rank];
  const RuleContext<K> context{trace_, &matcher_, &collectives_};
  const Lanes<K> leave = call.role == CallRole::kBegin || call.role == CallRole::kEnd
                             ? state.enter
                             : rules_->leave(state, call, context);
  count_violations(state, call);
  for (const Awaited& awaited : state.awaited) let_go(awaited);
  const double recorded_before = call.role == CallRole::kBegin ? call.enter : state.recorded_clock;
  const Lanes<K> clock_before = call.role == CallRole::kBegin ? state.enter : state.clock;
  for (Observer<K>* observer : observers_) {
    observer->call(rank, call, state.block, clock_before, recorded_before, state.enter, leave);
  }
  state.clock = leave;
  state.recorded_clock = call.leave;
  state.in_call = false;
}

template <class Rules>
void Replay<Rules>::let_go(const Awaited& awaited) {
  if (awaited.kind == Awaited::Kind::kCollective) {
    if (trace_->comms[awaited.action->comm].size() <= 1) return;
    if (collectives_.get(awaited.action->comm, awaited.instance).abandoned)
      ++outcome_.abandoned_collectives;
    collectives_.depart(awaited.action->comm, awaited.instance);
  } else if (awaited.transfer != kNoTransfer) {
    if (awaited.kind == Awaited::Kind::kReceive) {
      matcher_.receiver_done(awaited.transfer);
    } else {
      matcher_.sender_done(awaited.transfer);
    }
  }
}

template <class Rules>
void Replay<Rules>::count_violations(const RankState<K>& state, const Call& call) {
  for (const Awaited& awaited : state.awaited) {
    if (awaited.kind != Awaited::Kind::kReceive || awaited.transfer == kNoTransfer) continue;
    const Transfer<K>& transfer = matcher_[awaited.transfer];
    if (transfer.has_send && call.leave < transfer.recorded_send) ++outcome_.clock_violations;
  }
}

// --- Requests ---

template <class Rules>
void Replay<Rules>::put_slot(int rank, uint32_t slot, TransferId id) {
  std::vector<TransferId>& slots = ranks_[rank].slots;
  if (slot >= slots.size()) slots.resize(slot + 1, kNoTransfer);
  // A send whose completion was never seen gave its slot to this one.
  if (slots[slot] != kNoTransfer) matcher_.sender_done(slots[slot]);
  slots[slot] = id;
}

template <class Rules>
TransferId Replay<Rules>::take_slot(int rank, uint32_t slot) {
  std::vector<TransferId>& slots = ranks_[rank].slots;
  return slot < slots.size() ? std::exchange(slots[slot], kNoTransfer) : kNoTransfer;
}

// --- Nobody can go on ---

template <class Rules>
int Replay<Rules>::waits_for(int rank) {
  RankState<K>& state = ranks_[rank];
  if (state.status != Status::kBlocked) return -1;
  const Awaited& awaited = state.awaited[state.next_awaited];
  if (awaited.kind == Awaited::Kind::kReceive) return matcher_[awaited.transfer].source;
  if (awaited.kind == Awaited::Kind::kSend) return matcher_[awaited.transfer].destination;
  return missing_member(awaited);
}

template <class Rules>
int Replay<Rules>::missing_member(const Awaited& awaited) {
  const Communicator& comm = trace_->comms[awaited.action->comm];
  const CollectiveInstance<K>& instance = collectives_.get(awaited.action->comm, awaited.instance);
  int first = 0;
  int last = comm.size();
  if (synchronisation(instance.op) == Synchronisation::kOneToAll) {
    first = instance.root;
    last = first + 1;
  } else if (synchronisation(instance.op) == Synchronisation::kPrefix) {
    last = awaited.local;
  }
  int missing = -1;
  for (int local = first; local < last; ++local) {
    if (instance.here[local]) continue;
    if (ranks_[comm.members[local]].status == Status::kFinished) return comm.members[local];
    if (missing < 0) missing = comm.members[local];
  }
  return missing;
}

template <class Rules>
bool Replay<Rules>::release_hopeless() {
  bool any = false;
  for (int rank = 0; rank < trace_->ranks(); ++rank) {
    const int other = waits_for(rank);
    if (other < 0 || ranks_[other].status != Status::kFinished) continue;
    any = true;
    release(rank);
  }
  return any;
}

template <class Rules>
bool Replay<Rules>::release_hole() {
  int first = -1;
  for (int rank = 0; rank < trace_->ranks(); ++rank) {
    const int other = waits_for(rank);
    if (other < 0) continue;
    if (!Rules::kFollowsRecording) {
      const Awaited& awaited = ranks_[rank].awaited[ranks_[rank].next_awaited];
      const bool rendezvous =
          awaited.kind == Awaited::Kind::kSend && matcher_[awaited.transfer].handshake;
      if (rendezvous) continue;  // the recording need not have waited here
      if (other != rank && current_call(other).leave <= current_call(rank).leave) continue;
    }
    if (first < 0 || current_call(rank).leave < current_call(first).leave) first = rank;
  }
  if (first >= 0) release(first);
  return first >= 0;
}

template <class Rules>
void Replay<Rules>::release(int rank) {
  const Awaited& awaited = ranks_[rank].awaited[ranks_[rank].next_awaited];
  if (awaited.kind == Awaited::Kind::kCollective) {
    CollectiveInstance<K>& instance = collectives_.get(awaited.action->comm, awaited.instance);
    instance.abandoned = true;
    for (const int32_t waiting : instance.waiting) wake(waiting);
    instance.waiting.clear();
    return;
  }
  if (awaited.kind == Awaited::Kind::kReceive) {
    matcher_.abandon_receive(awaited.transfer);
  } else {
    matcher_[awaited.transfer].sender_waits = false;
  }
  wake(rank);
}

template <class Rules>
const Call& Replay<Rules>::current_call(int rank) const {
  return ranks_[rank].block.calls[ranks_[rank].next_call];
}

template <class Rules>
std::string Replay<Rules>::describe_deadlock() {
  std::vector<int> path;
  int rank = 0;
  while (ranks_[rank].status != Status::kBlocked) ++rank;
  while (rank >= 0 && std::find(path.begin(), path.end(), rank) == path.end()) {
    path.push_back(rank);
    rank = waits_for(rank);
  }
  std::string text;
  bool in_cycle = rank < 0;
  for (const int member : path) {
    in_cycle = in_cycle || member == rank;
    if (!in_cycle) continue;
    text += place(member, current_call(member)) + describe_wait(member) + "; ";
  }
  return text.substr(0, text.size() - 2);
}

template <class Rules>
std::string Replay<Rules>::describe_wait(int rank) {
  const Awaited& awaited = ranks_[rank].awaited[ranks_[rank].next_awaited];
  const std::string other = std::to_string(waits_for(rank));
  if (awaited.kind == Awaited::Kind::kCollective) {
    return " waits for rank " + other + " on communicator '" +
           trace_->comms[awaited.action->comm].name + "'";
  }
  const Transfer<K>& transfer = matcher_[awaited.transfer];
  return (awaited.kind == Awaited::Kind::kReceive ? " waits for " : " waits to send ") +
         std::to_string(transfer.bytes) + " bytes " +
         (awaited.kind == Awaited::Kind::kReceive ? "from rank " : "to rank ") + other;
}

template <class Rules>
std::string Replay<Rules>::place(int rank, const Call& call) const {
  return "rank " + std::to_string(rank) + ", event " + std::to_string(call.event) + " (" +
         trace_->calls[call.name].name + ")";
}

// --- Every set of rules, at every number of lanes ---

template class Replay<SurveyRules>;
template class Replay<MeasuredRules<1>>;
template class Replay<MeasuredRules<2>>;
template class Replay<MeasuredRules<4>>;
template class Replay<MeasuredRules<8>>;
template class Replay<MeasuredRules<16>>;
template class Replay<ModelRules<1>>;
template class Replay<ModelRules<2>>;
template class Replay<ModelRules<4>>;
template class Replay<ModelRules<8>>;
template class Replay<ModelRules<16>>;

}  // namespace rubato
