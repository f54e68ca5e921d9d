#pragma once

// Calls of one timeline in few bytes: about five for each record of the archive, where a Block
// takes some thirty.
//
// Programs do the same things over and over: what a call does (peer, tag, length, ...) is written
// once per piece and numbered, a call then names the numbers. Times are distances in ticks to the
// time before. A piece stands on its own:
//
//   PieceHeader | Action[header.actions] | uint32_t[header.words]
//
// The words of a call whose times and numbers are small:
//   role (3 bits) | long = 0 (1) | records since the Enter of the call before (8) | actions (8) |
//   name (12);  ticks since the leave of the call before;  ticks from enter to leave
// and of any other (long = 1), after the first word: name, actions, enter, leave, event.
// Of each action: numbered (1 bit) | request slot (15) | number of the Action (16), then the slot
// where it is large, then Action::order (of a collective its tag) where the action is numbered.
// With records, at last their number and for each its time and phase.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/operation.h"

namespace rubato {

/// What a piece of packed calls starts with.
struct PieceHeader {
  uint32_t actions = 0;  ///< how many different ones
  uint32_t words = 0;
  double time = 0;     ///< leave of the call before the first one, ticks
  uint64_t event = 0;  ///< and its event
};

/// Packs the calls of one timeline, in order.
class CallPacker {
 public:
  explicit CallPacker(bool with_records);

  /// The next call of `block`: the `number`-th.
  void add(const Block& block, size_t number);

  /// True when it is time to take the piece: it has reached about 16 KiB.
  bool full() const { return words_.size() >= kWords || actions_.size() >= kActions; }
  bool empty() const { return words_.empty(); }

  /// The calls since the last take(); valid until the next add().
  std::span<const std::byte> take();

 private:
  static constexpr size_t kWords = 4096;
  static constexpr size_t kActions = 384;
  static constexpr size_t kTable = 1024;  ///< a power of two, well above kActions
  static constexpr uint16_t kNone = UINT16_MAX;

  void add_action(const Action& action);
  void add_records(const Block& block, size_t number);
  /// The number of an action that equals this one but for its slot, order.
  uint16_t number_of(const Action& action);
  void start_piece();
  void put(uint64_t value) {
    words_.push_back(static_cast<uint32_t>(value));
    words_.push_back(static_cast<uint32_t>(value >> 32));
  }
  void put(double value);

  bool with_records_;
  double time_ = 0;
  uint64_t event_ = 0;
  PieceHeader header_;
  std::vector<Action> actions_;
  std::vector<uint16_t> follower_;  ///< by number: the action that came behind it the last time
  std::vector<uint16_t> table_;     ///< numbers by hash, open addressing
  uint16_t last_ = kNone;
  std::vector<uint32_t> words_;
  std::vector<std::byte> piece_;
  bool taken_ = true;  ///< the next add() starts a piece
};

/// Reads packed calls again.
class CallUnpacker {
 public:
  explicit CallUnpacker(bool with_records) : with_records_(with_records) {}

  /// Where to put the bytes of the next piece; then start() it.
  std::vector<std::byte>& piece() { return piece_; }
  void start();

  /// Appends calls of the piece to `block`, up to `at_most`; false when there are no more.
  bool read(Block& block, size_t at_most);

 private:
  uint32_t word() { return *next_++; }
  uint64_t long_word() {
    const uint64_t low = word();
    return low | static_cast<uint64_t>(word()) << 32;
  }
  double time();
  void read_call(Block& block);

  bool with_records_;
  double time_ = 0;
  uint64_t event_ = 0;
  const Action* actions_ = nullptr;
  const uint32_t* next_ = nullptr;
  const uint32_t* end_ = nullptr;
  std::vector<std::byte> piece_;
};

}  // namespace rubato
