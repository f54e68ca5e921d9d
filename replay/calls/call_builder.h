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
/// The hard part is the nonblocking receive: matching is in post order, but the record that names
/// the sender is at the completion, often much later. So a posted receive stays unresolved until
/// its completion (or our attribute on the post) names the peer, and take() hands out only the
/// calls before the first unresolved one. A receive that is cancelled, or whose request is reused
/// before it completed, or that never completes, becomes void; the last two are counted. The start
/// of a nonblocking collective is handled in the same way: the record of the operation is at its
/// completion. A partitioned message leaves when the last of its partitions is ready, and which
/// partition is the last one is known only when the message is complete. A builder that hands out
/// open actions holds back at most kMostHeld bytes and kHeldForOpen for each open action
/// (late_actions.h).
///
/// A cancelled send is no message, and the cancellation is also recorded at its completion. Hardly
/// any program cancels sends, so sends are held back only in ranks that are known to do so: if
/// has_cancelled_sends() is true at the end, the caller passes all records to new builders with
/// hold_sends().
///
/// A send follows an open one (kInBurst) when the previous send of the same timeline has a request
/// that no record before this one completed. This is the same in every scenario, independent of its
/// clocks. All messages of MPI_Startall but the first follow, and likewise those of a neighbourhood
/// collective. A message to the own rank is not part of a burst, and the time at which a
/// partitioned message leaves is not known yet: these neither follow nor are followed. The same
/// holds for sends without a recorded request (some tracers write none), sends of neighbourhood
/// collectives, and sends whose request was reused, because it was freed before. A send that
/// follows one that is cancelled later still follows.
///
/// Builders of one rank's threads share a book of requests, and must receive their records in the
/// order of time (rank_calls.h). Their addresses must not change after the first record.
class CallBuilder {
 public:
  static constexpr size_t kMostProbed = 64;
  /// Longer loops than this end with success.
  static constexpr size_t kMostPolls = 1 << 16;
  static constexpr uint32_t kReceivesAfterProbe = 1000;
  /// Bytes of calls, actions and records that are held back, and the additional bytes for each open
  /// action: where thousands of receives are open at once, hardly any are handed out open.
  static constexpr size_t kMostHeld = 256 << 10;
  static constexpr size_t kHeldForOpen = 1 << 10;

  CallBuilder(const TraceDefinitions& trace, int timeline, std::shared_ptr<RequestBook> book)
      : trace_(&trace), timeline_(timeline), book_(std::move(book)) {}

