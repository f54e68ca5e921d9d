#pragma once

// Calls of one timeline in about six bytes each; a Block takes seventy.
//
// Programs repeat themselves. So a piece of packed calls contains every *shape* once (the call and
// its actions in full, with the slots of its requests) and then, per call, the number of its shape
// and its times as differences from the previous time. If calls differ only in their slots, the
// first few get a shape each; later ones share an *open* shape and have their own slots. (So do
// numbered calls, those of ranks with threads.)
//
//   PieceHeader | CallShape[shapes] | Action[actions] | uint16_t[units]
//
//   unit 0             form (2 bits) | number of the shape (14)
//   times, by form     kShort: ticks since the previous leave, ticks from enter to leave (1 unit
//                      each)
//                      kMiddle: the same in 2 units each
//                      kFull: enter, leave as double, 4 units each
//   for each action    of an open shape, with a request: its slot, 1 unit, or kFarSlot and 2
//                      more; if numbered: its order, 2 units
//   records, if kept   their number, 2 units; for each the time as double, 4 units, and phase, 1
//
// A piece is self-contained, and is read forwards.

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "models/base/lanes.h"
#include "replay/trace/operation.h"

namespace rubato {

class CallFile;

/// The format of a call's times, in the same unit as the number of its shape.
enum TimesForm : uint16_t { kShort = 0, kMiddle = 1 << 14, kFull = 2 << 14, kFormBits = 3 << 14 };

/// A slot that does not fit into one unit.
inline constexpr uint16_t kFarSlot = UINT16_MAX;

/// What a piece of packed calls starts with.
struct PieceHeader {
  double time = 0;     ///< leave of the call before the first one, ticks
  uint64_t event = 0;  ///< and its event
  uint32_t shapes = 0;
  uint32_t actions = 0;
  uint32_t numbered = 0;  ///< 1 from the first piece with a numbered action on
  uint32_t longest = 0;   ///< the largest number of units of a call

  /// Bytes before the units.
  size_t head_bytes() const;
};

/// The common part of equal calls.
struct CallShape : CallFacts {
  uint64_t records = 0;   ///< number of records of the archive since the Enter of the previous call
  uint32_t requests = 0;  ///< open: number of its actions with a slot
  bool open = false;      ///< its calls have their own slots, and orders if it is numbered
  bool numbered = false;  ///< its actions have an order

  bool operator==(const CallShape&) const = default;
};

inline size_t PieceHeader::head_bytes() const {
  return sizeof(PieceHeader) + shapes * sizeof(CallShape) + actions * sizeof(Action);
}

/// A call with a known shape.
struct KnownCall {
  uint32_t enter;  ///< number of the record with which it begins
  uint32_t leave;  ///< number of the record with which it ends
  uint16_t shape;
  bool operator==(const KnownCall&) const = default;
};

/// What occurs among the calls.
struct CallUses {
  std::set<uint16_t> names;  ///< indices into TraceDefinitions::calls
  bool synchronous_sends = false;
};

/// A piece as written to the file.
struct PackedPiece {
  std::span<const std::byte> bytes;
  size_t head;  ///< number of bytes before the units
};

/// Packs the calls of one timeline, in order.
class CallPacker {
 public:
  explicit CallPacker(bool with_records);

  /// Adds the `number`-th call of `block`. Returns the number of its shape in this piece.
  uint16_t add(const Block& block, size_t number);
  /// To be called after the `number`-th call was added, if it has no actions: adds the equal calls
  /// that follow it, until the piece is full. Returns their number.
  size_t add_alike(const Block& block, size_t number);
  /// Likewise, but an action will be known later, so no other call shares its shape. Returns the
  /// number of its first action in this piece.
  uint32_t add_alone(const Block& block, size_t number);
  /// An action of the current piece, by its number.
  Action& action(uint32_t number) { return actions_[number]; }
  /// The offset of an action in the piece that was taken last, in bytes.
  size_t place_of_action(uint32_t number) const {
    return sizeof(PieceHeader) + header_.shapes * sizeof(CallShape) + number * sizeof(Action);
  }

  // For callers that know the shapes of calls (loop_cache.h). REQUIRES: a piece has been begun.
  /// True when the calls of a shape have their own slots.
  bool is_open(uint16_t shape) const { return shapes_[shape].open; }
  /// Number of the record with which the next call begins, if it has this shape.
  uint64_t event_of_next(uint16_t shape) const { return event_ + shapes_[shape].records; }
  /// Adds calls of shapes that are not open. `first_event` is the number of their record 0; `ticks`
  /// returns the time of a record as int64_t.
  template <typename Ticks>
  void add_known(std::span<const KnownCall> calls, uint64_t first_event, Ticks ticks);

  /// True when the piece should be taken: it has reached some 10 to 30 KiB.
  bool full() const { return full_ || used_ >= kUnits; }
  bool empty() const { return taken_; }

  /// The calls since the last take(); valid until the next add().
  PackedPiece take();
  /// Adds the uses of those calls to `uses`.
  void add_to(CallUses& uses) const;

