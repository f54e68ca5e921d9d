#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/network/link_loads.h"
#include "models/placement/placement.h"
#include "replay/trace/kernel_sums.h"
#include "replay/trace/oddity.h"
#include "replay/trace/wildcards_known.h"

// The results of a run: numbers, facts, and places in the archive in words ("rank 3, event 112
// (MPI_Recv)", a message without a side, the cycle of a deadlock). replay/judge/ draws conclusions;
// tools/words/ turns them into sentences for users.

namespace rubato {

/// One MPI call of one rank in one scenario, summed over the run.
struct CallTotals {
  double time = 0;          ///< seconds inside the call
  uint64_t calls = 0;       ///< times it was called (the same in every scenario)
  uint64_t bytes_sent = 0;  ///< bytes physically sent, as MPInside counts them
  uint64_t bytes_received = 0;
  double own_work = 0;  ///< seconds of `time` (own_work.h)
};

/// Kinds of waits inside MPI (wait_states.h).
enum class WaitKind : uint8_t { kLateSender, kLateReceiver, kCollective, kOneSided };
inline constexpr int kWaitKinds = 4;
inline constexpr std::array<const char*, kWaitKinds> kWaitNames = {
    "late sender", "late receiver", "collective wait", "one-sided wait"};

/// One rank in one scenario: a row of MPInside's first table. Seconds, of the main thread and of
/// all other threads that call MPI: `compute`, `mpi` and the five from `flushing` on add up to
/// Elapsed, once for each of these threads.
struct RankResult {
  double start = 0;                        ///< leave of MPI_Init, else first record
  double end = 0;                          ///< enter of MPI_Finalize, else last record
  double compute = 0;                      ///< between MPI calls inside the window
  double mpi = 0;                          ///< inside MPI calls inside the window
  std::vector<CallTotals> calls;           ///< index: Results::calls
  std::array<double, kWaitKinds> waits{};  ///< of `mpi`, where ScenarioResult::has_waits
  double flushing = 0;                     ///< the tracer wrote its buffer
  double not_recorded = 0;                 ///< measurement was switched off
  double lost_core = 0;  ///< the thread could run, but other processes had its core
  /// From the start of the run to that of the rank (negative for a thread that began before), and
  /// from the end of the rank to that of the run.
  double before = 0;
  double after = 0;
  int threads = 0;
  double own_work = 0;  ///< of `mpi`: no other rank and no network takes part
};

/// Recorded compute in one function of the program, in seconds by rank, without the cost of
/// recording functions (where replays subtract overheads).
struct FunctionResult {
  std::string name;
  std::string place;              ///< "solve (app.c:41)"
  std::vector<double> compute;    ///< without the functions that it calls
  std::vector<double> inclusive;  ///< with them; recursion counts once
  uint64_t calls = 0;             ///< of all ranks
  /// Half-width of the 95 % interval of the sum of `inclusive`, for functions from samples; else 0.
  double error = 0;
};

/// The same with a call path: what main > assemble > burn takes. Without paths that take less than
/// 0.1 % of the compute in functions of the rank with most of it.
struct CallPath {
  static constexpr size_t kNone = SIZE_MAX;
  size_t caller = kNone;          ///< index into Results::call_paths, a smaller one
  size_t function = 0;            ///< the last one: index into Results::functions
  std::vector<double> inclusive;  ///< seconds by rank
};

/// Messages and bytes on one level.
struct LevelTraffic {
  uint64_t messages = 0;
  uint64_t bytes = 0;
};

/// The algorithm used for the calls of one collective operation.
struct CollectiveUse {
  std::string operation;
  int members = 0;        ///< of the communicator
  std::string algorithm;  ///< "formula" or "perfect" if no algorithm was used
  bool guessed = false;   ///< CollectiveModel::is_guessed(), for some of those calls
  double smallest = 0;    ///< bytes of payload per member, of those calls
  double largest = 0;
};

/// The degradation ratio (models/network/network_model.h) that reproduces the measured elapsed
/// time.
struct DegradationFit {
  std::optional<double> ratio;  ///< empty: none between the bounds
  double measured = 0;          ///< seconds, elapsed
  double least = 0;             ///< elapsed at the lower bound
  double most = 0;              ///< elapsed at the upper bound
};

/// Why a distinction between sockets and nodes has no effect in a scenario.
enum class SocketsUnused : uint8_t {
  kNo,           ///< it has an effect, or would not be used
  kNotPriced,    ///< the scenario places ranks on sockets, but the platform has no level for them
  kNotRecorded,  ///< the platform has the level, but the archive does not contain sockets
  kNotPlaced     ///< likewise, but the scenario's own placement has no sockets
};

/// How receives from any source were matched in a scenario.
enum class WildcardMatching : uint8_t {
  kRecorded,    ///< no other matching was requested, or there was nothing to match
  kByArrival,   ///< each receive took the message that arrived first
  kWouldStarve  ///< as recorded, because by arrival ranks would have waited for ever
};

/// The cost of contention in a scenario: the difference from the same scenario without it
/// (contention_cost.h). Seconds.
struct ContentionCost {
  double elapsed_alone = 0;     ///< as ScenarioResult::elapsed, with each flow alone
  double mpi = 0;               ///< increase of MPI time, summed over all ranks; may be negative
  std::vector<double> by_call;  ///< likewise; index: Results::calls
};

/// A job that ran beside the archive's job on the same machine (other_jobs.h).
struct OtherJobResult {
  std::string path;  ///< of its archive
  int ranks = 0;
  std::vector<int> nodes;  ///< of the network, in order
  double start = 0;        ///< seconds after the begin of the archive's own job
  double begin = 0;        ///< of its elapsed time, in the clock of ScenarioResult::start
  double elapsed = 0;      ///< seconds, as ScenarioResult::elapsed
};

struct ScenarioResult {
  std::string name;
  std::string base;                  ///< Scenario::base
  std::vector<std::string> changes;  ///< Scenario::changes
  bool from_recording = false;       ///< durations come from the archive, not from a model
  double start = 0;                  ///< seconds: earliest of the ranks that have records
  double elapsed = 0;                ///< seconds; latest end minus earliest start over ranks
  double elapsed_with_init = 0;      ///< seconds; last record minus first record over ranks
  std::string deadlock;  ///< empty, or the cycle of ranks and calls that wait for each other
  std::vector<RankResult> ranks;
  /// Seconds of own work of all ranks, by index into Results::calls and number of the callback in
  /// which the call worked longest.
  std::map<std::pair<size_t, size_t>, double> callbacks;
  bool has_waits = false;       ///< wait states were requested
  bool network_unused = false;  ///< its platform's network: no message or collective crosses it
  /// Its platform file was measured on the machine of the recording, and nothing was changed.
  bool own_machine = false;
  std::string grade;  ///< Platform::grade
  /// Nodes on which its platform file was measured, if too few to show how the nodes that it uses
  /// share the network (kNodesThatShare); else 0.
  int measured_nodes = 0;
  /// Messages and one-sided operations, per level of this scenario.
  std::array<LevelTraffic, kLevels> traffic;
  /// Loads of its network if flows share links; begins with the run's first flow, counted from the
  /// start of the run.
  std::optional<LinkLoads> links;
  std::optional<ContentionCost> contention;  ///< where transfers share something
  std::vector<OtherJobResult> jobs;  ///< beside it, if there are some and transfers share links
  double elapsed_without_jobs = 0;   ///< seconds, as `elapsed`; where there are jobs
  std::vector<CollectiveUse> collectives;  ///< empty where durations come from the archive
  /// Calls of MPI_Test, MPI_Waitany, ... whose recorded outcome is impossible here (outcomes.h).
  uint64_t contradicted_outcomes = 0;
  double contradicted_time = 0;  ///< seconds, summed over ranks
  /// Matching by arrival: receives from any source or tag, and receives of a message with another
  /// source or tag than recorded.
  uint64_t wildcard_receives = 0;
  uint64_t rematched_receives = 0;
  WildcardMatching wildcard_matching = WildcardMatching::kRecorded;
  /// Likewise: the number of calls of MPI_Waitany, MPI_Testsome, ... that took the receives that
  /// completed first, and the number that took the recorded ones.
  uint64_t took_first = 0;
  uint64_t took_recorded = 0;
  std::optional<DegradationFit> degradation_fit;  ///< if requested
  /// Stretches of compute, and calls, recorded shorter than their overhead, and the seconds of
  /// overhead that were not subtracted, summed over ranks.
  uint64_t clipped_overheads = 0;
  double clipped_time = 0;
  bool overhead_unknown = false;  ///< to be subtracted, but the archive does not have it
  SocketsUnused sockets_unused = SocketsUnused::kNo;
  bool changes_compute = false;  ///< of ranks, nodes or functions
  /// It has levels with unlimited concurrent messages, each as fast as alone.
  bool no_ports = false;
  /// It changes levels that no message or collective of the run uses.
  bool changes_nothing = false;
  /// Levels of messages that the platform lacks, with the level whose costs were used.
  std::vector<std::pair<Level, Level>> priced_as;
  /// Collectives that it changes but the run does not have.
  std::vector<std::string> absent_collectives;
};

/// A call that keeps its recorded time because the archive or this version cannot replay it.
struct KeptCall {
  std::string call;
  uint64_t count = 0;
  double time = 0;       ///< recorded seconds
  std::string first_at;  ///< "rank 3, event 112"
};

/// Whether `measured` reproduces the recording. Any difference is an error of this program.
struct IdentityResult {
  uint64_t records = 0;    ///< compared
  uint64_t differing = 0;  ///< replayed at another tick than recorded
  double worst_ticks = 0;
  std::string first;  ///< "rank 3, event 112 (MPI_Recv)"
  /// Records of the archive with an earlier time than their predecessor: no replay reproduces them.
  uint64_t backwards = 0;
};

/// Calls that ended before their cause. Only clocks that disagree show such calls.
struct ClockViolations {
  uint64_t messages =
      0;  ///< received before they were sent; synchronous sends before their receive
  uint64_t collectives = 0;
  std::string first;  ///< "rank 3, event 112 (MPI_Recv)"

