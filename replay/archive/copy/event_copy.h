#pragma once

// Passes the records of a location from libotf2's reader to its writer, at new times. libotf2 calls
// the callback of a record's kind with the same arguments that the writer's function for this kind
// takes. So each callback is an instance of one template, derived from the type of that function.

#include <otf2/otf2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>

#include "replay/archive/copy/archive_copy.h"
#include "replay/archive/copy/main_thread.h"

namespace rubato {

// Old archives contain deprecated records.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// Kinds of records; their order has no meaning.
// clang-format off
#define RUBATO_EVENTS(X) \
  X(MeasurementOnOff) X(Enter) X(Leave) X(MpiSend) X(MpiIsend) X(MpiIsendComplete) \
  X(MpiIrecvRequest) X(MpiRecv) X(MpiIrecv) X(MpiRequestTest) X(MpiRequestCancelled) \
  X(MpiCollectiveBegin) X(MpiCollectiveEnd) X(OmpFork) X(OmpJoin) X(OmpAcquireLock) \
  X(OmpReleaseLock) X(OmpTaskCreate) X(OmpTaskSwitch) X(OmpTaskComplete) X(Metric) \
  X(ParameterString) X(ParameterInt) X(ParameterUnsignedInt) X(RmaWinCreate) X(RmaWinDestroy) \
  X(RmaCollectiveBegin) X(RmaCollectiveEnd) X(RmaGroupSync) X(RmaRequestLock) X(RmaAcquireLock) \
  X(RmaTryLock) X(RmaReleaseLock) X(RmaSync) X(RmaWaitChange) X(RmaPut) X(RmaGet) X(RmaAtomic) \
  X(RmaOpCompleteBlocking) X(RmaOpCompleteNonBlocking) X(RmaOpTest) X(RmaOpCompleteRemote) \
  X(ThreadFork) X(ThreadJoin) X(ThreadTeamBegin) X(ThreadTeamEnd) X(ThreadAcquireLock) \
  X(ThreadReleaseLock) X(ThreadTaskCreate) X(ThreadTaskSwitch) X(ThreadTaskComplete) \
  X(ThreadCreate) X(ThreadBegin) X(ThreadWait) X(ThreadEnd) X(CallingContextEnter) \
  X(CallingContextLeave) X(CallingContextSample) X(IoCreateHandle) X(IoDestroyHandle) \
  X(IoDuplicateHandle) X(IoSeek) X(IoChangeStatusFlags) X(IoDeleteFile) X(IoOperationBegin) \
  X(IoOperationTest) X(IoOperationIssued) X(IoOperationComplete) X(IoOperationCancelled) \
  X(IoAcquireLock) X(IoReleaseLock) X(IoTryLock) X(ProgramBegin) X(ProgramEnd) \
  X(NonBlockingCollectiveRequest) X(NonBlockingCollectiveComplete) X(CommCreate) X(CommDestroy)
// clang-format on

/// The last times of all locations.
struct Ends {
  int64_t old_end = INT64_MIN;
  int64_t new_end = INT64_MIN;
};

/// A location while it is copied.
struct CopiedLocation {
  OTF2_EvtWriter* writer = nullptr;
  uint64_t global_offset = 0;
  Ends* ends = nullptr;
  const CopyOptions* options = nullptr;
  uint32_t stolen = UINT32_MAX, own_work = UINT32_MAX;  ///< references of these attributes
  double own_work_factor = 1;
  NewTimes* times = nullptr;                   ///< of a timeline
  std::optional<NewTime> coming;               ///< the next one of these
  MainThread* way = nullptr;                   ///< filled in for the locations that follow this one
  std::optional<MainThread::Follower> follow;  ///< of a location that follows
  int64_t last = INT64_MIN;
  uint64_t records = 0;
  uint64_t left_out = 0;  ///< of these
  bool has_none = false;  ///< there are fewer times than records
  bool unknown = false;   ///< records that libotf2 does not know
  OTF2_ErrorCode error = OTF2_SUCCESS;
  std::exception_ptr exception;

