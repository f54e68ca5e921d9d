#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/fixed_list.h"
#include "models/placement/placement.h"
#include "replay/trace/function_times.h"
#include "replay/trace/kernel_sums.h"
#include "replay/trace/member_list.h"
#include "replay/trace/mpi_calls.h"
#include "replay/trace/neighbours.h"
#include "replay/trace/oddity.h"
#include "replay/trace/operation.h"
#include "replay/trace/recording_overhead.h"
#include "replay/trace/wildcards_known.h"

namespace rubato {

/// A communicator as the replay needs it. Ranks in actions are world ranks already; roots are not.
struct Communicator {
  std::string name;
  /// World rank of each local rank; empty for self-like communicators.
  MemberList members;
  bool self_like = false;  ///< one communicator per rank, with one member (MPI_COMM_SELF)
  bool inter = false;      ///< an intercommunicator; `members` is group A
  bool window = false;     ///< a window of one-sided communication (windows.h)
  /// Size of group A, if `members` holds both groups of an intercommunicator (A, then B), as its
  /// collectives need them. Else 0.
  int first_group = 0;

  /// True when two local ranks are in different groups.
  bool across(int a, int b) const { return (a < first_group) != (b < first_group); }
  /// Number of members that exchange data with member `local`: all including itself, or the other
  /// group.
  int peers(int local) const { return local < first_group ? size() - first_group : others(); }

  int size() const { return self_like ? 1 : static_cast<int>(members.size()); }
  void set_members(std::vector<int32_t> world_ranks) {
    members = MemberList(std::move(world_ranks));
  }
  /// Local rank of a world rank; -1 when it is no member.
  int local_rank(int world_rank) const { return self_like ? 0 : members.local_rank(world_rank); }

 private:
  int others() const { return first_group > 0 ? first_group : size(); }
};

/// How the archive counts the bytes of collectives.
enum class SizeConvention : uint8_t {
  kLogical,  ///< Score-P: all bytes that an operation moves for this rank, including its own part
  kPerRank,  ///< EZTrace: the plain buffer size of this rank
};

/// A thread of a rank that calls MPI, beside the rank's main thread (MPI_THREAD_MULTIPLE).
struct Thread {
  uint64_t location = 0;
  int rank = 0;
  int number = 0;  ///< among the threads of its rank that call MPI; the main one is 0
};

/// A location that belongs to a rank's process but makes no MPI calls: a thread, a GPU stream.
struct SideLocation {
  uint64_t id = 0;
  int rank = 0;
  bool thread = false;  ///< a thread of the processor, which might make MPI calls
  bool stream = false;  ///< of a GPU
};

/// The definitions of an archive. Data by rank is in lists, which the processes of a host share
/// (archive/host_definitions.h).
struct TraceDefinitions {
  std::string path;
  std::string creator;
  double ticks_per_second = 1e9;
  FixedList<uint64_t> location_of_rank;
  FixedList<int> node_of_rank;
  /// Sockets, counted over all nodes; kNoSocket where the archive has none. Empty: none for any
  /// rank.
  FixedList<int> socket_of_rank;
  FixedTexts nodes;
  std::vector<Communicator> comms;  ///< and windows, each with the members of its communicator
  /// World ranks of the groups of epochs on windows.
  std::vector<MemberList> groups;
  NeighbourTable neighbours;
  int world = -1;                  ///< index of MPI_COMM_WORLD in comms; -1 when there is none
  std::vector<MpiCallInfo> calls;  ///< the MPI calls of the archive, indexed by Call::name
  FixedList<Thread> threads;       ///< by rank and number; without the main threads
  FixedList<SideLocation> side_locations;
  SizeConvention sizes = SizeConvention::kLogical;
  WildcardsKnown wildcards = WildcardsKnown::kNone;
  bool knows_probes = false;  ///< each probe that found a message names it
  RecordingOverhead overhead;
  std::optional<double> eager_limit_node;     ///< bytes
  std::optional<double> eager_limit_network;  ///< bytes
  bool shared_cores = false;                  ///< shares_cores() (oversubscription.h)
  std::map<std::string, std::string> properties;
  /// All ranks shared one clock, so a call that left before another rank entered really did so.
  bool one_clock = false;
  std::vector<std::string> warnings;

  int ranks() const { return static_cast<int>(location_of_rank.size()); }

