#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tracer/base/packing.h"
#include "tracer/layout/calling_contexts.h"
#include "tracer/layout/topology.h"

/// One list of communicators for the whole job, made when the archive is written.
///
/// Every process reports its communicators. The writer of the archive sorts the reports so that
/// parents precede children, and each process finds the numbers of its own communicators by their
/// identities (communicators.h). Communicators of a single process share definitions: as in
/// Score-P's archives, the k-th of them on every rank shares the k-th definition, whose group is
/// COMM_SELF.
namespace rubato {
inline namespace tracing {

inline constexpr uint32_t kNone = UINT32_MAX;

/// Report of a process on one of its communicators.
struct CommunicatorReport {
  uint32_t id = 0;  ///< local number
  uint64_t identity = 0;
  uint64_t parent = 0;
  std::string name;
  bool has_events = false;
  bool recordable = true;
  bool self_like = false;
  std::vector<int> members;         ///< ranks in MPI_COMM_WORLD
  std::vector<int> remote_members;  ///< of an intercommunicator

  void pack(Packer& packer) const;
  static CommunicatorReport unpack(Unpacker& from);
};

/// Report of a process on one of its windows.
struct WindowReport {
  uint32_t id = 0;  ///< local number
  uint64_t identity = 0;
  uint64_t communicator = 0;  ///< its identity
  bool self_like = false;     ///< its communicator is
  bool recordable = true;
  std::string name;

  void pack(Packer& packer) const;
  static WindowReport unpack(Unpacker& from);
};

/// The neighbours of a process in one of its communicators.
struct TopologyReport {
  uint32_t communicator = 0;  ///< local number
  uint32_t rank = 0;          ///< in it
  Topology topology;

  void pack(Packer& packer) const;
  static TopologyReport unpack(Unpacker& from);
};

/// A place in the source code: a function, or with an empty name a line that calls MPI.
struct CodePlace {
  std::string name;
  std::string symbol;  ///< linker symbol
  std::string file;
  uint32_t line = 0;

  auto operator<=>(const CodePlace&) const = default;
  void pack(Packer& packer) const;
  static CodePlace unpack(Unpacker& from);
};

/// The code places behind the addresses of a process. Only the places are sent to others.
struct CodePlaces {
  std::vector<CodePlace> list;
  std::map<uint64_t, uint32_t> at;  ///< index into the list, by address
};

/// How the calls of a process, or of all, reached the tracer. Sorted, each word once.
struct Reach {
  std::vector<std::string> ways;       ///< as in schema::kMpiReached
  std::vector<std::string> unwatched;  ///< as in schema::kUnwatched

  void add(const Reach& other);
  void pack(Packer& packer) const;
  static Reach unpack(Unpacker& from);
};

/// Report of a process.
struct ProcessReport {
  Reach reach;
  std::vector<bool> used;  ///< which calls it recorded
  std::vector<CommunicatorReport> communicators;
  std::vector<WindowReport> windows;
  std::vector<std::vector<int>> groups;  ///< world ranks, by local number
  std::vector<TopologyReport> topologies;
  CodePlaces functions;
  CodePlaces call_sites;
  CodePlaces callbacks;        ///< by callback_word() (own_work.h), the names with their kinds
  bool has_functions = false;  ///< some are recorded by -finstrument-functions
  // Not sent to other ranks:
  std::unordered_set<uint64_t> threads;  ///< that begin (threads.h)
  PathsOfThreads<NamedNode> paths;
  bool call_paths = false;  ///< each call has the number of its path in place of its call site

  std::string pack() const;
  static ProcessReport unpack(const std::string& bytes);
};

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

/// The contents of the archive's global definitions.
struct Definitions {
  /// Group 0 is "all locations", group 1 "self"; the others list world ranks.
  std::vector<std::vector<int>> groups;
  std::vector<CommunicatorDefinition> communicators;
  std::vector<WindowDefinition> windows;
  std::vector<CodePlace> functions;  ///< their regions follow those of MPI calls
  std::vector<CodePlace> call_sites;
  std::vector<CodePlace> callbacks;
  std::vector<CallingContext> contexts;
  bool has_functions = false;  ///< ProcessReport's, of any
  Reach reach;
};

inline constexpr uint32_t kLocationsGroup = 0;
inline constexpr uint32_t kSelfGroup = 1;

/// The numbers that all ranks agreed on.
struct Numbering {
  /// Translation's.
  uint32_t first_contingent() const { return static_cast<uint32_t>(identities.size()); }

  std::vector<uint32_t> region;      ///< of a CallId, kNone where no rank made that call
  std::vector<uint64_t> identities;  ///< of the communicators, in the order of their definitions
  std::vector<uint64_t> windows;     ///< likewise; 0 for shared ones
  std::map<std::vector<int>, uint32_t> groups;  ///< of windows
  std::map<CodePlace, uint32_t> functions;      ///< numbers of their regions
  std::map<CodePlace, uint32_t> call_sites;
  std::map<CodePlace, uint32_t> callbacks;

  std::string pack() const;
  static Numbering unpack(const std::string& bytes);
};

/// Combines the reports of all ranks; every rank needs the resulting `numbering`. A communicator
/// may be reported by any number of its members.
Definitions arrange(const std::vector<ProcessReport>& reports, Numbering& numbering);

/// How one process translates its own numbers.
struct Translation {
  std::vector<uint32_t> region;     ///< of a CallId
  std::vector<uint32_t> global_id;  ///< of a local communicator, kNone where it has none
  /// Of a local communicator: how many ranks a message may name there; kNone where that is unknown.
  std::vector<uint32_t> peers;
  std::vector<uint32_t> global_window;
  std::vector<uint32_t> window_peers;  ///< likewise, of a local window
  std::vector<uint32_t> global_group;
  std::unordered_map<uint64_t, uint32_t> function;  ///< regions by address, where they have one
  std::unordered_map<uint64_t, uint32_t> call_site;
  std::unordered_map<uint64_t, uint32_t> callback;  ///< numbers in schema::kCallbacks
  ContextNumbers context;
  std::vector<CallingContext> contexts;  ///< of the archive
  bool call_paths = false;               ///< ProcessReport's
  std::unordered_set<uint64_t> threads;  ///< likewise
  /// Each rank has a contingent of threads, a communicator with the number of this one plus that
  /// of the rank.
  uint32_t first_contingent = 0;
  size_t counters = 0;  ///< that each METRIC record has
};
Translation translate(const ProcessReport& own, const Numbering& numbering);

}  // namespace tracing
}  // namespace rubato
