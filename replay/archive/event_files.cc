// The events of an OTF2 archive, location by location.
//
// Each is read once, from its start to its end, before the replay begins: call_store.h gives the
// reason. event_callbacks.cc and rma_callbacks.cc translate its records.

#include "replay/archive/event_files.h"

#include <otf2/otf2.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "replay/archive/archive.h"
#include "replay/archive/event_callbacks.h"
#include "replay/archive/file_ends.h"
#include "replay/archive/now_reading.h"
#include "replay/archive/record_callback.h"
#include "replay/store/call_store.h"

namespace rubato {
namespace {

constexpr uint64_t kBurst = 4096;  ///< records between two checks of the calls that they produce
/// A time before all records.
constexpr double kNever = -std::numeric_limits<double>::infinity();

/// libotf2 reports errors by code and by printing; the codes are enough. There is one printing
/// callback for the whole process: it is ours while readers are open; then the previous one is
/// restored (without its user data, which libotf2 does not return).
class Quiet {
 public:
  static void begin() {
    const std::lock_guard lock(mutex);
    if (readers++ == 0) before = OTF2_Error_RegisterCallback(silent, nullptr);
  }
  static inline std::atomic<int> latest_error = 0;
  static void end() {
    const std::lock_guard lock(mutex);
    if (--readers == 0) OTF2_Error_RegisterCallback(before, nullptr);
  }

 private:
  static OTF2_ErrorCode silent(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code,
                               const char*, va_list) {
    latest_error = errno;
    return code;
  }
  static inline std::mutex mutex;
  static inline int readers = 0;
  static inline OTF2_ErrorCallback before = nullptr;
};

bool is_json(const std::string& file) {
  char first = 0;
  return std::ifstream(file) >> first && first == '{';
}

}  // namespace

void EventFiles::Closing::operator()(OTF2_Reader_struct* reader) const {
  OTF2_Reader_Close(reader);
  Quiet::end();
}

struct EventFiles::Decoding {
  Decoding(const Archive& a, bool ignore, Reader r)
      : archive(&a),
        ignore_offsets(ignore),
        reader(std::move(r)),
        callbacks(a.index),
        kernel_callbacks(set_kernel_callbacks) {}

  /// True for an archive with one file per location, as it was written.
  bool is_plain() const;
  std::string event_file(uint64_t location) const;
  std::optional<EventHeaders> headers_of(uint64_t location) const;
  /// False for a location that has no events and no file.
  bool open(EventLocation& location);
  [[noreturn]] void damaged(const EventLocation& location, uint64_t events,
                            OTF2_ErrorCode error) const;
  void burst(EventLocation& location);