  void keep_records(bool keep) { keep_records_ = keep; }
  /// Holds back each nonblocking send until its completion shows that it was not cancelled.
  void hold_sends() { hold_sends_ = true; }
  /// Once `most_held` bytes are held back, calls with open actions are handed out, and late() lists
  /// what is missing. For take() without a limit.
  void release_open_actions(size_t most_held = kMostHeld) { most_held_ = most_held; }
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
  /// In MPI_Pready and similar calls: a partition of this message is ready.
  void partition_ready(uint64_t event, double time, uint64_t request);
  /// `flags`: kAnySource and kAnyTag if the archive has them, kPartitioned.
  void irecv_request(uint64_t event, double time, uint64_t request, uint8_t flags);
  void recv(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag, uint64_t bytes,
            uint8_t wildcards);
  void irecv(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag, uint64_t bytes,
             uint64_t request);
  /// The call that was entered just now is a probe with `wildcards`, which found this message. The
  /// receive of the message is then treated as if it had the same wildcards.
  void probed(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag,
              uint8_t wildcards);
  void cancelled(uint64_t event, double time, uint64_t request);
  void request_test(uint64_t event, double time, uint64_t request);  ///< which was not complete
  void collective_end(uint64_t event, double time, CollectiveOp op, uint32_t comm, int32_t root,
                      uint64_t sent, uint64_t received);
  /// The open call is MPI_Init, which is collective on `comm`. It keeps its time; its one action
  /// has no effect (common_start.h).
  void begins_world(uint64_t event, double time, uint32_t comm);
  /// In a vector collective that the open call makes, or prepares, each of the next `peers` members
  /// gets `bytes` bytes.
  void part(uint64_t event, double time, uint64_t bytes, uint32_t peers);
  /// The open call prepares a collective, whose parts follow.
  void prepares_parts(uint64_t event, double time, uint64_t request);
  /// `init_order`: its number among the persistent collectives of its communicator, from 1; 0: not
  /// persistent, or not known.
  void icollective_request(uint64_t event, double time, uint64_t request, uint32_t init_order);
  void icollective_complete(uint64_t event, double time, CollectiveOp op, uint32_t comm,
                            int32_t root, uint64_t sent, uint64_t received, uint64_t request);
  /// A neighbourhood collective in the call that was entered just now: a message to each neighbour
  /// and one from each, if the archive contains the neighbours. `request` 0: the call completes it.
  void neighbours(uint64_t event, double time, NeighbourExchange exchange, uint64_t request);
  /// The call only prepares it.
  void neighbours_init(uint64_t event, double time, NeighbourExchange exchange, uint64_t request);
  void neighbours_start(uint64_t event, double time, uint64_t request);
  void neighbours_end(uint64_t event, double time, uint64_t request);
  /// The completion of an operation that cannot be replayed: the call keeps its time.
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
  // Threads of the rank (thread_steps.cc): this thread creates another one; it begins; it ends; it
  // has waited for the end of another one, in the open call if there is one.
  void thread_create(uint64_t event, double time, ThreadName thread);
  void thread_begin(uint64_t event, double time, ThreadName thread);
  void thread_end(uint64_t event, double time, ThreadName thread);
  void thread_wait(uint64_t event, double time, ThreadName thread);
  void measurement(uint64_t event, double time, bool on);
  /// In a call: a part of it that models drop (kLost). Elsewhere: a call of role kFlush.
  void buffer_flush(uint64_t event, double time, double stop);
  /// Between the previous call and the one that is entered next, at `time`, the thread had no core
  /// for `ticks`; at most the length of the gap counts.
  void stolen_before(uint64_t event, double time, double ticks);
  /// Likewise inside the open call.
  void stolen_inside(uint64_t event, double time, double ticks);
  /// In the open call, `ticks` were its own work (Lost::own), most of it by `callback`.
  void own_work(uint64_t event, double time, double ticks, int32_t callback);
  /// The message that is recorded next consists of blocks of this mean length, in bytes.
  void in_blocks(uint64_t, double, uint64_t length) { block_ = length; }
  void other(uint64_t event, double time);

  /// No more records of this location. Closes what is open, appends the kEnd.
  void end();
  /// No more records of any builder that shares the requests. Also voids what never completed.
  void finish();

  /// The number of calls that are ready: closed, and before the first one with unknown peers.
  size_t ready();
  /// Moves up to `at_most` of the ready calls to `block` (which is cleared first); false when there
  /// is none, and nothing in late() either.
  bool take(Block& block, size_t at_most = SIZE_MAX);
  /// The unresolved actions of the block that was taken last, and the resolved ones of earlier
  /// blocks. (A block without calls may have some.)
  const LateActions& late() const { return late_; }
  /// The calls that were not handed out yet, the open one last.
  Block& pending() { return pending_; }
  size_t actions_taken() const { return action_base_; }

