#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay/calls/polling.h"
#include "replay/calls/request_book.h"
#include "replay/trace/late_actions.h"
#include "replay/trace/operation.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Turns the records of one location, in order, into calls with actions.
///
/// The hard part is the nonblocking receive: matching is in post order, but the record that says
/// whom it received from stands where it completed, often much later. So a posted receive stays
/// unresolved until its completion (or our attribute on the post) names the peer, and take() hands
/// out only the calls before the first unresolved one. A receive that is cancelled, or whose
/// request is used again before it completed, or that never completes, becomes void; the last two
/// are counted. With the start of a nonblocking collective it is the same: what was started stands
/// where it completed. And a partitioned message leaves when the last of its partitions is ready,
/// which is the last one only when the message is complete. A builder that lets actions go holds
/// back kMostHeld bytes and kHeldForOpen for each open action (late_actions.h).
///
/// A send that was cancelled is no message, and that, too, stands where it completed. Hardly any
/// program does so, so sends are held back only in ranks that are known to: whoever finds
/// has_cancelled_sends() at the end gives all records to new builders that hold_sends().
///
/// A send follows an open one (kFollows) when the send of the same timeline before it has a request
/// that no record before this one completed; which is the same in every scenario, whatever its
/// clocks say. Of MPI_Startall all messages but the first do, of a collective among neighbours
/// likewise. A message to the own rank makes no burst, and one in partitions leaves nobody knows
/// yet where: they neither follow nor are followed. Nor are sends without a request on record (some
/// tracers write none), those of collectives among neighbours, and those whose request was used
/// again, as it was freed before. What follows one that is cancelled later follows it all the same.
///
/// Builders of one rank's threads share a book of requests, and then have to get their records in
/// the order of time (rank_calls.h). Their addresses must not change once they got one.
class CallBuilder {
 public:
  static constexpr size_t kMostProbed = 64;
  /// Nobody spins as long and then gives up.
  static constexpr size_t kMostPolls = 1 << 16;
  static constexpr uint32_t kReceivesAfterProbe = 1000;
  /// Bytes of calls, actions and records that are held back, and how many more for each open
  /// action: where thousands of receives are open at once, hardly any of them is let go.
  static constexpr size_t kMostHeld = 256 << 10;
  static constexpr size_t kHeldForOpen = 1 << 10;

  CallBuilder(const TraceDefinitions& trace, int timeline, std::shared_ptr<RequestBook> book)
      : trace_(&trace), timeline_(timeline), book_(std::move(book)) {}

  void keep_records(bool keep) { keep_records_ = keep; }
  /// A nonblocking send is not handed out before its completion says that it was one.
  void hold_sends() { hold_sends_ = true; }
  /// Calls behind an open action are handed out once `most_held` bytes are held back, and late()
  /// says what is missing. For take() without a limit.
  void let_actions_go(size_t most_held = kMostHeld) { most_held_ = most_held; }
  /// True when a send was handed out that was cancelled later.
  bool has_cancelled_sends() const { return has_cancelled_sends_; }