 private:
  static constexpr uint16_t kNone = UINT16_MAX;
  static constexpr size_t kUnits = 6144;   ///< of a piece: 12 KiB
  static constexpr size_t kMostTimes = 9;  ///< units of a call without its requests

  void start_piece();
  uint16_t shape_of(const Call& call, uint64_t records, const Action* actions);
  uint16_t look_up(const Call& call, uint64_t records, const Action* actions);
  /// True when the call is of this shape, apart from slots and the other open parts.
  bool resembles(const CallShape& shape, const Call& call, uint64_t records,
                 const Action* actions) const;
  /// True when the call is of this shape.
  bool equals(const CallShape& shape, const Call& call, uint64_t records,
              const Action* actions) const;
  uint16_t add_shape(const Call& call, uint64_t records, const Action* actions, bool open);
  void add_call(const Block& block, size_t number, uint16_t shape);
  void add_times(double enter, double leave, uint16_t shape);
  template <bool kNumbered>
  void add_requests(const Action* actions, uint32_t count);
  void add_records(const Block& block, size_t number);
  void make_space(size_t units) {
    if (used_ + units > units_.size()) units_.resize(2 * (used_ + units));
  }
  /// REQUIRES: enough space in units_.
  void put(uint64_t value, int units) {
    for (; units > 0; --units, value >>= 16) units_[used_++] = static_cast<uint16_t>(value);
  }

  bool with_records_;
  bool taken_ = true;             ///< the next add() begins a piece
  bool full_ = false;             ///< too many shapes or actions
  bool may_be_numbered_ = false;  ///< some action was numbered
  double time_ = 0;
  uint64_t event_ = 0;
  PieceHeader header_;
  std::vector<CallShape> shapes_;
  std::vector<Action> actions_;
  std::vector<uint16_t> follower_;  ///< by shape: its last successor
  std::vector<uint16_t> table_;     ///< shapes by hash, open addressing
  uint16_t last_ = kNone;
  std::vector<uint16_t> units_;  ///< the first used_ of them
  size_t used_ = 0;
  std::vector<std::byte> piece_;
};

inline void CallPacker::add_times(double enter, double leave, uint16_t shape) {
  constexpr double kMost = 4294967296.0;  // the limit of 2 units
  const double before = enter - time_;
  const double length = leave - enter;
  const bool in_range = before >= 0 && before < kMost && length >= 0 && length < kMost;
  const auto ticks_before = static_cast<uint32_t>(in_range ? before : 0);
  const auto ticks = static_cast<uint32_t>(in_range ? length : 0);
  // As differences only if they reproduce the times exactly.
  const bool as_distances = in_range && time_ + ticks_before == enter && enter + ticks == leave;
  time_ = leave;
  if (as_distances && (ticks_before | ticks) >> 16 == 0) {
    uint16_t* out = units_.data() + used_;
    out[0] = shape | kShort;
    out[1] = static_cast<uint16_t>(ticks_before);
    out[2] = static_cast<uint16_t>(ticks);
    used_ += 3;
  } else if (as_distances) {
    put(shape | kMiddle, 1);
    put(ticks_before, 2);
    put(ticks, 2);
  } else {
    put(shape | kFull, 1);
    put(std::bit_cast<uint64_t>(enter), 4);
    put(std::bit_cast<uint64_t>(leave), 4);
  }
}

template <typename Ticks>
void CallPacker::add_known(std::span<const KnownCall> calls, uint64_t first_event, Ticks ticks) {
  constexpr auto kMost = int64_t{1} << 53;  // integers up to this are exact as double
  const bool is_exact = std::abs(time_) < static_cast<double>(kMost);
  int64_t last = is_exact ? static_cast<int64_t>(time_) : 0;
  // True if `last` is the time of the previous leave.
  bool is_whole = is_exact && static_cast<double>(last) == time_;
  make_space(kMostTimes * calls.size());
  uint16_t* out = units_.data() + used_;
  for (const KnownCall& call : calls) {
    const int64_t enter = ticks(call.enter);
    const int64_t leave = ticks(call.leave);
    const auto before = static_cast<uint64_t>(enter) - static_cast<uint64_t>(last);
    const auto length = static_cast<uint64_t>(leave) - static_cast<uint64_t>(enter);
    if (is_whole && (before | length) >> 16 == 0 && leave < kMost) {
      out[0] = call.shape | kShort;
      out[1] = static_cast<uint16_t>(before);
      out[2] = static_cast<uint16_t>(length);
      out += 3;
    } else {
      if (is_whole) time_ = static_cast<double>(last);
      used_ = static_cast<size_t>(out - units_.data());
      add_times(static_cast<double>(enter), static_cast<double>(leave), call.shape);
      out = units_.data() + used_;
      is_whole = leave > -kMost && leave < kMost;
    }
    last = leave;
  }
  if (is_whole) time_ = static_cast<double>(last);
  used_ = static_cast<size_t>(out - units_.data());
  event_ = first_event + calls.back().enter;
  last_ = calls.back().shape;
}

/// Shapes shared by many pieces, with the actions of shapes that neither send nor post.
struct CommonShapes : CommonActions {
  std::vector<CallShape> shapes;  ///< with ActionPlace
  uint32_t own_actions = 0;       ///< number of actions of each piece that are not here
};

/// Shapes of the pieces being read. In most programs all ranks do the same at the same time, with
/// different peers. So pieces of many ranks have the same shapes, wait for the same requests and
/// enter the same collectives. With hundreds of ranks the shared copy stays in the nearer caches.
class SharedShapes {
 public:
  using Shapes = std::shared_ptr<const CommonShapes>;

