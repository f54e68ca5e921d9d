#pragma once

// Replays the calls of all ranks. Start reading at Replay::run() in engine.h.
//
// The unit of execution is a timeline: a rank, or, where several threads of a rank call MPI, each
// of those threads. A blocked timeline does not block the others of its rank.
//
// Without contention the times of a call depend only on the calls that it waits for, so timelines
// need not be run in the order of time: each runs until it waits for an event that has not been
// replayed yet, and the timeline that replays this event wakes it. Any order gives the same clocks;
// the order of run_queue.h keeps few messages in flight.
//
// Rules (recorded_minima.h, measured_rules.h, model_rules.h) compute durations. Dependencies are
// the same under all rules: they are decided here and in matcher.h and collective_instances.h.

#include <array>
#include <cassert>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/partial_array.h"
#include "replay/engine/boundary.h"
#include "replay/engine/replay_outcome.h"
#include "replay/engine/run_queue.h"
#include "replay/matching/taken_runs.h"
#include "replay/matching/timeline_state.h"
#include "replay/observe/coverage.h"
#include "replay/observe/observer.h"
#include "replay/observe/profile.h"
#include "replay/observe/results.h"
#include "replay/observe/wait_states.h"
#include "replay/rules/compute_changes.h"
#include "replay/rules/origin_rules.h"
#include "replay/rules/presence.h"
#include "replay/rules/received_sends.h"

namespace rubato {

struct TimedEvent;

/// True for rules that need events in the order of time (time_order.h).
template <class Rules>
inline constexpr bool kTimeOrdered = requires {
  Rules::kTimeOrdered;
};

/// True for rules under which messages may need a process inside MPI (presence.h).
template <class Rules>
inline constexpr bool kMayNeedPresence = requires(const Rules& rules) {
  rules.needs_presence_from();
  requires !kTimeOrdered<Rules>;  // which track presence themselves
};

/// The queue that selects the next timeline: RunQueue, unless the rules define another. (A test has
/// one with a random order.)
template <class Rules>
struct QueueOf {
  using Type = RunQueue;
};
template <class Rules>
requires requires {
  typename Rules::Queue;
}
struct QueueOf<Rules> {
  using Type = typename Rules::Queue;
};

/// True for rules that need the time a call lost while others may have waited for it.
template <class Rules>
inline constexpr bool kKnowsLostThere = requires {
  &Rules::note_side;
};

/// True for rules that need the completion of sends that do not wait for their receivers.
template <class Rules>
inline constexpr bool kWatchesSends = requires {
  &Rules::watches;
};

template <class Rules>
class Replay {
 public:
  static constexpr int K = Rules::kLanes;

  Replay(EventSource& source, Rules& rules, std::vector<Observer<K>*> observers,
         std::function<void(double)> progress = {}, const LockOrder* locks = nullptr,
         const ReceivedSends* received = nullptr, const std::set<Route>* in_order = nullptr,
         TeamShare share = {})
      : source_(&source),
        locks_(locks),
        received_(received),
        trace_(&source.definitions()),
        rules_(&rules),
        observers_(std::move(observers)),
        progress_(std::move(progress)),
        matcher_(trace_->ranks()),
        collectives_(*trace_),
        timelines_(trace_->timelines()),
        presence_(trace_->timelines()),
        running_(trace_->ranks()),
        sends_(trace_->timelines()),
        posts_(trace_->timelines()) {
    matcher_.match_in_order(in_order);
    lengths_differ_ = in_order != nullptr;
    if (share.team) {
      divide(*share.team, *share.division);
    } else {
      add_ranks(0, trace_->ranks());
    }
    for (const Observer<K>* observer : observers_) wants_messages_ |= observer->wants_messages();
    if constexpr (kMayNeedPresence<Rules>) {
      presence_from_ = rules.needs_presence_from();
      goes_back_ = source.counts().backwards.count > 0;
    }
    for (const Thread& thread : trace_->threads) threads_of_rank_.try_emplace(thread.rank);
    for (Observer<K>* observer : observers_) {
      if (observer->watches_enters()) enter_watcher_ = observer;
    }
  }

  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Recipients of every call beside the observers; null: none. They are called in nearly every
  /// pass, so they are not observers.
  void keep(Profile<K>* profile, Coverage* coverage) {
    profile_ = profile;
    coverage_ = coverage;
  }