  // Records. `event` is the number of the record in its location, `time` in ticks after the start.
  // Peers are world ranks, communicators indices into TraceDefinitions::comms.
  void enter(uint64_t event, double time, int32_t call);  ///< `call` < 0: no MPI region
  void leave(uint64_t event, double time, int32_t call);
  void send(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag, uint64_t bytes);
  void isend(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag, uint64_t bytes,
             uint64_t request, uint8_t flags = 0);
  void isend_complete(uint64_t event, double time, uint64_t request);
  /// In MPI_Pready and its kin: a partition of this message is ready.
  void partition_ready(uint64_t event, double time, uint64_t request);
  /// `flags`: kAnySource, kAnyTag where the archive says so, kPartitioned.
  void irecv_request(uint64_t event, double time, uint64_t request, uint8_t flags);
  void recv(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag, uint64_t bytes,
            uint8_t wildcards);
  void irecv(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag, uint64_t bytes,
             uint64_t request);
  /// The call that was entered just now is a probe for anything (`wildcards`), which found this
  /// message. The receive that names it then stands for one that asks for as much.
  void probed(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag,
              uint8_t wildcards);
  void cancelled(uint64_t event, double time, uint64_t request);
  void request_test(uint64_t event, double time, uint64_t request);  ///< that was not complete
  void collective_end(uint64_t event, double time, CollectiveOp op, uint32_t comm, int32_t root,
                      uint64_t sent, uint64_t received);
  /// The open call is MPI_Init, which is collective on `comm`. It keeps its time, whatever it did;
  /// its one action does nothing (common_start.h).
  void begins_world(uint64_t event, double time, uint32_t comm);
  /// In a vector collective that the open call makes, or prepares, the next `peers` members get so
  /// many bytes each.
  void part(uint64_t event, double time, uint64_t bytes, uint32_t peers);
  /// The open call prepares a collective, whose parts follow.
  void prepares_parts(uint64_t event, double time, uint64_t request);
  /// `init_order`: which of its communicator's persistent collectives it is, from 1; 0: of none, or
  /// not known.
  void icollective_request(uint64_t event, double time, uint64_t request, uint32_t init_order);
  void icollective_complete(uint64_t event, double time, CollectiveOp op, uint32_t comm,
                            int32_t root, uint64_t sent, uint64_t received, uint64_t request);
  /// A collective among neighbours in the call that was entered just now: a message to each of them
  /// and one from each, if the archive says who they are. `request` 0: the call completes it.
  void neighbours(uint64_t event, double time, NeighbourExchange exchange, uint64_t request);
  /// The call only prepares it.
  void neighbours_init(uint64_t event, double time, NeighbourExchange exchange, uint64_t request);
  void neighbours_start(uint64_t event, double time, uint64_t request);
  void neighbours_end(uint64_t event, double time, uint64_t request);
  /// The completion of one that cannot be replayed: keeps the time of the call that saw it.
  void icollective_kept(uint64_t event, double time, uint64_t request);
  // One-sided communication. `window` is an index into TraceDefinitions::comms; a collective on it
  // goes to collective_end().
  void one_sided(uint64_t event, double time, uint32_t window, int32_t target, uint64_t sent,
                 uint64_t received, bool fetches, uint64_t number);
  void one_sided_done(uint64_t event, double time, uint32_t window, uint64_t number, bool remote);
  /// `group`: index into TraceDefinitions::groups.
  void epoch(uint64_t event, double time, uint32_t window, uint32_t group);
  void lock(uint64_t event, double time, uint32_t window, int32_t target, bool exclusive);
  void unlock(uint64_t event, double time, uint32_t window, int32_t target);
  // Threads of the rank (thread_steps.cc): one is created by this one, this one begins as it or
  // ends, and its end was waited for, if there is an open call in that.
  void thread_create(uint64_t event, double time, ThreadName thread);
  void thread_begin(uint64_t event, double time, ThreadName thread);
  void thread_end(uint64_t event, double time, ThreadName thread);
  void thread_wait(uint64_t event, double time, ThreadName thread);
  void measurement(uint64_t event, double time, bool on);
  /// In a call it is a part of it that models do without (kLost), else a call of role kFlush.
  void buffer_flush(uint64_t event, double time, double stop);
  /// Between the call before and the one that is entered next, at `time`, the thread had no core
  /// for so many ticks; no more of them count than there are.
  void stolen_before(uint64_t event, double time, double ticks);
  /// Likewise inside the open call.
  void stolen_inside(uint64_t event, double time, double ticks);
  void other(uint64_t event, double time);

  /// No more records here. Closes what is open, appends the kEnd.
  void end();
  /// Nor in any other builder that shares the requests: also voids what never completed.
  void finish();

  /// How many calls are ready: closed, and before the first one whose peers are not known.
  size_t ready();
  /// Moves up to `at_most` of the calls that are ready to `block` (which is cleared first); false
  /// when there is none, and nothing in late() either.
  bool take(Block& block, size_t at_most = SIZE_MAX);
  /// Which actions of the block that was taken last are not known, and what such of earlier ones
  /// are. (A block of no calls may bring some.)
  const LateActions& late() const { return late_; }
  /// The calls that were not handed out yet, the open one last.
  Block& pending() { return pending_; }
  size_t actions_taken() const { return action_base_; }