  /// Shared copy of these shapes, whose actions are in `actions`.
  Shapes find(std::span<const CallShape> shapes, std::span<const Action> actions);

 private:
  std::array<Shapes, 64> known_;  ///< by hash, the last one each
  CommonShapes wanted_;           ///< by find(); its memory is reused
};

/// The location of a piece in the file.
struct PiecePlace {
  uint64_t offset;
  uint32_t head;   ///< bytes before the units
  uint32_t units;  ///< bytes of those
};

/// Reads packed calls. Pieces in memory are read in place. For pieces in the file the head is read
/// at once and the units in windows, since whole pieces of many ranks would take more memory than
/// everything else. The members that every call uses are in one cache line.
class alignas(kCacheLine) CallUnpacker {
 public:
  CallUnpacker(const CallFile& file, SharedShapes& shapes, bool with_records)
      : with_records_(with_records), file_(&file), known_shapes_(&shapes) {}

  /// Starts to read this piece.
  void start(const PiecePlace& place);

  /// Replaces `block` by the next calls of the piece, at most `at_most`, which share their actions;
  /// false when there are no more.
  bool read(Block& block, size_t at_most);

  /// Replaces the calls of `block`, which are from the same piece, by the next one; false when
  /// there is none.
  [[gnu::always_inline]] bool read_next(Block& block) {
    if (!has_more()) return false;
    Call& call = block.calls[0];
    read_facts(call);
    call.first_request = kNoRequests;
    call.first_record = 0;
    if (with_records_ || last_->open) read_rest(call, block);
    return true;
  }

 private:
  /// Units of a file piece in memory; twice the longest call if that is more, and at most the whole
  /// piece.
  static constexpr size_t kWindow = 1024;

  uint32_t get2() {
    next_ += 2;
    return next_[-2] | uint32_t{next_[-1]} << 16;
  }
  double get_double() {
    const uint64_t low = get2();
    return std::bit_cast<double>(low | uint64_t{get2()} << 32);
  }
  uint32_t get_slot() {
    const uint16_t slot = *next_++;
    return slot == kFarSlot ? get2() : slot;
  }
  /// Loads the next call of the piece into the window; false when there is none.
  bool has_more() {
    if (next_ > whole_) move_window();
    return next_ != end_;
  }
  /// Reads the part before the units of a piece in the file.
  const std::byte* read_head(const PiecePlace& place);
  /// Reads the first units of such a piece.
  void open_window(const PiecePlace& place);
  void move_window();
  void share_actions(Block& block) const;
  void read_facts(Call& call);
  /// Requests and records of `call`, alone in its block.
  void read_rest(Call& call, Block& block);
  void read_requests(Call& call, Block& block);
  void read_records(Call& call, Block& block);

  const uint16_t* next_ = nullptr;
  const uint16_t* whole_ = nullptr;  ///< calls that begin up to here are completely in the window
  const uint16_t* end_ = nullptr;    ///< of the window
  const CallShape* shapes_ = nullptr;
  const CallShape* last_ = nullptr;  ///< of the call that was read last
  double time_ = 0;
  uint64_t event_ = 0;
  bool with_records_;
  bool numbered_ = false;

  uint64_t piece_number_ = 0;  ///< among all that were ever started
  const CallFile* file_;
  uint64_t offset_ = 0;  ///< in the file: of the data after the window
  size_t left_ = 0;      ///< bytes of the piece after it
  SharedShapes* known_shapes_;
  SharedShapes::Shapes common_;               ///< shared copy of shapes_
  const CallShape* packed_shapes_ = nullptr;  ///< in the format of the piece
  const Action* actions_ = nullptr;           ///< likewise
  PieceHeader header_;
  // For a piece in the file:
  std::vector<uint64_t> head_;    ///< its header, shapes and actions
  std::vector<uint16_t> window_;  ///< some of its units
};

[[gnu::always_inline]] inline void CallUnpacker::read_facts(Call& call) {
  const uint16_t head = *next_++;
  const CallShape& shape = shapes_[head & ~kFormBits];
  last_ = &shape;
  switch (head & kFormBits) {
    case kShort:
      call.enter = time_ + next_[0];
      call.leave = call.enter + next_[1];
      next_ += 2;
      break;
    case kMiddle:
      call.enter = time_ + get2();
      call.leave = call.enter + get2();
      break;
    default:
      call.enter = get_double();
      call.leave = get_double();
  }
  time_ = call.leave;
  event_ += shape.records;
  call.event = event_;
  static_cast<CallFacts&>(call) = shape;
}

}  // namespace rubato
