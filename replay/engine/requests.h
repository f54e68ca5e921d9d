#pragma once

// Requests: from the call that starts an operation to the call that completes it. Where several
// threads of a rank call MPI, any of them may complete a request (SharedRequests). A completion may
// move to a later call (outcomes.h).

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "replay/engine/dependency.h"
#include "replay/store/hot.h"

namespace rubato {

/// What the kinds share in which threads of one rank wait for each other.
template <class Rules>
struct OfOtherThread : Dependency<Rules> {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  static int partner(State&, const TimelineState<K>& state, const Awaited&) { return state.rank; }
  static bool may_lack_records(State&, const Awaited&) { return false; }
  static std::string describe(State&, const Awaited&, int other) {
    return " waits for another thread of rank " + std::to_string(other);
  }
};

/// Requests of a rank whose threads share them: a call may complete one that no thread has posted.
template <class Rules>
struct SharedRequests : OfOtherThread<Rules> {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// Requests::put() where any thread of the rank may complete the request.
  RUBATO_RARE static void share(State& replay, TimelineState<K>& state, uint32_t slot,
                                TransferId id) {
    const auto [request, is_new] = state.threads->requests.try_emplace(slot);
    if (!is_new && request->second.transfer != kNoTransfer)
      replay.matcher.sender_done(request->second.transfer);  // as in put()
    request->second = {id, state.enter, replay.current_call(state.number).enter, state.number};
    const auto waiting = state.threads->waiting.find(slot);
    if (waiting == state.threads->waiting.end()) return;
    replay.wake(waiting->second);
    state.threads->waiting.erase(waiting);
  }

  /// False when no thread of the rank has posted the request yet; the thread that does wakes
  /// the timeline. Else the entry becomes one of its kind.
  RUBATO_RARE static bool is_ready(State& replay, TimelineState<K>& state, Awaited& awaited) {
    const auto found = state.threads->requests.find(awaited.slot);
    if (found == state.threads->requests.end()) {
      state.threads->waiting[awaited.slot] = state.number;
      return false;
    }
    // A timeline can wait for a request only after the call that makes it. (`before` corrects for
    // recorded clocks that disagree.)
    const auto& request = found->second;
    const double before =
        std::min(0.0, replay.current_call(state.number).enter - request.recorded_enter);
    if (request.enter[0] + before > state.enter[0])
      state.threads->held_by[state.number] = {request.timeline, request.enter[0]};
    state.enter = state.enter.max(request.enter + before);
    replay.rules->begin_call(state);
    awaited.transfer = request.transfer;
    awaited.posted = true;
    if (awaited.kind == Awaited::Kind::kCollective) {
      Collectives<Rules>::find_instance(replay, awaited);
      // A collective in which the rank has no part: nothing to wait for.
      if (awaited.transfer == kNoTransfer) awaited.kind = Awaited::Kind::kReceive;
    }
    state.threads->requests.erase(found);
    return true;
  }
};

/// Requests of a rank with one timeline, and the entry to those of all ranks.
template <class Rules>
struct Requests {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// The call posts the request `slot`; `id`: a message, a started collective, or kNoTransfer.
  RUBATO_HOT static void put(State& replay, TimelineState<K>& state, uint32_t slot, TransferId id) {
    if (state.threads) [[unlikely]]
      return SharedRequests<Rules>::share(replay, state, slot, id);
    std::vector<TransferId>& slots = state.slots;
    if (slot >= slots.size()) slots.resize(slot + 1, kNoTransfer);
    // The previous send in this slot was never seen to complete.
    if (slots[slot] != kNoTransfer) replay.matcher.sender_done(slots[slot]);
    slots[slot] = id;
  }

  /// The call waits for the send or receive `slot`.
  RUBATO_HOT static void await(State& replay, TimelineState<K>& state, const Call& call,
                               Awaited::Kind kind, uint32_t slot) {
    if (state.threads) {
      state.awaited.push_back({.kind = kind, .posted = false, .slot = slot});
      return;
    }
    const TransferId id = take(state, slot);
    if (id == kNoTransfer) return;
    if (kind == Awaited::Kind::kSend && completes_elsewhere(replay, call)) return move(state, id);
    Messages<Rules>::await(replay, state, kind, id);
  }

