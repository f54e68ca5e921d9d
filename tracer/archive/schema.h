#pragma once

/// Names of what Rubato adds to the Score-P conventions of an archive. Constants only: the tracer
/// writes them, the replay reads them, each is optional on reading.
namespace rubato::schema {

/// Creator string of our archives: "Rubato <version>".
inline constexpr char kCreatorPrefix[] = "Rubato ";

// Archive properties. OTF2 requires NAMESPACE::NAME in capitals. Values are text.

/// "true" when the writer finished; "false: <reason>" when recording stopped early.
inline constexpr char kComplete[] = "RUBATO::COMPLETE";
/// "score-p" (logical bytes, oneself included) or "per-rank" (plain bytes of each rank).
inline constexpr char kSizeConvention[] = "RUBATO::SIZE_CONVENTION";
/// Seconds that recording one MPI call adds before its Enter stamp and after its Leave stamp.
inline constexpr char kOverheadOutside[] = "RUBATO::OVERHEAD_OUTSIDE";
/// Seconds that recording adds between the Enter stamp and the MPI call, for a call without other
/// records.
inline constexpr char kOverheadInsideBefore[] = "RUBATO::OVERHEAD_INSIDE_BEFORE";
/// Seconds that recording adds between the MPI call and the Leave stamp.
inline constexpr char kOverheadInsideAfter[] = "RUBATO::OVERHEAD_INSIDE_AFTER";
/// Seconds that recording adds to kOverheadInsideAfter for each record of a call: a message sent or
/// received by a blocking call; a message posted by a nonblocking one, with its request; each
/// request that completes; a collective.
inline constexpr char kOverheadMessage[] = "RUBATO::OVERHEAD_MESSAGE";
inline constexpr char kOverheadRequest[] = "RUBATO::OVERHEAD_REQUEST";
inline constexpr char kOverheadCompletion[] = "RUBATO::OVERHEAD_COMPLETION";
inline constexpr char kOverheadCollective[] = "RUBATO::OVERHEAD_COLLECTIVE";
/// The same for all of these, in older archives.
inline constexpr char kOverheadPerRecord[] = "RUBATO::OVERHEAD_PER_RECORD";
/// Seconds for each record of entering or leaving a function of the program, all in the compute
/// between calls; only where functions are recorded.
inline constexpr char kOverheadFunction[] = "RUBATO::OVERHEAD_FUNCTION";
/// With `rubato trace --functions`: "true", or where no function is on record "false: <why>".
inline constexpr char kFunctions[] = "RUBATO::FUNCTIONS";
/// Calls and returns of functions that went unrecorded, so that kOverheadFunction could be measured
/// in place; only where there were some.
inline constexpr char kUnrecordedFunctions[] = "RUBATO::UNRECORDED_FUNCTIONS";
/// Seconds that noting the call site adds to kOverheadOutside of each call; only where call sites
/// are recorded.
inline constexpr char kOverheadCallSite[] = "RUBATO::OVERHEAD_CALL_SITE";
/// Mean seconds that finding the call path adds before the Enter stamp of a call; only where call
/// paths are recorded.
inline constexpr char kOverheadCallPath[] = "RUBATO::OVERHEAD_CALL_PATH";
/// Bytes: largest message that MPI sends eagerly, per level; absent if unknown.
inline constexpr char kEagerLimitNode[] = "RUBATO::EAGER_LIMIT_NODE";
inline constexpr char kEagerLimitNetwork[] = "RUBATO::EAGER_LIMIT_NETWORK";
/// "all": receives with MPI_ANY_SOURCE or MPI_ANY_TAG are marked, blocking ones too.
inline constexpr char kWildcards[] = "RUBATO::WILDCARDS";
/// "found": each probe that found a message names it (see kFoundSource).
inline constexpr char kProbes[] = "RUBATO::PROBES";
/// How calls of MPI reached the tracer: "references" that the loader bound, and where there were
/// such "wrappers of NAME" (a wrapper library, or the program), "dlsym", "RTLD_DEEPBIND"; separated
/// by commas.
inline constexpr char kMpiReached[] = "RUBATO::MPI_REACHED";
/// Libraries whose MPI calls bypass the tracer, separated by commas; "none". Absent if unknown
/// (recovered archives).
inline constexpr char kUnwatched[] = "RUBATO::UNWATCHED";
/// Command line of the traced program.
inline constexpr char kCommand[] = "RUBATO::COMMAND";
/// MPI_Get_library_version, first line.
inline constexpr char kMpiLibrary[] = "RUBATO::MPI_LIBRARY";

// Properties of the location group of a rank (its process). Values are the text of an integer but
// for the list.

/// How many cores the rank's affinity mask has when MPI_Init returns.
inline constexpr char kAffinityCores[] = "RUBATO::AFFINITY_CORES";
/// Which ones these are, numbered as the kernel does: "0-3,8".
inline constexpr char kAffinityList[] = "RUBATO::AFFINITY_LIST";
/// How many cores the rank's node has.
inline constexpr char kCoresOnNode[] = "RUBATO::CORES_ON_NODE";
/// Nanoseconds that the rank's threads without MPI calls ran on cores, and in which they could run
/// but had none, all together, while the rank was recorded. Absent: nothing, or unknown.
inline constexpr char kThreadsRan[] = "RUBATO::THREADS_RAN";
inline constexpr char kThreadsWaited[] = "RUBATO::THREADS_WAITED";

// Property of a location. The value is the text of an integer.

/// How often the thread was taken off its core while it was recorded.
inline constexpr char kInvoluntarySwitches[] = "RUBATO::INVOLUNTARY_SWITCHES";

// Attributes on MPI_IRECV_REQUEST records: the arguments of the receive. An MPI_RECV has the first
// two if they are -1 (see kWildcards).

/// int32: source rank in the communicator, -1 for MPI_ANY_SOURCE.
inline constexpr char kPostedSource[] = "RUBATO_POSTED_SOURCE";
/// int32: tag, -1 for MPI_ANY_TAG.
inline constexpr char kPostedTag[] = "RUBATO_POSTED_TAG";
/// uint64: bytes of the receive's buffer; an MPI_RECV has it if it received less.
inline constexpr char kPostedBytes[] = "RUBATO_POSTED_BYTES";
// Attributes on the Enter record of a probe that found a message: the same two if they are -1,
// kComm, and source and tag of the message, which a later receive names.

/// int32: rank in the communicator, tag.
inline constexpr char kFoundSource[] = "RUBATO_FOUND_SOURCE";
inline constexpr char kFoundTag[] = "RUBATO_FOUND_TAG";

/// comm reference; also on NON_BLOCKING_COLLECTIVE_REQUEST.
inline constexpr char kPostedComm[] = "RUBATO_POSTED_COMM";

// Attribute on NON_BLOCKING_COLLECTIVE_REQUEST records of persistent collectives.

/// uint32: number of the persistent collective in the order of initialisation on its communicator,
/// from 1. Starts with the same number belong together; ranks may start them in different orders.
inline constexpr char kInitOrder[] = "RUBATO_INIT_ORDER";

// Attribute on the MPI_ISEND record that MPI_Start(all) writes for a persistent send.

/// uint8: 1 buffered, 2 synchronous, 3 ready, 4 partitioned; absent for a standard send. The
/// MPI_IRECV_REQUEST of a partitioned receive has it too: partitioned sends match only partitioned
/// receives, in the order of their initialisation.
inline constexpr char kSendMode[] = "RUBATO_SEND_MODE";

// Attribute on MPI_SEND, MPI_ISEND, MPI_RECV and MPI_IRECV_REQUEST records.

/// uint64: mean length in bytes of the contiguous blocks that the data consist of in memory. Absent
/// for one block.
inline constexpr char kBlockBytes[] = "RUBATO_BLOCK_BYTES";

// Attribute on the record that ends a collective: MPI_COLLECTIVE_END,
// NON_BLOCKING_COLLECTIVE_COMPLETE.

/// uint8, 1: the call named MPI_IN_PLACE on this rank, so the bytes leave its own part out.
inline constexpr char kInPlace[] = "RUBATO_IN_PLACE";

// Attributes on the Enter record of a collective among neighbours (MPI_Neighbor_..., also
// nonblocking and persistent), for which OTF2 has no operation.

/// comm reference.
inline constexpr char kComm[] = "RUBATO_COMM";
/// uint64: bytes to and from all neighbours that exist.
inline constexpr char kBytesSent[] = "RUBATO_BYTES_SENT";
inline constexpr char kBytesReceived[] = "RUBATO_BYTES_RECEIVED";
/// uint64: number of the request that the call made; absent for a blocking call.
inline constexpr char kRequest[] = "RUBATO_REQUEST";

// Attribute on the Enter record of an MPI call, with `rubato trace --call-sites`.

/// source code location reference: the line that called MPI; line 0 and "MODULE
/// (FUNCTION+0xOFFSET)" in place of the file where the program has no debug information.
inline constexpr char kCallSite[] = "RUBATO_CALL_SITE";

// Attribute on the Enter record of an MPI call, with `rubato trace --call-paths`, beside kCallSite.

/// calling context reference: the function that calls MPI, the line, and the path from main() or
/// the thread's first function to it.
inline constexpr char kCallPath[] = "RUBATO_CALL_PATH";

// Attribute on CALLING_CONTEXT_SAMPLE, with `rubato trace --sample`.

/// uint64: number of periods of the interrupt generator since the thread's previous sample, counted
/// in its processor time; absent for one.
inline constexpr char kPeriods[] = "RUBATO_PERIODS";

// Attribute on the Enter and Leave records of MPI calls.

/// uint64, nanoseconds: how long the thread was runnable but had no core, as the kernel keeps it.
/// On an Enter: since the Leave of the thread's previous call; on a Leave: inside the call. The
/// tracer reads it every 500 us, and for 100 ms after a loss of 50 us behind each call and each gap
/// of 50 us. Losses in shorter ones count for the next one that is read, up to its whole time.
/// Absent: nothing, or unknown.
inline constexpr char kStolen[] = "RUBATO_STOLEN";

// Attributes on the Leave record of an MPI call in which callbacks of the program ran.

/// uint64, ticks: how long they ran on a core, all together, with the calls of MPI that they made.
inline constexpr char kOwnWork[] = "RUBATO_OWN_WORK";
/// uint32: the one that ran longest, a number in kCallbacks, from 0.
inline constexpr char kCallback[] = "RUBATO_CALLBACK";
/// Archive property: their kinds and names, each with a semicolon behind it: "user operation op;".
inline constexpr char kCallbacks[] = "RUBATO::CALLBACKS";

// Parameters (uint64, number of such a request) in the call that starts a persistent one, and in
// the one that completes it.

inline constexpr char kRequestStart[] = "RUBATO_REQUEST_START";
inline constexpr char kRequestEnd[] = "RUBATO_REQUEST_END";

/// Parameter (uint64) in MPI_Pready, MPI_Pready_range and MPI_Pready_list: number of the
/// partitioned send, some of whose partitions are ready.
inline constexpr char kRequestReady[] = "RUBATO_REQUEST_READY";

// The parts of vector collectives, if they do not follow from the sums of all members.

/// Parameter (uint64) behind the Enter record of MPI_Alltoallv and MPI_Alltoallw on each rank, and
/// of MPI_Scatterv on its root, in all their forms: bytes to the next peer, in the order of the
/// ranks of the communicator (of its remote group on an intercommunicator). A persistent call has
/// them where it is initialised, and kRequest on its Enter record.
inline constexpr char kPartSent[] = "RUBATO_PART_SENT";
/// Attribute on such a parameter, uint32: number of consecutive peers with that many bytes each;
/// absent for one.
inline constexpr char kPartPeers[] = "RUBATO_PART_PEERS";
/// Archive property, text of an integer: a call with more such parameters than this, or with parts
/// of 2^40 bytes or more, has none of them.
inline constexpr char kPartRunsLimit[] = "RUBATO::PART_RUNS_LIMIT";

// Properties of location groups (ranks).

/// Followed by a space and the number of a communicator: "from 1 - to 2 3", the sources and
/// destinations of this rank in collectives among neighbours, ranks of the communicator in MPI's
/// order, "-" for MPI_PROC_NULL.
inline constexpr char kNeighbours[] = "RUBATO::NEIGHBOURS";

}  // namespace rubato::schema