  /// As start_shifts(): by how many ticks the timelines of each rank begin later. Null: as
  /// recorded.
  void begin_later(const std::vector<double>* ticks) { begins_later_ = ticks; }

  /// Which calls may take the receives that complete first. Null: none.
  void take_first(const TakenRuns* runs) requires kTimeOrdered<Rules> {
    runs_ = runs;
    choosers_.resize(timelines_.size());
  }

  /// Where the waiting times of calls are summed up; null: nowhere.
  void watch_waits(WaitStates<K>* waits) { waits_ = waits; }

  /// Changes of compute beyond the rules; null: none.
  void change_compute(const ComputeChanges<K>* changes) { compute_changes_ = changes; }

  /// The main loop.
  ReplayOutcome run();

 private:
  using Status = typename TimelineState<K>::Status;
  static constexpr int kCallsInTurn = 32;

  /// The main loop of a process among several.
  ReplayOutcome run_divided() requires kDividable<Rules>;
  /// Copies the counters to the outcome, at the end.
  void sum_up();

  // --- Scheduling ---

  /// Allocates the state of the local ranks: from `first` to before `end`.
  void add_ranks(int first, int end) {
    first_rank_ = first;
    end_rank_ = end;
    local_timelines_ = trace_->timelines_of(first, end);
    matcher_.add_ranks(first, end);
    running_.make(first, end);
    timelines_.make(&local_timelines_);
    presence_.add_timelines(local_timelines_);
    sends_.make(&local_timelines_);
    posts_.make(&local_timelines_);
  }
  /// Selects the ranks of this process and opens the boundary to the others.
  void divide(Team& team, const Division& division) {
    if constexpr (kDividable<Rules>) {
      boundary_.emplace(team, division, *trace_);
      add_ranks(division.first(team.self()), division.end(team.self()));
      collectives_.divide(boundary_->remote_members());
    } else {
      assert(!"rules of a replay that is not divided");
    }
  }
  void start(int timeline);
  void make_ready(int timeline);
  void wake(int timeline);

  /// Runs `timeline` until it blocks, or for at most kCallsInTurn calls, so that it does not get
  /// far ahead of others.
  void run_until_blocked(int timeline);
  /// The next calls of a timeline; false when there are none.
  bool read_calls(TimelineState<K>& state);
  /// Reads the next block of the source.
  bool read_block(TimelineState<K>& state);
  void finish(int timeline);
  /// Reports the progress of all local timelines.
  void report_progress();

  /// True for a main thread whose rank has threads that have not begun.
  bool has_unborn(const TimelineState<K>& state) const;
  /// Begins the threads of the rank that began, when recorded, before `call` of the main thread
  /// left. They keep their recorded distance to the main thread.
  void begin_threads(int timeline, const Call& call);

  // Threads of a rank that wait for each other: engine/threads.h.
  void thread_step(TimelineState<K>& state, const Call& call, const Action& action);
  void await_thread(TimelineState<K>& state, const Action& action);
  /// False when the step has not been replayed; its thread then wakes `state`.
  bool thread_step_is_there(TimelineState<K>& state, const Awaited& awaited);
  /// When `step` releases `call`, which waits for it.
  static Lanes<K> step_reaches(const typename ThreadedRank<K>::Step& step, const Awaited& awaited,
                               const Call& call);
  /// When a call of role kThread leaves.
  const Lanes<K>& leave_thread(TimelineState<K>& state, const Call& call);
  /// Losses of the call that the scenario removes.
  Lanes<K> dropped_losses(const TimelineState<K>& state, const Call& call) const;