  // For loop_cache.h:
  /// True between two calls, where what follows is all that its calls depend on. (Of a rank with
  /// one timeline.)
  bool is_quiet() const {
    return begun_ && !open_ && polls_ == 0 && function_records_ == 0 && parts_.empty() &&
           !prepared_ && probed_.empty() && book_->slots.in_use() == 0;
  }
  /// How many of the last calls may turn out to have been spinning.
  size_t polls() const { return polls_; }
  /// True when the last record ended a poll in a run of them, whose Enter, at `event`, was the
  /// record before, and when `count` more like that would only make the run longer.
  bool may_poll_again(uint64_t event, size_t count) const {
    if (open_ || polls_ < 2 || polls_ + count > kMostPolls || keep_records_) return false;
    const Call& last = pending_.calls.back();
    return last.event == event && last_event_ == event + 1 && is_a_poll(last);
  }
  /// So many polls like the last call follow: their Enters and Leaves are the records from `event`
  /// on, at `ticks(0)`, `ticks(1)`, ..., none earlier than the one before.
  template <typename Ticks>
  void poll_again(size_t count, uint64_t event, Ticks ticks);
  /// How many calls are pending, less the open one.
  size_t closed_calls() const { return pending_.calls.size() - (open_ ? 1 : 0); }
  /// Records up to `event` became calls without this builder, which was quiet and still is.
  void skip(uint64_t event, double time) {
    last_event_ = event;
    last_time_ = last_leave_ = time;
  }

  bool finished() const { return finished_; }
  uint64_t records() const { return last_event_; }  ///< so far
  double last_time() const { return last_time_; }
  /// Receives, and collectives, that were posted and never completed.
  const Oddity& open_receives() const { return open_receives_; }
  const Oddity& open_collectives() const { return open_collectives_; }
  /// Records that are earlier than the one before them.
  const Oddity& backwards() const { return backwards_; }
  /// Another thread of the rank waits for the end of this one.
  bool is_joined() const { return is_joined_; }

 private:
  struct Posted {
    size_t call;    ///< index into calls_, counted from the first call of the location
    size_t action;  ///< likewise
    bool resolved = false;
  };
  /// An action that was handed out before it was resolved.
  struct LetGo {
    Action action;
    uint64_t event;  ///< of its call
    uint16_t name;   ///< likewise
  };