  // Timelines, each with its own clock: timeline r < ranks() is the main thread of rank r; the
  // entries of `threads` follow, in their order.
  int timelines() const { return ranks() + static_cast<int>(threads.size()); }
  int rank_of(int timeline) const {
    return timeline < ranks() ? timeline : threads[timeline - ranks()].rank;
  }
  /// Number among the timelines of its rank; 0 for the main thread.
  int thread_of(int timeline) const {
    return timeline < ranks() ? 0 : threads[timeline - ranks()].number;
  }
  uint64_t location_of(int timeline) const {
    return timeline < ranks() ? location_of_rank[timeline] : threads[timeline - ranks()].location;
  }
  std::vector<int> timelines_of(int rank) const { return timelines_of(rank, rank + 1); }
  /// Timelines of the ranks from `first` to before `end`: the main threads, then the others.
  std::vector<int> timelines_of(int first, int end) const;
  /// Makes timelines of side locations.
  void make_timelines(std::vector<SideLocation> locations);
  std::string name_of(int timeline) const;  ///< "rank 3", "rank 3 thread 1"

  /// How to record the program's functions, as a clause. It is more than an option of the tracer if
  /// the archive shows that the option had no effect.
  std::string how_to_record_functions() const;
};

class CallUnpacker;
class CallPlaces;

/// A source of calls: an OTF2 archive, a text, a generator. Each timeline is read independently,
/// forwards, block by block, so a user need not hold a whole trace in memory.
class EventSource {
 public:
  virtual ~EventSource() = default;

  virtual const TraceDefinitions& definitions() const = 0;

  /// By rank: a measure of its number of calls, known before any is read. Empty: equal for all.
  virtual std::vector<uint64_t> sizes_of_ranks() const { return {}; }
  /// From now on only calls of the ranks from `first` to before `end` are read. True if the source
  /// then reads no others, so that counts() are those of these ranks.
  virtual bool read_only(int first, int end) {
    (void)first, (void)end;
    return false;
  }

  /// Does the work in advance that the first read() would do before it returns calls. `progress`,
  /// if set, receives the share done, 0 to 1. Errors: as read().
  virtual void load(const std::function<void(double)>& progress) { (void)progress; }

  /// The next calls of `timeline`; false at its end. The last call of one has the role kEnd.
  /// Errors: InputError with file, location and event.
  virtual bool read(int timeline, Block& block) = 0;

  /// After a read(): the unpacker of `timeline`, if its calls are packed. The remaining calls may
  /// be taken from it one by one, into the same block, before the next read(). Null: use read()
  /// only.
  virtual CallUnpacker* unpacker(int timeline) {
    (void)timeline;
    return nullptr;
  }

  /// Returns to the start of every timeline.
  virtual void rewind() = 0;

  /// Fills Block::records from now on. After the first read() this reads everything again.
  virtual void keep_records(bool keep) = 0;

  /// Record times of a side location, in order. Errors: InputError, also when it sends, receives or
  /// takes part in collectives, which only threads may do.
  virtual std::vector<double> side_records(const SideLocation& location) = 0;
  /// Reads the GPU streams, if there are any. Errors: InputError.
  virtual KernelSums kernels() { return {}; }

  /// Records read since the last rewind, and operations that never completed.
  struct Counts {
    uint64_t records = 0;
    Oddity receives;      ///< posted and never completed
    Oddity collectives;   ///< started and never completed
    Oddity backwards;     ///< records with an earlier time than their predecessor
    Oddity miscounted;    ///< locations with more or fewer records than their definition claims
    uint64_t joined = 0;  ///< timelines for whose end another one of their rank waits
    Counts& operator+=(const Counts& other);
  };
  virtual Counts counts() const = 0;

  /// False when no call depends on the post of an eager message: the source has no synchronous send
  /// and no call that takes some of several requests. Known after load().
  virtual bool looks_at_posts() const { return true; }

  /// The recorded functions of the program.
  virtual std::vector<FunctionName> functions() const { return {}; }
  /// Measures the time in these functions between calls (matched by is_function()); at most
  /// kMostFunctions. After the first read() this reads everything again.
  virtual void time_functions(const std::vector<std::string>& names) { (void)names; }
  /// After calls were read; null if time_functions() was not called.
  virtual const FunctionTimes* function_times() const { return nullptr; }
  /// Adds up the compute of all functions. After the first read() this reads everything again.
  virtual void total_functions() {}
  /// After calls were read; null if total_functions() was not called.
  virtual const FunctionTotals* function_totals() const { return nullptr; }
  /// The recorded lines that make calls.
  virtual std::vector<CallSite> call_sites() const { return {}; }
  /// Notes where calls are made, as far as functions or call sites were recorded. After the first
  /// read() this reads everything again.
  virtual void note_places() {}
  /// After calls were read; null if note_places() was not called, or nothing was recorded.
  virtual const CallPlaces* call_places() const { return nullptr; }
  /// Likewise: the samples of functions; null also if there are none.
  virtual const SampleTotals* sample_totals() const { return nullptr; }

  /// True if a replay of `measured` could not follow the recording (Recording::needs_survey()):
  /// later ones survey it first.
  bool contradicts_itself() const { return contradicts_itself_; }
  void note_contradiction() { contradicts_itself_ = true; }

 private:
  bool contradicts_itself_ = false;
};

}  // namespace rubato
