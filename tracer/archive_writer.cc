#include "tracer/archive_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#include "tools/version.h"
#include "tracer/event_writer.h"
#include "tracer/gather.h"
#include "tracer/schema.h"
#include "tracer/settings.h"
#include "tracer/topology_definitions.h"
#include "tracer/window_definitions.h"

/// How the ranks share the work.
///
/// Rank 0 creates the directory and opens the archive in it. Every other rank writes its event
/// files as an archive of its own in a directory of its own below that (.rank-N), moves them into
/// place, and removes the rest. OTF2 could do this in one archive with collective callbacks, but
/// then a rank whose disk is full would leave the others waiting inside OTF2. This way each rank
/// finishes by itself, tells rank 0 how it went, and rank 0 writes the global definitions and, only
/// if all went well, the anchor file. Without an anchor no reader takes the directory for an
/// archive.
///
/// OTF2 3.0 gives the memory of a buffer back when writing it fails, and then writes it once more.
/// So the memory is ours (ChunkPool) and stays, and after the first error nothing of OTF2 is called
/// any more: the archive handle is left as it is.
namespace rubato {
namespace {

constexpr uint64_t kEventChunk = 1 << 20;
constexpr uint64_t kDefinitionChunk = 4 << 20;

OTF2_FlushType always_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

/// OTF2 prints its errors unless told otherwise.
OTF2_ErrorCode silent(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code, const char*,
                      va_list) {
  otf2_failed = true;
  return code;
}

/// The memory of OTF2's event buffers: a few chunks, used again after each flush, never given back
/// before the end of the job (see above).
class ChunkPool {
 public:
  static void* allocate(void*, OTF2_FileType, OTF2_LocationRef, void** buffer, uint64_t size) {
    if (*buffer == nullptr) *buffer = new (std::nothrow) ChunkPool;
    auto* pool = static_cast<ChunkPool*>(*buffer);
    if (pool == nullptr || pool->used_ == kChunks) return nullptr;  // OTF2 then flushes
    void*& chunk = pool->chunks_[pool->used_];
    if (chunk == nullptr) chunk = std::malloc(size);
    if (chunk != nullptr) ++pool->used_;
    return chunk;
  }

  static void free_all(void*, OTF2_FileType, OTF2_LocationRef, void** buffer, bool) {
    if (*buffer != nullptr) static_cast<ChunkPool*>(*buffer)->used_ = 0;
  }

 private:
  static constexpr size_t kChunks = 8;
  void* chunks_[kChunks] = {};
  size_t used_ = 0;
};

OTF2_Archive* open_archive(const std::string& directory) {
  OTF2_Archive* archive =
      OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, kEventChunk,
                        kDefinitionChunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive == nullptr) return nullptr;
  // Flushing here costs the program nothing, so it is not recorded: no time stamp afterwards.
  static const OTF2_FlushCallbacks callbacks = {always_flush, nullptr};
  static const OTF2_MemoryCallbacks memory = {ChunkPool::allocate, ChunkPool::free_all};
  const std::string creator = std::string(schema::kCreatorPrefix) + kVersion;
  const bool good = OTF2_Archive_SetFlushCallbacks(archive, &callbacks, nullptr) == OTF2_SUCCESS &&
                    OTF2_Archive_SetMemoryCallbacks(archive, &memory, nullptr) == OTF2_SUCCESS &&
                    OTF2_Archive_SetSerialCollectiveCallbacks(archive) == OTF2_SUCCESS &&
                    OTF2_Archive_SetCreator(archive, creator.c_str()) == OTF2_SUCCESS;
  if (good) return archive;
  OTF2_Archive_Close(archive);
  return nullptr;
}

/// What one rank tells rank 0 when its event files are written.
struct RankResult {
  bool good = true;
  bool full = false;  ///< --memory was used up
  std::string host;
  std::vector<LocationSummary> locations;

  std::string pack() const {
    Packer packer;
    packer.put(good);
    packer.put(full);
    packer.put(host);
    packer.put(locations.size());
    for (const LocationSummary& l : locations) {
      packer.put(l.location);
      packer.put(l.events);
      packer.put(l.first);
      packer.put(l.last);
    }
    return packer.bytes();
  }

