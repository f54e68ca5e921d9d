#pragma once

// One location of an archive while it is read, for event_files.cc and the callbacks.

#include <otf2/otf2.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "replay/archive/archive.h"
#include "replay/archive/kernel_clock.h"
#include "replay/calls/function_clock.h"
#include "replay/calls/loop_cache.h"
#include "replay/calls/rank_calls.h"

namespace rubato {

inline constexpr uint32_t kUndefined = UINT32_MAX;  ///< no reference

/// The line that makes a call, from our tracer's attributes: an index into
/// ArchiveIndex::call_sites; kNoPlace if it is not recorded.
inline uint32_t call_site_of(const ArchiveIndex& index, const OTF2_AttributeList* attributes) {
  OTF2_CallingContextRef context = 0;
  if (index.call_path != kUndefined && OTF2_AttributeList_GetCallingContextRef(
                                           attributes, index.call_path, &context) == OTF2_SUCCESS)
    return index.number_of_context.get(context).value_or(kNoPlace);
  OTF2_SourceCodeLocationRef site = 0;
  if (index.call_site == kUndefined || OTF2_AttributeList_GetSourceCodeLocationRef(
                                           attributes, index.call_site, &site) != OTF2_SUCCESS)
    return kNoPlace;
  return index.number_of_site.get(site).value_or(kNoPlace);
}

struct CloseEvents {
  OTF2_Reader* archive;
  void operator()(OTF2_EvtReader* events) const { OTF2_Reader_CloseEvtReader(archive, events); }
};

/// One location being read.
struct EventLocation {
  EventLocation(const Archive& a, uint64_t i, int r, int t, RankCalls& c)
      : archive(&a), id(i), rank(r), thread(t), calls(&c) {}

  const Archive* archive;
  uint64_t id;
  int rank;
  int thread;
  RankCalls* calls;
  std::optional<LoopCache> loop_cache = {};  ///< if the rank has one timeline
  PlainRecord unexpected = {};               ///< of the callback that runs
  std::unique_ptr<OTF2_EvtReader, CloseEvents> reader{nullptr, CloseEvents{nullptr}};
  uint64_t position = 0;                  ///< records read
  std::optional<uint64_t> events = {};    ///< from the headers of its file, if they have it
  std::optional<Miscount> miscount = {};  ///< set after it was read to its end
  std::exception_ptr error;
  std::optional<FunctionClock> functions;  ///< if some are to be timed
  KernelClock* kernels = nullptr;          ///< of a GPU stream whose kernels are summed up
  int calls_open = 0;                      ///< nesting depth; used only for `functions`

