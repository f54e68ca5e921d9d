// Reads the definitions of an OTF2 archive: anchor, global and local ones. resolve_definitions.cc
// interprets them.

#include <otf2/otf2.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <sstream>

#include "models/base/error.h"
#include "models/base/shell_quoted.h"
#include "replay/archive/archive.h"
#include "replay/archive/collected_definitions.h"
#include "replay/archive/file_ends.h"
#include "replay/archive/now_reading.h"

namespace rubato {
namespace {

Collected& collected(void* user) {
  return *static_cast<Collected*>(user);
}

/// Names are used in tables and in one-line errors.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  return text;
}

OTF2_CallbackCode on_string(void* user, OTF2_StringRef self, const char* text) {
  collected(user).strings[self] = in_one_line(text);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_clock(void* user, uint64_t resolution, uint64_t offset, uint64_t length,
                           uint64_t) {
  collected(user).has_clock = true;
  collected(user).resolution = resolution;
  collected(user).global_offset = offset;
  collected(user).length = length;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef,
                            OTF2_StringRef, OTF2_RegionRole role, OTF2_Paradigm, OTF2_RegionFlag,
                            OTF2_StringRef file, uint32_t line, uint32_t) {
  collected(user).regions.push_back({self, name, file, line});
  if (role == OTF2_REGION_ROLE_THREAD_WAIT) collected(user).joins.push_back(self);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_group(void* user, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type,
                           OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count,
                           const uint64_t* members) {
  CollectedGroup group{type == OTF2_GROUP_TYPE_COMM_SELF,
                       paradigm == OTF2_PARADIGM_MPI,
                       (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0,
                       {members, members + count}};
  // EZTrace gives both groups of the world the reference 0: the list of locations is kept
  // separately.
  if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
    if (group.mpi) collected(user).mpi_locations.push_back(std::move(group));
  } else {
    collected(user).groups[self] = std::move(group);
  }
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_comm(void* user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                          OTF2_CommRef, OTF2_CommFlag) {
  collected(user).comms.push_back({self, name, group, 0, false});
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_inter_comm(void* user, OTF2_CommRef self, OTF2_StringRef name,
                                OTF2_GroupRef group_a, OTF2_GroupRef group_b, OTF2_CommRef,
                                OTF2_CommFlag) {
  collected(user).comms.push_back({self, name, group_a, group_b, true});
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_window(void* user, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
                            OTF2_RmaWinFlag) {
  collected(user).windows.push_back({self, name, comm});
  return OTF2_CALLBACK_SUCCESS;
}

/// OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, which had another name before OTF2 3.
constexpr OTF2_LocationType kStream = 2;

OTF2_CallbackCode on_location(void* user, OTF2_LocationRef self, OTF2_StringRef,
                              OTF2_LocationType type, uint64_t events,
                              OTF2_LocationGroupRef group) {
  collected(user).locations.push_back(
      {self, type == OTF2_LOCATION_TYPE_CPU_THREAD, type == kStream, events, group});
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_location_group(void* user, OTF2_LocationGroupRef self, OTF2_StringRef,
                                    OTF2_LocationGroupType, OTF2_SystemTreeNodeRef parent,
                                    OTF2_LocationGroupRef) {
  collected(user).node_of_group[self] = parent;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_tree_node(void* user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                               OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent) {
  collected(user).tree[self] = {name, class_name, parent};
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_location_property(void* user, OTF2_LocationRef location, OTF2_StringRef name,
                                       OTF2_Type type, OTF2_AttributeValue value) {
  if (type == OTF2_TYPE_STRING)
    collected(user).location_properties.push_back({location, name, value.stringRef});
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_group_property(void* user, OTF2_LocationGroupRef group, OTF2_StringRef name,
                                    OTF2_Type type, OTF2_AttributeValue value) {
  if (type == OTF2_TYPE_STRING)
    collected(user).group_properties.push_back({group, name, value.stringRef});
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_source_location(void* user, OTF2_SourceCodeLocationRef self,
                                     OTF2_StringRef file, uint32_t line) {
  collected(user).source_locations.push_back({self, file, line});
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_context(void* user, OTF2_CallingContextRef self, OTF2_RegionRef region,
                             OTF2_SourceCodeLocationRef location, OTF2_CallingContextRef parent) {
  collected(user).contexts.push_back({self, region, location, parent});
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_interrupt_generator(void* user, OTF2_InterruptGeneratorRef, OTF2_StringRef,
                                         OTF2_InterruptGeneratorMode mode, OTF2_Base base,
                                         int64_t exponent, uint64_t period) {
  const double unit = std::pow(base == OTF2_BASE_BINARY ? 2.0 : 10.0, exponent);
  if (mode == OTF2_INTERRUPT_GENERATOR_MODE_TIME)
    collected(user).sample_seconds = static_cast<double>(period) * unit;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_attribute(void* user, OTF2_AttributeRef self, OTF2_StringRef name,
                               OTF2_StringRef, OTF2_Type) {
  collected(user).attributes.push_back({self, name});
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_parameter(void* user, OTF2_ParameterRef self, OTF2_StringRef name,
                               OTF2_ParameterType) {
  collected(user).parameters.push_back({self, name});
  return OTF2_CALLBACK_SUCCESS;
}

void read_global(const std::string& anchor, OTF2_Reader* reader, Collected& data) {
  const PartOnDisk file(std::filesystem::path(anchor).replace_extension(".def"));
  if (!file.problem.empty()) {
    throw InputError(anchor + ": the global definitions (.def) cannot be read: " + file.problem);
  }
  OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
  if (!definitions)
    throw InputError(anchor + ": the global definitions (.def) are missing or damaged");
  if (!ends_as_written(std::filesystem::path(anchor).replace_extension(".def"))) {
    throw InputError(anchor +
                     ": the global definitions (.def) end early; the file is truncated or damaged");
  }
  OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_inter_comm);
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks, on_window);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_location_group);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, on_tree_node);
  OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(callbacks, on_source_location);
  OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(callbacks, on_context);
  OTF2_GlobalDefReaderCallbacks_SetInterruptGeneratorCallback(callbacks, on_interrupt_generator);
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
  OTF2_GlobalDefReaderCallbacks_SetParameterCallback(callbacks, on_parameter);
  OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(callbacks, on_location_property);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(callbacks, on_group_property);
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, &data);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  uint64_t read = 0;
  const NowReading reading(anchor);
  const OTF2_ErrorCode error = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read);
  OTF2_Reader_CloseGlobalDefReader(reader, definitions);
  if (error != OTF2_SUCCESS) {
    throw InputError(anchor + ": the global definitions (.def) end after " + std::to_string(read) +
                     " records (" + OTF2_Error_GetDescription(error) + "); the archive is damaged");
  }
  // A file may have been cut where its bytes look like its end; libotf2 continues then.
  uint64_t written = 0;
  if (OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &written) == OTF2_SUCCESS &&
      read != written) {
    throw InputError(anchor + ": the global definitions (.def) hold " + std::to_string(read) +
                     " records instead of " + std::to_string(written) +
                     "; the file is truncated or damaged");
  }
}

/// The rank of a location.
int rank_of(const TraceDefinitions& trace, uint64_t location) {
  for (const SideLocation& side : trace.side_locations) {
    if (side.id == location) return side.rank;
  }
  for (int timeline = 0; timeline < trace.timelines(); ++timeline) {
    if (trace.location_of(timeline) == location) return trace.rank_of(timeline);
  }
  return -1;
}

}  // namespace

uint64_t ArchiveIndex::events_of(uint64_t location) const {
  const auto found =
      std::lower_bound(events.begin(), events.end(), location,
                       [](const LocationEvents& e, uint64_t l) { return e.location < l; });
  assert(found != events.end() && found->location == location);
  return found->events;
}

std::map<std::string, std::string> read_properties(OTF2_Reader* reader) {
  std::map<std::string, std::string> properties;
  uint32_t count = 0;
  char** names = nullptr;
  if (OTF2_Reader_GetPropertyNames(reader, &count, &names) != OTF2_SUCCESS) return properties;
  for (uint32_t i = 0; i < count; ++i) {
    char* value = nullptr;
    if (OTF2_Reader_GetProperty(reader, names[i], &value) == OTF2_SUCCESS)
      properties[names[i]] = value;
    free(value);
  }
  free(names);
  return properties;
}

std::string find_anchor(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (error) throw InputError(path + ": " + error.message());
  if (!exists) {
    throw InputError(path + ": there is no such archive; name its directory or its .otf2 file");
  }
  const auto readable = [](const std::string& anchor) {
    const PartOnDisk file(anchor);
    if (!file.problem.empty()) throw InputError(anchor + ": " + file.problem);
    return anchor;
  };
  if (!fs::is_directory(path, error)) {
    const std::string extension = fs::path(path).extension().string();
    // The anchor file NAME.otf2 is beside NAME.def and the directory NAME, which has the files of
    // each location.
    for (const fs::path& anchor : {fs::path(path).replace_extension(".otf2"),
                                   fs::path(fs::path(path).parent_path().string() + ".otf2")}) {
      if ((extension == ".def" || extension == ".evt") && fs::is_regular_file(anchor, error))
        throw InputError(path + ": is a part of an archive; name " + anchor.string());
    }
    return readable(path);
  }
  std::vector<std::string> anchors;
  fs::directory_iterator entries(path, error);
  if (error) throw InputError(path + ": " + error.message());
  for (const auto& entry : entries) {
    if (entry.path().extension() == ".otf2") anchors.push_back(entry.path().string());
  }
  if (anchors.empty() && fs::exists(path + "/INCOMPLETE", error)) {
    throw InputError(path +
                     ": there is no archive yet, as its program still runs, was killed, or could "
                     "not write it; make one: " +
                     "rubato recover " + shell_quoted(path));
  }
  if (anchors.empty()) throw InputError(path + ": there is no .otf2 file in this directory");
  if (anchors.size() > 1)
    throw InputError(path + ": there are several .otf2 files in this directory; name one");
  return readable(anchors.front());
}

Archive read_definitions(const std::string& anchor, OTF2_Reader* reader) {
  Archive archive;
  archive.anchor = anchor;
  TraceDefinitions& trace = archive.definitions;
  trace.path = anchor;
  char* creator = nullptr;
  if (OTF2_Reader_GetCreator(reader, &creator) == OTF2_SUCCESS && creator)
    trace.creator = in_one_line(creator);
  free(creator);
  for (const auto& [name, value] : read_properties(reader))
    trace.properties[in_one_line(name)] = in_one_line(value);

  Collected data;
  read_global(anchor, reader, data);
  resolve(data, archive);
  return archive;
}

namespace {

OTF2_CallbackCode on_mapping_table(void* user, OTF2_MappingType, const OTF2_IdMap*) {
  static_cast<LocalDefinitions*>(user)->mappings = true;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_clock_offset(void* user, OTF2_TimeStamp, int64_t offset, double) {
  auto* local = static_cast<LocalDefinitions*>(user);
  local->clock_offsets = true;
  local->moves_clock = local->moves_clock || offset != 0;
  return OTF2_CALLBACK_SUCCESS;
}

}  // namespace

std::unordered_map<uint64_t, LocalDefinitions> read_local_definitions(
    const Archive& archive, OTF2_Reader* reader, const std::vector<uint64_t>& locations) {
  std::unordered_map<uint64_t, LocalDefinitions> found;
  const NowReading reading(archive.anchor);
  if (OTF2_Reader_OpenDefFiles(reader) != OTF2_SUCCESS) return found;  // an archive may have none
  // libotf2 fills a buffer of 4 MiB for each location, and keeps it if it finds no file. Files that
  // are too small for a definition are not opened.
  constexpr uintmax_t kEmptyFile = 20;  // bytes: the header of a chunk, and its end
  namespace fs = std::filesystem;
  const fs::path directory = fs::path(archive.anchor).replace_extension();
  std::error_code error;
  const bool has_directory = fs::is_directory(directory, error);
  OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
  OTF2_Reader_GetFileSubstrate(reader, &substrate);
  if (!has_directory && substrate == OTF2_SUBSTRATE_POSIX) return found;
  const std::unique_ptr<OTF2_DefReaderCallbacks, decltype(&OTF2_DefReaderCallbacks_Delete)>
      callbacks(OTF2_DefReaderCallbacks_New(), OTF2_DefReaderCallbacks_Delete);
  OTF2_DefReaderCallbacks_SetMappingTableCallback(callbacks.get(), on_mapping_table);
  OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks.get(), on_clock_offset);
  // If no location defines anything, a missing file is equivalent to an empty one.
  std::optional<bool> known_any;
  const auto any_defines = [&] {
    if (known_any) return *known_any;
    known_any = false;
    std::error_code problem;
    for (fs::directory_iterator entry(directory, problem), end;
         !problem && !*known_any && entry != end; entry.increment(problem)) {
      std::error_code unknown;
      known_any = entry->path().extension() == ".def" && entry->file_size(unknown) > kEmptyFile;
    }
    return *known_any;
  };
  for (const uint64_t location : locations) {
    const fs::path file = directory / (std::to_string(location) + ".def");
    const PartOnDisk part(file);
    const uintmax_t size = part.is_there && part.problem.empty() ? fs::file_size(file, error) : 0;
    const bool is_there = part.is_there;
    const auto owner = [&, location = location] {
      return " (rank " + std::to_string(rank_of(archive.definitions, location)) + ")";
    };
    if (!part.problem.empty()) {
      throw InputError(archive.anchor + ": the local definitions of location " +
                       std::to_string(location) + owner() + " cannot be read: " + part.problem);
    }
    const bool has_none = is_there ? size == kEmptyFile && ends_as_written(file) : !any_defines();
    if (has_directory && has_none) continue;
    OTF2_DefReader* definitions = OTF2_Reader_GetDefReader(reader, location);
    if (!definitions && !has_directory) continue;
    if (definitions)
      OTF2_Reader_RegisterDefCallbacks(reader, definitions, callbacks.get(), &found[location]);
    uint64_t count = 0;
    const bool complete =
        definitions && ends_as_written(file) &&
        OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &count) == OTF2_SUCCESS;
    if (definitions) OTF2_Reader_CloseDefReader(reader, definitions);
    if (complete) continue;
    // They contain clock offsets; without these, times would be wrong without notice.
    throw InputError(archive.anchor + ": the local definitions of location " +
                     std::to_string(location) + owner() +
                     (is_there ? " cannot be read beyond record " + std::to_string(count) +
                                     "; the file is truncated or damaged"
                               : " are missing, but other locations have some"));
  }
  OTF2_Reader_CloseDefFiles(reader);
  return found;
}

}  // namespace rubato