  uint64_t total() const { return messages + collectives; }
};

/// The effect of the logical clock on an archive with clock violations.
struct ClockRepair {
  ClockViolations after;     ///< counted again on the repaired times
  double largest_shift = 0;  ///< seconds by which a call was moved
  int ranks = 0;             ///< number of ranks with moved calls
};

/// Bytes up to which sends did not wait for their receivers, and the origin of this number.
struct EagerLimit {
  enum class From { kNobody, kOption, kArchive, kRecording };
  std::optional<double> bytes;
  From from = From::kNobody;
};
inline constexpr std::array<const char*, 4> kEagerLimitFrom = {"nobody", "option", "archive",
                                                               "recording"};
struct EagerSummary {
  EagerLimit node, network;
};

/// Contents of the archive, how much of it is replayed, and oddities.
struct TraceSummary {
  std::string path;
  std::string creator;
  std::string command;      ///< the traced command; "" if the archive does not have it
  std::string mpi_library;  ///< "Open MPI v4.1.4, ..."; "" if the archive does not have it
  std::vector<std::string> callbacks;  ///< "user operation f", by number in the archive
  std::string record_functions;        ///< TraceDefinitions::how_to_record_functions()
  KernelSums kernels;                  ///< of summarize_archive() only
  int ranks = 0;
  int locations = 0;
  int nodes = 0;
  int communicators = 0;
  uint64_t records = 0;
  uint64_t mpi_calls = 0;
  uint64_t messages = 0;
  uint64_t collectives = 0;
  double elapsed = 0;         ///< recorded seconds, as ScenarioResult::elapsed
  double mpi_time = 0;        ///< recorded seconds inside MPI, all ranks, inside the window
  bool shared_cores = false;  ///< shares_cores() (oversubscription.h)
  /// Libraries that called MPI without the tracer: "none", or their names; empty if the archive
  /// does not have this information.
  std::string unwatched;
  std::vector<KeptCall> kept;  ///< only calls that communicate; local calls are not listed
  /// Polls that found nothing, taken as waiting (polling.h); 0 where kept.
  uint64_t spinning_calls = 0;
  double spinning_time = 0;  ///< recorded seconds inside them
  uint64_t unmatched_sends = 0;
  uint64_t unmatched_receives = 0;
  /// The first one: "8 bytes from rank 2 to rank 3 with tag 40 on ..., at 1.250000 s".
  std::string unmatched_send;
  std::string unmatched_receive;
  ClockViolations clock_violations;  ///< by the archive's clocks
  bool one_clock = false;            ///< all ranks shared one clock: such calls really left early
  std::optional<ClockRepair>
      clock_repair;                ///< if there were violations and a scenario needs recorded times
  EagerSummary eager;              ///< where a scenario needs recorded times
  std::vector<std::string> notes;  ///< from reading the definitions, a sentence each
  /// Calls whose own cost the archive does not bound, in scenarios where they wait less (the
  /// maximum over passes), and the scenario whose platform gave their costs ("": none).
  uint64_t priced_calls = 0;
  std::string priced_by;
  int calling_threads = 0;            ///< number of threads that call MPI, without main threads
  uint64_t joined_threads = 0;        ///< of these: with a recorded join
  int silent_threads = 0;             ///< recorded threads without an MPI call
  bool wildcards_by_arrival = false;  ///< was requested
  WildcardsKnown wildcards = WildcardsKnown::kNone;
  Oddity backwards;         ///< records with an earlier time than their predecessor
  Oddity miscounted;        ///< locations with more or fewer records than their definition claims
  Oddity misfits;           ///< messages whose two sides recorded different lengths
  Oddity open_receives;     ///< posted and never completed: ignored
  Oddity open_collectives;  ///< started and never completed: ignored
  /// Calls that lack the calls of other members, or of the other side of an epoch.
  uint64_t abandoned_collectives = 0;
  uint64_t abandoned_epochs = 0;
};

/// All data of reports.
struct Results {
  TraceSummary trace;
  std::vector<std::string> calls;  ///< names of the MPI calls that occur, most recorded time first
  std::vector<ScenarioResult> scenarios;
  std::vector<FunctionResult> functions;   ///< with compute, if requested and recorded
  std::vector<CallPath> call_paths;        ///< likewise
  std::optional<IdentityResult> identity;  ///< if requested
  /// The options of the command that determine the replay, for suggested follow-up commands; set by
  /// the parser of the command line.
  std::string asked_with;
};

}  // namespace rubato
