// Copies of archives at other times: definitions and records are passed unchanged from libotf2's
// reader to its writer (event_copy.h).

#include "replay/archive/copy/archive_copy.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "models/base/source_date.h"
#include "replay/archive/archive.h"
#include "replay/archive/copy/archive_number.h"
#include "replay/archive/copy/event_copy.h"
#include "replay/archive/copy/main_thread.h"
#include "replay/archive/event_files.h"
#include "replay/archive/file_ends.h"
#include "tracer/archive/utf8.h"

namespace rubato {
namespace {

namespace fs = std::filesystem;

// Old archives contain deprecated records and definitions.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// Kinds of definitions; their order has no meaning.
// clang-format off
#define RUBATO_DEFINITIONS(X) \
  X(Paradigm) X(ParadigmProperty) X(IoParadigm) X(String) X(Attribute) X(SystemTreeNode) \
  X(LocationGroup) X(Location) X(Region) X(Callsite) X(Callpath) X(Group) X(MetricMember) \
  X(MetricClass) X(MetricInstance) X(Comm) X(Parameter) X(RmaWin) X(MetricClassRecorder) \
  X(SystemTreeNodeProperty) X(SystemTreeNodeDomain) X(LocationGroupProperty) X(LocationProperty) \
  X(CartDimension) X(CartTopology) X(CartCoordinate) X(SourceCodeLocation) X(CallingContext) \
  X(CallingContextProperty) X(InterruptGenerator) X(IoFileProperty) X(IoRegularFile) \
  X(IoDirectory) X(IoHandle) X(IoPreCreatedHandleState) X(CallpathParameter) X(InterComm)
// clang-format on

/// The global definitions while they are copied.
struct CopiedDefinitions {
  OTF2_GlobalDefWriter* writer = nullptr;
  Ends ends;
  const std::map<uint64_t, uint64_t>* left_out = nullptr;  ///< number of records, by location
  bool unknown = false;
  OTF2_ErrorCode error = OTF2_SUCCESS;
};

template <auto kWrite>
struct DefinitionCopy;
template <typename... Rest, OTF2_ErrorCode (*kWrite)(OTF2_GlobalDefWriter*, Rest...)>
struct DefinitionCopy<kWrite> {
  static OTF2_CallbackCode on(void* user, Rest... rest) {
    auto& definitions = *static_cast<CopiedDefinitions*>(user);
    definitions.error = kWrite(definitions.writer, rest...);
    return definitions.error == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
  }
};

OTF2_CallbackCode on_clock(void* user, uint64_t resolution, uint64_t offset, uint64_t length,
                           uint64_t realtime) {
  auto& definitions = *static_cast<CopiedDefinitions*>(user);
  const Ends& ends = definitions.ends;
  // The new length of the run; a length that was wrong before is corrected only if the end has
  // changed.
  if (ends.new_end != ends.old_end) {
    const bool is_good = ends.old_end >= 0 && length >= static_cast<uint64_t>(ends.old_end);
    const uint64_t behind = is_good ? length - static_cast<uint64_t>(ends.old_end) : 0;
    length = static_cast<uint64_t>(std::max<int64_t>(ends.new_end, 0)) + behind;
  }
  definitions.error = OTF2_GlobalDefWriter_WriteClockProperties(definitions.writer, resolution,
                                                                offset, length, realtime);
  return definitions.error == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

OTF2_CallbackCode copy_definition_of_location(void* user, OTF2_LocationRef self,
                                              OTF2_StringRef name, OTF2_LocationType type,
                                              uint64_t events, OTF2_LocationGroupRef group) {
  auto& definitions = *static_cast<CopiedDefinitions*>(user);
  const auto less = definitions.left_out->find(self);
  if (less != definitions.left_out->end()) events -= std::min(events, less->second);
  definitions.error =
      OTF2_GlobalDefWriter_WriteLocation(definitions.writer, self, name, type, events, group);
  return definitions.error == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

OTF2_CallbackCode copy_string(void* user, OTF2_StringRef self, const char* text) {
  auto& definitions = *static_cast<CopiedDefinitions*>(user);
  definitions.error =
      OTF2_GlobalDefWriter_WriteString(definitions.writer, self, as_utf8(text).c_str());
  return definitions.error == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

OTF2_CallbackCode on_unknown_definition(void* user) {
  static_cast<CopiedDefinitions*>(user)->unknown = true;
  return OTF2_CALLBACK_INTERRUPT;
}

OTF2_FlushType always_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

/// From one archive to the other.
class Copy {
 public:
  Copy(const TraceDefinitions& trace, const std::string& directory, const CopyOptions& options)
      : trace_(&trace),
        directory_(directory),
        options_(&options),
        reader_(EventFiles::open_anchor(trace.path)),
        archive_(read_definitions(trace.path, reader_.get())) {
    uint64_t definition_chunk = 0;
    OTF2_Reader_GetChunkSize(reader_.get(), &event_chunk_, &definition_chunk);
    EventFiles::forget_errors();  // of reading
    writer_ = OTF2_Archive_Open(directory.c_str(), fs::path(trace.path).stem().c_str(),
                                OTF2_FILEMODE_WRITE, event_chunk_, definition_chunk,
                                OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!writer_) fail();
    static const OTF2_FlushCallbacks callbacks = {always_flush, nullptr};
    check(OTF2_Archive_SetFlushCallbacks(writer_, &callbacks, nullptr));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(writer_));
  }
  ~Copy() {
    if (writer_) OTF2_Archive_Close(writer_);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  void run(const std::function<std::unique_ptr<NewTimes>(int)>& times_of) {
    copy_anchor();
    copy_events(times_of);
    copy_definitions();
    check(OTF2_Archive_Close(std::exchange(writer_, nullptr)));
    const fs::path anchor = fs::path(directory_) / fs::path(trace_->path).filename();
    std::error_code error;
    if (!fs::exists(anchor, error)) fail();
    if (!source_date()) return;
    // (libotf2 does not return the number of an archive that it writes.)
    uint64_t number = 0;
    check(OTF2_Reader_GetTraceId(EventFiles::open_anchor(anchor).get(), &number));
    if (!make_number_reproducible(anchor, number)) fail();
  }

 private:
  [[noreturn]] void fail() const {
    const int error = EventFiles::latest_error();
    throw InputError(directory_ + ": the archive cannot be written; " +
                     (error != 0 ? std::strerror(error) : "is the disk full?"));
  }
  void check(OTF2_ErrorCode error) const {
    if (error != OTF2_SUCCESS) fail();
  }
  [[noreturn]] void refuse_unknown() const {
    throw InputError(trace_->path +
                     ": holds records that this version of libotf2 does not know; the archive "
                     "cannot be copied");
  }

  void copy_anchor() {
    using Get = decltype(&OTF2_Reader_GetCreator);
    using Set = decltype(&OTF2_Archive_SetCreator);
    static constexpr std::pair<Get, Set> kTexts[] = {
        {OTF2_Reader_GetCreator, OTF2_Archive_SetCreator},
        {OTF2_Reader_GetMachineName, OTF2_Archive_SetMachineName},
        {OTF2_Reader_GetDescription, OTF2_Archive_SetDescription}};
    for (const auto& [get, set] : kTexts) {
      char* text = nullptr;
      if (get(reader_.get(), &text) == OTF2_SUCCESS && text) set(writer_, text);
      free(text);
    }
    const std::string& without = options_->without_properties;
    for (const auto& [name, value] : read_properties(reader_.get())) {
      if (without.empty() || !name.starts_with(without))
        OTF2_Archive_SetProperty(writer_, name.c_str(), as_utf8(value).c_str(), true);
    }
    for (const auto& [name, value] : options_->properties)
      check(OTF2_Archive_SetProperty(writer_, name.c_str(), as_utf8(value).c_str(), true));
  }

  void copy_events(const std::function<std::unique_ptr<NewTimes>(int)>& times_of) {
    std::vector<uint64_t> rest;
    for (const LocationEvents& each : archive_.index.events) rest.push_back(each.location);
    for (const uint64_t location : rest) OTF2_Reader_SelectLocation(reader_.get(), location);
    local_ = read_local_definitions(archive_, reader_.get(), rest);
    if (OTF2_Reader_OpenEvtFiles(reader_.get()) != OTF2_SUCCESS)
      throw InputError(trace_->path + ": the event files beside it cannot be opened");
    check(OTF2_Archive_OpenEvtFiles(writer_));
    callbacks_.reset(OTF2_EvtReaderCallbacks_New());
#define RUBATO_COPY(kind)                                       \
  OTF2_EvtReaderCallbacks_Set##kind##Callback(callbacks_.get(), \
                                              EventCopy<&OTF2_EvtWriter_##kind>::on);
    RUBATO_EVENTS(RUBATO_COPY)
#undef RUBATO_COPY
    OTF2_EvtReaderCallbacks_SetBufferFlushCallback(callbacks_.get(), on_flush);
    OTF2_EvtReaderCallbacks_SetUnknownCallback(callbacks_.get(), on_unknown_event);

    const auto copied = [&](uint64_t location) { std::erase(rest, location); };
    for (int rank = 0; rank < trace_->ranks(); ++rank) {
      std::optional<MainThread> way;
      for (const SideLocation& side : trace_->side_locations) {
        if (side.rank == rank && !way) way.emplace();
      }
      for (const int timeline : trace_->timelines_of(rank)) {
        const std::unique_ptr<NewTimes> times = times_of(timeline);
        CopiedLocation location;
        location.times = times.get();
        location.coming = times->next();
        if (!options_->own_work.empty()) location.own_work_factor = options_->own_work[rank];
        if (timeline == rank && way) location.way = &*way;
        copy_location(trace_->location_of(timeline), location);
        if (location.coming)
          throw std::logic_error(trace_->path + ": " + trace_->name_of(timeline) + ": only " +
                                 std::to_string(location.records) +
                                 " records have times for more; this is a bug in rubato");
        copied(trace_->location_of(timeline));
      }
      for (const SideLocation& side : trace_->side_locations) {
        if (side.rank != rank) continue;
        CopiedLocation location;
        location.follow.emplace(*way);
        copy_location(side.id, location);
        copied(side.id);
      }
    }
    for (const uint64_t of_no_rank : rest) {
      CopiedLocation location;
      copy_location(of_no_rank, location);
    }
    OTF2_Reader_CloseEvtFiles(reader_.get());
    check(OTF2_Archive_CloseEvtFiles(writer_));
  }

  void copy_location(uint64_t id, CopiedLocation& location) {
    OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader_.get(), id);
    if (!events) return;  // without records
    const fs::path file =
        fs::path(trace_->path).replace_extension() / (std::to_string(id) + ".evt");
    const auto headers = event_headers(file, event_chunk_);
    const auto found = local_.find(id);
    const LocalDefinitions local = found == local_.end() ? LocalDefinitions() : found->second;
    OTF2_EvtReader_ApplyMappingTables(events, local.mappings);
    OTF2_EvtReader_ApplyClockOffsets(events, local.clock_offsets && !options_->ignore_offsets);
    location.writer = OTF2_Archive_GetEvtWriter(writer_, id);
    if (!location.writer) fail();
    location.global_offset = archive_.index.global_offset;
    location.ends = &ends_;
    location.options = options_;
    location.stolen = archive_.index.stolen;
    location.own_work = archive_.index.own_work;
    OTF2_Reader_RegisterEvtCallbacks(reader_.get(), events, callbacks_.get(), &location);
    // (For a truncated file libotf2 may read on without end.)
    constexpr uint64_t kBurst = 4096;
    OTF2_ErrorCode error = OTF2_SUCCESS;
    for (uint64_t read = kBurst; read == kBurst && error == OTF2_SUCCESS;) {
      error = OTF2_Reader_ReadLocalEvents(reader_.get(), events, kBurst, &read);
      if (location.exception) std::rethrow_exception(location.exception);
      if (location.unknown) refuse_unknown();
      if (location.error != OTF2_SUCCESS) fail();
      if (headers && location.records > headers->events) error = OTF2_ERROR_INTEGRITY_FAULT;
    }
    if (error != OTF2_SUCCESS || (headers && headers->damaged)) {
      throw InputError(trace_->path + ": the events of location " + std::to_string(id) +
                       " cannot be read to their end; the file is truncated or damaged");
    }
    OTF2_Reader_CloseEvtReader(reader_.get(), events);
    check(OTF2_Archive_CloseEvtWriter(writer_, location.writer));
    written_.push_back(id);
    if (location.left_out > 0) left_out_[id] = location.left_out;
  }

  void copy_definitions() {
    // Empty: the original local definitions are applied to the records.
    check(OTF2_Archive_OpenDefFiles(writer_));
    for (const uint64_t location : written_) {
      OTF2_DefWriter* local = OTF2_Archive_GetDefWriter(writer_, location);
      if (!local) fail();
      check(OTF2_Archive_CloseDefWriter(writer_, local));
    }
    check(OTF2_Archive_CloseDefFiles(writer_));

    CopiedDefinitions copied;
    copied.writer = OTF2_Archive_GetGlobalDefWriter(writer_);
    copied.ends = ends_;
    copied.left_out = &left_out_;
    if (!copied.writer) fail();
    // A reader can read them only once.
    const EventFiles::Reader again = EventFiles::open_anchor(trace_->path);
    const DefinitionCallbacks callbacks(OTF2_GlobalDefReaderCallbacks_New());
#define RUBATO_COPY(kind)                            \
  OTF2_GlobalDefReaderCallbacks_Set##kind##Callback( \
      callbacks.get(), DefinitionCopy<&OTF2_GlobalDefWriter_Write##kind>::on);
    RUBATO_DEFINITIONS(RUBATO_COPY)
#undef RUBATO_COPY
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks.get(), on_clock);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks.get(), copy_definition_of_location);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks.get(), copy_string);
    OTF2_GlobalDefReaderCallbacks_SetUnknownCallback(callbacks.get(), on_unknown_definition);
    const bool is_whole = read_again(again, callbacks, &copied);
    if (copied.unknown) refuse_unknown();
    check(copied.error);
    if (!is_whole) refuse_definitions();
    check(OTF2_Archive_CloseGlobalDefWriter(writer_, copied.writer));
  }

