#include "tracer/archive/archive_files.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tools/version.h"
#include "tracer/archive/schema.h"

namespace rubato {
inline namespace tracing {
namespace {

constexpr uint64_t kEventChunk = 1 << 20;
constexpr uint64_t kDefinitionChunk = 4 << 20;

OTF2_FlushType always_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

/// OTF2 prints its errors unless told otherwise.
OTF2_ErrorCode silent(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code, const char*,
                      va_list) {
  const bool has_errno = code >= OTF2_ERROR_E2BIG && code <= OTF2_ERROR_EXDEV;
  if (!otf2_failed) otf2_error = has_errno ? errno : -code;
  otf2_failed = true;
  return code;
}

/// The memory of OTF2's event buffers: a few chunks, used again after each flush and by the next
/// location, never given back before the end of the process (see archive_files.h).
class ChunkPool {
 public:
  static void* allocate(void*, OTF2_FileType, OTF2_LocationRef, void** buffer, uint64_t size) {
    if (*buffer == nullptr) *buffer = new (std::nothrow) ChunkPool;
    auto* pool = static_cast<ChunkPool*>(*buffer);
    if (pool == nullptr || pool->used_ == kChunks) return nullptr;  // OTF2 then flushes
    void*& chunk = pool->chunks_[pool->used_];
    if (chunk == nullptr) chunk = take(size);
    if (chunk != nullptr) ++pool->used_;
    return chunk;
  }

  static void free_all(void*, OTF2_FileType, OTF2_LocationRef, void** buffer, bool final) {
    auto* pool = static_cast<ChunkPool*>(*buffer);
    if (pool == nullptr) return;
    pool->used_ = 0;
    if (!final) return;
    for (void* chunk : pool->chunks_) {
      if (chunk != nullptr) idle().push_back(chunk);
    }
    delete pool;
    *buffer = nullptr;
  }

 private:
  /// Chunks of closed locations, each large enough for either kind of buffer; what is not written
  /// to takes no memory. Never destroyed, as OTF2 may have them at the end of the process.
  static std::vector<void*>& idle() {
    static auto* const list = new std::vector<void*>;
    return *list;
  }
  static void* take(uint64_t size) {
    if (idle().empty()) return std::malloc(std::max(size, kDefinitionChunk));
    void* chunk = idle().back();
    idle().pop_back();
    return chunk;
  }

  static constexpr size_t kChunks = 8;
  void* chunks_[kChunks] = {};
  size_t used_ = 0;
};

/// Collective callbacks that make libotf2 leave the directories, the definitions and the anchor
/// file to another process of the job. libotf2 uses them only to learn whether all went well, on
/// which the ranks agree by themselves (archive_writer.cc): here the answer is always OTF2_SUCCESS.
/// (libotf2 does not initialise the place for the answer.)
namespace further {

size_t bytes_of(OTF2_Type type) {
  switch (type) {
    case OTF2_TYPE_UINT8:
    case OTF2_TYPE_INT8:
      return 1;
    case OTF2_TYPE_UINT16:
    case OTF2_TYPE_INT16:
      return 2;
    case OTF2_TYPE_UINT64:
    case OTF2_TYPE_INT64:
    case OTF2_TYPE_DOUBLE:
      return 8;
    default:
      return 4;
  }
}

OTF2_CallbackCode size(void*, OTF2_CollectiveContext*, uint32_t* size) {
  *size = 2;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode rank(void*, OTF2_CollectiveContext*, uint32_t* rank) {
  *rank = 1;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode barrier(void*, OTF2_CollectiveContext*) {
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode bcast(void*, OTF2_CollectiveContext*, void* data, uint32_t count, OTF2_Type type,
                        uint32_t) {
  static_assert(OTF2_SUCCESS == 0);
  std::memset(data, 0, count * bytes_of(type));
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode gather(void*, OTF2_CollectiveContext*, const void*, void*, uint32_t, OTF2_Type,
                         uint32_t) {
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode gatherv(void*, OTF2_CollectiveContext*, const void*, uint32_t, void*,
                          const uint32_t*, OTF2_Type, uint32_t) {
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode scatter(void*, OTF2_CollectiveContext*, const void*, void*, uint32_t, OTF2_Type,
                          uint32_t) {
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode scatterv(void*, OTF2_CollectiveContext*, const void*, const uint32_t*, void*,
                           uint32_t, OTF2_Type, uint32_t) {
  return OTF2_CALLBACK_SUCCESS;
}

constexpr OTF2_CollectiveCallbacks kCallbacks = {
    nullptr, size, rank, nullptr, nullptr, barrier, bcast, gather, gatherv, scatter, scatterv};

}  // namespace further
}  // namespace

OTF2_Archive* open_archive(const std::string& directory, Writer writer) {
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
                    (writer == Writer::kFirst ? OTF2_Archive_SetSerialCollectiveCallbacks(archive)
                                              : OTF2_Archive_SetCollectiveCallbacks(
                                                    archive, &further::kCallbacks, nullptr, nullptr,
                                                    nullptr)) == OTF2_SUCCESS &&
                    OTF2_Archive_SetCreator(archive, creator.c_str()) == OTF2_SUCCESS;
  if (good) return archive;
  OTF2_Archive_Close(archive);
  return nullptr;
}

void silence_otf2() {
  OTF2_Error_RegisterCallback(silent, nullptr);
}

WriteTrouble write_trouble(int error) {
  if (error < 0) {
    const auto code = static_cast<OTF2_ErrorCode>(-error);
    return {std::string("OTF2: ") + OTF2_Error_GetDescription(code) + ".", ""};
  }
  switch (error) {
    case EFBIG:
      return {"a file would exceed the limit on the size of files (ulimit -f).", "raise the limit"};
    case 0:
      return {"is the disk full?", "free some space"};
    case ENOSPC:
    case EDQUOT:
      return {"the disk is full.", "free some space"};
    default:
      return {std::string(std::strerror(error)) + ".", ""};
  }
}

uint64_t corrected(uint64_t time, const std::vector<ClockOffset>& offsets) {
  size_t i = 0;
  while (i + 2 < offsets.size() && time >= offsets[i + 1].time) ++i;
  const ClockOffset& a = offsets[i];
  const ClockOffset& b = offsets[i + 1];
  const double slope = b.time > a.time ? static_cast<double>(b.offset - a.offset) /
                                             static_cast<double>(b.time - a.time)
                                       : 0.0;
  const double since = static_cast<double>(static_cast<int64_t>(time - a.time));
  return time + static_cast<uint64_t>(a.offset + std::llrint(slope * since));
}

std::vector<std::vector<LocationSummary>> write_locations(
    OTF2_Archive* archive, const std::vector<ProcessRecords>& processes,
    const std::vector<Translation>& translations) {
  std::vector<std::vector<LocationSummary>> result;
  bool good = OTF2_Archive_OpenEvtFiles(archive) == OTF2_SUCCESS;
  for (size_t i = 0; i < processes.size() && good; ++i) {
    const ProcessRecords& process = processes[i];
    result.emplace_back();
    for (const ThreadRecords& thread : process.threads) {
      const uint64_t location = static_cast<uint64_t>(process.rank) | uint64_t{thread.thread()}
                                                                          << 32;
      OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, location);
      good = good && writer != nullptr;
      if (!good) break;
      LocationSummary summary =
          write_events(thread, process.zero, process.ends, writer, location, translations[i], good);
      summary.first = corrected(summary.first, process.offsets);
      summary.last = corrected(summary.last, process.offsets);
      good = good && OTF2_Archive_CloseEvtWriter(archive, writer) == OTF2_SUCCESS;
      result.back().push_back(summary);
    }
  }
  good = good && OTF2_Archive_CloseEvtFiles(archive) == OTF2_SUCCESS;

  good = good && OTF2_Archive_OpenDefFiles(archive) == OTF2_SUCCESS;
  for (size_t i = 0; i < processes.size() && good; ++i) {
    for (const LocationSummary& location : result[i]) {
      OTF2_DefWriter* writer =
          good ? OTF2_Archive_GetDefWriter(archive, location.location) : nullptr;
      good = good && writer != nullptr;
      for (const ClockOffset& offset : processes[i].offsets) {
        good = good && OTF2_DefWriter_WriteClockOffset(writer, offset.time, offset.offset,
                                                       offset.deviation) == OTF2_SUCCESS;
      }
      good = good && OTF2_Archive_CloseDefWriter(archive, writer) == OTF2_SUCCESS;
    }
  }
  good = good && OTF2_Archive_CloseDefFiles(archive) == OTF2_SUCCESS;
  if (!good || otf2_failed) result.clear();
  return result;
}

}  // namespace tracing
}  // namespace rubato