  static RankResult unpack(const std::string& bytes) {
    Unpacker from(bytes);
    RankResult result;
    result.good = from.value() != 0;
    result.full = from.value() != 0;
    result.host = from.text();
    result.locations.resize(from.value());
    for (LocationSummary& l : result.locations) {
      l.location = from.value();
      l.events = from.value();
      l.first = from.value();
      l.last = from.value();
    }
    return result;
  }
};

/// The logs of this process by thread number.
std::vector<const ThreadLog*> thread_logs() {
  std::vector<const ThreadLog*> logs;
  for (const ThreadLog* log = Recorder::threads(); log != nullptr; log = log->next) {
    if (log->at != nullptr) logs.push_back(log);
  }
  std::sort(logs.begin(), logs.end(),
            [](const ThreadLog* a, const ThreadLog* b) { return a->number < b->number; });
  return logs;
}

/// Local clock plus offset, as OTF2 computes it between two offsets.
uint64_t corrected(uint64_t time, const ArchiveInfo& info) {
  const ClockOffset& a = info.first_offset;
  const ClockOffset& b = info.last_offset;
  const double slope = b.time > a.time ? static_cast<double>(b.offset - a.offset) /
                                             static_cast<double>(b.time - a.time)
                                       : 0.0;
  const double since = static_cast<double>(static_cast<int64_t>(time - a.time));
  return time + static_cast<uint64_t>(a.offset + std::llrint(slope * since));
}

/// Events and clock offsets of this rank.
void write_own_locations(OTF2_Archive* archive, int rank, const Definitions& definitions,
                         const ArchiveInfo& info, RankResult& result) {
  result.good = result.good && OTF2_Archive_OpenEvtFiles(archive) == OTF2_SUCCESS;
  for (const ThreadLog* log : thread_logs()) {
    if (!result.good) break;
    const uint64_t location = static_cast<uint64_t>(rank) | uint64_t{log->number} << 32;
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, location);
    if (writer == nullptr) {
      result.good = false;
      break;
    }
    LocationSummary summary = write_events(*log, writer, location, definitions, result.good);
    summary.first = corrected(summary.first, info);
    summary.last = corrected(summary.last, info);
    result.good = result.good && OTF2_Archive_CloseEvtWriter(archive, writer) == OTF2_SUCCESS;
    result.locations.push_back(summary);
  }
  result.good = result.good && OTF2_Archive_CloseEvtFiles(archive) == OTF2_SUCCESS;

  result.good = result.good && OTF2_Archive_OpenDefFiles(archive) == OTF2_SUCCESS;
  for (const LocationSummary& location : result.locations) {
    if (!result.good) break;
    OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive, location.location);
    result.good = writer != nullptr;
    for (const ClockOffset* offset : {&info.first_offset, &info.last_offset}) {
      if (result.good && OTF2_DefWriter_WriteClockOffset(writer, offset->time, offset->offset,
                                                         offset->deviation) != OTF2_SUCCESS) {
        result.good = false;
      }
    }
    result.good = result.good && OTF2_Archive_CloseDefWriter(archive, writer) == OTF2_SUCCESS;
  }
  result.good = result.good && OTF2_Archive_CloseDefFiles(archive) == OTF2_SUCCESS;
}

/// Ranks other than 0: their event files by way of a directory of their own.
void write_part(int rank, const Definitions& definitions, const ArchiveInfo& info,
                RankResult& result) {
  const std::string part = info.output + "/.rank-" + std::to_string(rank);
  OTF2_Archive* archive = open_archive(part);
  if (archive == nullptr) {
    result.good = false;
    rmdir(part.c_str());
    return;
  }
  write_own_locations(archive, rank, definitions, info, result);
  // Closing writes an anchor that nobody needs; that it could not is no loss.
  if (result.good) OTF2_Archive_Close(archive);
  for (const LocationSummary& location : result.locations) {
    for (const char* kind : {".evt", ".def"}) {
      const std::string name = "/traces/" + std::to_string(location.location) + kind;
      const bool moved = std::rename((part + name).c_str(), (info.output + name).c_str()) == 0;
      if (!moved) {
        unlink((part + name).c_str());
        result.good = false;
      }
    }
  }
  for (const char* file : {"/traces.otf2", "/traces.def"}) unlink((part + file).c_str());
  rmdir((part + "/traces").c_str());
  rmdir(part.c_str());
}

