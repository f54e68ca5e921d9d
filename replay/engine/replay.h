#pragma once

// Plays the calls of all ranks against each other. Start reading at Replay::run() in engine.h.
//
// What is run is a timeline: a rank, or where several of its threads call MPI, each of them. A
// blocked one does not hold up the others of its rank.
//
// Without contention a call's times depend only on the calls it waits for, so timelines need not be
// run in the order of time: each runs until it has to wait for something that was not replayed yet,
// and is woken by whoever brings it. Any order gives the same clocks; that of run_queue.h keeps few
// messages in flight.
//
// Rules (recorded_minima.h, measured_rules.h, model_rules.h) say how long things take; who waits
// for whom is decided here and in matcher.h and collective_instances.h, once for all of them.

#include <array>
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

/// True for rules that need the order of time (time_order.h).
template <class Rules>
inline constexpr bool kTimeOrdered = requires {
  Rules::kTimeOrdered;
};

/// True for rules under which messages may need somebody inside MPI (presence.h).
template <class Rules>
inline constexpr bool kMayNeedPresence = requires(const Rules& rules) {
  rules.needs_presence_from();
  requires !kTimeOrdered<Rules>;  // which knows without
};

/// What says which timeline runs next: RunQueue, unless the rules bring one along. (A test has one
/// that draws lots.)
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

/// True for rules to which it matters what a call lost while others may have waited for it.
template <class Rules>
inline constexpr bool kKnowsLostThere = requires {
  &Rules::note_side;
};

