#include "replay/packed_calls.h"

#include <bit>
#include <cstring>

namespace rubato {
namespace {

constexpr uint32_t kLong = 1;
constexpr uint32_t kSmallName = 1 << 12;
constexpr uint32_t kSmallCount = 1 << 8;
constexpr uint32_t kNumbered = 1u << 31;
constexpr uint32_t kSlotBits = 0x7FFF;
constexpr uint32_t kLargeSlot = kSlotBits;        ///< it stands in the next word
constexpr uint32_t kSmallNoSlot = kSlotBits - 1;  ///< kNoSlot

/// Everything of an action that makes it another one: all but slot and order.
struct Identity {
  uint64_t what, where, bytes, received;
  explicit Identity(const Action& a)
      : what(static_cast<uint64_t>(a.kind) | static_cast<uint64_t>(a.flags) << 8 |
             static_cast<uint64_t>(a.op) << 16 | static_cast<uint64_t>(a.comm) << 32),
        where(static_cast<uint32_t>(a.peer)),
        bytes(a.bytes),
        received(0) {
    if (a.kind == ActionKind::kCollective) {
      received = a.bytes_received;
    } else {
      where |= static_cast<uint64_t>(a.tag) << 32;
    }
  }
  bool operator==(const Identity&) const = default;
  size_t hash() const {
    uint64_t h = (what ^ where * 0x9E3779B97F4A7C15u) * 0xC2B2AE3D27D4EB4Fu;
    h ^= (bytes + received * 31) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
  }
};

/// Slot, or kNoSlot; of a collective nothing.
uint32_t slot_of(const Action& action) {
  return action.kind == ActionKind::kCollective ? kNoSlot : action.slot;
}

uint32_t order_of(const Action& action) {
  return action.kind == ActionKind::kCollective ? action.tag : action.order;
}

/// The ticks from `from` to `to` when a word holds them and gives `to` again; else nothing.
bool distance(double from, double to, uint32_t& ticks) {
  const double length = to - from;
  if (!(length >= 0 && length < 4294967296.0)) return false;
  ticks = static_cast<uint32_t>(length);
  return from + ticks == to;
}

}  // namespace

CallPacker::CallPacker(bool with_records) : with_records_(with_records), table_(kTable, kNone) {
  words_.reserve(kWords + 1024);
  actions_.reserve(kActions + 256);
}

void CallPacker::start_piece() {
  taken_ = false;
  header_ = {};
  header_.time = time_;
  header_.event = event_;
  words_.clear();
  actions_.clear();
  follower_.clear();
  table_.assign(table_.size(), kNone);
  last_ = kNone;
}

void CallPacker::put(double value) {
  put(std::bit_cast<uint64_t>(value));
}

void CallPacker::add(const Block& block, size_t number) {
  if (taken_) start_piece();
  const Call& call = block.calls[number];
  const uint64_t records = call.event - event_;
  const uint32_t role = static_cast<uint32_t>(call.role) << 29;
  uint32_t before, length;
  if (call.name < kSmallName && call.actions < kSmallCount && records < kSmallCount &&
      distance(time_, call.enter, before) && distance(call.enter, call.leave, length)) {
    words_.push_back(role | static_cast<uint32_t>(records) << 20 | call.actions << 12 | call.name);
    words_.push_back(before);
    words_.push_back(length);
  } else {
    words_.push_back(role | kLong << 28);
    words_.push_back(call.name);
    words_.push_back(call.actions);
    put(call.enter);
    put(call.leave);
    put(call.event);
  }
  time_ = call.leave;
  event_ = call.event;
  for (uint32_t i = 0; i < call.actions; ++i) add_action(block.actions[call.first_action + i]);
  if (with_records_) add_records(block, number);
}

void CallPacker::add_action(const Action& action) {
  const uint32_t slot = slot_of(action);
  const uint32_t order = order_of(action);
  // A persistent tag of a collective is its order; 0 where nothing is numbered.
  const uint32_t small = slot == kNoSlot ? kSmallNoSlot : slot < kSmallNoSlot ? slot : kLargeSlot;
  words_.push_back((order > 0 ? kNumbered : 0) | small << 16 | number_of(action));
  if (small == kLargeSlot) words_.push_back(slot);
  if (order > 0) words_.push_back(order);
}

uint16_t CallPacker::number_of(const Action& action) {
  const Identity identity(action);
  // What came behind the action before the last time comes mostly again.
  const uint16_t before = last_;
  if (before != kNone && follower_[before] != kNone) {
    const uint16_t guess = follower_[before];
    if (Identity(actions_[guess]) == identity) return last_ = guess;
  }
  const size_t mask = table_.size() - 1;
  size_t i = identity.hash() & mask;
  while (table_[i] != kNone && Identity(actions_[table_[i]]) != identity) i = (i + 1) & mask;
  if (table_[i] == kNone) {
    // One call can have more actions than a piece should hold.
    if (2 * (actions_.size() + 1) > table_.size()) {
      std::vector<uint16_t> larger(2 * table_.size(), kNone);
      for (uint16_t n = 0; n < actions_.size(); ++n) {
        size_t j = Identity(actions_[n]).hash() & (larger.size() - 1);
        while (larger[j] != kNone) j = (j + 1) & (larger.size() - 1);
        larger[j] = n;
      }
      table_ = std::move(larger);
      last_ = kNone;
      return number_of(action);
    }
    table_[i] = static_cast<uint16_t>(actions_.size());
    actions_.push_back(action);
    follower_.push_back(kNone);
  }
  last_ = table_[i];
  if (before != kNone) follower_[before] = last_;
  return last_;
}

void CallPacker::add_records(const Block& block, size_t number) {
  const size_t first = block.calls[number].first_record;
  const size_t end = number + 1 < block.calls.size() ? block.calls[number + 1].first_record
                                                     : block.records.size();
  words_.push_back(static_cast<uint32_t>(end - first));
  for (size_t i = first; i < end; ++i) {
    put(block.records[i].time);
    words_.push_back(static_cast<uint32_t>(block.records[i].phase));
  }
}

std::span<const std::byte> CallPacker::take() {
  taken_ = true;
  header_.actions = static_cast<uint32_t>(actions_.size());
  header_.words = static_cast<uint32_t>(words_.size());
  const size_t actions = actions_.size() * sizeof(Action);
  const size_t words = words_.size() * sizeof(uint32_t);
  piece_.resize(sizeof header_ + actions + words);
  std::memcpy(piece_.data(), &header_, sizeof header_);
  if (actions > 0) std::memcpy(piece_.data() + sizeof header_, actions_.data(), actions);
  std::memcpy(piece_.data() + sizeof header_ + actions, words_.data(), words);
  return piece_;
}

void CallUnpacker::start() {
  PieceHeader header;
  std::memcpy(&header, piece_.data(), sizeof header);
  // Both are aligned: operator new aligns the bytes, and all sizes before are multiples of eight.
  actions_ = reinterpret_cast<const Action*>(piece_.data() + sizeof header);
  next_ = reinterpret_cast<const uint32_t*>(actions_ + header.actions);
  end_ = next_ + header.words;
  time_ = header.time;
  event_ = header.event;
}

double CallUnpacker::time() {
  return std::bit_cast<double>(long_word());
}

bool CallUnpacker::read(Block& block, size_t at_most) {
  if (next_ == end_) return false;
  for (size_t i = 0; i < at_most && next_ != end_; ++i) read_call(block);
  return true;
}

void CallUnpacker::read_call(Block& block) {
  Call& call = block.calls.emplace_back();
  const uint32_t head = word();
  call.role = static_cast<CallRole>(head >> 29);
  if (head >> 28 & kLong) {
    call.name = static_cast<uint16_t>(word());
    call.actions = word();
    call.enter = time();
    call.leave = time();
    call.event = long_word();
  } else {
    call.name = head % kSmallName;
    call.actions = head >> 12 & (kSmallCount - 1);
    call.event = event_ + (head >> 20 & (kSmallCount - 1));
    call.enter = time_ + word();
    call.leave = call.enter + word();
  }
  time_ = call.leave;
  event_ = call.event;
  call.first_action = static_cast<uint32_t>(block.actions.size());
  for (uint32_t i = 0; i < call.actions; ++i) {
    const uint32_t what = word();
    Action& action = block.actions.emplace_back(actions_[what & UINT16_MAX]);
    uint32_t slot = what >> 16 & kSlotBits;
    if (slot == kLargeSlot) slot = word();
    const uint32_t order = what & kNumbered ? word() : 0;
    if (action.kind == ActionKind::kCollective) {
      action.tag = order;
    } else {
      action.slot = slot == kSmallNoSlot ? kNoSlot : slot;
      action.order = order;
    }
  }
  call.first_record = static_cast<uint32_t>(block.records.size());
  if (!with_records_) return;
  for (uint32_t left = word(); left > 0; --left) {
    const double when = time();
    block.records.push_back({when, static_cast<RecordPhase>(word())});
  }
}

}  // namespace rubato
