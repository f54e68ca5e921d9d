#pragma once

// The contents of MPInside's tables besides the times of calls (profile.h), for one scenario: sends
// and receives with their bytes, by rank, call and size; the traffic of each pair of ranks; and the
// cost of recording between calls.
//
//   MPI_Isend   to 3, 8 KiB                  a send of MPI_Isend, and of the pair
//   MPI_Irecv   from 2, 4 KiB, slot 0        a receive of MPI_Irecv, and of the pair
//   MPI_Wait    slot 0                       its time is time with rank 2; it completes 4 KiB
//   MPI_Iallreduce, MPI_Wait                 a send and a receive of MPI_Iallreduce
//
// As in MPInside's Figure 2 the bytes of a nonblocking receive are those of MPI_Irecv, though they
// become known in MPI_Wait (where Profile books them). If a call completes receives from several
// ranks, its wait is time with the late sender, and the rest is divided evenly among the messages.

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/observe/observer.h"
#include "replay/observe/results.h"
#include "replay/observe/size_histogram.h"
#include "replay/trace/recording_overhead.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The messages and one-sided operations that one rank exchanged with another one.
struct PeerTraffic {
  int32_t peer = 0;
  double time = 0;    ///< in calls that received from it: MPInside's TIME(rank, peer)
  Requests sent;      ///< to it
  Requests received;  ///< of its messages
  Requests fetched;   ///< read from its memory (MPI_Get and atomic operations)
};

/// The peers of a timeline; memory is used only for those with traffic.
class PeerTable {
 public:
  /// The entry of `peer`, created if there is none. Valid until the next call.
  PeerTraffic& operator[](int32_t peer) {
    if (last_ < entries_.size() && entries_[last_].peer == peer) return entries_[last_];
    return find_or_add(peer);
  }

  std::vector<PeerTraffic> take() {
    places_.clear();
    last_ = 0;
    return std::move(entries_);
  }

 private:
  PeerTraffic& find_or_add(int32_t peer);
  /// The index of a peer's number in `places_`, or the free place for it.
  size_t place_of(int32_t peer) const;
  void grow();

  std::vector<PeerTraffic> entries_;
  size_t last_ = 0;  ///< result of the last call: loops repeat the same peer
  /// Hash table with linear probing, a power of two large: numbers of entries + 1; 0: free.
  std::vector<uint32_t> places_;
};

/// The traffic of one rank in the calls of one name.
struct CallTraffic {
  SizeHistogram sent, received;  ///< with MPInside's attribution of collectives
  /// Bytes that arrived in the call itself: of blocking receives, of requests that it completed, of
  /// collectives.
  uint64_t bytes_completed = 0;
  double outside = 0;  ///< seconds in the call before and after the rank's window
  /// Seconds in the call until its cause (wait_states.h); 0 if wait states are not summed up.
  std::array<double, kWaitKinds> waits{};

  CallTraffic& operator+=(const CallTraffic& other);
};

/// The parts of recording overhead and losses that a scenario keeps: none, unless it is `measured`,
/// or `undisturbed` with ReplayOptions::keep_stolen. Kept losses in calls are no part of their
/// time.
struct KeptInScenario {
  RecordingOverhead overhead;  ///< contained in compute
  bool flushes = false;        ///< calls contain Lost::flushing
  bool stolen = false;         ///< and Lost::stolen
};

class CallProfile : public Observer<1> {
 public:
  CallProfile(const TraceDefinitions& trace, const KeptInScenario& kept);

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  void polled(int timeline, std::span<const PolledWait> polls, double begin,
              const Waited& waited) override;

  // The results of a rank, summed over its threads. Each may be taken once.

  /// By index into TraceDefinitions::calls.
  std::vector<CallTraffic> take_calls(int rank);
  /// By peer.
  std::vector<PeerTraffic> take_peers(int rank);
  /// Seconds of compute that are recording overhead: the cost of calls outside of their records,
  /// and of function records.
  double overhead(int rank) const;

 private:
  struct Wait {
    double ticks = 0;
    WaitKind kind = WaitKind::kLateSender;
    int rank = -1;  ///< rank that was waited for; -1: not known
  };
  struct Timeline {
    std::vector<CallTraffic> calls;  ///< by name; `outside` and `waits` in ticks
    Wait wait;                       ///< of the call that call() will report next
    PeerTable peers;
    double overhead = 0;  ///< ticks
    bool begun = false;   ///< MPI_Init has left; without MPI_Init `outside` is 0
    bool over = false;    ///< MPI_Finalize was entered
  };
  /// The open requests of a rank, by slot: the peer of a receive, the name of the call that started
  /// a collective.
  class OpenRequests {
   public:
    void put(uint32_t slot, uint32_t what);
    /// kNothing if there is none.
    uint32_t take(uint32_t slot);
    static constexpr uint32_t kNothing = UINT32_MAX;

   private:
    static constexpr uint32_t kDense = 1 << 16;  ///< slots are small in ranks without threads
    std::vector<uint32_t> dense_;
    std::unordered_map<uint32_t, uint32_t> others_;
  };

  /// Divides the ticks of a call among the ranks in from_.
  void add_receiving(Timeline& timeline, const Wait& wait, double inside);
  void note_window(Timeline& timeline, const Call& call, double gap, double inside);
  void add_collective(CallTraffic& started, CallTraffic& completed, int rank, const Action& action);

  const TraceDefinitions* trace_;
  double ticks_per_second_;
  double keeps_flushes_, keeps_stolen_;    ///< 0 or 1
  double outside_ticks_, function_ticks_;  ///< overhead of a call, and of a record
  std::vector<Timeline> timelines_;
  std::vector<OpenRequests> open_;  ///< by rank
  std::vector<int32_t> from_;       ///< of the receives that the present call completes
};

}  // namespace rubato
