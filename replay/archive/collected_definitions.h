#pragma once

// The interface between the two halves of reading an archive's definitions: archive_definitions.cc
// collects them as they are read, by reference and in any order; resolve_definitions.cc interprets
// them after all have been read.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/archive/archive.h"

namespace rubato {

struct CollectedGroup {
  bool self;  ///< of type COMM_SELF
  bool mpi;   ///< by paradigm
  bool global_members;
  std::vector<uint64_t> members;
};

struct CollectedComm {
  uint32_t ref;
  uint32_t name;
  uint32_t group;
  uint32_t remote_group;
  bool inter;
};

struct CollectedWindow {
  uint32_t ref;
  uint32_t name;
  uint32_t comm;
};

struct CollectedLocation {
  uint64_t id;
  bool thread;  ///< a thread of the processor
  bool stream;  ///< one of an accelerator
  uint64_t events;
  uint32_t group;
};

struct CollectedNode {
  uint32_t name;
  uint32_t class_name;
  uint32_t parent;
};

/// Text of a location or location group.
struct CollectedText {
  uint64_t owner;
  uint32_t name;
  uint32_t text;
};

/// The definitions of an archive.
struct Collected {
  std::unordered_map<uint32_t, std::string> strings;
  struct Region {
    uint32_t ref, name, file, line;
  };
  std::vector<Region> regions;
  struct SourceLocation {
    uint32_t ref, file, line;
  };
  std::vector<SourceLocation> source_locations;
  struct Context {
    uint32_t ref, region, source_location, parent;
  };
  std::vector<Context> contexts;  // calling contexts
  double sample_seconds = 0;      // period of the interrupt generator, if it is one of time
  std::vector<uint32_t> joins;    // regions that wait for a thread
  std::unordered_map<uint32_t, CollectedGroup> groups;  // COMM_GROUP and similar
  std::vector<CollectedGroup> mpi_locations;            // type COMM_LOCATIONS, paradigm MPI
  std::vector<CollectedComm> comms;
  std::vector<CollectedWindow> windows;
  std::vector<CollectedLocation> locations;
  std::unordered_map<uint32_t, uint32_t> node_of_group;  // by location group
  std::unordered_map<uint32_t, CollectedNode> tree;
  std::vector<std::pair<uint32_t, uint32_t>> attributes;  // ref, name
  std::vector<std::pair<uint32_t, uint32_t>> parameters;  // ref, name
  std::vector<CollectedText> location_properties;
  std::vector<CollectedText> group_properties;
  bool has_clock = false;
  uint64_t resolution = 0;
  uint64_t global_offset = 0;
  uint64_t length = 0;

  std::string text(uint32_t ref) const {
    const auto found = strings.find(ref);
    return found == strings.end() ? "" : found->second;
  }
};

/// Fills in what `archive` defines, from the collected data and from its properties, which are set
/// already. Errors: InputError that names contradictory definitions.
void resolve(const Collected& data, Archive& archive);

}  // namespace rubato
