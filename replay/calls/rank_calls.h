#pragma once

// The calls of one rank, from all of its threads.
//
// Dependencies are decided per rank: a message goes to a rank, not to a thread; one thread may post
// a request and another complete it; one thread takes part in a collective for the whole rank. With
// MPI_THREAD_MULTIPLE all of this follows the order in which the threads entered MPI, which only
// the recorded clock shows. So the records of a rank's threads are merged by time before they
// become calls, and each send, post and collective gets its number on its channel (communicator,
// rank at the other side, tag) or communicator. After that the replay may run threads in any order,
// like ranks.
//
// Sends, nonblocking receives and collectives are numbered in the order of their calls' enters. Two
// blocking receives that were open at once on one channel are numbered in the order of their
// leaves: nothing else shows which of the two MPI saw first.

#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "replay/calls/call_builder.h"
#include "replay/calls/record_queue.h"

namespace rubato {

/// Takes the records of all timelines of a rank, thread by thread, and hands out their calls.
class RankCalls {
 public:
  RankCalls(const TraceDefinitions& trace, const std::vector<int>& timelines);

  void keep_records(bool keep);
  void hold_sends();           ///< as CallBuilder::hold_sends()
  bool has_cancelled_sends();  ///< true for some thread, so far
  /// As for CallBuilder; no effect where actions must be numbered.
  void release_open_actions();

  /// A record of a thread, in the order of its location: calls `method` of the thread's builder, at
  /// once or when the records of the other threads up to this time are known.
  template <typename Method, typename... Arguments>
  [[gnu::always_inline]] void record(int thread, uint64_t event, double time, Method method,
                                     Arguments... arguments) {
    if (only_) {
      (only_->*method)(event, time, arguments...);
    } else {
      keep_record(thread, event, time, method, arguments...);
    }
  }

  /// A thread has no more records.
  void end(int thread);

  /// The thread whose records are needed next; -1 when there are no more records.
  int missing() const;
  /// True when all calls of a thread were taken, even if those of others were not.
  bool taken(int thread) {
    return builder(thread).finished() && builder(thread).pending().calls.empty();
  }

  /// Moves the next calls of a thread to `block` (which is cleared first); false when none is
  /// ready.
  bool take(int thread, Block& block);
  /// As CallBuilder::late().
  const LateActions& late(int thread) const { return threads_[thread]->builder.late(); }

  CallBuilder& builder(int thread) { return threads_[thread]->builder; }
  int threads() const { return static_cast<int>(threads_.size()); }

 private:
  template <typename Method, typename... Arguments>
  [[gnu::noinline]] void keep_record(int thread, uint64_t event, double time, Method method,
                                     Arguments... arguments) {
    threads_[thread]->queue.push(event, time, method, arguments...);
  }

  struct Timeline {
    Timeline(const TraceDefinitions& trace, int timeline, std::shared_ptr<RequestBook> book)
        : builder(trace, timeline, std::move(book)) {}
    CallBuilder builder;
    RecordQueue queue;    ///< records that the builder has not received yet
    bool ended = false;   ///< the last record has been queued
    size_t numbered = 0;  ///< calls of the builder that are numbered
  };
  /// What is counted: sends to a rank with a tag; posts from it; collectives.
  struct Channel {
    ActionKind kind;
    int32_t peer;
    uint32_t comm;
    uint32_t tag;
    bool operator==(const Channel&) const = default;
  };
  struct ChannelHash {
    size_t operator()(const Channel& channel) const;
  };
  /// A blocking receive that may still be open when another thread posts one.
  struct OpenReceive {
    double leave;
    Timeline* timeline;
    size_t action;  ///< counted from the first action of the timeline
  };
  struct Count {
    uint32_t last = 0;
    std::vector<OpenReceive> open;
  };

  /// Passes the records to the builders in the order of time, as far as it is known.
  void merge();
  /// Passes to the builder of the thread with the earliest record all its records before those of
  /// the others. (The queues of all threads must be filled or ended.) False when there are no more.
  bool give_first();
  /// Numbers the actions of all calls before the first one with an unknown action.
  void number();
  void number(Timeline& timeline);
  void order_by_end(Count& count, const OpenReceive& receive, double enter);

  bool numbers_;  ///< some rank of the archive has several timelines
  std::vector<std::unique_ptr<Timeline>> threads_;
  CallBuilder* only_ = nullptr;  ///< of a rank with one timeline
  /// The builders have received all records before this time.
  double merged_until_ = -std::numeric_limits<double>::infinity();
  /// Calls that left before this can be handed out: no other call will change their numbers.
  double settled_until_ = -std::numeric_limits<double>::infinity();
  std::unordered_map<Channel, Count, ChannelHash> counts_;
};

}  // namespace rubato