  // --- One call ---

  /// True when all that `call` does is to start a message, as most calls do, and the rules need no
  /// more of it.
  bool only_starts(const TimelineState<K>& state, const Call& call) const;
  /// Runs such a call from enter to leave. It waits for nothing, so the code for waiting calls is
  /// skipped.
  void start_message(TimelineState<K>& state, const Call& call);
  /// The same for a send and for a post.
  template <ActionKind kKind>
  void start_message(TimelineState<K>& state, const Call& call, const Action& action);
  void enter(TimelineState<K>& state, const Call& call);
  /// Begins `call`, whose enter is known.
  void begin_call(TimelineState<K>& state, const Call& call);
  double begins_later(const TimelineState<K>& state) const { return (*begins_later_)[state.rank]; }
  /// The compute before `call` on the scenario's machine; `recorded`: its recorded ticks.
  Lanes<K> compute(int timeline, uint64_t event, double recorded, bool before_mpi_call,
                   uint32_t function_records);
  /// Computes when `timeline` enters its next call.
  void find_enter(TimelineState<K>& state, const Call& call);
  /// The same where the timeline computes until then; `is_mpi`: it is an MPI call.
  void enter_after_compute(TimelineState<K>& state, const Call& call, bool is_mpi);
  void perform(TimelineState<K>& state, const Call& call, const Action& action);
  void send(TimelineState<K>& state, const Call& call, const Action& action);
  /// True when the rules need the completion of a send that does not wait for its receiver.
  bool is_watched(const Transfer<K>& transfer, const Action& action) const;
  void post(TimelineState<K>& state, const Call& call, const Action& action);
  /// Numbers the next send of `timeline` for rules that need its number, and drops a send that no
  /// receive matches.
  void number_send(int timeline, TransferId id);
  /// Both sides of a message are known.
  void match(TransferId id, Transfer<K>& transfer);
  void collective(int timeline, const Call& call, const Action& action);
  void start_collective(int timeline, const Call& call, const Action& action);
  /// Enters a collective of several members.
  typename CollectiveInstances<K>::Arrived arrive(int timeline, const Call& call,
                                                  const Action& action, int local);
  /// Member `local` has entered a collective whose messages may be played; members that are done
  /// are woken.
  void play(CollectiveInstance<K>& instance, const Action& action, int local, int timeline,
            const Lanes<K>& enter);
  /// A local member leaves a collective for good.
  void depart(uint32_t comm, uint64_t number, CollectiveInstance<K>& instance);
  /// False while messages of a collective that `timeline` waits for are outstanding; it is woken
  /// when they arrive.
  bool messages_are_there(int timeline, const CollectiveInstance<K>& instance, int local);
  /// Which members member `local` waits for in a collective.
  Synchronisation synchronisation_of(const Action& action, int local) const;
  void await(TimelineState<K>& state, Awaited::Kind kind, TransferId id);
  /// The pair class of two ranks.
  [[gnu::always_inline]] PairClass pair_of(int from, int to) const {
    if constexpr (Rules::kFollowsRecording) {
      return rules_->level(from, to);
    } else {
      return rules_->pair(from, to);
    }
  }