  // For loop_cache.h:
  /// True between two calls if later calls depend only on later records. (Of a rank with one
  /// timeline.)
  bool is_quiet() const {
    return begun_ && !open_ && polls_ == 0 && function_records_ == 0 && parts_.empty() &&
           !prepared_ && probed_.empty() && open_probe_ == kNone && book_->slots.in_use() == 0;
  }
  /// The number of last calls that may turn out to have been spinning.
  size_t polls() const { return polls_; }
  /// True when the last record ended a poll in a run of polls, its Enter, at `event`, was the
  /// previous record, and `count` more such polls would only make the run longer.
  bool may_poll_again(uint64_t event, size_t count) const {
    if (open_ || polls_ < 2 || polls_ + count > kMostPolls || keep_records_) return false;
    const Call& last = pending_.calls.back();
    return last.event == event && last_event_ == event + 1 && is_a_poll(last);
  }
  /// `count` polls like the last call follow: their Enters and Leaves are the records from `event`
  /// on, at `ticks(0)`, `ticks(1)`, ..., in ascending order.
  template <typename Ticks>
  void poll_again(size_t count, uint64_t event, Ticks ticks);
  /// The number of pending calls without the open one.
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
  static constexpr size_t kNone = SIZE_MAX;
  struct Posted {
    size_t call;    ///< index into calls_, counted from the first call of the location
    size_t action;  ///< counted likewise
    bool resolved = false;
    size_t probe = kNone;  ///< number of the action of a probe that found its message
  };
  /// An action that was handed out before it was resolved.
  struct Released {
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
  /// The open call packs or unpacks so many bytes in blocks.
  void pack(uint64_t bytes, uint64_t block) {
    packing_.bytes += bytes;
    packing_.blocks += bytes / std::max<uint64_t>(block, 1);
  }
  /// Likewise for the data of a request that the open call completes; `bytes`: received.
  void pack_completed(uint64_t request, uint64_t bytes);
  /// Adds the losses of the open call (kLost).
  void add_lost(Call& call);
  /// True where the last call, which is closed, is a join.
  bool ends_with_join() const;
  /// Adds to the losses of that call.
  void lose_in_join(double ticks);
  /// A call was closed whose record contains its unsuccessful tests.
  void settle_tests(Call& call);
  /// The last call was closed: counts it as a poll, or ends the run of polls before it.
  void follow_polls();
  bool is_a_poll(const Call& call) const;
  bool is_a_vain_test(const Call& call) const;
  /// Marks a run of polls if its last call obtained what they looked for; false otherwise.
  bool end_polls(std::span<Call> run);
  /// The call that was closed last makes a partition ready, of an unknown message.
  void some_partition_ready();
  /// The last action, the send of a partitioned message, waits for its partitions.
  void start_partitioned(uint64_t request);
  /// Until further notice the message leaves in the open call.
  void leave_here(RequestBook::PartitionedSend& message);
  /// Sets where the message left.
  void settle_partitioned(uint64_t request);
  /// The message was not sent; false when there is none.
  bool cancel_partitioned(uint64_t request);
  /// True when the previous send is open, and hence nonblocking.
  bool follows_open_send() const;
  /// Makes sure that a communication record belongs to a call: outside of calls opens one of zero
  /// length.
  void ensure_call(uint64_t event, double time);
  Action& add_action(ActionKind kind);
  /// Adds an action of this kind that is resolved later, through `book`.
  void post(ActionKind kind, uint64_t request, RequestTable<RequestBook::OpenPost>& book);
  /// Holds back the last action, a send, until it completes.
  void hold_send(uint64_t request);
  /// The send has completed, or its completion cannot be known.
  void settle_send(uint64_t request);
  /// A send whose completion was not seen, because its request was reused or freed.
  void settle_unseen(uint64_t request);
  /// Gives a receive the wildcards of the probe that found its message.
  void ask_as_probed(Action& receive);
  // Probes that found a message which the archive does not name: it is that of the next receive.
  /// The open call, after polls, posts a receive: the last poll, if it was a probe, found
  /// something.
  void find_poll();
  /// So did the closed call at this index of pending_.calls.
  void found_something(size_t call);
  /// The probe, if any, that the receive of the open call tells about: none if the call also sends.
  size_t take_probe();
  /// What the probe found is known, or, unless `receive` is a kPost, will not be known.
  void settle_probe(size_t number, const Action& receive);
  /// `request`: null if the call completes the exchange.
  void exchange_with_neighbours(const NeighbourExchange& exchange, NeighbourRequest* request);
  // These take the number of a posted action.
  void make_void(size_t number);
  void give_up(size_t number);  ///< voids it and counts it as never completed
  Action& action_of(size_t number);
  void resolve(size_t number);  ///< its action is known now
  /// REQUIRES: not handed out.
  Posted& posted(size_t number) { return posted_[number - posted_base_]; }
  /// Notes that the last action, in the open call, is resolved later; returns its number.
  size_t note_posted();
  /// If too much is held back, hands out the older open actions.
  void release_open();
  /// Adds a call of zero length with one action on other threads.
  void add_thread_call(uint64_t event, double time, ActionKind kind, uint8_t flags, uint32_t slot);
  /// The thread of this timeline ends. `is_on_record`: by its own record; else the thread has no
  /// more records, or another one begins on its location.
  void end_thread(uint64_t event, double time, bool is_on_record);
  size_t calls_so_far() const { return call_base_ + pending_.calls.size(); }
  /// CollectiveFlags of a member whose part is empty.
  uint8_t part_flag(CollectiveOp op, uint32_t comm, int32_t root, uint64_t sent,
                    uint64_t received) const;
  /// Appends to the last action, a collective, what it sends to each member. If `op` is unknown,
  /// all flags that may apply are set.
  void add_parts(const std::vector<Part>& parts, std::optional<CollectiveOp> op);
  /// The open call is over: the parts recorded in it go to the request that it prepared, or are
  /// dropped.
  void end_parts();
  /// True for a collective that moves no data and from which MPI libraries return at once.
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
  double last_leave_ = 0;  ///< of the previous call
  Lost lost_;              ///< of the open call
  PackingAction packing_;  ///< likewise
  uint64_t block_ = 0;     ///< in_blocks() of the next message
  uint64_t last_event_ = 0;
  Oddity open_receives_;
  Oddity open_collectives_;
  Oddity backwards_;
  std::optional<ThreadName> thread_;  ///< the thread that began here and has not ended
  bool is_joined_ = false;

