#include "tracer/archive/event_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tracer/archive/open_functions.h"
#include "tracer/counters/kernel_events.h"
#include "tracer/layout/send_mode.h"

namespace rubato {
inline namespace tracing {
namespace {

/// The state of writing one location.
class EventWriter {
 public:
  EventWriter(OTF2_EvtWriter* writer, uint64_t location, const Translation& translation)
      : writer_(writer),
        thread_(static_cast<uint32_t>(location >> 32)),
        contexts_(contexts_of(translation, thread_)),
        contingent_(translation.first_contingent + static_cast<uint32_t>(location)),
        translation_(translation),
        attributes_(OTF2_AttributeList_New()) {}
  ~EventWriter() { OTF2_AttributeList_Delete(attributes_); }
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  bool good() const { return good_; }

  void call(unsigned id, uint64_t enter, uint64_t leave, uint64_t call_site, record::Reader items) {
    enter_ = enter;
    leave_ = leave;
    const bool counted = find_counters(items);
    if (counted) metric(enter, &Counted::outside);
    add_stolen(std::exchange(stolen_, 0));
    add_neighbours(items);
    if (call_site != 0) add_call_site(call_site);
    add_parts_request(items);
    add_probed(items);
    put(OTF2_EvtWriter_Enter, attributes_, enter, translation_.region[id]);
    begun_ = std::max(enter, std::min(asked_.second, leave));
    put_asked(leave);
    parts(items);
    // Items that belong between the begin and end of a collective make it a collective call.
    collective_ = is_collective(items);
    if (collective_) put(OTF2_EvtWriter_MpiCollectiveBegin, nullptr, enter);
    if (!items.done() && items.item() == Item::kRmaCollectiveBegin) {
      put(OTF2_EvtWriter_RmaCollectiveBegin, nullptr, enter);
    }
    while (!items.done() && good_) item(items);
    if (counted) metric(leave, &Counted::inside);
    const uint64_t inside = std::exchange(stolen_, 0);
    add_stolen(inside);
    const uint64_t own = std::exchange(own_work_, 0);
    if (own != 0) add_own_work(own);
    put(OTF2_EvtWriter_Leave, (inside | own) != 0 ? attributes_ : nullptr, leave,
        translation_.region[id]);
  }

  /// What was counted before the function that is entered or left next.
  void counters(record::Reader words) {
    for (size_t i = 0; i < translation_.counters; ++i) totals_[i] += words.word();
    due_ = true;
  }
  /// A call that is not written: what was counted before it counts for the next record.
  void leave_out(const record::Record& r) {
    if (!find_counters(r.items)) return;
    for (size_t i = 0; i < translation_.counters; ++i) totals_[i] += counted_[i].outside;
  }

  /// Time stolen before the next record. If that is a call that begins at the time of the mark, the
  /// time of the read is inside this call, and the gap before it ends at its Enter.
  void stolen(uint64_t time, record::Reader words) {
    stolen_ += words.word();
    asked_ = {time, time + words.word()};
  }
  /// Called before any other record.
  void before_other(unsigned id, uint64_t enter) {
    if (id >= kFirstMark || enter != asked_.first) put_asked(enter);
  }

  /// A function's mark; it may also end other functions, see OpenFunctions.
  void function(unsigned id, uint64_t word, uint64_t time) {
    const auto close = [&](uint32_t region) { close_function(region, time); };
    const uint64_t address = function_address(word);
    if (id == kMarkFunctionLeave) {
      functions_.leave(address, function_depth(word), close);
      return;
    }
    const auto place = translation_.function.find(address);
    const uint32_t region = place == translation_.function.end() ? kNone : place->second;
    functions_.enter(address, function_depth(word), region, close);
    if (region == kNone) return;
    metric_if_due(time);
    put(OTF2_EvtWriter_Enter, nullptr, time, region);
  }
  bool inside_function() const { return !functions_.empty(); }
  void close_functions(uint64_t time) {
    functions_.close_all([&](uint32_t region) { close_function(region, time); });
  }

  /// The mark of a thread that the program created.
  void thread(unsigned id, uint64_t number, uint64_t time) {
    put(id == kMarkThreadBegin ? OTF2_EvtWriter_ThreadBegin : OTF2_EvtWriter_ThreadEnd, nullptr,
        time, contingent_, number);
  }

  void sample(uint64_t word, uint64_t time) {
    const uint32_t context = context_of(word & UINT32_MAX);
    if (context == kNone) return;
    const uint64_t periods = word >> 32;
    if (periods > 1) OTF2_AttributeList_AddUint64(attributes_, kAttributePeriods, periods);
    put(OTF2_EvtWriter_CallingContextSample, attributes_, time, context, unwound(context),
        kSampleTimer);
    sampled_ = context;
  }

  uint64_t damaged() const { return damaged_; }
  uint64_t backwards() const { return backwards_; }

  void begin(uint64_t time) {
    put(OTF2_EvtWriter_ProgramBegin, nullptr, time, kStringProgram, 0, nullptr);
  }
  void end(uint64_t time) { put(OTF2_EvtWriter_ProgramEnd, nullptr, time, OTF2_UNDEFINED_INT64); }
  void switched(uint64_t time, bool on) {
    put(OTF2_EvtWriter_MeasurementOnOff, nullptr, time,
        on ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF);
  }
  void tracer_time(uint64_t begin, uint64_t end) {
    put(OTF2_EvtWriter_BufferFlush, nullptr, begin, end);
  }

 private:
  /// OTF2's unwind distance: of how many functions of the path it is not known that they were open
  /// without a break since the previous sample.
  uint32_t unwound(uint32_t context) const {
    std::vector<uint32_t> before;  // parents have smaller numbers: in descending order
    for (uint32_t i = sampled_; i != kNone; i = translation_.contexts[i].parent)
      before.push_back(i);
    uint32_t distance = 1;
    auto open = before.begin();
    for (uint32_t i = context; i != kNone; i = translation_.contexts[i].parent, ++distance) {
      while (open != before.end() && *open > i) ++open;
      if (open != before.end() && *open == i) break;
    }
    return distance;
  }

  /// Calls an OTF2 writing function, unless one has failed before. OTF2 refuses a time before the
  /// last one, which a damaged record may have.
  template <class Write, class... Arguments>
  void put(Write write, OTF2_AttributeList* attributes, uint64_t time, Arguments... arguments) {
    if (time < latest_) ++backwards_;
    latest_ = std::max(latest_, time);
    good_ =
        good_ && write(writer_, attributes, latest_, arguments...) == OTF2_SUCCESS && !otf2_failed;
  }

  /// A function that the filter leaves out has no region.
  void close_function(uint32_t region, uint64_t time) {
    if (region == kNone) return;
    metric_if_due(time);
    put(OTF2_EvtWriter_Leave, nullptr, time, region);
  }

  /// What one counter counted before a call, and inside it.
  struct Counted {
    uint64_t outside = 0;
    uint64_t inside = 0;
  };

  /// Sets counted_; false for a call without counters.
  bool find_counters(record::Reader items) {
    if (translation_.counters == 0) return false;
    while (!items.done() && items.item() != Item::kCounters) items.pass();
    if (items.done()) return false;
    const CountersHead head = CountersHead::of(items.value());
    if (head.counters != translation_.counters) return false;  // a damaged record
    for (size_t i = 0; i < head.counters; ++i) {
      const uint64_t first = items.word();
      counted_[i] =
          head.is_long ? Counted{first, items.word()} : Counted{first & 0xffffffff, first >> 32};
    }
    return true;
  }

  /// Adds this part of counted_ to the totals, and writes them.
  void metric(uint64_t time, uint64_t Counted::*part) {
    for (size_t i = 0; i < translation_.counters; ++i) totals_[i] += counted_[i].*part;
    due_ = true;
    metric_if_due(time);
  }
  void metric_if_due(uint64_t time) {
    if (!std::exchange(due_, false)) return;
    OTF2_MetricValue values[kMaxCounters];
    OTF2_Type types[kMaxCounters];
    for (size_t i = 0; i < translation_.counters; ++i) {
      values[i].unsigned_int = totals_[i];
      types[i] = OTF2_TYPE_UINT64;
    }
    put(OTF2_EvtWriter_Metric, nullptr, time, kMetricClass,
        static_cast<uint8_t>(translation_.counters), static_cast<const OTF2_Type*>(types),
        static_cast<const OTF2_MetricValue*>(values));
  }

  void add_stolen(uint64_t nanoseconds) {
    if (nanoseconds != 0) OTF2_AttributeList_AddUint64(attributes_, kAttributeStolen, nanoseconds);
  }

  void add_own_work(uint64_t ticks) {
    OTF2_AttributeList_AddUint64(attributes_, kAttributeOwnWork, ticks);
    const auto callback = translation_.callback.find(callback_);
    if (callback == translation_.callback.end()) return;
    OTF2_AttributeList_AddUint32(attributes_, kAttributeCallback, callback->second);
  }

  /// Writes the time stolen before, unless a call's Enter did. It ends by `limit`, even in a
  /// damaged record.
  void put_asked(uint64_t limit) {
    const auto [begin, said] = std::exchange(asked_, {0, 0});
    const uint64_t end = std::max(begin, std::min(said, limit));
    const uint64_t before = std::exchange(stolen_, 0);
    if (end == begin && before == 0) return;
    add_stolen(before);
    put(OTF2_EvtWriter_BufferFlush, before != 0 ? attributes_ : nullptr, begin, end);
  }

  void add_call_site(uint64_t address) {
    if (translation_.call_paths) return add_call_path(address);
    const auto place = translation_.call_site.find(address);
    if (place == translation_.call_site.end()) return;
    OTF2_AttributeList_AddSourceCodeLocationRef(attributes_, kAttributeCallSite, place->second);
  }

  void add_call_path(uint64_t number) {
    const uint32_t context = context_of(number);
    if (context == kNone) return;
    OTF2_AttributeList_AddCallingContextRef(attributes_, kAttributeCallPath, context);
    const uint32_t site = translation_.contexts[context].call_site;
    if (site == kNone) return;
    OTF2_AttributeList_AddSourceCodeLocationRef(attributes_, kAttributeCallSite, site);
  }

  static const std::vector<uint32_t>& contexts_of(const Translation& translation, uint32_t thread) {
    static const std::vector<uint32_t> none;
    const auto found = translation.context.find(thread);
    return found == translation.context.end() ? none : found->second;
  }
  /// kNone for a path that is not known, in a damaged record.
  uint32_t context_of(uint64_t number) const {
    return number < contexts_.size() ? contexts_[number] : kNone;
  }

  /// Which request the parts are of, if the call does not start it.
  void add_parts_request(record::Reader items) {
    if (items.done() || items.item() != Item::kParts) return;
    if (!PartsHead::of(items.value()).has_request) return;
    OTF2_AttributeList_AddUint64(attributes_, kAttributeRequest, items.word());
  }

  /// The arguments and the result of a probe.
  void add_probed(record::Reader items) {
    if (items.done() || items.item() != Item::kProbed) return;
    const uint64_t value = items.value();
    const uint64_t found = items.word();
    uint32_t comm;
    if (!known(static_cast<uint32_t>(value), comm)) return;
    OTF2_AttributeList_AddCommRef(attributes_, kAttributeOwnComm, comm);
    add_any_of(static_cast<unsigned>(value >> 32));
    OTF2_AttributeList_AddInt32(attributes_, kAttributeFoundSource,
                                static_cast<int32_t>(found >> 32));
    OTF2_AttributeList_AddInt32(attributes_, kAttributeFoundTag, static_cast<int32_t>(found));
  }

  void add_any_of(unsigned any) {
    if (any & kOfAnySource) OTF2_AttributeList_AddInt32(attributes_, kAttributeSource, -1);
    if (any & kOfAnyTag) OTF2_AttributeList_AddInt32(attributes_, kAttributeTag, -1);
  }

  /// Takes the parts off the items.
  void parts(record::Reader& items) {
    if (items.done() || items.item() != Item::kParts) return;
    const PartsHead head = PartsHead::of(items.value());
    if (head.has_request) items.word();
    for (size_t i = 0; i < head.runs && !items.done(); ++i) {
      const PartRun run = PartRun::of(items.word());
      if (run.peers > 1) {
        OTF2_AttributeList_AddUint32(attributes_, kAttributePartPeers,
                                     static_cast<uint32_t>(run.peers));
      }
      put(OTF2_EvtWriter_ParameterUnsignedInt, attributes_, enter_, kParameterPart, run.bytes);
    }
  }

  static bool is_collective(record::Reader items) {
    if (items.done()) return false;
    const Item first = items.item();
    return first == Item::kCollective || first == Item::kSmallCollective ||
           first == Item::kTinyCollective || first == Item::kCommCreate ||
           first == Item::kCommDestroy;
  }

  uint64_t next_request() { return uint64_t{thread_} << 40 | ++posted_; }

  /// False for a communicator without a definition (the ranks could not identify it); its records
  /// are left out.
  bool known(uint32_t local, uint32_t& global) const {
    global = local < translation_.global_id.size() ? translation_.global_id[local] : kNone;
    return global != kNone;
  }

  /// False for an invalid rank, in a damaged record, which is left out.
  bool sound(const std::vector<uint32_t>& peers, uint32_t local, uint32_t peer) {
    if (local >= peers.size() || peers[local] == kNone || peer < peers[local]) return true;
    ++damaged_;
    return false;
  }

  /// False for an invalid collective, or one whose root is no rank of its communicator. True if the
  /// journals do not describe the communicator.
  bool sound_collective(uint64_t operation, uint32_t local, uint32_t root) {
    if (operation > OTF2_COLLECTIVE_OP_DESTROY_HANDLE) {
      ++damaged_;
      return false;
    }
    uint32_t comm;
    if (!names_root(operation, root) || !known(local, comm)) return true;
    return sound(translation_.peers, local, root);
  }
  /// Takes kCollectiveInPlace off the operation; true when it was there.
  static bool take_in_place(unsigned& operation) {
    const bool in_place = (operation & kCollectiveInPlace) != 0;
    operation &= ~kCollectiveInPlace;
    return in_place;
  }
  void add_in_place(bool in_place) {
    if (in_place) OTF2_AttributeList_AddUint8(attributes_, kAttributeInPlace, 1);
  }
  /// True for an operation with a root that is a rank.
  static bool names_root(uint64_t operation, uint32_t root) {
    const bool is_rooted =
        operation == OTF2_COLLECTIVE_OP_BCAST || operation == OTF2_COLLECTIVE_OP_REDUCE ||
        operation == OTF2_COLLECTIVE_OP_GATHER || operation == OTF2_COLLECTIVE_OP_GATHERV ||
        operation == OTF2_COLLECTIVE_OP_SCATTER || operation == OTF2_COLLECTIVE_OP_SCATTERV;
    const bool in_words =
        root == OTF2_COLLECTIVE_ROOT_SELF || root == OTF2_COLLECTIVE_ROOT_THIS_GROUP;
    return is_rooted && !in_words;
  }

  void add_mode(SendMode mode) {
    if (mode == SendMode::kStandard) return;
    OTF2_AttributeList_AddUint8(attributes_, kAttributeMode, static_cast<uint8_t>(mode));
  }

  void ask_attributes(const Message& message, uint32_t comm) {
    OTF2_AttributeList_AddInt32(attributes_, kAttributeSource, message.peer);
    OTF2_AttributeList_AddInt32(attributes_, kAttributeTag, message.tag);
    OTF2_AttributeList_AddCommRef(attributes_, kAttributeComm, comm);
    add_posted_bytes(message.bytes);
  }

  void add_posted_bytes(uint64_t bytes) {
    OTF2_AttributeList_AddUint64(attributes_, kAttributePostedBytes, bytes);
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
      case Item::kSmallCollective:
      case Item::kTinyCollective:
        collective(items);
        break;
      case Item::kCommCreate:
      case Item::kCommDestroy:
        communicator(kind, items);
        break;
      case Item::kCollectiveRequest: {
        const uint64_t request = next_request();  // counted also where it is not written
        collective_request(static_cast<uint32_t>(items.value()), request);
        break;
      }
      case Item::kCollectiveStart: {
        const uint64_t request = items.value();
        const uint64_t what = items.word();
        collective_request(static_cast<uint32_t>(what), request, static_cast<uint32_t>(what >> 32));
        break;
      }
      case Item::kRmaCollective:
      case Item::kWinCreate:
      case Item::kWinDestroy:
      case Item::kRmaOperation:
      case Item::kRmaComplete:
      case Item::kRmaLock:
      case Item::kRmaUnlock:
      case Item::kRmaGroupSync:
        one_sided(kind, items);
        break;
      case Item::kNeighbours:
      case Item::kNeighboursPosted:  // written when the call was entered
        if (kind == Item::kNeighboursPosted) next_request();
        items.value();
        for (int i = 0; i < 3; ++i) items.word();
        break;
      case Item::kRequestStart:
        put(OTF2_EvtWriter_ParameterUnsignedInt, nullptr, enter_, kParameterStart, items.value());
        break;
      case Item::kRequestEnd:
        put(OTF2_EvtWriter_ParameterUnsignedInt, nullptr, leave_, kParameterEnd, items.value());
        break;
      case Item::kRequestReady:
        put(OTF2_EvtWriter_ParameterUnsignedInt, nullptr, enter_, kParameterReady, items.value());
        break;
      case Item::kProbed:  // written when the call was entered
        items.value();
        items.word();
        break;
      case Item::kRmaCollectiveBegin:  // likewise
        items.value();
        break;
      case Item::kCollectiveComplete:
        collective_complete(items);
        break;
      case Item::kStolen:
        stolen_ = items.value();
        break;
      case Item::kOwnWork:
        callback_ = items.value();
        own_work_ = items.word();
        break;
      case Item::kThreadCreate:
        // For readers not part of an MPI call, so it must not lie inside the flush before it.
        put(OTF2_EvtWriter_ThreadCreate, nullptr, begun_, contingent_, items.value());
        break;
      case Item::kCounters:  // written when the call was entered and left
        items.pass();
        break;
      case Item::kThreadWait:
        put(OTF2_EvtWriter_ThreadWait, nullptr, leave_, contingent_, items.value());
        break;
      case Item::kParts:
      case Item::kAsked:
      case Item::kBlock:
      case Item::kCallSite:
      case Item::kLeaveTime:
      case Item::kMessageLong:
      case Item::kExtended:
      default:  // a damaged record
        items.value();
        break;
    }
  }

  /// The arguments of the receive whose record precedes this item; false if it got what it asked
  /// for.
  static bool take_asked(record::Reader& items, Asked& asked) {
    if (items.done() || items.item() != Item::kAsked) return false;
    asked = Asked::of(items.value());
    return true;
  }

  /// Message::block of the message whose record precedes this item; else 0.
  static uint64_t take_block(record::Reader& items) {
    return items.done() || items.item() != Item::kBlock ? 0 : items.value();
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
    const uint64_t block = take_block(items);
    Asked asked{};
    const bool more = kind == Item::kRecv && take_asked(items, asked);
    uint32_t comm;
    if (!known(m.communicator, comm)) return;
    const bool asks = kind == Item::kIrecvRequest || kind == Item::kIrecvStart;  // of any, maybe
    if (!asks && !sound(translation_.peers, m.communicator, static_cast<uint32_t>(m.peer))) return;
    add_any_of(asked.any);
    if (more && asked.posted != m.bytes) add_posted_bytes(asked.posted);
    if (block != 0) OTF2_AttributeList_AddUint64(attributes_, kAttributeBlock, block);
    OTF2_AttributeList* const added = more || block != 0 ? attributes_ : nullptr;
    const auto peer = static_cast<uint32_t>(m.peer);
    const auto tag = static_cast<uint32_t>(m.tag);
    switch (kind) {
      case Item::kSend:
        put(OTF2_EvtWriter_MpiSend, added, enter_, peer, comm, tag, m.bytes);
        break;
      case Item::kRecv:
        put(OTF2_EvtWriter_MpiRecv, added, leave_, peer, comm, tag, m.bytes);
        break;
      case Item::kIrecv:
        put(OTF2_EvtWriter_MpiIrecv, added, leave_, peer, comm, tag, m.bytes, request);
        break;
      case Item::kIsend:
      case Item::kIsendStart:
        add_mode(mode);
        put(OTF2_EvtWriter_MpiIsend, attributes_, enter_, peer, comm, tag, m.bytes, request);
        break;
      default:
        add_mode(mode);
        ask_attributes(m, comm);
        put(OTF2_EvtWriter_MpiIrecvRequest, attributes_, enter_, request);
        break;
    }
  }

  void collective(record::Reader& items) {
    CollectiveItem what = items.collective();
    uint32_t comm;
    const bool in_place = take_in_place(what.op);
    if (!sound_collective(what.op, what.communicator, what.root)) return;
    // The begin is written, so an end must follow: on the world, with a valid root, if there is no
    // other.
    if (!known(what.communicator, comm)) {
      comm = 0;
      if (names_root(what.op, what.root)) what.root = 0;
    }
    if (comm >= translation_.first_contingent) return;  // damaged journals: there is no world
    add_in_place(in_place);
    put(OTF2_EvtWriter_MpiCollectiveEnd, in_place ? attributes_ : nullptr, leave_,
        static_cast<OTF2_CollectiveOp>(what.op), comm, what.root, what.sent, what.received);
  }

  /// The attributes of a collective among neighbours on its Enter record.
  void add_neighbours(record::Reader items) {
    if (items.done()) return;
    const Item kind = items.item();
    if (kind != Item::kNeighbours && kind != Item::kNeighboursPosted) return;
    uint32_t comm;
    if (!known(static_cast<uint32_t>(items.value()), comm)) return;
    OTF2_AttributeList_AddCommRef(attributes_, kAttributeOwnComm, comm);
    OTF2_AttributeList_AddUint64(attributes_, kAttributeSent, items.word());
    OTF2_AttributeList_AddUint64(attributes_, kAttributeReceived, items.word());
    const uint64_t request = items.word();
    if (request != 0) OTF2_AttributeList_AddUint64(attributes_, kAttributeRequest, request);
  }

  void communicator(Item kind, record::Reader& items) {
    uint32_t comm;
    if (known(static_cast<uint32_t>(items.value()), comm)) {
      put(kind == Item::kCommCreate ? OTF2_EvtWriter_CommCreate : OTF2_EvtWriter_CommDestroy,
          nullptr, leave_, comm);
    }
  }

  /// `init_order` 0: not of a persistent collective.
  void collective_request(uint32_t local, uint64_t request, uint32_t init_order = 0) {
    uint32_t comm;
    if (!known(local, comm)) return;
    OTF2_AttributeList_AddCommRef(attributes_, kAttributeComm, comm);
    if (init_order > 0) OTF2_AttributeList_AddUint32(attributes_, kAttributeInitOrder, init_order);
    put(OTF2_EvtWriter_NonBlockingCollectiveRequest, attributes_, enter_, request);
  }

  void collective_complete(record::Reader& items) {
    const uint64_t request = items.value();
    const uint64_t word = items.word();
    const uint64_t sent = items.word();
    CollectiveItem what = CollectiveItem::of(word, sent, items.word());
    if (!items.done() && items.item() == Item::kCommCreate) communicator(Item::kCommCreate, items);
    uint32_t comm;
    const bool in_place = take_in_place(what.op);
    if (!known(what.communicator, comm) || !sound_collective(what.op, what.communicator, what.root))
      return;
    add_in_place(in_place);
    put(OTF2_EvtWriter_NonBlockingCollectiveComplete, in_place ? attributes_ : nullptr, leave_,
        static_cast<OTF2_CollectiveOp>(what.op), comm, what.root, what.sent, what.received,
        request);
  }

  void one_sided(Item kind, record::Reader& items) {
    const uint64_t value = items.value();
    const auto local = static_cast<uint32_t>(value & 0xfffff);
    const auto more = static_cast<unsigned>(value >> 20);
    uint32_t win = kNone;
    if (local < translation_.global_window.size()) win = translation_.global_window[local];
    switch (kind) {
      case Item::kWinCreate:
        put(OTF2_EvtWriter_RmaWinCreate, nullptr, leave_, win);
        break;
      case Item::kWinDestroy:
        put(OTF2_EvtWriter_RmaWinDestroy, nullptr, leave_, win);
        break;
      case Item::kRmaCollective:
        put(OTF2_EvtWriter_RmaCollectiveEnd, nullptr, leave_,
            static_cast<OTF2_CollectiveOp>(more >> 4), more & 15, win, OTF2_COLLECTIVE_ROOT_NONE, 0,
            0);
        break;
      case Item::kRmaOperation:
        operation(local, win, more, items);
        break;
      case Item::kRmaComplete: {
        const uint64_t matching = items.word();
        if ((more & 1) != 0) {
          put(OTF2_EvtWriter_RmaOpCompleteNonBlocking, nullptr, leave_, win, matching);
        }
        if ((more & 2) != 0)
          put(OTF2_EvtWriter_RmaOpCompleteRemote, nullptr, leave_, win, matching);
        break;
      }
      case Item::kRmaLock: {
        const auto target = static_cast<uint32_t>(items.word());
        if (target != kNone && !sound(translation_.window_peers, local, target)) break;
        put(OTF2_EvtWriter_RmaRequestLock, nullptr, enter_, win, target, 0,
            static_cast<OTF2_LockType>(more));
        break;
      }
      case Item::kRmaUnlock: {
        const auto target = static_cast<uint32_t>(items.word());
        if (target != kNone && !sound(translation_.window_peers, local, target)) break;
        put(OTF2_EvtWriter_RmaReleaseLock, nullptr, leave_, win, target, 0);
        break;
      }
      default: {
        const uint64_t group = items.word();
        if (group >= translation_.global_group.size()) break;
        put(OTF2_EvtWriter_RmaGroupSync, nullptr, leave_, more, win,
            translation_.global_group[group]);
        break;
      }
    }
  }

  void operation(uint32_t local, uint32_t win, unsigned how, record::Reader& items) {
    const auto target = static_cast<uint32_t>(items.word());
    const uint64_t sent = items.word();
    const uint64_t received = items.word();
    const uint64_t matching = items.word();
    if (!sound(translation_.window_peers, local, target)) return;
    if (how >= kRmaAtomic) {
      put(OTF2_EvtWriter_RmaAtomic, nullptr, enter_, win, target,
          static_cast<OTF2_RmaAtomicType>(how - kRmaAtomic), sent, received, matching);
    } else {
      put(how == kRmaPut ? OTF2_EvtWriter_RmaPut : OTF2_EvtWriter_RmaGet, nullptr, enter_, win,
          target, sent, matching);
    }
  }

  OTF2_EvtWriter* writer_;
  uint32_t thread_;
  const std::vector<uint32_t>& contexts_;  ///< by number of the path
  uint32_t contingent_;                    ///< of the process
  const Translation& translation_;
  uint64_t backwards_ = 0;
  uint64_t damaged_ = 0;
  OTF2_AttributeList* attributes_;
  OpenFunctions functions_;
  std::array<uint64_t, kMaxCounters> totals_{};  ///< of the counters, from the start of the run
  std::array<Counted, kMaxCounters> counted_;    ///< of the present call
  bool due_ = false;                             ///< totals_ differ from the last METRIC record
  uint32_t sampled_ = kNone;                     ///< calling context of the last sample
  uint64_t posted_ = 0;
  uint64_t stolen_ = 0;                        ///< nanoseconds, before the next record or Leave
  uint64_t own_work_ = 0;                      ///< ticks, inside the call
  uint64_t callback_ = 0;                      ///< callback_word() of the longest part of it
  std::pair<uint64_t, uint64_t> asked_{0, 0};  ///< when the kernel was asked for that
  uint64_t latest_ = 0;                        ///< time on record
  uint64_t enter_ = 0;
  uint64_t begun_ = 0;  ///< enter_, or when the kernel had answered behind it
  uint64_t leave_ = 0;
  bool collective_ = false;
  bool good_ = true;
};

/// The thread that a call of pthreads created or waited for; 0 for any other call.
uint64_t thread_of(const record::Record& r) {
  record::Reader items = r.items;
  if (r.id >= kFirstMark || items.done()) return 0;
  const Item first = items.item();
  return first == Item::kThreadCreate || first == Item::kThreadWait ? items.value() : 0;
}

}  // namespace

void Used::leave_out_unknown_threads() {
  for (const auto& [id, numbers] : named_threads) {
    const bool any = std::any_of(numbers.begin(), numbers.end(),
                                 [this](uint64_t number) { return threads.contains(number); });
    if (any) calls[id] = true;
  }
}

namespace {

/// Notes a new node of the thread's call paths.
void add_path(const record::Record& r, std::vector<PathNode>& nodes) {
  constexpr uint64_t kMostNodes = uint64_t{1} << 21;
  record::Reader words = r.items;
  const uint64_t numbers = words.word();
  const uint64_t number = numbers >> 32;
  const auto parent = static_cast<uint32_t>(numbers);
  if (number == 0 || number >= kMostNodes || parent >= number) return;  // a damaged record
  if (nodes.size() <= number) nodes.resize(number + 1);
  const uint64_t address = words.word();
  nodes[number] = {parent, address, words.word()};
}

/// Notes the callback that a call names.
void add_callback(record::Reader items, std::unordered_set<uint64_t>& callbacks) {
  while (!items.done() && items.item() != Item::kOwnWork) items.pass();
  if (!items.done()) callbacks.insert(items.value());
}

}  // namespace

ThreadSummary summarise(const ThreadRecords& records, uint64_t zero, Used& used) {
  ThreadSummary summary;
  summary.read = records.for_each(zero, [&](const record::Record& r) {
    if (r.id == kMarkPath) return add_path(r, used.paths[records.thread()]);
    if (summary.first == 0) summary.first = r.enter;
    summary.last = std::max(summary.last, r.leave);
    // A function that was only left was entered while nothing was recorded.
    if (r.id == kMarkFunctionEnter) used.functions.insert(function_address(r.word));
    if (r.id == kMarkThreadBegin) used.threads.insert(r.word);
    if (r.id >= kFirstMark) return;
    if (r.id >= used.calls.size()) return;  // a damaged record
    if (const uint64_t thread = thread_of(r); thread != 0) {
      used.named_threads[r.id].insert(thread);
    } else {
      used.calls[r.id] = true;
    }
    if (r.call_site != 0 && !used.call_paths) used.call_sites.insert(r.call_site);
    add_callback(r.items, used.callbacks);
    if (!r.left) summary.open_call = static_cast<int>(r.id);
  });
  return summary;
}

LocationSummary write_events(const ThreadRecords& records, uint64_t zero, const OpenEnds& ends,
                             OTF2_EvtWriter* writer, uint64_t location,
                             const Translation& translation, bool& good) {
  LocationSummary summary;
  summary.location = location;
  const bool master = records.thread() == 0;
  EventWriter events(writer, location, translation);
  const bool read = records.for_each(zero, [&](const record::Record& r) {
    if (!events.good() || r.id == kMarkPath) return;
    const uint64_t thread = thread_of(r);
    if (thread != 0 && !translation.threads.contains(thread)) return events.leave_out(r);
    // A switch may have been made while this thread was inside a call.
    const uint64_t enter = std::max(r.enter, summary.last);
    if (summary.last == 0) {
      summary.first = master ? std::min(enter, ends.program_begin) : enter;
      if (master) events.begin(summary.first);
    }
    summary.last = std::max(r.leave, enter);
    events.before_other(r.id, enter);
    if (r.id == kMarkStolen) {
      events.stolen(enter, r.items);
    } else if (r.id == kMarkCounters) {
      events.counters(r.items);
    } else if (r.id == kMarkTracerTime) {
      events.tracer_time(enter, summary.last);
    } else if (r.id == kMarkOff || r.id == kMarkOn) {
      events.switched(enter, r.id == kMarkOn);
    } else if (is_function_mark(r.id)) {
      events.function(r.id, r.word, enter);
    } else if (r.id == kMarkSample) {
      events.sample(r.word, enter);
    } else if (is_thread_mark(r.id)) {
      events.thread(r.id, r.word, enter);
    } else if (r.id < translation.region.size() && translation.region[r.id] != kNone) {
      if (!r.left) summary.last = std::max(ends.call, enter);
      if (thread == 0) ++summary.calls;
      events.call(r.id, enter, summary.last, r.call_site, r.items);
    }
  });
  if (events.inside_function()) {
    summary.last = std::max(summary.last, ends.functions);
    events.close_functions(summary.last);
  }
  if (master && summary.last == 0 && ends.program_end != 0) {
    summary.first = ends.program_begin;
    events.begin(summary.first);
  }
  if (master) summary.last = std::max(summary.last, ends.program_end);
  if (master && summary.last != 0) events.end(summary.last);
  good = good && read && events.good();
  if (good) OTF2_EvtWriter_GetNumberOfEvents(writer, &summary.events);
  summary.damaged = events.damaged();
  summary.backwards = events.backwards();
  return summary;
}

}  // namespace tracing
}  // namespace rubato