  // One-sided communication: windows.h.
  void begin_one_sided(int timeline, const Action& action);
  /// Ends the part of an operation that ends in this call, at the time given by the model.
  void finish_one_sided(int timeline, const Action& action);
  /// Assigns to the fence `instance` the operations of `rank` since the previous fence.
  void end_streams(uint32_t window, int rank, CollectiveInstance<K>& instance);
  /// `rank` locks, unlocks or fences a window: its operations wait for no post any more.
  void end_accesses(uint32_t window, int rank);
  void enter_epoch(int timeline, const Call& call, const Action& action);
  bool other_side_is_there(int timeline, const Awaited& awaited);
  /// True unless `awaited` completes an operation whose target has not posted; `timeline` is then
  /// woken by the post.
  bool target_is_ready(int timeline, const Awaited& awaited);
  void lock(int timeline, const Action& action);
  void unlock(int timeline, const Call& call, const Action& action);
  /// Releases, at the target, the lock that `timeline` holds in that turn.
  void release_lock(int timeline, const Action& action, uint32_t turn, const Lanes<K>& released,
                    const Origin& from);
  LockTurn<K>& turn_before(const Awaited& awaited);
  void complete_one_sided(int timeline, const Awaited& awaited);

  /// True when all that the call waits for has happened; else `timeline` will be woken when the
  /// first missing event happens.
  bool everything_is_there(TimelineState<K>& state);
  bool message_is_there(int timeline, Awaited::Kind kind, TransferId id);
  bool other_is_there(TimelineState<K>& state, Awaited& awaited);
  void leave(TimelineState<K>& state, const Call& call);
  /// Reports a call with its leave to the profile, the coverage and the observers.
  template <bool kOnlyStarts>
  void report_call(TimelineState<K>& state, const Call& call, Traffic traffic,
                   double recorded_before, const Lanes<K>& leave);
  /// others_are_there() for a collective or one-sided communication.
  bool others_are_there(int timeline, const Awaited& awaited);
  /// Completes the message that `call` waited for; the call leaves.
  void complete_message(const TimelineState<K>& state, const Call& call, Awaited::Kind kind,
                        TransferId id);
  /// The same for an entry that is no plain message.
  void complete_other(const TimelineState<K>& state, const Call& call, const Awaited& awaited);
  void complete_collective(int timeline, const Call& call, const Awaited& awaited);
  void count_violation(int timeline, const Call& call, Awaited::Kind kind);
  void count_misfit(int timeline, const Call& call, const Misfit& misfit);
  /// The recorded time of the event that a call waits for; false when it waits for nothing.
  bool recorded_cause(Awaited::Kind kind, const TransferFacts& transfer, double& cause);

  // --- What calls wait for: engine/waits.h ---

  /// `call` is about to leave.
  void note_wait(const TimelineState<K>& state, const Call& call, const Lanes<K>& leave);
  /// The same for a call of role kBegin or kThread: which thread of its rank it waited for.
  void note_thread_wait(const TimelineState<K>& state, const Call& call, const Lanes<K>& leave);
  /// Adds the time of the event that `awaited` waits for, if there is one.
  void add_cause(const TimelineState<K>& state, const Call& call, const Awaited& awaited,
                 typename WaitStates<K>::Causes& causes);
  /// Flushes and lost cores within the call in this scenario.
  Lanes<K> held_losses(const TimelineState<K>& state, const Call& call) const;
  /// Adds the waiting time of the polling loop that the current call ends, due to `causes`.
  void end_loop(const TimelineState<K>& state, const PollingLoop<K>& loop,
                const typename WaitStates<K>::Causes& causes, Waited waited);
  /// Finds the event that determines the end of the current call, which waited from `since` on.
  void bind(const TimelineState<K>& state, double since, Waited& waited);
  Origin latest_origin(const TimelineState<K>& state,
                       const Waited& waited) requires kTimeOrdered<Rules>;
  /// Reports the messages that the call received to the observers.
  void report_messages(const TimelineState<K>& state);
  static WaitPattern pattern_of(const CollectiveInstance<K>& instance, Synchronisation how);
  void add_collective_cause(const Call& call, const Awaited& awaited,
                            typename WaitStates<K>::Causes& causes);
  void add_post_cause(const TimelineState<K>& state, const Awaited& awaited,
                      typename WaitStates<K>::Causes& causes);
  void add_epoch_cause(const TimelineState<K>& state, const Call& call, const Awaited& awaited,
                       typename WaitStates<K>::Causes& causes);
  void add_lock_cause(const TimelineState<K>& state, const Awaited& awaited,
                      typename WaitStates<K>::Causes& causes);

