#pragma once

// Helpers of callbacks for records.

#include "replay/archive/event_location.h"

// Parameters that every callback has: location, time, event number, user data, attributes.
#define RUBATO_RECORD                                                \
  OTF2_LocationRef, OTF2_TimeStamp time, uint64_t event, void *user, \
      [[maybe_unused]] OTF2_AttributeList *attributes

namespace rubato {

/// Runs `body` on the location behind `user`; stores an exception, which must not cross libotf2.
template <typename Location = EventLocation, typename Body>
OTF2_CallbackCode guarded(void* user, Body body) {
  auto& location = *static_cast<Location*>(user);
  try {
    body(location);
    return OTF2_CALLBACK_SUCCESS;
  } catch (...) {
    location.error = std::current_exception();
    return OTF2_CALLBACK_INTERRUPT;
  }
}

/// Sets the callbacks for records of one-sided communication (rma_callbacks.cc).
void set_rma_callbacks(OTF2_EvtReaderCallbacks* callbacks);

/// Sets the callbacks for EventLocation::kernels, alone (kernel_clock.cc).
void set_kernel_callbacks(OTF2_EvtReaderCallbacks* callbacks);

}  // namespace rubato
