#pragma once

#include <array>
#include <cstdint>

#include "tracer/base/clock.h"
#include "tracer/layout/record.h"
#include "tracer/layout/topology.h"
#include "tracer/record/folded_thread.h"
#include "tracer/record/time_sums.h"
#include "tracer/report/flat_table.h"
#include "tracer/report/member_share.h"
#include "tracer/report/step_records.h"
#include "tracer/report/wait_samples.h"

/// What the records of a process come to: the sums of `rubato trace --report`.
/// Definitions are those of `rubato profile` (replay/observe/call_profile.h).
///
///   MPI_Irecv (posts number 7)       number 7 is open
///   MPI_Wait (completes number 7)    a receive of MPI_Irecv; bytes completed of MPI_Wait
///
/// Tables and records are bounded: 13 MiB at most. What does not fit is counted (LeftOut).
namespace rubato {
inline namespace tracing {

/// A communicator of this process.
struct CommunicatorView {
  uint64_t identity = 0;  ///< the same on all members
  Membership member{0, 1, false};
  const int* peers = nullptr;  ///< ranks in MPI_COMM_WORLD that messages name
  int size = 0;                ///< their number
  int own = 0;                 ///< this process's
  const Topology* topology = nullptr;

  int world_rank(int64_t peer) const { return peer >= 0 && peer < size ? peers[peer] : -1; }
};

/// Communicators and windows by their local numbers.
struct LocalObjects {
  CommunicatorView (*communicator)(uint32_t id);
  uint32_t (*communicator_of_window)(uint32_t id);
};

/// Sums over the calls of one name from one call site.
struct CallSums {
  uint64_t site;  ///< address; 0: not recorded, kOtherSites: further ones
  unsigned call;  ///< CallId
  uint64_t calls;
  uint64_t timed;    ///< those between MPI_Init and MPI_Finalize
  uint64_t ticks;    ///< in these
  uint64_t stolen;   ///< nanoseconds of that without a core
  uint64_t outside;  ///< ticks in the others
  uint64_t least;    ///< ticks of one call that had a core all the time; UINT64_MAX: none
  uint64_t most;     ///< ticks with a core of one call, about; of the call `longest`
  struct {
    uint64_t ticks, stolen;
  } longest;
  uint64_t numbered;  ///< ticks in calls with messages that have keys (wait_samples.h)
  uint64_t bytes_completed;
};

/// Messages to and from another rank.
struct PeerSums {
  uint64_t sent, sent_bytes;
  uint64_t fetched, fetched_bytes;  ///< read from its memory
  double ticks;                     ///< in calls that received from it
};

/// Sends or receives of one size class.
struct SizeSums {
  uint64_t count, bytes;
};

/// What the tables had no place for, or could not attribute.
struct LeftOut {
  uint64_t messages = 0;  ///< to or from further ranks, in no matrix
  uint64_t requests = 0;  ///< whose completion could not be attributed
  uint64_t sizes = 0;     ///< sends and receives in no table
};

class RunTables {
 public:
  static constexpr uint64_t kOtherSites = 1;

  /// `status_query`: the call that tests a request and does not complete it.
  explicit RunTables(const LocalObjects& objects, unsigned status_query = UINT32_MAX)
      : objects_(objects), status_query_(status_query) {}

  /// Adds a record of `thread`, which TimeSums has booked as `booked`. Records of a thread come in
  /// their order; several threads take turns.
  void add(const record::Record& r, const TimeSums::Booked& booked, FoldedThread& thread);

  /// Call it once behind the last record.
  void finish();

  const FlatArray<CallSums>& calls() const { return calls_; }
  template <class Visit>  ///< visit(index of calls(), is a send, size class, SizeSums)
  void for_each_size(Visit visit) const {
    sizes_.for_each([&](uint64_t key, const SizeSums& sums) {
      visit(static_cast<size_t>(key >> 8), (key & kSends) != 0, static_cast<unsigned>(key & 0x7f),
            sums);
    });
  }
  template <class Visit>  ///< visit(rank, PeerSums)
  void for_each_peer(Visit visit) const {
    peers_.for_each(
        [&](uint64_t rank, const PeerSums& sums) { visit(static_cast<int>(rank), sums); });
  }
  const LeftOut& left_out() const { return left_out_; }
  WaitSamples& samples() { return samples_; }
  const StepRecords& steps() const { return steps_; }

 private:
  static constexpr uint64_t kSends = 0x80;
  static constexpr uint32_t kNoCall = UINT32_MAX;
  static constexpr size_t kMostSites = 2000;
  static constexpr uint64_t kMostEarly = 16;  ///< of one request

  enum class OpenKind : uint8_t { kSend, kPartitionedSend, kReceive, kCollective, kNeighbours };
  /// A request under way; an exchange among neighbours stays known until the end.
  struct Open {
    OpenKind kind;
    uint32_t call;  ///< that posted it
    int32_t peer;   ///< in MPI_COMM_WORLD
    uint32_t communicator;
    uint64_t bytes;    ///< of kNeighbours: received
    uint64_t sent;     ///< of kNeighbours
    uint64_t key;      ///< of its sample, or 0
    uint64_t counter;  ///< likewise
    uint64_t posted;   ///< tick
  };
  /// A completion by another thread than the one that posted, whose records are not added yet.
  struct Early {
    uint32_t call;  ///< that completed it
    MemberShare share;
  };

  /// A channel of messages (wait_samples.h) that was used lately.
  struct Channel {
    bool any = false;
    uint64_t where = 0, what = 0;  ///< communicator and direction; peer and tag
    uint64_t number = 0, counter = 0;
  };
  struct Numbered {
    uint64_t key = 0;  ///< 0: not numbered
    uint64_t counter = 0;
  };

  uint32_t call_of(unsigned id, uint64_t site);
  uint32_t new_call(uint64_t key, unsigned id, uint64_t site);
  void time_call(const TimeSums::Booked& booked);
  /// Ticks in which it had a core.
  uint64_t with_core(const TimeSums::Booked& booked) const;
  /// Divides the time of the present call among the ranks that it receives from.
  void divide_time();
  void items(record::Reader items, FoldedThread& thread);

  // Messages and requests.
  void message(Item kind, record::Reader& items, FoldedThread& thread);
  static uint64_t next_request(FoldedThread& thread);
  void post(uint64_t number, const Open& open);
  void complete_receive(uint64_t number, const Message& m, const FoldedThread& thread);
  void complete_send(uint64_t number);
  void cancel(uint64_t number);
  /// The request that the present call completes is not open.
  void wait_for_post(uint64_t number, const Early& early, const FoldedThread& thread);
  void settle(const Early& early, uint32_t posted_by);

  // Collectives, one-sided communication.
  void blocking_collective(record::Reader& items);
  void collective_complete(record::Reader& items, const FoldedThread& thread);
  void neighbours(Item kind, record::Reader& items);
  void neighbours_request(Item kind, uint64_t number);
  static uint64_t existing(const std::vector<int>& neighbours);
  void exchange(const Open& open, bool blocking);
  void one_sided(record::Reader& items);

  // Sums.
  void sent(int32_t peer, uint64_t bytes);  ///< by the present call
  void receive(uint32_t call, int32_t peer, uint64_t bytes);
  static uint64_t size_key(uint32_t call, bool sends, uint64_t size);
  void count(uint32_t call, bool sends, uint64_t size, uint64_t bytes);
  PeerSums* peer_sums(int32_t peer);
  const CommunicatorView& view(uint32_t communicator);

  // Samples.
  const Channel& channel(const Message& m, bool sends);
  Numbered number_message(const Message& m, bool sends);
  void sample(SampleRole role, const Numbered& numbered, uint64_t posted);
  void probed(record::Reader& items);
  void sample_collective(const RecordedCollective& c, const CommunicatorView& members);
  /// The present call is a collective with which a step ends (step_records.h).
  bool ends_step(const RecordedCollective& c, const CommunicatorView& members);

  LocalObjects objects_;
  unsigned status_query_;
  FlatTable<uint32_t> numbers_{1 << 12};  ///< of calls_
  FlatArray<CallSums> calls_{1 << 12};
  FlatTable<SizeSums> sizes_{1 << 15};  ///< call << 8 | direction | class
  FlatTable<PeerSums> peers_{1 << 16};
  FlatTable<Open> open_{1 << 15};
  FlatTable<Early> early_{1 << 14};
  FlatArray<uint64_t> keys_{1 << 16};  ///< of its messages that it sends or receives
  FlatArray<int32_t> from_{1 << 16};   ///< ranks that the present call receives from
  LeftOut left_out_;
  WaitSamples samples_;
  StepRecords steps_;
  std::array<Channel, 64> channels_;

  uint32_t call_ = kNoCall;                      ///< the present one
  bool numbered_ = false;                        ///< it has such a message
  bool step_ends_ = false;                       ///< with it
  int ranks_ = 0;                                ///< of MPI_COMM_WORLD; 0 before MPI_Init
  Polls polls_;                                  ///< right before it
  uint64_t enter_ = 0, leave_ = 0, inside_ = 0;  ///< ticks
  uint64_t stolen_ = 0;                          ///< nanoseconds
  ClockPair started_ = ClockPair::sample();
  uint32_t viewed_ = UINT32_MAX;
  CommunicatorView view_;
  uint32_t shared_in_ = UINT32_MAX;  ///< communicator of the last collective ...
  RecordedCollective shared_{};      ///< ... that, and ...
  MemberShare share_;                ///< ... its share: divisions are slow
};

}  // namespace tracing
}  // namespace rubato