  [[noreturn]] void refuse_definitions() const {
    throw InputError(trace_->path + ": the global definitions (.def) cannot be read again");
  }

  struct DeleteDefinitionCallbacks {
    void operator()(OTF2_GlobalDefReaderCallbacks* callbacks) const {
      OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    }
  };
  using DefinitionCallbacks =
      std::unique_ptr<OTF2_GlobalDefReaderCallbacks, DeleteDefinitionCallbacks>;

  /// Passes all global definitions to the callbacks; false if they cannot be read to their end.
  bool read_again(const EventFiles::Reader& reader, const DefinitionCallbacks& callbacks,
                  void* user) const {
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader.get());
    if (!definitions) refuse_definitions();
    OTF2_Reader_RegisterGlobalDefCallbacks(reader.get(), definitions, callbacks.get(), user);
    uint64_t read = 0;
    const OTF2_ErrorCode error =
        OTF2_Reader_ReadAllGlobalDefinitions(reader.get(), definitions, &read);
    OTF2_Reader_CloseGlobalDefReader(reader.get(), definitions);
    return error == OTF2_SUCCESS;
  }

  const TraceDefinitions* trace_;
  std::string directory_;
  const CopyOptions* options_;
  EventFiles::Reader reader_;
  Archive archive_;
  uint64_t event_chunk_ = 0;
  OTF2_Archive* writer_ = nullptr;
  std::unordered_map<uint64_t, LocalDefinitions> local_;
  struct DeleteCallbacks {
    void operator()(OTF2_EvtReaderCallbacks* callbacks) const {
      OTF2_EvtReaderCallbacks_Delete(callbacks);
    }
  };
  std::unique_ptr<OTF2_EvtReaderCallbacks, DeleteCallbacks> callbacks_;
  std::vector<uint64_t> written_;
  std::map<uint64_t, uint64_t> left_out_;  ///< number of records, by location
  Ends ends_;
};

}  // namespace

void copy_archive(const TraceDefinitions& trace,
                  const std::function<std::unique_ptr<NewTimes>(int timeline)>& times_of,
                  const std::string& directory, const CopyOptions& options) {
  Copy(trace, directory, options).run(times_of);
}

}  // namespace rubato
