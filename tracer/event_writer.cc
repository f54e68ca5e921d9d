#include "tracer/event_writer.h"

#include "tracer/requests.h"

namespace rubato {
namespace {

/// Calls `visit(call id, enter, leave, reader)` for each call of a thread, in order.
template <class Visit>
void for_each_call(const ThreadLog& log, Visit visit) {
  for (const Segment* segment = log.first; segment != nullptr; segment = segment->next) {
    const uint64_t* const end = segment->next != nullptr ? segment->end : log.at;
    for (const uint64_t* at = segment->words(); at < end;) {
      const unsigned id = at[0] & 0x3ff;
      const uint64_t enter = (at[0] >> 10) + Recorder::zero();
      const uint64_t duration = record::duration(at[1]);
      const uint64_t* items = at + kHeadWords;
      const uint64_t* items_end = items + record::item_words(at[1]);
      uint64_t leave = enter + duration;
      if (duration == kMaxDuration) {  // the leave time stands in the last item
        leave = items_end[-1] + Recorder::zero();
        items_end -= 2;
      }
      at = items + record::item_words(at[1]);
      visit(id, enter, leave, record::Reader(items, items_end));
    }
  }
}

/// The state of writing one location.
class EventWriter {
 public:
  EventWriter(OTF2_EvtWriter* writer, uint32_t thread, const Definitions& definitions)
      : writer_(writer),
        thread_(thread),
        definitions_(definitions),
        attributes_(OTF2_AttributeList_New()) {}
  ~EventWriter() { OTF2_AttributeList_Delete(attributes_); }
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  bool good() const { return good_; }

  void call(unsigned id, uint64_t enter, uint64_t leave, record::Reader items) {
    enter_ = enter;
    leave_ = leave;
    put(OTF2_EvtWriter_Enter, nullptr, enter, definitions_.region[id]);
    // What belongs between a collective's begin and end makes it a collective call.
    collective_ = is_collective(items);
    if (collective_) put(OTF2_EvtWriter_MpiCollectiveBegin, nullptr, enter);
    while (!items.done() && good_) item(items);
    put(OTF2_EvtWriter_Leave, nullptr, leave, definitions_.region[id]);
  }

  /// What the tracer did between calls.
  void tracer_time(uint64_t begin, uint64_t end) {
    put(OTF2_EvtWriter_BufferFlush, nullptr, begin, end);
  }

  void begin(uint64_t time) {
    put(OTF2_EvtWriter_ProgramBegin, nullptr, time, kStringProgram, 0, nullptr);
  }
  void end(uint64_t time) { put(OTF2_EvtWriter_ProgramEnd, nullptr, time, OTF2_UNDEFINED_INT64); }
  void recording_off(uint64_t time) {
    put(OTF2_EvtWriter_MeasurementOnOff, nullptr, time, OTF2_MEASUREMENT_OFF);
  }

 private:
  /// Calls one of OTF2's writing functions, unless one has failed before.
  template <class Write, class... Arguments>
  void put(Write write, Arguments... arguments) {
    good_ = good_ && write(writer_, arguments...) == OTF2_SUCCESS && !otf2_failed;
  }

  static bool is_collective(record::Reader items) {
    if (items.done()) return false;
    const Item first = items.item();
    return first == Item::kCollective || first == Item::kCommCreate || first == Item::kCommDestroy;
  }

  uint64_t next_request() { return uint64_t{thread_} << 40 | ++posted_; }

  /// A communicator that could not be told apart over the ranks has no definition; what happened on
  /// it is left out.
  bool known(uint32_t local, uint32_t& global) const {
    global = local < definitions_.global_id.size() ? definitions_.global_id[local] : kNone;
    return global != kNone;
  }

  void ask_attributes(const Message& message, uint32_t comm) {
    OTF2_AttributeList_AddInt32(attributes_, kAttributeSource, message.peer);
    OTF2_AttributeList_AddInt32(attributes_, kAttributeTag, message.tag);
    OTF2_AttributeList_AddCommRef(attributes_, kAttributeComm, comm);
  }