  // Calls that were not handed out yet, and the number of calls and actions before them.
  Block pending_;
  std::vector<Part> parts_;           ///< of the open call
  std::optional<uint64_t> prepared_;  ///< request that the open call prepares
  /// The last message to another rank, if its call does not complete it; else no slot.
  struct {
    uint64_t request = 0;
    uint32_t slot = kNoSlot;
    bool in_burst = false;
  } last_send_;
  /// Receives of messages that were probed with wildcards and not posted yet, the latest last. For
  /// programs that do not receive what they find: at most the latest kMostProbed, and none after
  /// kReceivesAfterProbe other receives.
  std::vector<Action> probed_;
  uint32_t receives_after_probe_ = 0;
  size_t open_probe_ = kNone;  ///< number of the action of a probe whose receive was not posted yet
  uint32_t function_records_ = 0;  ///< after the last closed call
  size_t polls_ = 0;               ///< number of last closed calls that may have been spinning
  GivenUp given_up_;
  size_t local_calls_ = 0;  ///< number of the last of these that do not communicate
  size_t gap_start_ = 0;  ///< index into pending_.records: the first one after the last closed call
  size_t call_base_ = 0;
  size_t action_base_ = 0;

  /// In post order; those before first_posted_ are resolved.
  std::vector<Posted> posted_;
  size_t first_posted_ = 0;
  size_t unresolved_ = 0;  ///< of posted_
  size_t most_held_ = SIZE_MAX;
  size_t posted_base_ = 0;                     ///< number of posted_[0]
  std::map<size_t, Released> released_;        ///< by number, all below the unresolved ones
  LateActions late_;                           ///< of the block that was taken last
  std::vector<LateActions::Settled> settled_;  ///< since then
  std::shared_ptr<RequestBook> book_;
};

// --- Called for every record, inlined into the reader of the archive ---

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
  // The last entry of the table is for records outside of any MPI region.
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
  if (lost_.flushing + lost_.stolen + lost_.own > 0 || packing_.blocks > 0) [[unlikely]]
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
      action.flags |= last_send_.in_burst ? kInBurst : kInBurst | kSecondOfBurst;
    last_send_.slot = kNoSlot;
  }
  if (block_ != 0) [[unlikely]]
    pack(bytes, std::exchange(block_, 0));
  if (implicit_) close_call(time);
}