  void begin(uint64_t event, double time);  ///< of the location, at its first record
  void note_backwards(uint64_t event);
  void note(uint64_t event, double time, RecordPhase phase);
  void note_inside(uint64_t event, double time, bool tail);
  void open_call(uint64_t event, double time, uint16_t name, CallRole role);
  void close_call(double time);
  /// The open call is MPI_Finalize.
  void close_finalize();
  /// The open call gets what it lost (kLost).
  void add_lost(Call& call);
  /// True where the last call, which is closed, is a join.
  bool ends_with_join() const;
  /// That call lost so much more.
  void lose_in_join(double ticks);
  /// A call that named what it tested in vain was closed.
  void settle_tests(Call& call);
  /// The last call was closed: counts it as a poll, or ends the run of polls before it.
  void follow_polls();
  bool is_a_poll(const Call& call) const;
  bool is_a_vain_test(const Call& call) const;
  /// Marks a run of polls, or a blocking probe and what follows, if its last call got what they
  /// looked for; false when it did not.
  bool end_polls(std::span<Call> run);
  /// The call that was closed last makes a partition ready, and nobody says of which message.
  void some_partition_ready();
  /// The last action, the send of a partitioned message, waits for its partitions.
  void start_partitioned(uint64_t request);
  /// For now the message leaves in the open call.
  void leave_here(RequestBook::PartitionedSend& message);
  /// It left where it is known to.
  void settle_partitioned(uint64_t request);
  /// It left nowhere; false when there is none.
  bool cancel_partitioned(uint64_t request);
  /// True when the send before is open; it was nonblocking then.
  bool follows_open_send() const;
  /// The call that a communication record belongs to; one of no length when it stands outside any.
  void ensure_call(uint64_t event, double time);
  Action& add_action(ActionKind kind);
  /// Does an action of this kind that is resolved later, by whom `book` finds.
  void post(ActionKind kind, uint64_t request, RequestTable<RequestBook::OpenPost>& book);
  /// The last action, a send, is known to be one once it completes.
  void hold_send(uint64_t request);
  /// It has completed, or nothing is known of that.
  void settle_send(uint64_t request);
  /// A send of either kind whose completion was not seen, as its request is used again or freed.
  void settle_unseen(uint64_t request);
  /// A receive that a probe may have looked for gets what that asked for.
  void ask_as_probed(Action& receive);
  /// `request`: of one that the call does not complete.
  void exchange_with_neighbours(const NeighbourExchange& exchange, NeighbourRequest* request);
  // Of one that was posted, by its number.
  void make_void(size_t number);
  void give_up(size_t number);  ///< voids it and counts it as never completed
  Action& action_of(size_t number);
  void resolve(size_t number);  ///< its action is known now
  /// Of one that was not let go.
  Posted& posted(size_t number) { return posted_[number - posted_base_]; }
  /// Notes that an action of the open call, the last one, is resolved later; its number.
  size_t note_posted();
  /// Where too much is held back, nobody waits any longer for the older ones.
  void let_go();
  /// A call of no length that does one thing to other threads.
  void add_thread_call(uint64_t event, double time, ActionKind kind, uint8_t flags, uint32_t slot);
  /// The thread that this timeline is ends.
  /// `is_on_record`: by a record of its own; else the thread has no more records, or another one
  /// begins on its location.
  void end_thread(uint64_t event, double time, bool is_on_record);
  size_t calls_so_far() const { return call_base_ + pending_.calls.size(); }
  /// CollectiveFlags of a member whose part is empty.
  uint8_t part_flag(CollectiveOp op, uint32_t comm, int32_t root, uint64_t sent,
                    uint64_t received) const;
  /// Behind the last action, a collective: what it sends to each. Unless `op` is known, its flags
  /// say more than it may have.
  void add_parts(const std::vector<Part>& parts, std::optional<CollectiveOp> op);
  /// The open call is over: what was said of its parts goes to the request it prepared, or is
  /// forgotten.
  void end_parts();
  /// True of a collective that moves no data and from which MPI libraries return at once.
  bool waits_for_nobody(CollectiveOp op, uint32_t comm, uint64_t sent, uint64_t received) const;

  const TraceDefinitions* trace_;
  int timeline_;
  bool keep_records_ = false;
  bool hold_sends_ = false;
  bool has_cancelled_sends_ = false;
  bool begun_ = false;
  bool finished_ = false;
  bool open_ = false;      ///< inside a call
  bool implicit_ = false;  ///< the open call was made by ensure_call()
  bool tail_ = false;      ///< inside a call, after its blocking point
  int nested_ = 0;         ///< MPI regions inside the open call
  double last_time_ = 0;
  double last_leave_ = 0;  ///< of the call before
  Lost lost_;              ///< of the open call
  uint64_t last_event_ = 0;
  Oddity open_receives_;
  Oddity open_collectives_;
  Oddity backwards_;
  std::optional<ThreadName> thread_;  ///< that began here and did not end
  bool is_joined_ = false;

  // Calls that were not handed out yet, with the number of calls, actions before them.
  Block pending_;
  std::vector<Part> parts_;           ///< of the open call
  std::optional<uint64_t> prepared_;  ///< request that it prepares
  /// The last message that left for another rank, if its call does not complete it; else no slot.
  struct {
    uint64_t request = 0;
    uint32_t slot = kNoSlot;
    bool follows = false;
  } last_send_;
  /// Receives that probes found and that were not made yet, the latest last. Of programs that leave
  /// what they found the latest kMostProbed count, and none after kReceivesAfterProbe receives of
  /// something else.
  std::vector<Action> probed_;
  uint32_t receives_after_probe_ = 0;
  uint32_t function_records_ = 0;  ///< after the last closed call
  size_t polls_ = 0;               ///< the last closed calls, if they may have been spinning
  GivenUp given_up_;
  size_t local_calls_ = 0;  ///< the last ones of these, which talk to nobody
  size_t gap_start_ = 0;  ///< index into pending_.records: the first one after the last closed call
  size_t call_base_ = 0;
  size_t action_base_ = 0;