/// Writes the global definitions, each kind in a function of its own.
class GlobalDefinitions {
 public:
  GlobalDefinitions(OTF2_GlobalDefWriter* writer, const ArchiveInfo& info,
                    const Definitions& definitions, const std::vector<RankResult>& ranks)
      : writer_(writer), info_(info), definitions_(definitions), ranks_(ranks) {}

  bool write() {
    clock();
    check(OTF2_GlobalDefWriter_WriteString(writer_, kStringEmpty, ""));
    check(OTF2_GlobalDefWriter_WriteString(writer_, kStringProgram, program_name().c_str()));
    paradigm();
    attributes();
    system_tree();
    regions();
    groups();
    communicators();
    windows();
    topologies();
    return good_;
  }

 private:
  void check(OTF2_ErrorCode code) { good_ = good_ && code == OTF2_SUCCESS; }

  OTF2_StringRef string(const std::string& text) {
    if (text.empty()) return kStringEmpty;
    const auto [place, is_new] = strings_.try_emplace(text, next_string_);
    if (is_new) check(OTF2_GlobalDefWriter_WriteString(writer_, next_string_++, text.c_str()));
    return place->second;
  }

  std::string program_name() const { return info_.command.substr(0, info_.command.find(' ')); }

  void clock() {
    uint64_t first = UINT64_MAX, last = 0;
    for (const RankResult& rank : ranks_) {
      for (const LocationSummary& l : rank.locations) {
        if (l.events == 0) continue;
        first = std::min(first, l.first);
        last = std::max(last, l.last);
      }
    }
    if (first > last) first = last;
    const double since_start = static_cast<double>(static_cast<int64_t>(first - info_.start_ticks));
    const uint64_t realtime =
        info_.start_realtime +
        static_cast<uint64_t>(std::llrint(since_start * 1e9 / info_.ticks_per_second));
    check(OTF2_GlobalDefWriter_WriteClockProperties(
        writer_, static_cast<uint64_t>(std::llrint(info_.ticks_per_second)), first,
        last - first + 1, realtime));
  }