  // --- Messages that need a process inside MPI (presence.h) ---

  /// True for calls in which an MPI library makes progress.
  bool makes_progress(const Call& call) const;
  /// True where `call`, the current one, is a stay in MPI that some message may need.
  bool is_asked_for(const TimelineState<K>& state, const Call& call) const;
  /// True for a size at which some messages may need a process inside MPI.
  bool may_need_presence(uint64_t bytes) const {
    return kMayNeedPresence<Rules> && static_cast<double>(bytes) >= presence_from_;
  }
  /// True for a receive whose own length may differ from that of its message: among neighbours, and
  /// where an archive has two lengths of a message.
  bool sender_knows_length(const Action& action) const {
    return lengths_differ_ || is_among_neighbours(action.message.tag);
  }
  /// The current call of `state` sent a message or posted a receive that may need a process inside
  /// MPI.
  void handshake_as_sender(TimelineState<K>& state, const Action& action, TransferId id,
                           Transfer<K>& transfer);
  void handshake_as_receiver(TimelineState<K>& state, const Action& action, TransferId id,
                             Transfer<K>& transfer);
  /// The current call of `state`, for which is_asked_for() is true, leaves.
  void leave_presence(const TimelineState<K>& state, const Lanes<K>& leave);
  void drop_handshake(TransferId id);
  /// True when both sides of the message are known but its arrival is not.
  bool is_held_up(TransferId id, const Transfer<K>& transfer) const;
  /// Sets the arrivals that have become known, and wakes the timelines that wait for them.
  void take_arrivals();
  void wake_by_arrivals();
  /// All timelines are blocked: lets messages proceed that wait for a blocked rank.
  typename Presence<K>::Served serve_earliest();
  /// By lane: a lower bound of when a blocked timeline can leave its call, if nothing arrives by
  /// serve_earliest().
  Lanes<K> first_leave_by_lane();

  // --- In the order of time: engine/time_ordered.h ---

  void run_in_order() requires kTimeOrdered<Rules>;
  /// True when `timeline` may enter its next call now; else its enter is queued.
  bool is_due(int timeline, const Call& call) requires kTimeOrdered<Rules>;
  void happen(const TimedEvent& event) requires kTimeOrdered<Rules>;
  /// The process that a request to send, or the answer to it, needs is inside MPI.
  void answer(const TimedEvent& event) requires kTimeOrdered<Rules>;
  void answer_all(const std::vector<TimedEvent>& asked) requires kTimeOrdered<Rules>;
  void sent(int timeline, TransferId id) requires kTimeOrdered<Rules>;
  // Matching by arrival: a message was sent, a receive was posted, a message can be received.
  void offer(TransferId id) requires kTimeOrdered<Rules>;
  void ask(TransferId id, const Action& action) requires kTimeOrdered<Rules>;
  void find_receive(TransferId id) requires kTimeOrdered<Rules>;
  void pair(TransferId send, TransferId receive) requires kTimeOrdered<Rules>;
  /// Starts the messages of a collective (CollectiveInstance::play) that can start; one flows; one
  /// has arrived.
  void start_flows(int play) requires kTimeOrdered<Rules>;
  void flow_part(const TimedEvent& part) requires kTimeOrdered<Rules>;
  void part_arrived(uint32_t play, uint32_t part) requires kTimeOrdered<Rules>;
  /// The request to send of `id` has reached a receiver that has posted. Eager messages: no effect.
  void request(TransferId id) requires kTimeOrdered<Rules>;
  void arrived(TransferId id) requires kTimeOrdered<Rules>;
  /// True when this pass decides the matching.
  bool matches_by_arrival() const {
    if constexpr (kTimeOrdered<Rules>) return rules_->by_arrival();
    return false;
  }