/// True for rules that watch when sends are over which need not wait for their receivers.
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
         const ReceivedSends* received = nullptr, const std::set<Route>* in_order = nullptr)
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
    if constexpr (!kDivided<Rules>) add_ranks(0, trace_->ranks());
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

  /// Who sees every call, beside the observers; null for nobody. Not observers, as they watch
  /// nearly every pass.
  void keep(Profile<K>* profile, Coverage* coverage) {
    profile_ = profile;
    coverage_ = coverage;
  }

  /// As start_shifts(): by how many ticks the timelines of each rank begin later. Null: as
  /// recorded.
  void begin_later(const std::vector<double>* ticks) { begins_later_ = ticks; }

  /// Which calls may take the receives that are there first. Null: none.
  void take_first(const TakenRuns* runs) requires kTimeOrdered<Rules> {
    runs_ = runs;
    choosers_.resize(timelines_.size());
  }

  /// Who sums up what calls wait for; null for nobody.
  void watch_waits(WaitStates<K>* waits) { waits_ = waits; }

  /// Which timelines are in this process. To be called where the rules are Divided, and only there.
  void divide(Team& team, const Division& division) requires kDivided<Rules> {
    boundary_.emplace(team, division, *trace_);
    add_ranks(division.first(team.self()), division.end(team.self()));
    collectives_.divide(boundary_->members_away());
  }

  /// What becomes of compute beyond the rules; null for nothing.
  void change_compute(const ComputeChanges<K>* changes) { compute_changes_ = changes; }

  /// The main loop.
  ReplayOutcome run();

 private:
  using Status = typename TimelineState<K>::Status;
  static constexpr int kCallsInTurn = 32;

  /// The main loop of a process among several.
  ReplayOutcome run_divided() requires kDivided<Rules>;
  /// At the end: what is counted on the way becomes part of the outcome.
  void sum_up();

  // --- Scheduling ---

  /// Makes room for the ranks that are replayed in this process: from `first` to before `end`.
  void add_ranks(int first, int end) {
    first_here_ = first;
    end_here_ = end;
    here_ = trace_->timelines_of(first, end);
    matcher_.add_ranks(first, end);
    running_.make(first, end);
    timelines_.make(&here_);
    presence_.add_timelines(here_);
    sends_.make(&here_);
    posts_.make(&here_);
  }
  void start(int timeline);
  void make_ready(int timeline);
  void wake(int timeline);

  /// Runs `timeline` until it waits for somebody, or for so many calls that it may have left others
  /// behind.
  void run_until_blocked(int timeline);
  /// The next calls of a timeline; false when there are none.
  bool read_calls(TimelineState<K>& state);
  /// Those that its source hands out at once.
  bool read_block(TimelineState<K>& state);
  void finish(int timeline);
  /// How far all timelines of this process are.
  void tell_progress();

  /// True for a main thread of whose rank other threads have still to begin.
  bool has_unborn(const TimelineState<K>& state) const;
  /// Threads of the rank begin that began, when recorded, before `call` of the main one left. They
  /// keep their distance to what the main thread did then.
  void begin_threads(int timeline, const Call& call);

  // Threads of a rank that wait for each other: engine/threads.h.
  void thread_step(TimelineState<K>& state, const Call& call, const Action& action);
  void await_thread(TimelineState<K>& state, const Action& action);
  /// False when the step is still to come; its thread then wakes `state`.
  bool thread_step_is_there(TimelineState<K>& state, const Awaited& awaited);
  /// When `step` lets `call` go on that waits for it.
  static Lanes<K> step_reaches(const typename ThreadedRank<K>::Step& step, const Awaited& awaited,
                               const Call& call);
  /// When a call of role kThread leaves.
  const Lanes<K>& leave_thread(TimelineState<K>& state, const Call& call);
  /// What the scenario does without of what the call lost.
  Lanes<K> dropped_losses(const TimelineState<K>& state, const Call& call) const;

  // --- One call ---

  /// True when all that `call` does is to start a message, as most do; else the rules may want to
  /// know more of it.
  bool only_starts(const TimelineState<K>& state, const Call& call) const;
  /// Such a call from enter to leave: it waits for nobody, and so needs nothing of what is there
  /// for those that do.
  void start_message(TimelineState<K>& state, const Call& call);
  /// The same for a send, and for a post.
  template <ActionKind kKind>
  void start_message(TimelineState<K>& state, const Call& call, const Action& action);
  void enter(TimelineState<K>& state, const Call& call);
  /// `call`, of which it is known when it is entered, begins.
  void begin_call(TimelineState<K>& state, const Call& call);
  double begins_later(const TimelineState<K>& state) const { return (*begins_later_)[state.rank]; }
  /// The compute before `call` on the scenario's machine, of so many recorded ticks.
  Lanes<K> compute(int timeline, uint64_t event, double recorded, bool before_mpi_call,
                   uint32_t function_records);
  /// When `timeline` enters its next call.
  void find_enter(TimelineState<K>& state, const Call& call);
  /// The same where the timeline computes until then; `is_mpi`: it is a call of MPI.
  void enter_after_compute(TimelineState<K>& state, const Call& call, bool is_mpi);
  void perform(TimelineState<K>& state, const Call& call, const Action& action);
  void send(TimelineState<K>& state, const Call& call, const Action& action);
  /// Its completion is awaited, though it waits for nobody.
  bool is_watched(const Transfer<K>& transfer, const Action& action) const;
  void post(TimelineState<K>& state, const Call& call, const Action& action);
  /// The next send of `timeline`: tells rules that ask for it which one it is, and drops one that
  /// nobody receives.
  void number_send(int timeline, TransferId id);
  /// Both sides of a message are there.
  void match(TransferId id, Transfer<K>& transfer);
  void collective(int timeline, const Call& call, const Action& action);
  void start_collective(int timeline, const Call& call, const Action& action);
  /// Comes to a collective of several members.
  typename CollectiveInstances<K>::Arrived arrive(int timeline, const Call& call,
                                                  const Action& action, int local);
  /// Member `local` has come to a collective whose messages may be played; who is done goes on.
  void play(CollectiveInstance<K>& instance, const Action& action, int local, int timeline,
            const Lanes<K>& enter);
  /// A member of this process leaves a collective for good.
  void depart(uint32_t comm, uint64_t number, CollectiveInstance<K>& instance);
  /// False while messages of a collective are to come that `timeline` waits for in it, which is
  /// woken then.
  bool messages_are_there(int timeline, const CollectiveInstance<K>& instance, int local);
  /// Whom member `local` waits for in a collective.
  Synchronisation synchronisation_of(const Action& action, int local) const;
  void await(TimelineState<K>& state, Awaited::Kind kind, TransferId id);
  /// What messages between two ranks have in common.
  [[gnu::always_inline]] PairClass pair_of(int from, int to) const {
    if constexpr (Rules::kFollowsRecording) {
      return rules_->level(from, to);
    } else {
      return rules_->pair(from, to);
    }
  }

  // One-sided communication: windows.h.
  void begin_one_sided(int timeline, const Action& action);
  /// What of it ends in this call: a model says when.
  void finish_one_sided(int timeline, const Action& action);
  /// A fence will show what `rank` aimed at others since the one before.
  void end_streams(uint32_t window, int rank, CollectiveInstance<K>& instance);
  /// `rank` locks, unlocks or fences a window: operations on it wait for no post any more.
  void end_accesses(uint32_t window, int rank);
  void enter_epoch(int timeline, const Call& call, const Action& action);
  bool other_side_is_there(int timeline, const Awaited& awaited);
  /// True unless the target of what `awaited` completes has still to post; else `timeline` is woken
  /// then.
  bool target_is_ready(int timeline, const Awaited& awaited);
  void lock(int timeline, const Action& action);
  void unlock(int timeline, const Call& call, const Action& action);
  /// A lock that `timeline` holds in that turn is free again at the target.
  void give_back(int timeline, const Action& action, uint32_t turn, const Lanes<K>& released,
                 const Origin& from);
  LockTurn<K>& turn_before(const Awaited& awaited);
  void let_go_one_sided(int timeline, const Awaited& awaited);

  /// True when nothing is missing; else `timeline` will be woken when the first missing thing
  /// comes.
  bool everything_is_there(TimelineState<K>& state);
  bool message_is_there(int timeline, Awaited::Kind kind, TransferId id);
  bool other_is_there(TimelineState<K>& state, Awaited& awaited);
  void leave(TimelineState<K>& state, const Call& call);
  /// `call` leaves then: tells whoever keeps or observes calls.
  template <bool kOnlyStarts>
  void tell(TimelineState<K>& state, const Call& call, Traffic traffic, double recorded_before,
            const Lanes<K>& leave);
  /// Of a collective or one-sided communication.
  bool others_are_there(int timeline, const Awaited& awaited);
  /// `call`, which waited for a message, leaves.
  void let_go(const TimelineState<K>& state, const Call& call, Awaited::Kind kind, TransferId id);
  /// The same of anything that is no plain message.
  void let_go_other(const TimelineState<K>& state, const Call& call, const Awaited& awaited);
  void let_go_collective(int timeline, const Call& call, const Awaited& awaited);
  void count_violation(int timeline, const Call& call, Awaited::Kind kind);
  void count_misfit(int timeline, const Call& call, const Misfit& misfit);
  /// When, as recorded, that happened which a call waits for; false when it waits for nobody.
  bool recorded_cause(Awaited::Kind kind, const TransferFacts& transfer, double& cause);

  // --- What calls wait for: engine/waits.h ---

  /// `call` is about to leave.
  void note_wait(const TimelineState<K>& state, const Call& call, const Lanes<K>& leave);
  /// The same of a call of role kBegin or kThread: which thread of its rank it waited for.
  void note_thread_wait(const TimelineState<K>& state, const Call& call, const Lanes<K>& leave);
  /// Adds when that happened which `awaited` waits for, if it is somebody.
  void add_cause(const TimelineState<K>& state, const Call& call, const Awaited& awaited,
                 typename WaitStates<K>::Causes& causes);
  /// What the call holds of flushes and lost cores in this scenario.
  Lanes<K> held_losses(const TimelineState<K>& state, const Call& call) const;
  /// The loop of polls that the current call ends waited for `causes`.
  void end_loop(const TimelineState<K>& state, const PollingLoop<K>& loop,
                const typename WaitStates<K>::Causes& causes, Waited waited);
  /// Finds out what the end of the current call follows from, which waited from `since` on.
  void bind(const TimelineState<K>& state, double since, Waited& waited);
  Origin latest_origin(const TimelineState<K>& state,
                       const Waited& waited) requires kTimeOrdered<Rules>;
  /// The observers, of the messages that the call received.
  void tell_messages(const TimelineState<K>& state);
  static WaitPattern pattern_of(const CollectiveInstance<K>& instance, Synchronisation how);
  void add_collective_cause(const Call& call, const Awaited& awaited,
                            typename WaitStates<K>::Causes& causes);
  void add_post_cause(const TimelineState<K>& state, const Awaited& awaited,
                      typename WaitStates<K>::Causes& causes);
  void add_epoch_cause(const TimelineState<K>& state, const Call& call, const Awaited& awaited,
                       typename WaitStates<K>::Causes& causes);
  void add_lock_cause(const TimelineState<K>& state, const Awaited& awaited,
                      typename WaitStates<K>::Causes& causes);

  // --- Messages that need somebody inside MPI (presence.h) ---

  /// True for calls in which an MPI library looks at what came in.
  bool makes_progress(const Call& call) const;
  /// True where `call`, the current one, is a stay in MPI that some message may ask for.
  bool is_asked_for(const TimelineState<K>& state, const Call& call) const;
  /// True for messages of that size, some of which may be agreed upon.
  bool may_agree(uint64_t bytes) const {
    return kMayNeedPresence<Rules> && static_cast<double>(bytes) >= presence_from_;
  }
  /// True for a receive whose own length is not that of its message: among neighbours, and where an
  /// archive has two lengths of a message.
  bool sender_knows_length(const Action& action) const {
    return lengths_differ_ || is_among_neighbours(action.message.tag);
  }
  /// A message was sent, or a receive posted, by the current call of `state`: it may be agreed
  /// upon.
  void agree_as_sender(TimelineState<K>& state, const Action& action, TransferId id,
                       Transfer<K>& transfer);
  void agree_as_receiver(TimelineState<K>& state, const Action& action, TransferId id,
                         Transfer<K>& transfer);
  /// The current call of `state`, which is_asked_for(), leaves.
  void leave_presence(const TimelineState<K>& state, const Lanes<K>& leave);
  void drop_agreement(TransferId id);
  /// True when it is not known yet when the message arrives, of which both sides are there.
  bool is_held_up(TransferId id, const Transfer<K>& transfer) const;
  /// Tells when messages arrive of which that became known, and wakes who waits for them.
  void take_arrivals();
  void wake_by_arrivals();
  /// Nobody can go on: lets messages go on that wait for a blocked rank.
  typename Presence<K>::Served serve_earliest();
  /// By lane: no blocked timeline can leave its call before that, if nothing arrives by
  /// serve_earliest().
  Lanes<K> first_leave_by_lane();

  // --- In the order of time: engine/time_ordered.h ---

  void run_in_order() requires kTimeOrdered<Rules>;
  /// True when `timeline` may enter its next call now; else it will be its turn later.
  bool is_due(int timeline, const Call& call) requires kTimeOrdered<Rules>;
  void happen(const TimedEvent& event) requires kTimeOrdered<Rules>;
  /// Somebody is inside MPI whom a request to send, or the answer to it, asks for.
  void answer(const TimedEvent& event) requires kTimeOrdered<Rules>;
  void answer_all(const std::vector<TimedEvent>& asked) requires kTimeOrdered<Rules>;
  void sent(int timeline, TransferId id) requires kTimeOrdered<Rules>;
  // By arrival: a message was sent, a receive was posted, a message can be received.
  void offer(TransferId id) requires kTimeOrdered<Rules>;
  void ask(TransferId id, const Action& action) requires kTimeOrdered<Rules>;
  void find_receive(TransferId id) requires kTimeOrdered<Rules>;
  void pair(TransferId send, TransferId receive) requires kTimeOrdered<Rules>;
  /// Messages of a collective begin, by CollectiveInstance::play, that can; one flows, or is there.
  void start_flows(int play) requires kTimeOrdered<Rules>;
  void flow_part(const TimedEvent& part) requires kTimeOrdered<Rules>;
  void part_arrived(uint32_t play, uint32_t part) requires kTimeOrdered<Rules>;
  /// The request to send of `id` is at the receiver, who has posted; of an eager message nothing.
  void request(TransferId id) requires kTimeOrdered<Rules>;
  void arrived(TransferId id) requires kTimeOrdered<Rules>;
  /// True when matching is up to this pass.
  bool matches_by_arrival() const {
    if constexpr (kTimeOrdered<Rules>) return rules_->by_arrival();
    return false;
  }

  // Calls that take the receives that are there first: engine/first_taken.h
  /// True for one that may; it has still to choose.
  bool begins_to_choose(TimelineState<K>& state, const Call& call) requires kTimeOrdered<Rules>;
  /// False while the current call has to choose and too few receives are there.
  bool has_chosen(TimelineState<K>& state) requires kTimeOrdered<Rules>;

  // One-sided operations on a network that is shared: engine/one_sided_flows.h
  void begin_operation(TimelineState<K>& state, const Action& action, const Action* result,
                       OneSided<K>& operation) requires kTimeOrdered<Rules>;
  /// What waits for the target of `epoch` begins: the target is ready, or never will be.
  void begin_unready(Epoch<K>& epoch) requires kTimeOrdered<Rules>;
  void begin_operation(uint32_t number, double ready) requires kTimeOrdered<Rules>;
  void flow_operation(uint32_t number) requires kTimeOrdered<Rules>;
  void operation_arrived(uint32_t number) requires kTimeOrdered<Rules>;
  void operation_left(uint32_t number) requires kTimeOrdered<Rules>;
  void land(Landing& landing, double time) requires kTimeOrdered<Rules>;
  /// The fence `instance` will show what `rank` aimed at others.
  void end_flows(uint32_t window, int rank,
                 CollectiveInstance<K>& instance) requires kTimeOrdered<Rules>;
  /// True when all that is aimed at member `local` of a fence has landed; else `timeline` is woken
  /// then. So below.
  bool has_landed(int timeline, CollectiveInstance<K>& instance,
                  int local) requires kTimeOrdered<Rules>;
  /// True when no flow holds up a complete or wait.
  bool has_flowed(int timeline, const Awaited& awaited,
                  Epoch<K>& epoch) requires kTimeOrdered<Rules>;
  /// True when those of a kOneSidedDone are.
  bool is_done(int timeline, const Awaited& awaited) requires kTimeOrdered<Rules>;

  // --- Timelines in other processes: engine/divided.h ---

  /// True when the timelines of `rank` are run here.
  [[gnu::always_inline]] bool is_here(int rank) const {
    if constexpr (kDivided<Rules>) return boundary_->is_here(rank);
    return true;
  }
  /// One process cannot know what the other side of a message lost in `call`.
  void refuse_losses() requires kDivided<Rules>;
  /// send() to a rank elsewhere.
  void send_away(TimelineState<K>& state, const Call& call,
                 const Action& action) requires kDivided<Rules>;
  /// Tells the sender of `id`, if it is elsewhere and waits for that, what has become of it.
  void answer_sender(TransferId id) requires kDivided<Rules>;
  /// True for one whose receiver is there, if it waits for somebody inside MPI.
  bool will_agree(const Transfer<K>& transfer) requires kDivided<Rules>;
  /// What others have to know of messages that wait for somebody inside MPI.
  void tell_crossings() requires kDivided<Rules>;
  /// It is known when `id` arrives, of which one side may be elsewhere.
  void arrived_elsewhere(TransferId id) requires kDivided<Rules>;
  typename Presence<K>::Served serve_earliest_of_all() requires kDivided<Rules>;
  /// A member of a collective has come here.
  void tell_members(
      int timeline, const Call& call, const Action& action, int local,
      const typename CollectiveInstances<K>::Arrived& arrived) requires kDivided<Rules>;
  /// Sends on what is known here of members elsewhere. True once they all have come to `instance`.
  bool pass_on(uint32_t comm, uint64_t number,
               CollectiveInstance<K>& instance) requires kDivided<Rules>;
  // What others sent.
  void take_batch(ByteReader& from) requires kDivided<Rules>;
  void take_send(const SendAway<K>& sent) requires kDivided<Rules>;
  void take_answer(const SendAnswer<K>& answer) requires kDivided<Rules>;
  void take_told(const typename Boundary<K>::Told& told, bool asks) requires kDivided<Rules>;
  /// Members in another process have come to a collective.
  void take_members(CollectiveInstance<K>& instance, uint32_t comm, CollectiveOp op, int32_t root,
                    const Came<K>& came) requires kDivided<Rules>;
  void take_collective(Crossing kind, ByteReader& from, BatchBase& base) requires kDivided<Rules>;

  // --- Requests ---

  void put_slot(TimelineState<K>& state, uint32_t slot, TransferId id);
  void await_request(TimelineState<K>& state, const Call& call, Awaited::Kind kind, uint32_t slot);
  /// The same of a kWaitSend or kWaitReceive where the rank has one timeline.
  void await_own_request(TimelineState<K>& state, const Call& call, const Action& action);
  /// True of a test that found its sends complete when recorded, and would have gone on without.
  bool completes_elsewhere(const Call& call) const;
  /// The send ends in a later call.
  void move(TimelineState<K>& state, TransferId id);
  /// `call` waits for the sends that moved, if it can complete them.
  void await_moved(TimelineState<K>& state, const Call& call);
  /// The current call leaves, and those that it waited for are over.
  void end_moved(TimelineState<K>& state);
  /// What is in a request, which is then free; kNoTransfer: nothing that anybody waits for.
  TransferId take_slot(TimelineState<K>& state, uint32_t slot);
  void await_collective(int timeline, const Action& action);
  /// Copies to `awaited` which instance was started.
  void find_instance(Awaited& awaited) const;
  /// put_slot() where any thread of the rank may complete the request.
  void share_request(int timeline, uint32_t slot, TransferId id);
  /// False when no thread of the rank has posted it yet; the one that does so wakes `timeline`.
  bool find_request(int timeline, Awaited& awaited);

  // --- Nobody can go on ---

  /// The rank that `timeline` waits for, -1 when it waits for nobody.
  int waits_for(int timeline);
  static bool waits_for_thread(const Awaited& awaited) {
    return awaited.kind == Awaited::Kind::kMainThread || awaited.kind == Awaited::Kind::kThread ||
           !awaited.posted;
  }
  /// A member that the collective `awaited` lacks; one whose streams have ended before any other.
  int missing_member(const Awaited& awaited);

  /// Frees those that wait for a rank whose streams have ended (a truncated or filtered archive, a
  /// receive without a send): their calls keep the recorded time. False when there was none.
  bool release_hopeless();

  /// Of calls that are blocked by the end of a send, lets those go on which another request would
  /// have let go on (MPI_Waitany, a test), or which did not complete it when recorded: it ends in a
  /// later call. False when there was none.
  bool move_completions();

  /// True when a timeline waits for the end of a send, or of a receive, and it is not known whether
  /// the other side is on record.
  bool may_lack_partner(Awaited::Kind kind) const;

  /// Frees the timeline whose call was recorded to leave first of all blocked ones. What it waits
  /// for stands behind a call that left later, so in the recording it went on without: the record
  /// of its partner is missing. A rendezvous of the scenario's own making is no such case. False
  /// when there was none: a deadlock.
  bool release_hole();
  /// A collective in which, on this machine, members wait that need not.
  bool holds_more_than_it_must(const Awaited& awaited);
  /// When the first of the calls left, as recorded, that hold up the timelines of `rank` but one.
  double first_leave(int rank, int except) const;
  /// The call that `timeline` waits in keeps its recorded time.
  void release(int timeline);
  const Call& current_call(int timeline) const;

  /// Follows waits_for() from the first blocked timeline until it comes round.
  std::string describe_deadlock();
  /// The blocked timeline of `rank` that is furthest behind, if possible not the one that asks; -1
  /// when there is none.
  int blocked_timeline_of(int rank, int asking) const;
  std::string describe_wait(int timeline);
  std::string place(int timeline, const Call& call) const;

  EventSource* source_;
  const LockOrder* locks_;         ///< null: nobody waits for a lock
  const ReceivedSends* received_;  ///< null: not known
  const TraceDefinitions* trace_;
  Rules* rules_;
  std::vector<Observer<K>*> observers_;
  bool wants_messages_ = false;           ///< some of them
  Observer<K>* enter_watcher_ = nullptr;  ///< the one that wants to know of enters
  Profile<K>* profile_ = nullptr;
  Coverage* coverage_ = nullptr;
  WaitStates<K>* waits_ = nullptr;
  std::unordered_map<int, PollingLoop<K>> loops_;  ///< by timeline that is in one; for waits_
  const std::vector<double>* begins_later_ = nullptr;
  const TakenRuns* runs_ = nullptr;
  /// How far a timeline is in its runs.
  struct Chooser {
    size_t run = 0;
    size_t taken = 0;      ///< slots of the run
    size_t wants = 0;      ///< receives that the current call has still to choose
    bool blocked = false;  ///< the last one that it awaits stands for all of them
  };
  std::vector<Chooser> choosers_;  ///< by timeline; empty where nobody chooses
  const ComputeChanges<K>* compute_changes_ = nullptr;
  std::function<void(double)> progress_;
  std::vector<uint64_t> sizes_;  ///< records by rank from first_here_ on, if progress_ needs them
  static constexpr int64_t kTurnsToProgress = 1 << 18;  ///< a tenth of a second, or some more
  int64_t turns_to_progress_ = kTurnsToProgress;        ///< until it is told next
  Matcher<K> matcher_;
  CollectiveInstances<K> collectives_;
  Windows<K> windows_;
  PartialArray<TimelineState<K>> timelines_;  ///< those in this process
  Presence<K> presence_;                      ///< of use to rules that need it only
  /// Bytes from which on messages may be agreed upon; infinity: none are.
  double presence_from_ = std::numeric_limits<double>::infinity();
  bool lengths_differ_ = false;  ///< some messages have two lengths on record
  bool goes_back_ = false;       ///< some timeline's clock does, as recorded
  PartialArray<int> running_;    ///< by rank: how many of its timelines have not ended
  PartialArray<size_t> sends_;   ///< by timeline: how many were numbered
  PartialArray<size_t> posts_;   ///< likewise
  std::map<int, ThreadedRank<K>> threads_of_rank_;  ///< of ranks with several timelines
  typename QueueOf<Rules>::Type ready_;
  std::vector<StartedCollective<K>> started_;
  std::vector<TransferId> free_started_;  ///< entries of started_ that can be used again
  const RuleContext<K> context_{trace_, &matcher_, &collectives_, &started_, &windows_};
  std::vector<TransferId> skipped_;
  int first_here_ = 0;     ///< rank of this process
  int end_here_ = 0;       ///< rank behind those
  std::vector<int> here_;  ///< their timelines
  int finished_ = 0;
  struct PairTraffic {
    uint64_t messages = 0;
    uint64_t bytes = 0;
  };
  std::array<PairTraffic, PairClass::kMost> pair_traffic_{};  ///< by number of the class
  ReplayOutcome outcome_;
  std::conditional_t<kDivided<Rules>, std::optional<Boundary<K>>, NoBoundary> boundary_;
};

}  // namespace rubato
