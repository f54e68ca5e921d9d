#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/communicators.h"

/// One list of communicators for the whole job, made when the archive is written.
///
/// Each communicator is reported by its first member alone; rank 0 puts the reports in an order in
/// which parents precede children, and tells everyone which identity got which number.
/// Communicators that hold one process alone are not worth a definition for each rank: as in
/// Score-P's archives the k-th of them on every rank shares the k-th definition, whose group is
/// COMM_SELF.
namespace rubato {

inline constexpr uint32_t kNone = UINT32_MAX;

struct CommunicatorDefinition {
  std::string name;
  uint32_t group;         ///< index into groups
  uint32_t remote_group;  ///< kNone unless it is an intercommunicator
  uint32_t parent;        ///< index into communicators, or kNone
  bool has_events;
};

struct WindowDefinition {
  std::string name;
  uint32_t communicator;  ///< index into communicators
};

/// The neighbours of one rank in one communicator.
struct TopologyDefinition {
  uint32_t world_rank;
  uint32_t communicator;  ///< index into communicators
  uint32_t rank;          ///< in it
  bool self_like;
  Topology topology;
};

struct Definitions {
  // Known at rank 0. Group 0 is "all locations", group 1 "self"; the others list world ranks.
  std::vector<std::vector<int>> groups;
  std::vector<CommunicatorDefinition> communicators;
  std::vector<WindowDefinition> windows;
  std::vector<TopologyDefinition> topologies;
  // Known everywhere.
  std::vector<uint32_t> global_id;      ///< of a local communicator, kNone where it has none
  std::vector<uint32_t> global_window;  ///< of a local window, kNone where it has none
  std::vector<uint32_t> global_group;   ///< of a local group of windows.h
  std::vector<uint32_t> region;         ///< of a CallId, kNone where no rank made that call
};

inline constexpr uint32_t kLocationsGroup = 0;
inline constexpr uint32_t kSelfGroup = 1;

/// Collective over `comm`, which holds all ranks. `used` says which calls this rank recorded.
Definitions unify(MPI_Comm comm, const std::vector<bool>& used);

}  // namespace rubato
