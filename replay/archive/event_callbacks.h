#pragma once

#include <otf2/otf2.h>

#include "replay/archive/event_location.h"

namespace rubato {

/// Translates a frequent record and passes it to the builder of its location. Errors: InputError
/// for a reference that is not defined.
void give(EventLocation& l, const PlainRecord& record, uint64_t event, OTF2_TimeStamp time,
          uint64_t request);

/// Callbacks for all records, or for the kernels of GPU streams only.
class EventCallbacks {
 public:
  explicit EventCallbacks(const ArchiveIndex& index);
  /// `set`: sets other callbacks.
  explicit EventCallbacks(void (*set)(OTF2_EvtReaderCallbacks*))
      : callbacks_(OTF2_EvtReaderCallbacks_New()) {
    set(callbacks_);
  }
  ~EventCallbacks() { OTF2_EvtReaderCallbacks_Delete(callbacks_); }
  EventCallbacks(const EventCallbacks&) = delete;
  EventCallbacks& operator=(const EventCallbacks&) = delete;

  OTF2_EvtReaderCallbacks* get() const { return callbacks_; }

 private:
  template <bool kAttributes>
  void set_those_with_attributes();
  void set_others();

  OTF2_EvtReaderCallbacks* callbacks_;
};

}  // namespace rubato