  /// In post order; resolved ones leave at the front: those before first_posted_ have.
  std::vector<Posted> posted_;
  size_t first_posted_ = 0;
  size_t unresolved_ = 0;  ///< of posted_
  size_t most_held_ = SIZE_MAX;
  size_t posted_base_ = 0;                     ///< number of posted_[0]
  std::map<size_t, LetGo> let_go_;             ///< by number, all below those that are not resolved
  LateActions late_;                           ///< of the block that was taken last
  std::vector<LateActions::Settled> settled_;  ///< since then
  std::shared_ptr<RequestBook> book_;
};

// --- What is called for every record, to be inlined into the reader of the archive ---

[[gnu::always_inline]] inline void CallBuilder::note(uint64_t event, double time,
                                                     RecordPhase phase) {
  if (!begun_) begin(event, time);
  if (time < last_time_) [[unlikely]]
    note_backwards(event);
  last_time_ = time;
  last_event_ = event;
  if (keep_records_) pending_.records.push_back({time, phase});
}

[[gnu::always_inline]] inline void CallBuilder::note_inside(uint64_t event, double time,
                                                            bool tail) {
  tail_ = tail_ || tail;
  note(event, time,
       !open_  ? RecordPhase::kBetween
       : tail_ ? RecordPhase::kTail
               : RecordPhase::kHead);
}

[[gnu::always_inline]] inline void CallBuilder::open_call(uint64_t event, double time,
                                                          uint16_t name, CallRole role) {
  if (!begun_) begin(event, time);
  Call& call = pending_.calls.emplace_back();
  call.enter = call.leave = time;
  call.event = event;
  call.first_record = static_cast<uint32_t>(gap_start_);
  call.function_records = std::exchange(function_records_, 0);
  call.name = name;
  call.role = role;
  call.first_action = static_cast<uint32_t>(pending_.actions.size());
  open_ = true;
  tail_ = false;
  nested_ = 0;
}

[[gnu::always_inline]] inline void CallBuilder::ensure_call(uint64_t event, double time) {
  if (open_) return;
  // The last entry of the table stands for records outside of any MPI region.
  open_call(event, time, static_cast<uint16_t>(trace_->calls.size() - 1), CallRole::kMpi);
  implicit_ = true;
}

inline Action& CallBuilder::add_action(ActionKind kind) {
  Action& action = pending_.actions.emplace_back();
  action.kind = kind;
  return action;
}

[[gnu::always_inline]] inline void CallBuilder::close_call(double time) {
  Call& call = pending_.calls.back();
  call.leave = time;
  if (call.role == CallRole::kFinalize) close_finalize();
  if (call.spinning & kNamesTests) settle_tests(call);
  if (lost_.flushing + lost_.stolen > 0) [[unlikely]]
    add_lost(call);
  call.actions = static_cast<uint32_t>(pending_.actions.size()) - call.first_action;
  last_leave_ = time;
  gap_start_ = pending_.records.size();
  open_ = false;
  implicit_ = false;
  if (!parts_.empty() || prepared_) end_parts();
  if (polls_ > 0 || call.is_kept()) follow_polls();
}

[[gnu::always_inline]] inline void CallBuilder::enter(uint64_t event, double time, int32_t call) {
  if (call >= 0 && !open_) {
    const MpiCallInfo& info = trace_->calls[call];
    const CallRole role = info.init       ? CallRole::kInit
                          : info.finalize ? CallRole::kFinalize
                          : info.joins    ? CallRole::kThread
                                          : CallRole::kMpi;
    open_call(event, time, static_cast<uint16_t>(call), role);
  } else if (call >= 0) {
    ++nested_;
  } else if (!open_) {
    ++function_records_;
  }
  note_inside(event, time, false);
}

