#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tracer/layout/definitions.h"
#include "tracer/layout/topology.h"
#include "tracer/mpi/pmpi.h"

/// The communicators of this process.
///
/// A communicator gets a local number when the tracer first sees it, and an identity: a number that
/// all its members compute alike without communication, so that the ranks can agree on one list of
/// communicators when the archive is written (definitions.h). The identity rests on a guarantee of
/// MPI: all members make the collective calls of a communicator in the same order, so "the third
/// communicator made from that parent, with these members" names it.
namespace rubato {
inline namespace tracing {

/// Ranks in MPI_COMM_WORLD.
using Members = std::shared_ptr<const std::vector<int>>;

struct Communicator {
  uint32_t id = 0;  ///< local number
  int rank = 0;     ///< of this process
  int size = 1;
  int remote_size = 0;      ///< > 0: an intercommunicator
  bool recordable = true;   ///< false: has members outside of MPI_COMM_WORLD (spawned), or a number
                            ///< that records do not hold (kLastNumber)
  bool has_events = false;  ///< its creation was recorded
  uint64_t handle = 0;      ///< MPI's, see handle_bits(); valid until it is freed
  uint64_t identity = 0;
  uint64_t parent = 0;              ///< identity of the parent; 0 where there is none
  uint32_t children = 0;            ///< communicators made from this one so far
  uint32_t windows = 0;             ///< windows made on this one so far
  mutable uint32_t persistent = 0;  ///< persistent collectives initialised on it so far
  Members members;
  Members remote_members;                    ///< of an intercommunicator
  std::shared_ptr<const Topology> topology;  ///< null where it has none
  std::string name;

  bool inter() const { return remote_size > 0; }
  /// Holds this process alone. All such communicators of all ranks share definitions.
  bool self_like() const { return !inter() && size == 1 && id != 0; }
  /// How many ranks a collective talks to.
  int peers() const { return inter() ? remote_size : size; }
};

namespace communicators {

inline constexpr uint32_t kWorld = 0;
inline constexpr uint32_t kSelf = 1;

/// After MPI_Init: enters MPI_COMM_WORLD and MPI_COMM_SELF. `name` of the world is its MPI name.
void start();

/// In a program of sessions MPI has neither of the two: the entries represent its process sets.
/// `group` holds all processes of the job and has to stay valid while communicators are made; a
/// later equal group replaces it.
void start_without_world(MPI_Group group);
void use_world_group(MPI_Group group);
/// MPI_Init has come after all.
void know_world();

/// The entry of a valid communicator. If its creation was not seen, it is entered now.
Communicator* find(MPI_Comm comm);

/// The entry of a handle; null if it was never seen.
Communicator* known(MPI_Comm comm);

/// The entry of a local number.
Communicator* by_id(uint32_t id);

/// The number of the child made by a collective call over `parent`. To be called once per such
/// call, even if this rank gets MPI_COMM_NULL.
uint32_t next_child(Communicator* parent);
/// The communicator made by such a call; null for MPI_COMM_NULL.
Communicator* created(Communicator* parent, MPI_Comm comm, uint32_t child);
/// A communicator made by its own members only. `tag` distinguishes communicators that threads make
/// at once with the same members.
Communicator* created_by_members(MPI_Comm comm, int tag = 0);

void set_name(MPI_Comm comm, const char* name);

/// The handle is about to become invalid; the entry stays for the archive.
void forget(MPI_Comm comm);
/// MPI did not free it after all.
void restore(MPI_Comm comm, Communicator* entry);

/// Ranks in MPI_COMM_WORLD of a group's members, in its order.
void world_ranks(MPI_Group group, std::vector<int>& ranks);

/// All communicators ever entered, in the order of their local numbers, for the archive's writer.
std::vector<CommunicatorReport> reports();
std::vector<TopologyReport> topologies();

}  // namespace communicators
}  // namespace tracing
}  // namespace rubato