  // Calls that take the receives that complete first: engine/first_taken.h
  /// True for a call that may; it has still to choose.
  bool begins_to_choose(TimelineState<K>& state, const Call& call) requires kTimeOrdered<Rules>;
  /// False while the current call has to choose and too few receives are complete.
  bool has_chosen(TimelineState<K>& state) requires kTimeOrdered<Rules>;

  // One-sided operations on a network with contention: engine/one_sided_flows.h
  void begin_operation(TimelineState<K>& state, const Action& action, const Action* result,
                       OneSided<K>& operation) requires kTimeOrdered<Rules>;
  /// Begins the operations that wait for the target of `epoch`, which is ready or will never be.
  void begin_unready(Epoch<K>& epoch) requires kTimeOrdered<Rules>;
  void begin_operation(uint32_t number, double ready) requires kTimeOrdered<Rules>;
  void flow_operation(uint32_t number) requires kTimeOrdered<Rules>;
  void operation_arrived(uint32_t number) requires kTimeOrdered<Rules>;
  void operation_left(uint32_t number) requires kTimeOrdered<Rules>;
  void land(Landing& landing, double time) requires kTimeOrdered<Rules>;
  /// Assigns to the fence `instance` the flows of `rank`.
  void end_flows(uint32_t window, int rank,
                 CollectiveInstance<K>& instance) requires kTimeOrdered<Rules>;
  /// True when all operations with member `local` of a fence as target have landed; else `timeline`
  /// is woken then. The same for the two functions below.
  bool has_landed(int timeline, CollectiveInstance<K>& instance,
                  int local) requires kTimeOrdered<Rules>;
  /// True when no flow holds up a complete or wait.
  bool has_flowed(int timeline, const Awaited& awaited,
                  Epoch<K>& epoch) requires kTimeOrdered<Rules>;
  /// True when the flows that a kOneSidedDone waits for are complete.
  bool is_done(int timeline, const Awaited& awaited) requires kTimeOrdered<Rules>;

  // --- Timelines in other processes: engine/divided.h ---

  /// True when the timelines of `rank` are run in this process.
  [[gnu::always_inline]] bool is_local(int rank) const {
    if constexpr (kDividable<Rules>) return !boundary_ || boundary_->is_local(rank);
    return true;
  }
  /// Refuses a divided replay whose rules need what the other side of a message lost.
  void refuse_losses() requires kDividable<Rules>;
  /// send() to a rank of another process.
  void send_remote(TimelineState<K>& state, const Call& call,
                   const Action& action) requires kDividable<Rules>;
  /// Notifies the process of the sender of `id`, if it is another one and waits for the match.
  void answer_sender(TransferId id) requires kDividable<Rules>;
  /// The same in a replay that may not be divided.
  [[gnu::always_inline]] void answer_remote_sender(TransferId id) {
    if constexpr (kDividable<Rules>) {
      if (boundary_) [[unlikely]]
        answer_sender(id);
    }
  }
  /// True for a message that needs a process inside MPI, once its receiver is known.
  bool needs_handshake(const Transfer<K>& transfer) requires kDividable<Rules>;
  /// Notifies other processes about messages that need a process inside MPI.
  void notify_crossings() requires kDividable<Rules>;
  /// The arrival of `id` is known; one side of it may be in another process.
  void arrived_elsewhere(TransferId id) requires kDividable<Rules>;
  typename Presence<K>::Served serve_earliest_of_all() requires kDividable<Rules>;
  /// A local member has entered a collective.
  void notify_members(int timeline, const Call& call, const Action& action, int local,
                      const typename CollectiveInstances<K>::Arrived& arrived) requires
      kDividable<Rules>;
  /// Passes on what is known of members in other processes. True once all have entered `instance`.
  bool pass_on(uint32_t comm, uint64_t number,
               CollectiveInstance<K>& instance) requires kDividable<Rules>;
  // Messages from other processes.
  void take_batch(ByteReader& from) requires kDividable<Rules>;
  void take_send(const RemoteSend<K>& sent) requires kDividable<Rules>;
  void take_answer(const SendAnswer<K>& answer) requires kDividable<Rules>;
  void take_notification(const typename Boundary<K>::Notification& notification,
                         bool asks) requires kDividable<Rules>;
  /// Members in another process have entered a collective.
  void take_members(CollectiveInstance<K>& instance, uint32_t comm, CollectiveOp op, int32_t root,
                    const Came<K>& came) requires kDividable<Rules>;
  void take_collective(Crossing kind, ByteReader& from, BatchBase& base) requires kDividable<Rules>;