  void paradigm() {
    check(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_MPI, string("MPI"),
                                             OTF2_PARADIGM_CLASS_PROCESS));
    OTF2_AttributeValue value;
    value.stringRef = string("Comm ${id}");
    check(OTF2_GlobalDefWriter_WriteParadigmProperty(writer_, OTF2_PARADIGM_MPI,
                                                     OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE,
                                                     OTF2_TYPE_STRING, value));
    value.stringRef = string("Win ${id}");
    check(OTF2_GlobalDefWriter_WriteParadigmProperty(writer_, OTF2_PARADIGM_MPI,
                                                     OTF2_PARADIGM_PROPERTY_RMA_WIN_NAME_TEMPLATE,
                                                     OTF2_TYPE_STRING, value));
  }

  void attributes() {
    attribute(kAttributeSource, schema::kPostedSource, "source a receive asked for, -1 = any",
              OTF2_TYPE_INT32);
    attribute(kAttributeTag, schema::kPostedTag, "tag a receive asked for, -1 = any",
              OTF2_TYPE_INT32);
    attribute(kAttributeComm, schema::kPostedComm,
              "communicator a receive or collective was posted on", OTF2_TYPE_COMM);
    attribute(kAttributeMode, schema::kSendMode,
              "persistent request: 1 buffered, 2 synchronous, 3 ready, 4 partitioned",
              OTF2_TYPE_UINT8);
    attribute(kAttributeOwnComm, schema::kComm, "communicator of a collective among neighbours",
              OTF2_TYPE_COMM);
    attribute(kAttributeSent, schema::kBytesSent, "bytes to all neighbours", OTF2_TYPE_UINT64);
    attribute(kAttributeReceived, schema::kBytesReceived, "bytes from all neighbours",
              OTF2_TYPE_UINT64);
    attribute(kAttributeRequest, schema::kRequest, "request that the call made", OTF2_TYPE_UINT64);
    parameter(kParameterStart, schema::kRequestStart);
    parameter(kParameterEnd, schema::kRequestEnd);
  }
  void parameter(OTF2_ParameterRef ref, const char* name) {
    const OTF2_StringRef name_ref = string(name);
    check(OTF2_GlobalDefWriter_WriteParameter(writer_, ref, name_ref, OTF2_PARAMETER_TYPE_UINT64));
  }
  void attribute(OTF2_AttributeRef ref, const char* name, const char* description, OTF2_Type type) {
    const OTF2_StringRef name_ref = string(name);
    check(OTF2_GlobalDefWriter_WriteAttribute(writer_, ref, name_ref, string(description), type));
  }

  /// machine > nodes by host name > a process per rank > a location per thread.
  void system_tree() {
    const OTF2_StringRef machine = string("Linux");
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, 0, machine, string("machine"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, 0,
                                                         OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
    std::map<std::string, uint32_t> nodes;
    for (const RankResult& rank : ranks_) {
      const auto [place, is_new] =
          nodes.try_emplace(rank.host, static_cast<uint32_t>(nodes.size() + 1));
      if (!is_new) continue;
      const OTF2_StringRef host = string(rank.host);
      check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, place->second, host, string("node"),
                                                     0));
      check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, place->second,
                                                           OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
    }
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const OTF2_StringRef name = string("MPI Rank " + std::to_string(rank));
      check(OTF2_GlobalDefWriter_WriteLocationGroup(
          writer_, rank, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, nodes[ranks_[rank].host],
          OTF2_UNDEFINED_LOCATION_GROUP));
    }
    // Ascending ids: first all master threads, then all second threads, and so on.
    std::map<uint64_t, std::pair<uint64_t, uint32_t>> locations;
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      for (const LocationSummary& l : ranks_[rank].locations) {
        locations[l.location] = {l.events, rank};
      }
    }
    for (const auto& [id, location] : locations) {
      const uint64_t thread = id >> 32;
      const std::string name =
          thread == 0 ? "Master thread" : "MPI thread " + std::to_string(thread);
      check(OTF2_GlobalDefWriter_WriteLocation(writer_, id, string(name),
                                               OTF2_LOCATION_TYPE_CPU_THREAD, location.first,
                                               location.second));
    }
  }

  void regions() {
    const OTF2_StringRef file = string("MPI");
    for (unsigned id = 0; id < kCallCount; ++id) {
      if (definitions_.region[id] == kNone) continue;
      const OTF2_StringRef name = string(kCalls[id].name);
      check(OTF2_GlobalDefWriter_WriteRegion(writer_, definitions_.region[id], name, name,
                                             kStringEmpty,
                                             static_cast<OTF2_RegionRole>(kCalls[id].role),
                                             OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, file, 0, 0));
    }
  }

  void groups() {
    for (uint32_t id = 0; id < definitions_.groups.size(); ++id) {
      std::vector<uint64_t> members(definitions_.groups[id].begin(), definitions_.groups[id].end());
      OTF2_GroupType type = OTF2_GROUP_TYPE_COMM_GROUP;
      if (id == kLocationsGroup) {
        type = OTF2_GROUP_TYPE_COMM_LOCATIONS;
        for (uint64_t rank = 0; rank < ranks_.size(); ++rank) members.push_back(rank);
      } else if (id == kSelfGroup) {
        type = OTF2_GROUP_TYPE_COMM_SELF;
      }
      check(OTF2_GlobalDefWriter_WriteGroup(writer_, id, kStringEmpty, type, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE,
                                            static_cast<uint32_t>(members.size()), members.data()));
    }
  }

  void communicators() {
    for (uint32_t id = 0; id < definitions_.communicators.size(); ++id) {
      const CommunicatorDefinition& c = definitions_.communicators[id];
      const OTF2_StringRef name = string(c.name);
      const OTF2_CommRef parent = c.parent == kNone ? OTF2_UNDEFINED_COMM : c.parent;
      const OTF2_CommFlag flags =
          c.has_events ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS : OTF2_COMM_FLAG_NONE;
      if (c.remote_group != kNone) {
        check(OTF2_GlobalDefWriter_WriteInterComm(writer_, id, name, c.group, c.remote_group,
                                                  parent, flags));
      } else {
        check(OTF2_GlobalDefWriter_WriteComm(writer_, id, name, c.group, parent, flags));
      }
    }
  }

  void windows() {
    for (uint32_t id = 0; id < definitions_.windows.size(); ++id) {
      const WindowDefinition& w = definitions_.windows[id];
      const OTF2_StringRef name = string(w.name);
      check(OTF2_GlobalDefWriter_WriteRmaWin(writer_, id, name, w.communicator,
                                             OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
    }
  }

  /// Grids as OTF2 has them, and the neighbours of each rank as a property.
  void topologies() {
    std::map<uint32_t, uint32_t> grid_of_comm;
    uint32_t dimensions = 0;
    for (const TopologyDefinition& t : definitions_.topologies) {
      OTF2_AttributeValue value;
      value.stringRef = string(neighbours_text(t.topology));
      check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(
          writer_, t.world_rank,
          string(std::string(schema::kNeighbours) + " " + std::to_string(t.communicator)),
          OTF2_TYPE_STRING, value));
      const auto n = static_cast<uint8_t>(std::min<size_t>(t.topology.dimensions.size(), 255));
      if (n == 0 || t.self_like) continue;
      const auto [grid, is_new] =
          grid_of_comm.try_emplace(t.communicator, static_cast<uint32_t>(grid_of_comm.size()));
      if (is_new) {
        std::vector<OTF2_CartDimensionRef> refs;
        for (size_t i = 0; i < n; ++i) {
          refs.push_back(dimensions);
          check(OTF2_GlobalDefWriter_WriteCartDimension(
              writer_, dimensions++, kStringEmpty, static_cast<uint32_t>(t.topology.dimensions[i]),
              t.topology.periods[i] != 0 ? OTF2_CART_PERIODIC_TRUE : OTF2_CART_PERIODIC_FALSE));
        }
        const OTF2_StringRef name = string(definitions_.communicators[t.communicator].name);
        check(OTF2_GlobalDefWriter_WriteCartTopology(writer_, grid->second, name, t.communicator, n,
                                                     refs.data()));
      }
      const std::vector<uint32_t> at(t.topology.coordinates.begin(), t.topology.coordinates.end());
      check(OTF2_GlobalDefWriter_WriteCartCoordinate(writer_, grid->second, t.rank, n, at.data()));
    }
  }

  OTF2_GlobalDefWriter* writer_;
  const ArchiveInfo& info_;
  const Definitions& definitions_;
  const std::vector<RankResult>& ranks_;
  std::map<std::string, OTF2_StringRef> strings_;
  OTF2_StringRef next_string_ = kFirstFreeString;
  bool good_ = true;
};