  int64_t ticks(OTF2_TimeStamp time) const { return static_cast<int64_t>(time - global_offset); }
  OTF2_TimeStamp stamp(int64_t ticks) const {
    return global_offset + static_cast<OTF2_TimeStamp>(ticks);
  }

  /// What calls lost, and their own work, as the options say.
  void change(OTF2_AttributeList* attributes) const {
    if (OTF2_AttributeList_GetNumberOfElements(attributes) == 0) return;
    if (options->without_stolen) OTF2_AttributeList_RemoveAttribute(attributes, stolen);
    uint64_t ticks = 0;
    if (own_work_factor == 1 ||
        OTF2_AttributeList_GetUint64(attributes, own_work, &ticks) != OTF2_SUCCESS)
      return;
    OTF2_AttributeList_RemoveAttribute(attributes, own_work);
    const auto changed = std::llround(static_cast<double>(ticks) * own_work_factor);
    OTF2_AttributeList_AddUint64(attributes, own_work, static_cast<uint64_t>(changed));
  }

  /// The new time of the next record.
  NewTime take(int64_t old_time) {
    NewTime moved{old_time, {}};
    if (times) {
      if (!coming) throw std::logic_error("too few times");
      moved = *coming;
      coming = times->next();
    } else if (follow) {
      moved.time = (*follow)(old_time);
    }
    moved.time = last = std::max(moved.time, last);
    if (way) way->add({old_time, moved.time});
    ends->old_end = std::max(ends->old_end, old_time);
    ends->new_end = std::max(ends->new_end, moved.time);
    ++records;
    return moved;
  }
};

/// Calls `write` with a location and the new time of its next record.
template <typename Write>
OTF2_CallbackCode copy_record(void* user, OTF2_TimeStamp time, Write write) {
  auto& location = *static_cast<CopiedLocation*>(user);
  try {
    const int64_t old_time = location.ticks(time);
    const NewTime moved = location.take(old_time);
    location.error = write(location, old_time, moved);
  } catch (...) {
    location.exception = std::current_exception();
    return OTF2_CALLBACK_INTERRUPT;
  }
  return location.error == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

/// The callback that passes a record to a function of the writer.
template <auto kWrite>
struct EventCopy;
template <typename... Rest,
          OTF2_ErrorCode (*kWrite)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, Rest...)>
struct EventCopy<kWrite> {
  static OTF2_CallbackCode on(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                              OTF2_AttributeList* attributes, Rest... rest) {
    return copy_record(user, time, [&](CopiedLocation& location, int64_t, const NewTime& moved) {
      location.change(attributes);
      return kWrite(location.writer, attributes, location.stamp(moved.time), rest...);
    });
  }
};

inline OTF2_CallbackCode on_flush(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                  OTF2_AttributeList* attributes, OTF2_TimeStamp stop) {
  return copy_record(user, time, [&](CopiedLocation& location, int64_t old_time, NewTime moved) {
    if (location.options->without_flushes) {
      ++location.left_out;
      return OTF2_SUCCESS;
    }
    if (!moved.stop) {
      // In a call, or of another location: it keeps its length as far as possible.
      const int64_t length = location.ticks(stop) - old_time;
      moved.stop = moved.time + length;
      if (moved.time != old_time && location.coming)
        moved.stop =
            std::clamp(*moved.stop, moved.time, std::max(moved.time, location.coming->time));
    }
    location.change(attributes);
    return OTF2_EvtWriter_BufferFlush(location.writer, attributes, location.stamp(moved.time),
                                      location.stamp(*moved.stop));
  });
}

inline OTF2_CallbackCode on_unknown_event(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void* user,
                                          OTF2_AttributeList*) {
  static_cast<CopiedLocation*>(user)->unknown = true;
  return OTF2_CALLBACK_INTERRUPT;
}

#pragma GCC diagnostic pop

}  // namespace rubato