  // --- Requests ---

  void put_slot(TimelineState<K>& state, uint32_t slot, TransferId id);
  void await_request(TimelineState<K>& state, const Call& call, Awaited::Kind kind, uint32_t slot);
  /// The same for a kWaitSend or kWaitReceive where the rank has one timeline.
  void await_own_request(TimelineState<K>& state, const Call& call, const Action& action);
  /// True for a test that found its sends complete when recorded and would have continued
  /// otherwise.
  bool completes_elsewhere(const Call& call) const;
  /// Moves the completion of the send to a later call.
  void move(TimelineState<K>& state, TransferId id);
  /// `call` waits for the moved sends, if it can complete them.
  void await_moved(TimelineState<K>& state, const Call& call);
  /// The current call leaves: the moved sends that it waited for are complete.
  void end_moved(TimelineState<K>& state);
  /// Takes the transfer out of a request, which is then free; kNoTransfer: nothing to wait for.
  TransferId take_slot(TimelineState<K>& state, uint32_t slot);
  void await_collective(int timeline, const Action& action);
  /// Copies the instance of a started collective to `awaited`.
  void find_instance(Awaited& awaited) const;
  /// put_slot() where any thread of the rank may complete the request.
  void share_request(int timeline, uint32_t slot, TransferId id);
  /// False when no thread of the rank has posted the request yet; the thread that does wakes
  /// `timeline`.
  bool find_request(int timeline, Awaited& awaited);

  // --- All timelines are blocked ---

  /// The rank that `timeline` waits for; -1: none.
  int waits_for(int timeline);
  static bool waits_for_thread(const Awaited& awaited) {
    return awaited.kind == Awaited::Kind::kMainThread || awaited.kind == Awaited::Kind::kThread ||
           !awaited.posted;
  }
  /// A member that has not entered the collective `awaited`; preferably one whose streams have
  /// ended.
  int missing_member(const Awaited& awaited);

  /// Releases timelines that wait for a rank whose streams have ended (a truncated or filtered
  /// archive, a receive without a send): their calls keep the recorded time. False when there was
  /// none.
  bool release_hopeless();

  /// Releases calls that are blocked by the end of a send, if another request would have completed
  /// them (MPI_Waitany, a test), or if they did not complete the send when recorded: it ends in a
  /// later call. False when there was none.
  bool move_completions();

  /// True when a timeline waits for the end of a send, or of a receive, and it is not known whether
  /// the other side was recorded.
  bool may_lack_partner(Awaited::Kind kind) const;

  /// Releases the blocked timeline whose call was recorded to leave first. The event that it waits
  /// for comes after a call that left later, so when recorded it did not wait for it: the record of
  /// its partner is missing. A rendezvous that only the scenario introduces does not count. False
  /// when there was none: a deadlock.
  bool release_hole();
  /// True for a collective in which members wait, on this machine, that the operation does not
  /// require to wait.
  bool holds_more_than_it_must(const Awaited& awaited);
  /// The earliest recorded leave of the current calls of `rank`, without timeline `except`.
  double first_leave(int rank, int except) const;
  /// The current call of `timeline` stops waiting and keeps its recorded time.
  void release(int timeline);
  const Call& current_call(int timeline) const;

