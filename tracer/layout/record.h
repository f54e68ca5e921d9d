#pragma once

#include <cstddef>
#include <cstdint>

/// The memory layout of a recorded call.
///
/// A call is a head and its items, one to four words each. The head of nearly every call is one
/// word:
///
///   1 (bit 63) | done (1) | number of item words (3) | duration (24) | time since the record
///   before was left (25) | call id (10)
///
/// with times in ticks. Where that is too short (a call longer than 7 ms at 2.3 GHz, or later than
/// 14 ms after the one before, or the first of a segment, or one with many items) there are two:
///
///   word 0   0 (bit 63) | enter time (53, ticks since the process started recording) | id (10)
///   word 1   duration (40 bits) | done (1 bit) | number of item words (23 bits)
///
/// Memory for records is zero before it is used. A head is written when a call is entered, and its
/// done bit is set when the call is left; so the memory of a process that died in between shows
/// which call it was in.
///
/// A duration of 2^40 - 1 ticks or more (8 minutes) is written as all ones, and the last item is
/// then the leave time. The lowest four bits of an item are its kind; if they are all ones
/// (kExtended), the next six bits are. Messages have a short form of one word (communicator 6 bits,
/// peer 16, tag 15, bytes 23), which fits nearly all messages, and a long form of three. So a send
/// or a receive takes 16 bytes, and so does a collective of less than 32 KiB; a call that is only a
/// region takes 8; a blocking receive with a larger buffer than its message takes 24.
///
/// Requests are numbered per thread in the order of their posting. A request that is posted by
/// MPI_Isend or MPI_Irecv therefore needs no number in its item: the decoder counts them.
/// Completions and restarts name the number.
namespace rubato {
inline namespace tracing {

/// The kind of an item. kMessageLong is added to the four message items in their long form.
enum class Item : unsigned {
  kSend,              ///< message
  kRecv,              ///< message
  kIsend,             ///< message; posts the thread's next request
  kIrecvRequest,      ///< message (what was asked for); posts the next request
  kIrecv,             ///< message, then one word: request
  kIsendStart,        ///< message, then one word: request | send mode << 56; a persistent send
  kIrecvStart,        ///< message (what was asked for), then one word: request
  kIsendComplete,     ///< request (60 bits)
  kRequestCancelled,  ///< request (60 bits)
  kCollective,        ///< collective_word(); then bytes sent, bytes received
  kCommCreate,        ///< communicator (60 bits)
  kCommDestroy,       ///< communicator (60 bits)
  kLeaveTime,         ///< then one word: leave time
  kMessageLong,       ///< kind of message 4, communicator 28, peer 28; then tag, bytes
  kSmallCollective,   ///< as kCollective, but both numbers of bytes in one word
  kExtended,          ///< not an item itself: the kind is 16 or more, value has 54 bits
  kCollectiveRequest = 16,  ///< communicator; posts the thread's next request
  kCollectiveStart,  ///< request (of a persistent collective), then one word: communicator 32 bits,
                     ///< which of its persistent ones, from 1
  kRmaCollectiveBegin,  ///< first of a call that is collective over a window
  kRmaCollective,       ///< window 20, sync level 4, operation 8 bits
  kWinCreate,           ///< window
  kWinDestroy,          ///< window
  kRmaOperation,  ///< window 20 bits, then how (RmaHow); target, bytes sent, received, matching id
  kRmaComplete,   ///< window 20 bits, locally 1, remotely 1; then matching id
  kRmaLock,       ///< window 20 bits, lock type; then target
  kRmaUnlock,     ///< window; then target
  kRmaGroupSync,  ///< window 20 bits, sync level; then group
  kNeighbours,    ///< first of its call: communicator; bytes sent, received, request or 0
  kNeighboursPosted,    ///< the same of a request that is under way; it is the thread's next one
  kRequestStart,        ///< start of a request that is recorded by parameters only
  kRequestEnd,          ///< its end
  kCollectiveComplete,  ///< request, then collective_word(), bytes sent, bytes received; if it made
                        ///< a communicator, kCommCreate follows
  kCallSite,  ///< address that the call returns to, or number of its path; the last item of each
              ///< call, or of none
  kParts,  ///< first of its call: PartsHead; the request, if it has one; then a part_run() per word
  kTinyCollective,  ///< as kCollective, all of it in CollectiveItem::tiny()
  kProbed,  ///< of a probe that found a message: communicator 32 bits, AnyOf of what it named; then
            ///< the source that it found 32, tag 32
  kAsked,   ///< behind a kRecv: Asked, if that differs from what was received
  kRequestReady,  ///< request of a partitioned send, some of whose partitions are ready
  kStolen,        ///< nanoseconds stolen inside the call (stolen.h); the last but a kCallSite
  kThreadCreate,  ///< first and only one of pthread_create: number of the new thread (threads.h)
  kThreadWait,    ///< likewise of pthread_join: that of the thread which has ended
  kCounters,  ///< what was counted before the call and inside it: CountersHead, then their words;
              ///< the last but a kCallSite
  kOwnWork,   ///< callbacks of the program ran inside the call: callback_word() of the one that ran
              ///< longest (own_work.h), then one word: ticks of all
  kBlock,     ///< behind a message that is sent or received, and its word: Message::block
};

/// The wildcards of a receive or probe.
enum AnyOf : unsigned { kOfAnySource = 1, kOfAnyTag = 2 };

/// What a blocking receive asked for: AnyOf, and the bytes of its buffer. 2^52 - 1 means that or
/// more, which counts and types can describe although no memory has so many bytes.
struct Asked {
  unsigned any;
  uint64_t posted;

  uint64_t value() const {
    constexpr uint64_t kMost = (uint64_t{1} << 52) - 1;
    return (posted < kMost ? posted : kMost) << 2 | any;
  }
  static Asked of(uint64_t value) { return {static_cast<unsigned>(value & 3), value >> 2}; }
};

/// The kind of a kRmaOperation; OTF2's type is added to kRmaAtomic.
enum RmaHow : unsigned { kRmaPut, kRmaGet, kRmaAtomic = 16 };

/// A message, or the arguments of a receive. Peer and tag are -1 for wildcards.
struct Message {
  Message() = default;
  Message(uint32_t comm, int32_t rank, int32_t number, uint64_t length, uint32_t blocks_of = 0)
      : communicator(comm), peer(rank), tag(number), block(blocks_of), bytes(length) {}

  uint32_t communicator = 0;  ///< local id, see communicators.h
  int32_t peer = 0;
  int32_t tag = 0;
  uint32_t block = 0;  ///< mean length of its blocks in memory; 0: contiguous, or unknown
  uint64_t bytes = 0;
};

/// Ids of marks, in place of a call id. Marks have no items, except kMarkStolen and kMarkPath. The
/// second word of some holds a value in place of the duration (has_own_word()).
inline constexpr unsigned kMarkTracerTime = 1023;  ///< this stretch of time was spent by the tracer
inline constexpr unsigned kMarkOff = 1022;         ///< recording is switched off at the enter time
inline constexpr unsigned kMarkOn = 1021;          ///< recording is switched on
inline constexpr unsigned kMarkFunctionEnter = 1020;
inline constexpr unsigned kMarkFunctionLeave = 1019;
/// Stolen time was read from the kernel at the enter time. Two words: the nanoseconds stolen
/// before, and the ticks that the read took.
inline constexpr unsigned kMarkStolen = 1018;
/// A thread that the program created begins, and ends; its number is the word (threads.h).
inline constexpr unsigned kMarkThreadBegin = 1017;
inline constexpr unsigned kMarkThreadEnd = 1016;
/// What the thread's counters counted since the record before, a word each; a function's mark of
/// the same time follows.
inline constexpr unsigned kMarkCounters = 1015;
/// A new node of the thread's tree of call paths (call_paths.h). Three words: its number << 32 and
/// its parent's, its return address, and where the function around that begins.
inline constexpr unsigned kMarkPath = 1014;
/// A sample of the program (sampler.h): its periods << 32 and the
/// number of its path.
inline constexpr unsigned kMarkSample = 1013;
inline constexpr unsigned kFirstMark = 1000;

/// Beside the address of a kMarkPath: it is that of a function in which the thread was interrupted.
inline constexpr uint64_t kPathOfFunction = uint64_t{1} << 63;

inline constexpr unsigned kMaxItemWords = 4;
/// The most words for starting or completing one request; some take two items.
inline constexpr unsigned kMaxRequestWords = 6;
inline constexpr uint64_t kMaxDuration = (uint64_t{1} << 40) - 1;
inline constexpr unsigned kHeadWords = 2;               ///< of the long form
inline constexpr unsigned kPathWords = kHeadWords + 3;  ///< of a kMarkPath

/// Communicators and windows of higher local numbers are not recorded.
inline constexpr uint32_t kLastNumber = (1u << 20) - 1;

/// Beside the operation of a collective: the rank named MPI_IN_PLACE.
inline constexpr unsigned kCollectiveInPlace = 0x80;

/// Operation 8, communicator 20, root 32 bits.
inline uint64_t collective_word(unsigned op, uint32_t communicator, uint32_t root) {
  return uint64_t{op} | uint64_t{communicator} << 8 | uint64_t{root} << 28;
}

/// What is recorded of a collective.
struct CollectiveItem {
  unsigned op;
  uint32_t communicator;
  uint32_t root;  ///< UINT32_MAX: none
  uint64_t sent;
  uint64_t received;

  /// True if it fits into the value of one word: operation 5, communicator 6, root 13 (all ones:
  /// none), bytes sent 15, received 15 bits.
  bool is_tiny() const {
    return op < 32 && communicator < 64 && (root < kNoRoot || root == UINT32_MAX) &&
           (sent | received) >> 15 == 0;
  }
  uint64_t tiny() const {
    return uint64_t{op} | uint64_t{communicator} << 5 | uint64_t{root & kNoRoot} << 11 |
           sent << 24 | received << 39;
  }
  static CollectiveItem of_tiny(uint64_t value) {
    const auto root = static_cast<uint32_t>(value >> 11 & kNoRoot);
    return {static_cast<unsigned>(value & 31), static_cast<uint32_t>(value >> 5 & 63),
            root == kNoRoot ? UINT32_MAX : root, value >> 24 & 0x7fff, value >> 39 & 0x7fff};
  }
  /// `word`: a collective_word().
  static CollectiveItem of(uint64_t word, uint64_t sent, uint64_t received) {
    return {static_cast<unsigned>(word & 0xff), static_cast<uint32_t>(word >> 8 & 0xfffff),
            static_cast<uint32_t>(word >> 28), sent, received};
  }

 private:
  static constexpr uint32_t kNoRoot = 0x1fff;
};

/// The bytes that a vector collective sends to each peer, as runs of equal parts: how many there
/// are, and whether a request number precedes them (of a persistent collective).
struct PartsHead {
  size_t runs;
  bool has_request;

  uint64_t value() const { return uint64_t{runs} << 1 | (has_request ? 1 : 0); }
  static PartsHead of(uint64_t value) { return {value >> 1, (value & 1) != 0}; }
};
/// For calls with more runs, or with a part that does not fit, no parts are recorded.
inline constexpr size_t kMaxPartRuns = 1024;
inline constexpr uint64_t kMaxPartPeers = (uint64_t{1} << 24) - 1;
inline constexpr uint64_t kMaxPartBytes = (uint64_t{1} << 40) - 1;

/// How many counters there are, and whether each has two words (before the call, inside it) or one
/// with 32 bits for both.
struct CountersHead {
  size_t counters;
  bool is_long;

  size_t words() const { return is_long ? 2 * counters : counters; }
  uint64_t value() const { return uint64_t{counters} << 1 | (is_long ? 1 : 0); }
  static CountersHead of(uint64_t value) { return {value >> 1 & 0xff, (value & 1) != 0}; }
};

/// `peers` consecutive peers that get `bytes` each.
struct PartRun {
  uint64_t peers;
  uint64_t bytes;

  uint64_t word() const { return peers << 40 | bytes; }
  static PartRun of(uint64_t word) { return {word >> 40, word & kMaxPartBytes}; }
};

/// Writes `bytes(i)` for each of the peers as words of runs; returns their number. If that is not
/// possible, returns 0 and leaves zeros, as memory for records has to be zero.
template <class Bytes>
size_t put_part_runs(uint64_t* words, uint64_t peers, const Bytes& bytes) {
  size_t n = 0;
  bool fits = peers <= kMaxPartPeers;
  PartRun run{0, 0};
  for (uint64_t i = 0; fits && i < peers; ++i) {
    const uint64_t part = bytes(i);
    if (run.peers > 0 && part != run.bytes) {
      words[n++] = run.word();
      run.peers = 0;
    }
    run = {run.peers + 1, part};
    fits = part <= kMaxPartBytes && n < kMaxPartRuns;
  }
  if (fits && run.peers > 0) words[n++] = run.word();
  if (fits) return n;
  for (size_t i = 0; i < n; ++i) words[i] = 0;
  return 0;
}

/// A function's address (48 bits) and the number of functions open around it (16 bits, signed,
/// since functions entered before recording began do not count), clamped to its limits.
inline uint64_t function_word(uint64_t address, int depth) {
  const int limited = depth < INT16_MIN ? INT16_MIN : depth > INT16_MAX ? INT16_MAX : depth;
  return address << 16 | static_cast<uint16_t>(limited);
}
inline uint64_t function_address(uint64_t word) {
  return word >> 16;
}
inline int function_depth(uint64_t word) {
  return static_cast<int16_t>(word & 0xffff);
}
inline bool is_function_mark(unsigned id) {
  return id == kMarkFunctionEnter || id == kMarkFunctionLeave;
}
inline bool is_thread_mark(unsigned id) {
  return id == kMarkThreadBegin || id == kMarkThreadEnd;
}
/// The second word of such a record holds a value.
inline bool has_own_word(unsigned id) {
  return is_function_mark(id) || is_thread_mark(id) || id == kMarkSample;
}

namespace record {

inline uint64_t head(uint64_t enter, unsigned call) {
  return enter << 10 | call;
}
/// The short form.
inline constexpr uint64_t kShort = uint64_t{1} << 63;
inline constexpr uint64_t kShortDone = uint64_t{1} << 62;
inline constexpr uint64_t kShortWords = 8;
inline constexpr uint64_t kShortDuration = uint64_t{1} << 24;
inline constexpr uint64_t kShortDelta = uint64_t{1} << 25;

inline uint64_t short_open(uint64_t delta, unsigned call) {
  return kShort | delta << 10 | call;
}
inline uint64_t short_done(uint64_t opened, uint64_t duration, size_t words) {
  return opened | kShortDone | uint64_t{words} << 59 | duration << 35;
}

inline uint64_t size_word(uint64_t duration, size_t words) {
  return duration << 24 | uint64_t{1} << 23 | words;
}
inline uint64_t duration(uint64_t size_word) {
  return size_word >> 24;
}
inline bool done(uint64_t size_word) {
  return (size_word >> 23 & 1) != 0;
}
inline size_t item_words(uint64_t size_word) {
  return size_word & 0x7fffff;
}

inline uint64_t* put(uint64_t* at, Item item, uint64_t value) {
  const auto kind = static_cast<uint64_t>(item);
  *at = kind < 16 ? value << 4 | kind
                  : value << 10 | (kind - 16) << 4 | static_cast<uint64_t>(Item::kExtended);
  return at + 1;
}

inline uint64_t* put_message(uint64_t* at, Item item, const Message& m) {
  const auto kind = static_cast<uint64_t>(item);
  const auto peer = static_cast<uint32_t>(m.peer);
  const auto tag = static_cast<uint32_t>(m.tag);
  // All ones stand for "any": adding 1 in 32 bits moves -1 to 0, below every bound.
  if (m.communicator < 64 && peer + 1 < 0x10000 && tag + 1 < 0x8000 && m.bytes < 0x800000) {
    *at = kind | uint64_t{m.communicator} << 4 | uint64_t{peer & 0xffff} << 10 |
          uint64_t{tag & 0x7fff} << 26 | m.bytes << 41;
    return at + 1;
  }
  at[0] = static_cast<uint64_t>(Item::kMessageLong) | kind << 4 | uint64_t{m.communicator} << 8 |
          uint64_t{peer & 0xfffffff} << 36;
  at[1] = tag;
  at[2] = m.bytes;
  return at + 3;
}

/// Reads the items of one call in order. Words beyond the end, in damaged records, read as zero.
class Reader {
 public:
  Reader(const uint64_t* begin, const uint64_t* end) : at_(begin), end_(end) {}

  bool done() const { return at_ >= end_; }
  /// What is left.
  const uint64_t* data() const { return at_; }
  size_t words() const { return done() ? 0 : static_cast<size_t>(end_ - at_); }

  /// The kind of the next item; never kMessageLong or kExtended.
  Item item() const {
    const auto kind = static_cast<Item>(*at_ & 15);
    if (kind == Item::kMessageLong) return static_cast<Item>(*at_ >> 4 & 15);
    return kind == Item::kExtended ? static_cast<Item>(16 + (*at_ >> 4 & 63)) : kind;
  }

  Message message() {
    const uint64_t word = *at_;
    if (static_cast<Item>(word & 15) == Item::kMessageLong) {
      if (end_ - at_ < 3) {
        at_ = end_;
        return {};
      }
      const auto peer = static_cast<uint32_t>(word >> 36);
      const Message m{static_cast<uint32_t>(word >> 8 & 0xfffffff), any_if(peer, 0xfffffff),
                      static_cast<int32_t>(at_[1]), at_[2]};
      at_ += 3;
      return m;
    }
    at_ += 1;
    return {static_cast<uint32_t>(word >> 4 & 63), any_if(word >> 10 & 0xffff, 0xffff),
            any_if(word >> 26 & 0x7fff, 0x7fff), word >> 41};
  }

  /// The value in the next item's own word.
  uint64_t value() {
    const uint64_t word = *at_++;
    return static_cast<Item>(word & 15) == Item::kExtended ? word >> 10 : word >> 4;
  }
  /// The next item, which is one of three kinds.
  CollectiveItem collective() {
    const Item kind = item();
    const uint64_t what = value();
    if (kind == Item::kTinyCollective) return CollectiveItem::of_tiny(what);
    const uint64_t sent = word();
    if (kind == Item::kSmallCollective)
      return CollectiveItem::of(what, sent >> 32, sent & 0xffffffff);
    return CollectiveItem::of(what, sent, word());
  }
  /// Takes the call site off the end, where there is one; else 0. A call has no other items that
  /// look like it: either all calls of a process have one, or none.
  uint64_t take_call_site() {
    if (done()) return 0;
    --end_;
    return *end_ >> 10;
  }
  /// A plain word behind an item.
  uint64_t word() { return done() ? 0 : *at_++; }

  /// Passes the next item and the words behind it.
  void pass() {
    switch (item()) {
      case Item::kSend:
      case Item::kRecv:
      case Item::kIsend:
      case Item::kIrecvRequest:
        message();
        return;
      case Item::kIrecv:
      case Item::kIsendStart:
      case Item::kIrecvStart:
        message();
        return pass_words(1);
      case Item::kSmallCollective:
      case Item::kCollectiveStart:
      case Item::kRmaComplete:
      case Item::kRmaLock:
      case Item::kRmaUnlock:
      case Item::kRmaGroupSync:
      case Item::kProbed:
      case Item::kOwnWork:
        return pass_words(2);
      case Item::kCollective:
        return pass_words(3);
      case Item::kNeighbours:
      case Item::kNeighboursPosted:
      case Item::kCollectiveComplete:
        return pass_words(4);
      case Item::kRmaOperation:
        return pass_words(5);
      case Item::kParts: {
        const PartsHead head = PartsHead::of(value());
        return pass_words(head.runs + (head.has_request ? 1 : 0));
      }
      case Item::kCounters:
        return pass_words(CountersHead::of(value()).words());
      default:
        return pass_words(1);
    }
  }

 private:
  void pass_words(size_t words) {
    at_ += words < static_cast<size_t>(end_ - at_) ? words : static_cast<size_t>(end_ - at_);
  }
  static int32_t any_if(uint64_t value, uint64_t any) {
    return value == any ? -1 : static_cast<int32_t>(value);
  }

  const uint64_t* at_;
  const uint64_t* end_;
};

/// One call or mark.
struct Record {
  unsigned id;
  uint64_t enter;
  uint64_t leave;  ///< of a call that was not left: its enter
  bool left;
  Reader items{nullptr, nullptr};
  uint64_t call_site = 0;  ///< kCallSite, where that was recorded
  uint64_t word = 0;       ///< where has_own_word()
};

/// Goes through the records of a segment.
class Cursor {
 public:
  /// `zero` is the tick that long heads count from; `call_sites`: each call has one.
  Cursor(const uint64_t* begin, const uint64_t* end, uint64_t zero, bool call_sites = false)
      : at_(begin), end_(end), zero_(zero), call_sites_(call_sites) {}

  /// False at the end, and at a torn record. No record follows a call that was not left.
  bool next(Record& r) {
    if (at_ >= end_ || *at_ == 0) return false;
    const uint64_t word = *at_;
    r.id = static_cast<unsigned>(word & 0x3ff);
    size_t words = 0;
    if ((word & kShort) != 0) {
      if (last_ == 0) return false;
      r.enter = last_ + (word >> 10 & (kShortDelta - 1));
      r.leave = r.enter + (word >> 35 & (kShortDuration - 1));
      r.left = (word & kShortDone) != 0;
      words = word >> 59 & (kShortWords - 1);
      at_ += 1;
    } else {
      if (end_ - at_ < static_cast<ptrdiff_t>(kHeadWords)) return false;
      r.enter = r.leave = (word >> 10) + zero_;
      if (has_own_word(r.id)) {
        r.word = at_[1];
        r.left = true;
        at_ += kHeadWords;
        r.items = Reader(at_, at_);
        last_ = r.enter;
        return true;
      }
      r.left = done(at_[1]);
      if (r.left) {
        words = item_words(at_[1]);
        r.leave += duration(at_[1]);
      }
      at_ += kHeadWords;
    }
    if (!r.left) {
      r.leave = r.enter;
      r.items = Reader(at_, at_);
      end_ = at_;
      return true;
    }
    if (words > static_cast<size_t>(end_ - at_)) return false;
    const uint64_t* items_end = at_ + words;
    if (r.leave - r.enter == kMaxDuration) {  // the last item tells
      if (words < 2) return false;
      items_end -= 2;
      r.leave = items_end[1] + zero_;
    }
    r.items = Reader(at_, items_end);
    r.call_site = call_sites_ && r.id < kFirstMark ? r.items.take_call_site() : 0;
    at_ += words;
    last_ = r.leave;
    return true;
  }

 private:
  const uint64_t* at_;
  const uint64_t* end_;
  uint64_t zero_;
  bool call_sites_;
  uint64_t last_ = 0;  ///< when the record before was left
};

}  // namespace record
}  // namespace tracing
}  // namespace rubato