[[gnu::always_inline]] inline void CallBuilder::isend(uint64_t event, double time, uint32_t comm,
                                                      int32_t peer, uint32_t tag, uint64_t bytes,
                                                      uint64_t request, uint8_t flags) {
  auto before = last_send_;
  if (block_ != 0) [[unlikely]]
    book_->blocks[request] = {bytes, block_};
  send(event, time, comm, peer, tag, bytes);
  Action& action = pending_.actions.back();
  action.flags = (action.flags & ~kBlocking) | flags;
  // A request that is reused before its completion was seen (freed, or its wait filtered out): the
  // previous message will not be waited for, so its slot is free.
  const auto [slot, is_new] = book_->send_slots.open(request);
  if (is_new) {
    *slot = book_->allocate_slot();
  } else {
    settle_unseen(request);
  }
  if (*slot == before.slot) {  // the previous send was complete, or freed, and is not open now
    action.flags &= static_cast<uint8_t>(~(kInBurst | kSecondOfBurst));
    before.slot = last_send_.slot = kNoSlot;
  }
  action.message.slot = *slot;
  if (peer != trace_->rank_of(timeline_))
    last_send_ = {request, *slot, (action.flags & kInBurst) != 0};
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
  if (!book_->blocks.empty()) [[unlikely]]
    pack_completed(request, 0);
  if (hold_sends_) [[unlikely]]
    settle_send(request);
  if (const auto slot = book_->send_slots.take(request)) {
    // MPI_Request_free: the send completes by itself, and no call waits for it.
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
  if (polls_ > 0) find_poll();
  post(ActionKind::kPost, request, book_->receives);
  pending_.actions.back().flags = flags;
  if (open_probe_ != kNone) posted_.back().probe = take_probe();
  if (block_ != 0) [[unlikely]]
    book_->blocks[request] = {0, std::exchange(block_, 0)};
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
  if (!released_.empty()) [[unlikely]] {
    const auto found = released_.find(number);
    if (found != released_.end()) return found->second.action;
  }
  return pending_.actions[posted(number).action - action_base_];
}

[[gnu::always_inline]] inline void CallBuilder::resolve(size_t number) {
  if (!released_.empty()) [[unlikely]] {
    const auto found = released_.find(number);
    if (found != released_.end()) {
      settled_.push_back({number, found->second.action});
      released_.erase(found);
      return;
    }
  }
  Posted& post = posted(number);
  post.resolved = true;
  --unresolved_;
  if (post.probe != kNone) settle_probe(post.probe, action_of(number));
}

[[gnu::always_inline]] inline void CallBuilder::recv(uint64_t event, double time, uint32_t comm,
                                                     int32_t peer, uint32_t tag, uint64_t bytes,
                                                     uint8_t wildcards) {
  ensure_call(event, time);
  note_inside(event, time, true);
  if (polls_ > 0) find_poll();
  Action& action = add_action(ActionKind::kPost);
  action.flags = kBlocking | wildcards;
  action.comm = comm;
  action.message = {.peer = peer, .bytes = bytes, .tag = tag};
  if (!probed_.empty()) ask_as_probed(action);
  if (open_probe_ != kNone) settle_probe(take_probe(), action);
  if (block_ != 0) [[unlikely]]
    pack(bytes, std::exchange(block_, 0));
  if (implicit_) close_call(time);
}

[[gnu::always_inline]] inline void CallBuilder::irecv(uint64_t event, double time, uint32_t comm,
                                                      int32_t peer, uint32_t tag, uint64_t bytes,
                                                      uint64_t request) {
  const auto found = book_->receives.take(request);
  if (!found) {
    // Its post was not recorded: treated as a blocking receive.
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
  if (!book_->blocks.empty()) [[unlikely]]
    pack_completed(request, bytes);
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