  /// Follows waits_for() from the first blocked timeline until the path closes.
  std::string describe_deadlock();
  /// The blocked timeline of `rank` that is furthest behind, if possible not `asking`; -1 when
  /// there is none.
  int blocked_timeline_of(int rank, int asking) const;
  std::string describe_wait(int timeline);
  std::string place(int timeline, const Call& call) const;

  EventSource* source_;
  const LockOrder* locks_;         ///< null: locks are not waited for
  const ReceivedSends* received_;  ///< null: not known
  const TraceDefinitions* trace_;
  Rules* rules_;
  std::vector<Observer<K>*> observers_;
  bool wants_messages_ = false;           ///< true for some observer
  Observer<K>* enter_watcher_ = nullptr;  ///< the one with watches_enters()
  Profile<K>* profile_ = nullptr;
  Coverage* coverage_ = nullptr;
  WaitStates<K>* waits_ = nullptr;
  std::unordered_map<int, PollingLoop<K>> loops_;  ///< by timeline inside a loop; for waits_
  const std::vector<double>* begins_later_ = nullptr;
  const TakenRuns* runs_ = nullptr;
  /// The progress of a timeline through its runs.
  struct Chooser {
    size_t run = 0;
    size_t taken = 0;      ///< slots of the run taken so far
    size_t wants = 0;      ///< receives that the current call has still to choose
    bool blocked = false;  ///< the last awaited entry represents all of them
  };
  std::vector<Chooser> choosers_;  ///< by timeline; empty if no call chooses
  const ComputeChanges<K>* compute_changes_ = nullptr;
  std::function<void(double)> progress_;
  std::vector<uint64_t> sizes_;  ///< records by rank from first_rank_ on, if progress_ needs them
  static constexpr int64_t kTurnsToProgress = 1 << 18;  ///< about a tenth of a second
  int64_t turns_to_progress_ = kTurnsToProgress;        ///< turns until the next report
  Matcher<K> matcher_;
  CollectiveInstances<K> collectives_;
  Windows<K> windows_;
  PartialArray<TimelineState<K>> timelines_;  ///< local ones only
  Presence<K> presence_;                      ///< used only by rules that need it
  /// Smallest size of messages that may need a process inside MPI; infinity: none.
  double presence_from_ = std::numeric_limits<double>::infinity();
  bool lengths_differ_ = false;  ///< some messages have two lengths on record
  bool goes_back_ = false;       ///< some recorded clock goes backwards
  PartialArray<int> running_;    ///< by rank: how many of its timelines have not ended
  PartialArray<size_t> sends_;   ///< by timeline: how many were numbered
  PartialArray<size_t> posts_;   ///< likewise, posts
  std::map<int, ThreadedRank<K>> threads_of_rank_;  ///< of ranks with several timelines
  typename QueueOf<Rules>::Type ready_;
  std::vector<StartedCollective<K>> started_;
  std::vector<TransferId> free_started_;  ///< entries of started_ that can be used again
  const RuleContext<K> context_{trace_, &matcher_, &collectives_, &started_, &windows_};
  std::vector<TransferId> skipped_;
  int first_rank_ = 0;                ///< first local rank
  int end_rank_ = 0;                  ///< behind the last local rank
  std::vector<int> local_timelines_;  ///< the local timelines
  int finished_ = 0;
  struct PairTraffic {
    uint64_t messages = 0;
    uint64_t bytes = 0;
  };
  std::array<PairTraffic, PairClass::kMost> pair_traffic_{};  ///< by number of the class
  ReplayOutcome outcome_;
  /// To the other processes of a divided replay; empty if this process has all ranks.
  std::conditional_t<kDividable<Rules>, std::optional<Boundary<K>>, NoBoundary> boundary_;
};

}  // namespace rubato
