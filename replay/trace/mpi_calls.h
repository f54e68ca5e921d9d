#pragma once

#include <string>

#include "replay/trace/operation.h"

namespace rubato {

/// What the replay can do with a call when the archive holds no records of what it did.
enum class CallClass : uint8_t {
  kLocal,         ///< talks to nobody, or to MPI_PROC_NULL: its time is its own
  kCommunicates,  ///< talks or waits, but nothing says with whom: kept, counted, named
  /// Sends or receives. The one is true where other calls of this name have records, the other
  /// where the tracer has none for any.
  kMessage,
};

/// What the table tracer/hooks/mpi_calls.txt says of a call; each field is a word of it.
struct CallSemantics {
  CallClass without_records = CallClass::kLocal;
  bool nonblocking =
      false;  ///< an MPI_SEND record in it is a send that nobody waits for (TAU, old Score-P)
  bool synchronous = false;  ///< MPI_Ssend and its kin
  bool buffered = false;     ///< MPI_Bsend and its kin
  /// Makes requests whose completion our tracer does not record as one of a message or of a
  /// collective: a file operation, ...; a wait without records may be for such a one.
  bool other_requests = false;
  bool among_neighbours = false;  ///< MPI_Neighbor_... and its kin, not those that only prepare it
  bool frees_request = false;     ///< MPI_Request_free
  bool waits = false;             ///< MPI_Wait and its kin
  bool tests = false;             ///< MPI_Test and its kin: looks whether a request is complete
  /// MPI_Waitany, MPI_Waitsome, their tests: which of the requests it takes is up to the machine.
  bool takes_some = false;
  bool probes = false;  ///< MPI_Iprobe and its kin: looks for a message, and leaves no record
  /// MPI_Pready and its kin: makes a partition of a message ready, of which nothing is said.
  bool makes_ready = false;
  /// Of one-sided communication with one member or all: without records it was for MPI_PROC_NULL,
  /// or there was nothing under way.
  bool one_sided = false;
  EpochStep epoch = EpochStep::kWait;  ///< what MPI_Win_post and its kin do
  bool init = false;                   ///< MPI_Init, MPI_Init_thread
  bool finalize = false;               ///< MPI_Finalize
};

struct MpiCallInfo : CallSemantics {
  std::string name;    ///< "MPI_Send", as the standard spells it
  bool joins = false;  ///< no call of MPI at all, but one that waits for the end of a thread
};

/// The standard's spelling for what tracers write: "MPI_Send", "MPI_Send()", "mpi_send_",
/// "mpi_send_f08_", "PMPI_Send". Forms for large counts keep their _c. "" when it is not an MPI
/// call.
std::string mpi_call_name(const std::string& region);

/// What is known of the call of this (standard) name: its line of tracer/hooks/mpi_calls.txt, or
/// else its first pattern there. One for large counts does what the one without _c does; one that
/// the table does not know is local.
MpiCallInfo mpi_call_info(const std::string& call);

}  // namespace rubato