/// A number as text that reads back to about 12 digits.
std::string text(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.12g", value);
  return buffer;
}

bool write_properties(OTF2_Archive* archive, const ArchiveInfo& info, const std::string& complete) {
  const double tick = 1 / info.ticks_per_second;
  const std::pair<const char*, std::string> ours[] = {
      {schema::kComplete, complete},
      {schema::kSizeConvention, "score-p"},
      {schema::kOverheadOutside, text(info.overhead.outside * tick)},
      {schema::kOverheadInsideBefore, text(info.overhead.inside_before * tick)},
      {schema::kOverheadInsideAfter, text(info.overhead.inside_after * tick)},
      {schema::kOverheadPerRecord, text(info.overhead.per_record * tick)},
      {schema::kCommand, info.command},
      {schema::kMpiLibrary, info.mpi_library},
  };
  bool good = true;
  for (const auto& [name, value] : ours) {
    good = good && OTF2_Archive_SetProperty(archive, name, value.c_str(), true) == OTF2_SUCCESS;
  }
  // What Score-P states about its archives holds for ours.
  const std::pair<const char*, bool> general[] = {
      {"OTF2::MPI_COMMUNICATION_COMPLETE", complete == "true"},
      {"OTF2::THREAD_FORK_JOIN_EVENT_COMPLETE", true},
      {"OTF2::THREAD_CREATE_WAIT_EVENT_COMPLETE", true},
      {"OTF2::THREAD_LOCK_EVENT_COMPLETE", true},
      {"OTF2::PTHREAD_LOCATION_REUSED", false},
  };
  for (const auto& [name, value] : general) {
    good = good && OTF2_Archive_SetBoolProperty(archive, name, value, true) == OTF2_SUCCESS;
  }
  return good;
}

