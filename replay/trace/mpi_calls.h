#pragma once

#include <string>

#include "replay/trace/operation.h"

namespace rubato {

/// How the replay treats a call of which the archive has no records.
enum class CallClass : uint8_t {
  kLocal,         ///< communicates with no rank, or with MPI_PROC_NULL only: keeps its time
  kCommunicates,  ///< communicates, but the peers are unknown: kept, counted, reported
  /// Sends or receives. Like kLocal where other calls of this name have records, and like
  /// kCommunicates where the tracer has none for any.
  kMessage,
};

/// A line of the table tracer/hooks/mpi_calls.txt; each field is a word of it.
struct CallSemantics {
  CallClass without_records = CallClass::kLocal;
  bool nonblocking = false;  ///< an MPI_SEND record in it is a nonblocking send (TAU, old Score-P)
  bool synchronous = false;  ///< MPI_Ssend and variants
  bool buffered = false;     ///< MPI_Bsend and variants
  /// Makes requests whose completion our tracer does not record as that of a message or collective:
  /// a file operation, ...; a wait without records may be for such a request.
  bool other_requests = false;
  bool among_neighbours = false;  ///< MPI_Neighbor_... and variants, not their inits
  bool frees_request = false;     ///< MPI_Request_free
  bool waits = false;             ///< MPI_Wait and variants
  bool tests = false;             ///< MPI_Test and variants: checks whether a request is complete
  /// MPI_Waitany, MPI_Waitsome, their tests: which requests it takes depends on the machine.
  bool takes_some = false;
  bool probes = false;  ///< MPI_Iprobe and variants: looks for a message, and leaves no record
  /// MPI_Pready and variants: makes a partition of a message ready, without a record.
  bool makes_ready = false;
  /// One-sided communication with one member or all: without records it was for MPI_PROC_NULL, or
  /// there was no operation in progress.
  bool one_sided = false;
  EpochStep epoch = EpochStep::kWait;  ///< step of MPI_Win_post and related calls
  bool init = false;                   ///< MPI_Init, MPI_Init_thread
  bool finalize = false;               ///< MPI_Finalize
};

struct MpiCallInfo : CallSemantics {
  std::string name;    ///< "MPI_Send", as the standard spells it
  bool joins = false;  ///< not an MPI call, but one that waits for the end of a thread
};

/// The standard's spelling of the names that tracers write: "MPI_Send", "MPI_Send()", "mpi_send_",
/// "mpi_send_f08_", "PMPI_Send". Large-count variants keep their _c. "" when it is not an MPI call.
std::string mpi_call_name(const std::string& region);

/// The properties of the call with this (standard) name: its line of tracer/hooks/mpi_calls.txt, or
/// else the first matching pattern. A large-count variant is like the call without _c; a call that
/// is not in the table is local.
MpiCallInfo mpi_call_info(const std::string& call);

}  // namespace rubato
