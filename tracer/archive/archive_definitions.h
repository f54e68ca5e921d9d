#pragma once

#include <otf2/otf2.h>

#include <string>
#include <vector>

#include "tracer/archive/event_writer.h"
#include "tracer/base/stolen.h"
#include "tracer/layout/definitions.h"
#include "tracer/layout/eager_limits.h"
#include "tracer/layout/overhead.h"
#include "tracer/record/functions.h"

/// The part of an archive that is written once: definitions and properties.
namespace rubato {
inline namespace tracing {

/// Value of schema::kFunctions where functions were asked for; `any` are on record.
std::string functions_property(FunctionHooks hooks, bool any);

/// Facts of the archive besides its events.
struct ArchiveInfo {
  std::string command;
  std::string mpi_library;
  double ticks_per_second = 1e9;
  uint64_t start_ticks = 0;       ///< a moment on rank 0's clock ...
  uint64_t start_realtime = 0;    ///< ... in nanoseconds since 1970
  bool locations_reused = false;  ///< a location may hold several threads, one after the other
  Overhead overhead;
  uint64_t unrecorded_functions = 0;  ///< unrecorded, for FunctionProbe
  FunctionHooks function_hooks = FunctionHooks::kNotAsked;
  double path_ticks = -1;      ///< mean cost of a call path; negative where none are recorded
  uint64_t sample_period = 0;  ///< nanoseconds; 0: no samples
  EagerLimits eager_limits;
  std::string counters;                 ///< names, separated by commas
  std::vector<std::string> call_names;  ///< by CallId
  std::vector<unsigned> call_roles;
};

/// Facts of a rank, known when its events are written. First and last times of its locations are
/// ticks on the clock of rank 0.
struct RankSummary {
  std::string host;
  Processors processors;
  ThreadTimes threads_without_log;
  std::vector<LocationSummary> locations;
  std::vector<TopologyReport> topologies;  ///< by numbers of the archive
};

/// Topologies by numbers of the archive.
std::vector<TopologyReport> translated(const std::vector<TopologyReport>& own,
                                       const Translation& translation);

/// All global definitions; false when OTF2 cannot write.
bool write_definitions(OTF2_GlobalDefWriter* writer, const ArchiveInfo& info,
                       const Definitions& definitions, const Numbering& numbering,
                       const std::vector<RankSummary>& ranks);

/// `complete` is "true", or "false: " and why; `reach` is empty if unknown.
bool write_properties(OTF2_Archive* archive, const ArchiveInfo& info,
                      const Definitions& definitions, const Reach& reach,
                      const std::string& complete);

}  // namespace tracing
}  // namespace rubato