/// Nobody shall take what there is for a whole archive.
void mark_incomplete(const std::string& output, const std::string& reason) {
  unlink((output + "/traces.otf2").c_str());
  if (FILE* file = std::fopen((output + "/INCOMPLETE").c_str(), "we")) {
    std::fprintf(file, "%s\n", reason.c_str());
    std::fclose(file);
  }
  warn("the trace is incomplete: " + reason + " (see " + output + "/INCOMPLETE)");
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

void write_archive(MPI_Comm comm, const ArchiveInfo& info) {
  int rank;
  PMPI(Comm_rank)(comm, &rank);
  OTF2_Error_RegisterCallback(silent, nullptr);

  std::vector<bool> used(kCallCount);
  for (const ThreadLog* log : thread_logs()) find_used_calls(*log, used);
  Definitions definitions = unify(comm, used);
  unify_windows(comm, definitions);
  collect_topologies(comm, definitions);

  // Rank 0 makes the directory; nothing that exists is touched.
  OTF2_Archive* archive = nullptr;
  std::string trouble;
  if (rank == 0) {
    if (mkdir(info.output.c_str(), 0777) != 0) {
      trouble = errno == EEXIST ? "something of that name exists by now" : std::strerror(errno);
    } else if ((archive = open_archive(info.output)) == nullptr) {
      trouble = "cannot write there";
    } else {
      mkdir((info.output + "/traces").c_str(), 0777);
    }
  }
  if (!broadcast(comm, trouble).empty()) {
    if (rank == 0) warn("no trace in " + info.output + ": " + trouble);
    return;
  }

  RankResult own;
  own.host = host_name();
  own.full = Recorder::full_at() != 0;
  errno = 0;
  if (rank == 0) {
    write_own_locations(archive, rank, definitions, info, own);
  } else {
    write_part(rank, definitions, info, own);
  }
  own.good = own.good && !otf2_failed;
  const auto parts = gather(comm, own.pack());
  if (rank != 0) return;

  std::vector<RankResult> ranks;
  for (const std::string& part : parts) ranks.push_back(RankResult::unpack(part));
  const auto count = [&](bool RankResult::*member, bool value) {
    return std::count_if(ranks.begin(), ranks.end(),
                         [&](const RankResult& r) { return r.*member == value; });
  };
  const auto failed = count(&RankResult::good, false);
  const auto full = count(&RankResult::full, true);
  std::string complete = "true";
  if (full > 0) {
    complete = "false: the memory limit ended recording on " + std::to_string(full) + " of " +
               std::to_string(ranks.size()) + " ranks";
  }

  bool good = failed == 0;
  if (good) {
    OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive);
    good = writer != nullptr && GlobalDefinitions(writer, info, definitions, ranks).write() &&
           OTF2_Archive_CloseGlobalDefWriter(archive, writer) == OTF2_SUCCESS &&
           write_properties(archive, info, complete);
  }
  good = good && OTF2_Archive_Close(archive) == OTF2_SUCCESS && !otf2_failed;
  if (!good) {
    mark_incomplete(info.output, failed > 0 ? "writing failed on " + std::to_string(failed) +
                                                  " of " + std::to_string(ranks.size()) +
                                                  " ranks; is the disk full?"
                                            : "writing failed; is the disk full?");
  } else if (full > 0) {
    warn("the trace stops early: " + complete.substr(7) + " (rubato trace --memory)");
  }
}

}  // namespace rubato