  void item(record::Reader& items) {
    switch (const Item kind = items.item()) {
      case Item::kSend:
      case Item::kRecv:
      case Item::kIsend:
      case Item::kIrecvRequest:
      case Item::kIrecv:
      case Item::kIsendStart:
      case Item::kIrecvStart:
        message(kind, items);
        break;
      case Item::kIsendComplete:
        put(OTF2_EvtWriter_MpiIsendComplete, nullptr, leave_, items.value());
        break;
      case Item::kRequestCancelled:
        put(OTF2_EvtWriter_MpiRequestCancelled, nullptr, leave_, items.value());
        break;
      case Item::kCollective:
        collective(items);
        break;
      case Item::kCommCreate:
      case Item::kCommDestroy: {
        uint32_t comm;
        if (known(static_cast<uint32_t>(items.value()), comm)) {
          put(kind == Item::kCommCreate ? OTF2_EvtWriter_CommCreate : OTF2_EvtWriter_CommDestroy,
              nullptr, leave_, comm);
        }
        break;
      }
      case Item::kLeaveTime:
      case Item::kMessageLong:
      case Item::kReserved:
      case Item::kExtended:
        items.value();  // never met here
        break;
    }
  }

  void message(Item kind, record::Reader& items) {
    const Message m = items.message();
    uint64_t request = 0;
    auto mode = SendMode::kStandard;
    if (kind == Item::kIsend || kind == Item::kIrecvRequest) {
      request = next_request();
    } else if (kind == Item::kIrecv) {
      request = items.word();
    } else if (kind == Item::kIsendStart || kind == Item::kIrecvStart) {
      const uint64_t word = items.word();
      request = word & 0xffffffffffffff;
      mode = static_cast<SendMode>(word >> 56);
    }
    uint32_t comm;
    if (!known(m.communicator, comm)) return;
    const auto peer = static_cast<uint32_t>(m.peer);
    const auto tag = static_cast<uint32_t>(m.tag);
    switch (kind) {
      case Item::kSend:
        put(OTF2_EvtWriter_MpiSend, nullptr, enter_, peer, comm, tag, m.bytes);
        break;
      case Item::kRecv:
        put(OTF2_EvtWriter_MpiRecv, nullptr, leave_, peer, comm, tag, m.bytes);
        break;
      case Item::kIrecv:
        put(OTF2_EvtWriter_MpiIrecv, nullptr, leave_, peer, comm, tag, m.bytes, request);
        break;
      case Item::kIsend:
      case Item::kIsendStart:
        if (mode != SendMode::kStandard) {
          OTF2_AttributeList_AddUint8(attributes_, kAttributeMode, static_cast<uint8_t>(mode));
        }
        put(OTF2_EvtWriter_MpiIsend, attributes_, enter_, peer, comm, tag, m.bytes, request);
        break;
      default:
        ask_attributes(m, comm);
        put(OTF2_EvtWriter_MpiIrecvRequest, attributes_, enter_, request);
        break;
    }
  }

  void collective(record::Reader& items) {
    const uint64_t value = items.value();
    const uint64_t sent = items.word();
    const uint64_t received = items.word();
    uint32_t comm;
    // The begin is written: an end has to follow, if need be on the world.
    if (!known(value >> 8 & 0xfffff, comm)) comm = 0;
    put(OTF2_EvtWriter_MpiCollectiveEnd, nullptr, leave_,
        static_cast<OTF2_CollectiveOp>(value & 0xff), comm, static_cast<uint32_t>(value >> 28),
        sent, received);
  }

  OTF2_EvtWriter* writer_;
  uint32_t thread_;
  const Definitions& definitions_;
  OTF2_AttributeList* attributes_;
  uint64_t posted_ = 0;
  uint64_t enter_ = 0;
  uint64_t leave_ = 0;
  bool collective_ = false;
  bool good_ = true;
};

}  // namespace

void find_used_calls(const ThreadLog& log, std::vector<bool>& used) {
  for_each_call(log, [&](unsigned id, uint64_t, uint64_t, record::Reader) {
    if (id != kTracerTime) used[id] = true;
  });
}

LocationSummary write_events(const ThreadLog& log, OTF2_EvtWriter* writer, uint64_t location,
                             const Definitions& definitions, bool& good) {
  LocationSummary summary{location, 0, 0, 0};
  const bool master = log.number == 0;
  EventWriter events(writer, log.number, definitions);
  for_each_call(log, [&](unsigned id, uint64_t enter, uint64_t leave, record::Reader items) {
    if (!events.good()) return;
    if (summary.last == 0) {
      summary.first = enter;
      if (master) events.begin(enter);
    }
    if (id == kTracerTime) {
      events.tracer_time(enter, leave);
    } else {
      events.call(id, enter, leave, items);
    }
    summary.last = leave;
  });
  if (Recorder::full_at() > summary.last && summary.last != 0) {
    summary.last = Recorder::full_at();
    events.recording_off(summary.last);
  }
  if (master && summary.last != 0) events.end(summary.last);
  good = good && events.good();
  if (good) OTF2_EvtWriter_GetNumberOfEvents(writer, &summary.events);
  return summary;
}

}  // namespace rubato
