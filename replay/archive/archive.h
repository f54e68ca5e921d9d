#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "replay/calls/reference_tables.h"
#include "replay/trace/input_options.h"
#include "replay/trace/trace.h"

// otf2.h is included by a few files of this folder only (tests/lint/includes.sh).
struct OTF2_Reader_struct;

namespace rubato {

/// Opens an OTF2 archive, named by its directory or by its anchor file, and reads its definitions.
/// Errors: InputError that names the missing file or definition; NeedsOneProcess in all processes
/// of a team.
std::unique_ptr<EventSource> open_archive(const std::string& path,
                                          const InputOptions& options = {});

/// The anchor file of a path given by the user: the file itself, or the one *.otf2 in a directory.
std::string find_anchor(const std::string& path);

// --- Shared by the files that read archives ---

/// The number of events of a location, as defined; may be too low (EZTrace).
struct LocationEvents {
  uint64_t location;
  uint64_t events;
};

/// A location with more or fewer records than its definition claims. The definition is only a hint:
/// APEX counts records that it never writes, EZTrace claims 2 for each location.
struct Miscount {
  uint64_t location;
  int rank;
  uint64_t claimed;
  uint64_t found;

  std::string text() const {
    return "location " + std::to_string(location) + " of rank " + std::to_string(rank) + ", with " +
           std::to_string(found) + " instead of " + std::to_string(claimed);
  }
};

/// Tables of the event callbacks, to turn references of records into indices of TraceDefinitions.
struct ArchiveIndex {
  static constexpr int32_t kNotMpi = -1;
  ReferenceTable<int32_t> call_of_region;  ///< index into calls; absent = not MPI
  ReferenceTable<uint32_t> comm_of_ref;
  ReferenceTable<uint32_t> window_of_ref;       ///< windows of MPI, as indices into comms
  ReferenceTable<uint32_t> group_of_ref;        ///< index into groups; only where there are windows
  std::map<uint32_t, MemberList> remote_group;  ///< of intercommunicators: group B
  FixedList<LocationEvents> events;             ///< by location
  std::unordered_map<uint32_t, uint32_t>
      both_groups;  ///< of intercommunicators: the communicator that represents both groups
  uint64_t global_offset = 0;
  std::vector<std::pair<uint32_t, FunctionName>> functions;  ///< regions that are not MPI's
  ReferenceTable<uint32_t> number_of_function;               ///< index into functions
  std::vector<std::pair<uint32_t, std::string>> joins;       ///< regions that wait for a thread
  ReferenceTable<uint64_t> chosen_functions;                 ///< by function to be timed: its bits
  bool has_attributes = false;  ///< the archive defines some of the attributes below
  // Our attributes and parameters (tracer/archive/schema.h).
  uint32_t posted_source = UINT32_MAX, posted_tag = UINT32_MAX, send_mode = UINT32_MAX;
  uint32_t comm = UINT32_MAX, bytes_sent = UINT32_MAX, bytes_received = UINT32_MAX,
           request = UINT32_MAX;
  uint32_t request_start = UINT32_MAX, request_end = UINT32_MAX, request_ready = UINT32_MAX;
  uint32_t found_source = UINT32_MAX, found_tag = UINT32_MAX;  // of probes
  uint32_t part_sent = UINT32_MAX, part_peers = UINT32_MAX, init_order = UINT32_MAX;
  uint32_t stolen = UINT32_MAX, in_place = UINT32_MAX, block = UINT32_MAX;
  uint32_t own_work = UINT32_MAX, callback = UINT32_MAX;
  // Lines of the program that make calls, if recorded.
  uint32_t call_site = UINT32_MAX, call_path = UINT32_MAX;  ///< our attributes
  std::vector<CallSite> call_sites;            ///< index: number_of_site, number_of_context
  ReferenceTable<uint32_t> number_of_site;     ///< of a source code location
  ReferenceTable<uint32_t> number_of_context;  ///< of a calling context
  // Samples, if recorded.
  double sample_ticks = 0;        ///< period; 0: there are none
  bool has_enters = false;        ///< functions are also on record by enters and leaves
  uint32_t periods = UINT32_MAX;  ///< our attribute
  double ticks_per_nanosecond = 1;

  /// The number of events of a defined location.
  uint64_t events_of(uint64_t location) const;
};

struct Archive {
  std::string anchor;
  TraceDefinitions definitions;
  ArchiveIndex index;
};

/// The properties of an archive, as given in its anchor.
std::map<std::string, std::string> read_properties(OTF2_Reader_struct* reader);

/// Reads anchor and global definitions. Errors: InputError.
Archive read_definitions(const std::string& anchor, OTF2_Reader_struct* reader);

/// The local definitions of a location; libotf2 applies them to the records.
struct LocalDefinitions {
  bool mappings = false;  ///< from its references to global ones
  bool clock_offsets = false;
  bool moves_clock = false;  ///< some clock offsets are not 0
};

/// Reads the local definitions of some locations; locations without local definitions may be
/// absent. Errors: InputError with the location of a file that cannot be read to its end.
std::unordered_map<uint64_t, LocalDefinitions> read_local_definitions(
    const Archive& archive, OTF2_Reader_struct* reader, const std::vector<uint64_t>& locations);

}  // namespace rubato