[[gnu::always_inline]] inline void CallBuilder::leave(uint64_t event, double time, int32_t call) {
  const bool closes = call >= 0 && open_ && nested_ == 0;
  note_inside(event, time, closes);
  if (closes) {
    close_call(time);
  } else if (call >= 0 && nested_ > 0) {
    --nested_;
  } else if (call < 0 && !open_) {
    ++function_records_;
  }
}

[[gnu::always_inline]] inline void CallBuilder::send(uint64_t event, double time, uint32_t comm,
                                                     int32_t peer, uint32_t tag, uint64_t bytes) {
  ensure_call(event, time);
  note_inside(event, time, false);
  const MpiCallInfo& info = trace_->calls[pending_.calls.back().name];
  Action& action = add_action(ActionKind::kSend);
  action.comm = comm;
  action.message = {.peer = peer, .bytes = bytes, .tag = tag};
  action.flags = (info.nonblocking ? 0 : kBlocking) | (info.synchronous ? kSynchronous : 0) |
                 (info.buffered ? kBuffered : 0);
  if (peer != trace_->rank_of(timeline_)) {
    if (last_send_.slot != kNoSlot && follows_open_send())
      action.flags |= last_send_.follows ? kFollows : kFollows | kFollowsFirst;
    last_send_.slot = kNoSlot;
  }
  if (implicit_) close_call(time);
}

[[gnu::always_inline]] inline void CallBuilder::isend(uint64_t event, double time, uint32_t comm,
                                                      int32_t peer, uint32_t tag, uint64_t bytes,
                                                      uint64_t request, uint8_t flags) {
  auto before = last_send_;
  send(event, time, comm, peer, tag, bytes);
  Action& action = pending_.actions.back();
  action.flags = (action.flags & ~kBlocking) | flags;
  // A request used again before its completion was seen (freed, or its wait filtered out): nobody
  // will wait for the message before, so its slot is free.
  const auto [slot, is_new] = book_->send_slots.open(request);
  if (is_new) {
    *slot = book_->allocate_slot();
  } else {
    settle_unseen(request);
  }
  if (*slot == before.slot) {  // it was complete, or freed, and is not the one that is open now
    action.flags &= static_cast<uint8_t>(~(kFollows | kFollowsFirst));
    before.slot = last_send_.slot = kNoSlot;
  }
  action.message.slot = *slot;
  if (peer != trace_->rank_of(timeline_))
    last_send_ = {request, *slot, (action.flags & kFollows) != 0};
  if (flags & kPartitioned) {
    last_send_ = before;
    start_partitioned(request);
  } else if (hold_sends_) [[unlikely]] {
    hold_send(request);
  }
}

[[gnu::always_inline]] inline void CallBuilder::isend_complete(uint64_t event, double time,
                                                               uint64_t request) {
  ensure_call(event, time);
  note_inside(event, time, true);
  if (!book_->partitioned.empty()) settle_partitioned(request);
  if (hold_sends_) [[unlikely]]
    settle_send(request);
  if (const auto slot = book_->send_slots.take(request)) {
    // MPI_Request_free lets go of a send that goes on by itself: it waits for nobody.
    const bool freed = trace_->calls[pending_.calls.back().name].frees_request;
    Action& action = add_action(freed ? ActionKind::kNone : ActionKind::kWaitSend);
    if (!freed) action.request.slot = *slot;
    book_->free_slot(*slot);
  }
  if (implicit_) close_call(time);
}

[[gnu::always_inline]] inline void CallBuilder::irecv_request(uint64_t event, double time,
                                                              uint64_t request, uint8_t flags) {
  ensure_call(event, time);
  note_inside(event, time, false);
  post(ActionKind::kPost, request, book_->receives);
  pending_.actions.back().flags = flags;
  if (implicit_) close_call(time);
}