  const Archive* archive;
  bool ignore_offsets;
  Reader reader;
  EventCallbacks callbacks, kernel_callbacks;
  std::unordered_map<uint64_t, LocalDefinitions> local_definitions;  ///< by location
};

int EventFiles::latest_error() {
  return Quiet::latest_error;
}

void EventFiles::forget_errors() {
  Quiet::latest_error = 0;
}

EventFiles::Reader EventFiles::open_anchor(const std::string& anchor) {
  const bool has_room = has_room_for_properties(anchor);
  Quiet::begin();
  const NowReading reading(anchor);
  Reader reader(has_room ? OTF2_Reader_Open(anchor.c_str()) : nullptr);
  if (!reader) Quiet::end();
  if (!reader && is_json(anchor))
    throw InputError(anchor +
                     ": is JSON, not an archive; for a file of sums (rubato trace --report) use "
                     "'rubato profile', which needs no replay");
  if (!reader) throw InputError(anchor + ": is not an OTF2 anchor file, or is damaged");
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
  return reader;
}

EventFiles::EventFiles(const Archive& archive, bool ignore_offsets, Reader opened,
                       const std::vector<uint64_t>& locations)
    : decoding_(std::make_unique<Decoding>(archive, ignore_offsets, std::move(opened))) {
  OTF2_Reader* reader = decoding_->reader.get();
  for (const uint64_t location : locations) OTF2_Reader_SelectLocation(reader, location);
  decoding_->local_definitions = read_local_definitions(archive, reader, locations);
  if (OTF2_Reader_OpenEvtFiles(reader) != OTF2_SUCCESS) {
    throw InputError(archive.anchor + ": the event files beside it cannot be opened");
  }
}

EventFiles::~EventFiles() {
  OTF2_Reader_CloseEvtFiles(decoding_->reader.get());
}

bool EventFiles::moves_clocks() const {
  const auto& all = decoding_->local_definitions;
  return std::any_of(all.begin(), all.end(),
                     [](const auto& entry) { return entry.second.moves_clock; });
}

void EventFiles::load_rank(int rank, bool keep_records, CallStore& store,
                           EventSource::Counts& counts, FunctionWatch watch) {
  if (decode_rank(rank, keep_records, false, store, counts, watch)) return;
  for (const int timeline : decoding_->archive->definitions.timelines_of(rank)) {
    store.forget(timeline);
    if (watch.times) watch.times->of(timeline).clear();
    if (watch.places) watch.places->forget(timeline);
    if (watch.samples) watch.samples->sums.at(timeline).clear();
    if (watch.totals) watch.totals->at(timeline) = {};
  }
  if (decode_rank(rank, keep_records, true, store, counts, watch)) return;
  // The last calls are not in the store: the rank would be replayed without them.
  throw std::logic_error(decoding_->archive->anchor + ": rank " + std::to_string(rank) +
                         ": a cancelled send was handed out although sends were held back; " +
                         "this is a bug in rubato");
}

bool EventFiles::decode_rank(int rank, bool keep_records, bool hold_sends, CallStore& store,
                             EventSource::Counts& counts, FunctionWatch watch) {
  const TraceDefinitions& trace = decoding_->archive->definitions;
  const std::vector<int> timelines = trace.timelines_of(rank);
  RankCalls calls(trace, timelines);
  calls.keep_records(keep_records);
  if (hold_sends) calls.hold_sends();
  calls.release_open_actions();
  std::vector<EventLocation> locations;
  for (int thread = 0; thread < calls.threads(); ++thread) {
    const uint64_t id = trace.location_of(timelines[thread]);
    locations.emplace_back(*decoding_->archive, id, rank, thread, calls);
    if (watch.any()) locations.back().functions.emplace(watch, timelines[thread]);
  }
  // Timing of functions needs the records one by one.
  if (!keep_records && !watch.any() && trace.threads.empty()) {
    EventLocation& only = locations[0];
    only.loop_cache.emplace(calls.builder(0), store, timelines[0],
                            decoding_->archive->index.global_offset,
                            [&](const PlainRecord& record, uint64_t event, uint64_t time,
                                uint64_t request) { give(only, record, event, time, request); });
  }
  Block block;
  const auto store_ready_calls = [&] {
    if (locations[0].loop_cache && !locations[0].loop_cache->is_idle()) return;
    for (int thread = 0; thread < calls.threads(); ++thread) {
      while (calls.take(thread, block)) store.append(timelines[thread], block, calls.late(thread));
    }
  };
  for (int missing = calls.missing(); missing >= 0; missing = calls.missing()) {
    decoding_->burst(locations[missing]);
    store_ready_calls();
  }
  store_ready_calls();
  if (calls.has_cancelled_sends()) return false;
  for (int thread = 0; thread < calls.threads(); ++thread) {
    store.close(timelines[thread]);
    if (locations[thread].functions) locations[thread].functions->finish();
    const CallBuilder& builder = calls.builder(thread);
    counts.records += builder.records();
    counts.receives.add(builder.open_receives());
    counts.collectives.add(builder.open_collectives());
    counts.backwards.add(builder.backwards());
    counts.joined += builder.is_joined() ? 1 : 0;
    const std::optional<Miscount>& miscount = locations[thread].miscount;
    if (miscount) counts.miscounted.add({1, miscount->text()});
  }
  return true;
}

std::optional<Miscount> EventFiles::read_apart(const SideLocation& side,
                                               const std::function<bool(const Block&)>& look) {
  RankCalls calls(decoding_->archive->definitions, {side.rank});
  calls.keep_records(true);
  EventLocation location(*decoding_->archive, side.id, side.rank, 0, calls);
  Block block;
  bool more = true;
  while (more && calls.missing() >= 0) {
    decoding_->burst(location);
    while (more && calls.take(0, block)) more = look(block);
  }
  return location.miscount;
}

void EventFiles::sum_kernels(const SideLocation& stream, KernelClock& kernels) {
  RankCalls none(decoding_->archive->definitions, {stream.rank});
  EventLocation location(*decoding_->archive, stream.id, stream.rank, 0, none);
  location.kernels = &kernels;
  while (none.missing() >= 0) decoding_->burst(location);
  kernels.end_stream();
}

bool EventFiles::Decoding::is_plain() const {
  OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
  OTF2_Compression compression = OTF2_COMPRESSION_UNDEFINED;
  OTF2_Reader_GetFileSubstrate(reader.get(), &substrate);
  OTF2_Reader_GetCompression(reader.get(), &compression);
  return substrate == OTF2_SUBSTRATE_POSIX && compression == OTF2_COMPRESSION_NONE;
}

std::string EventFiles::Decoding::event_file(uint64_t location) const {
  const std::filesystem::path directory =
      std::filesystem::path(archive->anchor).replace_extension();
  return directory / (std::to_string(location) + ".evt");
}

std::optional<EventHeaders> EventFiles::Decoding::headers_of(uint64_t location) const {
  uint64_t chunk = 0;
  uint64_t unused = 0;
  OTF2_Reader_GetChunkSize(reader.get(), &chunk, &unused);
  if (!is_plain()) return {};
  return event_headers(event_file(location), chunk);
}

bool EventFiles::Decoding::open(EventLocation& location) {
  const uint64_t id = location.id;
  const PartOnDisk file(event_file(id));
  const bool is_empty = archive->index.events_of(id) == 0;
  const auto unreadable = [&] {
    throw InputError(archive->anchor + ": the event file of location " + std::to_string(id) +
                     " (rank " + std::to_string(location.rank) + ") is missing or cannot be read" +
                     (file.problem.empty() ? "" : ": " + file.problem));
  };
  if (!file.problem.empty()) unreadable();
  // (libotf2 would keep a chunk of memory even for a missing file.)
  if (!file.is_there && is_empty && is_plain()) return false;
  location.reader = {OTF2_Reader_GetEvtReader(reader.get(), id), CloseEvents{reader.get()}};
  if (!location.reader) {
    if (is_empty && !file.is_there) return false;
    unreadable();
  }
  if (const auto headers = headers_of(id)) {
    location.events = headers->events;
    if (headers->damaged) damaged(location, headers->events, OTF2_ERROR_INTEGRITY_FAULT);
  }
  // Attributes that a location does not have are not searched for in each record.
  const auto found = local_definitions.find(id);
  const LocalDefinitions local =
      found == local_definitions.end() ? LocalDefinitions() : found->second;
  OTF2_EvtReader_ApplyMappingTables(location.reader.get(), local.mappings);
  OTF2_EvtReader_ApplyClockOffsets(location.reader.get(), local.clock_offsets && !ignore_offsets);
  OTF2_Reader_RegisterEvtCallbacks(reader.get(), location.reader.get(),
                                   (location.kernels ? kernel_callbacks : callbacks).get(),
                                   &location);
  return true;
}

/// `events`: the number of readable events.
void EventFiles::Decoding::damaged(const EventLocation& location, uint64_t events,
                                   OTF2_ErrorCode error) const {
  throw InputError(archive->anchor + ": the events of location " + std::to_string(location.id) +
                   " (rank " + std::to_string(location.rank) + ") cannot be read beyond event " +
                   std::to_string(events) + " (" + OTF2_Error_GetDescription(error) +
                   "); the file is truncated or damaged");
}

void EventFiles::Decoding::burst(EventLocation& location) {
  if (!location.reader && !open(location)) return location.calls->end(location.thread);
  uint64_t read = 0;
  const NowReading reading(archive->anchor, location.id);
  const OTF2_ErrorCode error =
      OTF2_Reader_ReadLocalEvents(reader.get(), location.reader.get(), kBurst, &read);
  location.position += read;
  if (location.error) std::rethrow_exception(location.error);
  if (error != OTF2_SUCCESS) damaged(location, location.position, error);
  // A file that was cut between two records can be read up to the cut, or without end. Its headers
  // show this; the definition of the location is used only if they cannot be read.
  const bool ends = read < kBurst;
  const uint64_t claimed = archive->index.events_of(location.id);
  const bool is_short = ends && location.position < location.events.value_or(claimed);
  const bool is_cut = ends && location.position < claimed && location.events &&
                      !ends_as_written(event_file(location.id));
  if (location.events.value_or(UINT64_MAX) < location.position || is_short || is_cut)
    damaged(location, location.position, OTF2_ERROR_END_OF_BUFFER);
  if (ends) {
    if (location.position != claimed)
      location.miscount = {location.id, location.rank, claimed, location.position};
    // The time in functions that have ended belongs to the last record.
    if (location.functions) location.functions->stop(location.position, kNever);
    if (location.loop_cache) location.loop_cache->finish();
    location.calls->end(location.thread);
    location.reader.reset();
  }
}

}  // namespace rubato