  double ticks(OTF2_TimeStamp time) const {
    return static_cast<double>(static_cast<int64_t>(time - archive->index.global_offset));
  }
  std::string place(uint64_t event, const char* what) const {
    return archive->anchor + ": rank " + std::to_string(rank) +
           (thread > 0 ? " thread " + std::to_string(thread) : "") + ", event " +
           std::to_string(event) + " (" + what + ")";
  }
  /// Passes a record to the builder of calls, after pending ones of the LoopCache.
  template <typename Method, typename... Arguments>
  [[gnu::always_inline]] void record(uint64_t event, OTF2_TimeStamp time, Method method,
                                     Arguments... arguments) {
    if (loop_cache) loop_cache->interrupt();
    hand_on(event, time, method, arguments...);
  }
  /// Passes a record to the builder of calls.
  template <typename Method, typename... Arguments>
  [[gnu::always_inline]] void hand_on(uint64_t event, OTF2_TimeStamp time, Method method,
                                      Arguments... arguments) {
    calls->record(thread, event, ticks(time), method, arguments...);
  }
  /// For timed functions: the program enters a region.
  [[gnu::noinline]] void time_enter(uint64_t event, double now, OTF2_RegionRef region, bool mpi,
                                    uint32_t site = kNoPlace) {
    if (!mpi)
      functions->enter_function(function_of(region), now);
    else if (calls_open++ == 0)
      functions->stop(event, now, site,
                      site == kNoPlace ? kNoPlace : archive->index.call_sites[site].function,
                      region);
    const auto call = mpi ? archive->index.call_of_region.get(region) : std::nullopt;
    if (call && archive->definitions.calls[*call].finalize) functions->end_window();
  }
  [[gnu::noinline]] void time_leave(double now, OTF2_RegionRef region, bool mpi) {
    if (!mpi) return functions->leave_function(function_of(region), now);
    if (calls_open > 0 && --calls_open == 0) functions->go(now);
    const auto call = archive->index.call_of_region.get(region);
    if (call && archive->definitions.calls[*call].init) functions->begin_window();
  }
  /// For timed functions: the thread was found in this calling context.
  [[gnu::noinline]] void sample(OTF2_CallingContextRef context, double sample_ticks, double now) {
    const std::vector<CallSite>& sites = archive->index.call_sites;
    std::vector<CalledFunction> path;
    auto at = archive->index.number_of_context.get(context);
    for (uint32_t i = at.value_or(kNoPlace); i != kNoPlace; i = sites[i].caller) {
      if (sites[i].function != kNoPlace)
        path.push_back(function_of(archive->index.functions[sites[i].function].first));
    }
    std::reverse(path.begin(), path.end());
    functions->sample(path, sample_ticks, now);
  }
  FunctionClock::Function function_of(OTF2_RegionRef region) const {
    return {archive->index.chosen_functions.get(region).value_or(0),
            archive->index.number_of_function.get(region).value_or(0)};
  }
  /// A record of MPI outside of calls counts as a call.
  [[gnu::noinline]] void time_bare_record(uint64_t event, double now) {
    if (calls_open > 0) return;
    functions->stop(event, now);
    functions->go(now);
  }
  uint32_t comm(uint32_t ref, uint64_t event, const char* what) {
    if (ref == last_ref && last_peers) return last_comm;  // the usual case
    return another_comm(ref, event, what);
  }
  /// World rank of the `local`-th rank of the communicator last returned by comm(), seen from this
  /// rank.
  int32_t peer(uint32_t local, uint64_t event, const char* what) const {
    if (local < last_peers->size()) return (*last_peers)[local];
    return beyond(archive->definitions.comms[last_comm], local, event, what);
  }
  const Communicator& window(uint32_t index) const { return archive->definitions.comms[index]; }
  /// World rank of a member of a window.
  int32_t window_peer(uint32_t index, uint32_t local, uint64_t event, const char* what) const {
    const Communicator& members = window(index);
    if (local < members.members.size()) return members.members[local];
    return beyond(members, local, event, what);
  }

 private:
  [[gnu::noinline]] uint32_t another_comm(uint32_t ref, uint64_t event, const char* what) {
    const auto found = archive->index.comm_of_ref.get(ref);
    if (!found) {
      throw InputError(
          place(event, what) + ": communicator " + std::to_string(ref) +
          " is not defined, so its members are unknown; the archive cannot be replayed");
    }
    last_ref = ref;
    last_comm = *found;
    const Communicator& c = archive->definitions.comms[last_comm];
    const bool across = c.inter && c.local_rank(rank) >= 0;
    last_peers = across ? &archive->index.remote_group.at(last_comm) : &c.members;
    return last_comm;
  }
  /// A rank that a communicator does not have.
  [[gnu::noinline]] int32_t beyond(const Communicator& comm, uint32_t local, uint64_t event,
                                   const char* what) const {
    if (comm.self_like) return rank;
    throw InputError(place(event, what) + ": rank " + std::to_string(local) + " is not in " +
                     (comm.window ? "window" : "communicator") + " '" + comm.name + "' of " +
                     std::to_string(comm.size()) + " members");
  }

  uint32_t last_ref = kUndefined;
  uint32_t last_comm = 0;
  const MemberList* last_peers = nullptr;
};

/// The call of a region.
inline int32_t call_of(const EventLocation& location, OTF2_RegionRef region) {
  return location.archive->index.call_of_region.get(region).value_or(ArchiveIndex::kNotMpi);
}

}  // namespace rubato