inline void CallBuilder::post(ActionKind kind, uint64_t request,
                              RequestTable<RequestBook::OpenPost>& book) {
  const auto [open, is_new] = book.open(request);
  if (!is_new) open->poster->give_up(open->number);
  add_action(kind).request.slot = book_->allocate_slot();
  *open = {this, note_posted()};
}

inline size_t CallBuilder::note_posted() {
  posted_.push_back(
      {call_base_ + pending_.calls.size() - 1, action_base_ + pending_.actions.size() - 1});
  ++unresolved_;
  return posted_base_ + posted_.size() - 1;
}

[[gnu::always_inline]] inline Action& CallBuilder::action_of(size_t number) {
  if (!let_go_.empty()) [[unlikely]] {
    const auto found = let_go_.find(number);
    if (found != let_go_.end()) return found->second.action;
  }
  return pending_.actions[posted(number).action - action_base_];
}

[[gnu::always_inline]] inline void CallBuilder::resolve(size_t number) {
  if (!let_go_.empty()) [[unlikely]] {
    const auto found = let_go_.find(number);
    if (found != let_go_.end()) {
      settled_.push_back({number, found->second.action});
      let_go_.erase(found);
      return;
    }
  }
  posted(number).resolved = true;
  --unresolved_;
}

[[gnu::always_inline]] inline void CallBuilder::recv(uint64_t event, double time, uint32_t comm,
                                                     int32_t peer, uint32_t tag, uint64_t bytes,
                                                     uint8_t wildcards) {
  ensure_call(event, time);
  note_inside(event, time, true);
  Action& action = add_action(ActionKind::kPost);
  action.flags = kBlocking | wildcards;
  action.comm = comm;
  action.message = {.peer = peer, .bytes = bytes, .tag = tag};
  if (!probed_.empty()) ask_as_probed(action);
  if (implicit_) close_call(time);
}

[[gnu::always_inline]] inline void CallBuilder::irecv(uint64_t event, double time, uint32_t comm,
                                                      int32_t peer, uint32_t tag, uint64_t bytes,
                                                      uint64_t request) {
  const auto found = book_->receives.take(request);
  if (!found) {
    // Its post was not recorded: as good as a receive here.
    recv(event, time, comm, peer, tag, bytes, 0);
    return;
  }
  ensure_call(event, time);
  note_inside(event, time, true);
  CallBuilder& poster = *found->poster;
  Action& action = poster.action_of(found->number);
  const uint32_t slot = action.message.slot;
  action.comm = comm;
  action.message = {.peer = peer,
                    .slot = slot,
                    .bytes = bytes,
                    .tag = action.flags & kPartitioned ? tag | kPartitionedTag : tag};
  action.flags &= static_cast<uint8_t>(~kPartitioned);
  if (!poster.probed_.empty()) poster.ask_as_probed(action);
  poster.resolve(found->number);
  add_action(ActionKind::kWaitReceive).request = {.slot = slot, .bytes = bytes};
  book_->free_slot(slot);
  if (implicit_) close_call(time);
}

template <typename Ticks>
void CallBuilder::poll_again(size_t count, uint64_t event, Ticks ticks) {
  if (count == 0) return;
  const size_t before = pending_.calls.size();
  const uint16_t name = pending_.calls.back().name;
  const auto first_action = static_cast<uint32_t>(pending_.actions.size());
  const auto first_record = static_cast<uint32_t>(gap_start_);
  pending_.calls.resize(before + count);
  Call* call = pending_.calls.data() + before;
  for (size_t i = 0; i < count; ++i, ++call) {
    call->name = name;
    call->first_action = first_action;
    call->first_record = first_record;
    call->enter = static_cast<double>(ticks(2 * i));
    call->leave = static_cast<double>(ticks(2 * i + 1));
    call->event = event + 2 * i;
  }
  polls_ += count;
  last_time_ = last_leave_ = pending_.calls.back().leave;
  last_event_ = event + 2 * count - 1;
}

[[gnu::always_inline]] inline void CallBuilder::other(uint64_t event, double time) {
  note_inside(event, time, false);
}

}  // namespace rubato