  /// The same for a kWaitSend or kWaitReceive where the rank has one timeline.
  RUBATO_HOT static void await_own(State& replay, TimelineState<K>& state, const Call& call,
                                   const Action& action) {
    const TransferId id = take(state, action.request.slot);
    if (id == kNoTransfer) return;
    const bool receives = action.kind == ActionKind::kWaitReceive;
    if (!receives && completes_elsewhere(replay, call)) return move(state, id);
    Messages<Rules>::await(replay, state, receives ? Awaited::Kind::kReceive : Awaited::Kind::kSend,
                           id);
  }

  /// Takes the transfer out of a request, which is then free; kNoTransfer: nothing to wait for.
  RUBATO_HOT static TransferId take(TimelineState<K>& state, uint32_t slot) {
    // The slot of an eager send is empty: the send is complete.
    if (slot >= state.slots.size()) return kNoTransfer;
    return std::exchange(state.slots[slot], kNoTransfer);
  }

  // --- Completions that move to a later call ---

  /// `call` waits for the moved sends, if it can complete them.
  RUBATO_RARE static void await_moved(State& replay, TimelineState<K>& state, const Call& call) {
    const bool is_last = call.role == CallRole::kFinalize || call.role == CallRole::kEnd;
    if (!is_last && !replay.trace->calls[call.name].waits) return;
    state.moved_here = state.moved.size();
    for (const MovedCompletion<K>& moved : state.moved)
      Messages<Rules>::await(replay, state, Awaited::Kind::kSend, moved.transfer);
  }

  /// The current call leaves: the moved sends that it waited for are complete.
  RUBATO_RARE static void end_moved(State& replay, TimelineState<K>& state) {
    const auto end = state.moved.begin() + static_cast<std::ptrdiff_t>(state.moved_here);
    if constexpr (!Rules::kFollowsRecording) {
      for (auto moved = state.moved.begin(); moved != end; ++moved)
        replay.rules->end_moved(replay.matcher[moved->transfer], moved->since);
    }
    state.moved.erase(state.moved.begin(), end);
    state.moved_here = 0;
    state.has_moved = !state.moved.empty();
  }

  /// Releases calls that are blocked by the end of a send, if another request would have completed
  /// them (MPI_Waitany, a test), or if they did not complete the send when recorded: it ends in a
  /// later call. False when there was none.
  static bool move_completions(State& replay) {
    if (Rules::kFollowsRecording) return false;
    bool any = false;
    for (int timeline = 0; timeline < replay.trace->timelines(); ++timeline) {
      TimelineState<K>& state = replay.timelines[timeline];
      if (!state.is_blocked()) continue;
      const Awaited awaited = state.awaited[state.next_awaited];
      if (awaited.kind != Awaited::Kind::kSend || !awaited.posted) continue;
      const Call& call = replay.current_call(timeline);
      const size_t first_moved = state.awaited.size() - state.moved_here;
      const bool has_moved = state.next_awaited >= first_moved;
      const MpiCallInfo& info = replay.trace->calls[call.name];
      if (!has_moved && !info.tests && !info.takes_some) continue;
      any = true;
      replay.wake(timeline);
      if (call.role != CallRole::kMpi) {  // there is no later call
        replay.matcher[awaited.transfer].sender_waits = false;
        continue;
      }
      state.awaited.remove(state.next_awaited);
      if (has_moved) {
        const auto moved =
            state.moved.begin() + static_cast<std::ptrdiff_t>(state.next_awaited - first_moved);
        std::rotate(moved, moved + 1, state.moved.end());
        --state.moved_here;
      } else {
        move(state, awaited.transfer);
      }
      if constexpr (kMayNeedPresence<Rules>) replay.presence.leave_send(awaited.transfer);
    }
    return any;
  }

 private:
  /// True for a test that found its sends complete when recorded and would have continued
  /// otherwise.
  RUBATO_HOT static bool completes_elsewhere(State& replay, const Call& call) {
    // A test that was repeated until it succeeded would be repeated again.
    return !Rules::kFollowsRecording && replay.trace->calls[call.name].tests &&
           !(call.spinning & kLookedFor);
  }

  /// Moves the completion of the send to a later call.
  RUBATO_RARE static void move(TimelineState<K>& state, TransferId id) {
    state.moved.push_back({id, state.enter});
    state.has_moved = true;
  }
};

}  // namespace rubato
