#pragma once

#include <deque>
#include <string>
#include <vector>

#include "replay/operation.h"
#include "replay/reference_tables.h"
#include "replay/trace.h"

namespace rubato {

/// Turns the records of one location, in order, into calls with actions.
///
/// The hard part is the nonblocking receive: matching is in post order, but the record that says
/// whom it received from stands where it completed, often much later. So a posted receive stays
/// unresolved until its completion (or our attribute on the post) names the peer, and take() hands
/// out only the calls before the first unresolved one. A receive that is cancelled, or whose
/// request is used again before it completed, or that never completes, becomes void; the last two
/// are counted.
class CallBuilder {
 public:
  CallBuilder(const TraceDefinitions& trace, int rank) : trace_(&trace), rank_(rank) {}

  void keep_records(bool keep) { keep_records_ = keep; }

  // Records. `event` is the number of the record in its location, `time` in ticks after the start.
  // Peers are world ranks, communicators indices into TraceDefinitions::comms.
  void enter(uint64_t event, double time, int32_t call);  ///< `call` < 0: no MPI region
  void leave(uint64_t event, double time, int32_t call);
  void send(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag, uint64_t bytes);
  void isend(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag, uint64_t bytes,
             uint64_t request, uint8_t flags = 0);
  void isend_complete(uint64_t event, double time, uint64_t request);
  void irecv_request(uint64_t event, double time, uint64_t request, bool wildcard);
  void recv(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag, uint64_t bytes);
  void irecv(uint64_t event, double time, uint32_t comm, int32_t peer, uint32_t tag, uint64_t bytes,
             uint64_t request);
  void cancelled(uint64_t event, double time, uint64_t request);
  void collective_end(uint64_t event, double time, CollectiveOp op, uint32_t comm, int32_t root,
                      uint64_t sent, uint64_t received);
  void measurement(uint64_t event, double time, bool on);
  void buffer_flush(uint64_t event, double time, double stop);
  void other(uint64_t event, double time);

  /// No more records. Closes what is open, voids what never completed, appends the kEnd.
  void finish();

  /// Moves the calls that are ready to `block` (which is cleared first); false when there is none.
  bool take(Block& block);

  bool finished() const { return finished_; }
  uint64_t records() const { return records_seen_; }
  uint64_t never_completed() const { return never_completed_; }
  const std::string& first_never_completed() const { return first_never_completed_; }

 private:
  struct PostedReceive {
    size_t call;    ///< index into calls_, counted from the first call of the location
    size_t action;  ///< likewise
    bool resolved = false;
  };

  void begin(uint64_t event, double time);
  void note(uint64_t event, double time, RecordPhase phase);
  void note_inside(uint64_t event, double time, bool tail);
  void open_call(uint64_t event, double time, uint16_t name, CallRole role);
  void close_call(double time);
  /// The call that a communication record belongs to; one of no length when it stands outside any.
  void ensure_call(uint64_t event, double time);
  Action& add_action(ActionKind kind);
  uint32_t allocate_slot();
  void void_receive(PostedReceive& posted);
  void give_up(PostedReceive& posted);  ///< voids it and counts it as never completed
  PostedReceive& posted(size_t id) { return posted_[id - posted_base_]; }

  const TraceDefinitions* trace_;
  int rank_;
  bool keep_records_ = false;
  bool begun_ = false;
  bool finished_ = false;
  bool open_ = false;      ///< inside a call
  bool implicit_ = false;  ///< the open call was made by ensure_call()
  bool tail_ = false;      ///< inside a call, after its blocking point
  int nested_ = 0;         ///< MPI regions inside the open call
  double last_time_ = 0;
  uint64_t last_event_ = 0;
  uint64_t records_seen_ = 0;
  uint64_t never_completed_ = 0;
  std::string first_never_completed_;

  // Calls that were not handed out yet, with the number of calls, actions before them.
  Block pending_;
  size_t gap_start_ = 0;  ///< index into pending_.records: the first one after the last closed call
  size_t call_base_ = 0;
  size_t action_base_ = 0;

  std::deque<PostedReceive> posted_;         ///< in post order; resolved ones leave at the front
  size_t posted_base_ = 0;                   ///< number of the first one in posted_
  RequestTable<size_t> receive_of_request_;  ///< number of the posted receive
  RequestTable<uint32_t> send_slot_of_request_;
  std::vector<uint32_t> free_slots_;
  uint32_t slots_ = 0;
};

}  // namespace rubato
